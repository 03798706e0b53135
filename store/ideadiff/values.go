package ideadiff

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wI2L/jsondiff"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// compareContexts compares the shared Messages, and then the Messages of each instance.
func (d *Diff) compareContexts(from, to ideafile.ContextByInstance) error {
	err := d.compareInstance("", from.SharedMessages, to.SharedMessages)
	tokens := slices.Clone(to.InstanceTokens)
	for _, token := range from.InstanceTokens {
		if !to.HasInstance(token) {
			tokens = append(tokens, token)
		}
	}
	for _, token := range tokens {
		if token != "" && err == nil {
			err = d.compareInstance(token, from.MessagesByInstance[token], to.MessagesByInstance[token])
		}
	}
	return err
}

// compareInstance compares the shared Messages (if the token is empty), or those of one instance: instructions of files
// step by step, and payloads.
func (d *Diff) compareInstance(token string, from, to []ideafile.Message) error {
	d.compareMessages(token, from, to)
	err := d.compareValues(token, instructionsByFile(from), instructionsByFile(to), jsonval.Path.String)
	if err != nil {
		return err
	}
	d.compareStepOrders(token, from, to)
	return d.compareValues(token, ideafile.OwnInstanceView(from, token).PayloadByKind,
		ideafile.OwnInstanceView(to, token).PayloadByKind, referenceText)
}

// referenceText returns the Reference to a place in the payloads by kind.
func referenceText(p jsonval.Path) string {
	if len(p) == 0 {
		return ""
	}
	return refexpr.Reference{Kind: p[0], Path: p[1:]}.String()
}

// instructionsByFile returns the contents of instructions' files, with their steps by id.
func instructionsByFile(messages []ideafile.Message) jsonval.Object {
	out := jsonval.Object{}
	for _, m := range messages {
		if m.Instruction == nil {
			continue
		}
		file := jsonval.AsObject(m.Source[ideafile.InstructionContentKey])
		steps, body := jsonval.Object{}, jsonval.AsObject(file[ideafile.InstructionContentKey])
		for _, s := range jsonval.AsList(body["steps"]) {
			step := jsonval.AsObject(s)
			steps[jsonval.AsText(step["id"])] = jsonval.WithoutKey(step, "id")
		}
		out[m.Instruction.FilePath] = jsonval.Object{"meta": emptyIfNil(jsonval.AsObject(file["meta"])),
			"text": m.Instruction.Text, "steps": steps}
	}
	return jsonval.Object{ideafile.TypeInstruction: out}
}

// compareStepOrders reports the files whose steps are in another order. The LLM reads steps in order, and a comparison
// by id does not show a new order.
func (d *Diff) compareStepOrders(token string, from, to []ideafile.Message) {
	oldOrders := stepOrders(from)
	for file, newOrder := range jsonval.Sorted(stepOrders(to)) {
		oldOrder := oldOrders[file]
		keepCommon := func(ids, others []any) []any {
			return jsonval.Filter(ids, func(id any) bool { return slices.Contains(others, id) })
		}
		if !slices.Equal(keepCommon(oldOrder, newOrder), keepCommon(newOrder, oldOrder)) {
			d.Changes = append(d.Changes, Change{Instance: token, Kind: Changed,
				Path: jsonval.Path{ideafile.TypeInstruction, file, "steps"}.String(), From: oldOrder, To: newOrder})
		}
	}
}

// stepOrders returns the step ids of instructions' files, in order.
func stepOrders(messages []ideafile.Message) map[string][]any {
	orders := map[string][]any{}
	for _, m := range messages {
		if m.Instruction != nil {
			orders[m.Instruction.FilePath] = jsonval.Map(m.Instruction.Steps,
				func(s ideafile.InstructionStep) any { return s.ID })
		}
	}
	return orders
}

// compareMessages compares texts and instructions without steps. They have no path, so each is either added or removed.
func (d *Diff) compareMessages(instance string, from, to []ideafile.Message) {
	for _, side := range []struct {
		what        string
		list, other []ideafile.Message
	}{{Removed, from, to}, {Added, to, from}} {
		for _, m := range side.list {
			if (m.Type != ideafile.TypeText && m.Type != ideafile.TypeInstruction) || m.Instruction != nil ||
				hasMessage(side.other, m) {
				continue
			}
			c := Change{Instance: instance, Kind: side.what, Path: m.Type, To: m.Text}
			if side.what == Removed {
				c.From, c.To = m.Text, nil
			}
			d.Changes = append(d.Changes, c)
		}
	}
}

func hasMessage(list []ideafile.Message, m ideafile.Message) bool {
	return slices.ContainsFunc(list, func(o ideafile.Message) bool { return jsonval.Equal(o.Source, m.Source) })
}

// compareValues compares two objects, place by place.
func (d *Diff) compareValues(instance string, from, to jsonval.Object, formatPath func(jsonval.Path) string) error {
	patch, err := jsondiff.CompareWithoutMarshal(emptyIfNil(from), emptyIfNil(to))
	if err != nil {
		return err
	}
	paths := patchPathConverter{oldValues: from, countByPointer: map[string]int{}}
	for _, op := range patch {
		c := Change{Instance: instance, Kind: Changed, Path: formatPath(paths.pathOf(op)), From: op.OldValue,
			To: op.Value}
		switch op.Type {
		case jsondiff.OperationAdd:
			c.Kind = Added
		case jsondiff.OperationRemove:
			c.Kind = Removed
		}
		d.Changes = append(d.Changes, c)
	}
	return nil
}

// emptyIfNil returns an empty object for nil.
func emptyIfNil(m jsonval.Object) any {
	if m == nil {
		return jsonval.Object{}
	}
	return m
}

// patchPathConverter converts the pointers of a JSON Patch into the places that people see. A patch appends to a list
// at "-", and removes elements from a list's end by removing the same index repeatedly.
type patchPathConverter struct {
	oldValues      jsonval.Object
	countByPointer map[string]int // how often a pointer occurred in the patch
}

var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

func (p patchPathConverter) pathOf(op jsondiff.Operation) jsonval.Path {
	var path jsonval.Path
	for step := range strings.SplitSeq(strings.TrimPrefix(op.Path, "/"), "/") {
		path = append(path, unescapePointer.Replace(step))
	}
	lastIndex := len(path) - 1
	list, isList := valueAt(p.oldValues, path[:lastIndex]).([]any)
	if !isList || op.Type == jsondiff.OperationReplace {
		return path
	}
	index, err := strconv.Atoi(path[lastIndex])
	if err != nil {
		index = len(list)
	}
	path[lastIndex] = strconv.Itoa(index + p.countByPointer[op.Path])
	p.countByPointer[op.Path]++
	return path
}

func valueAt(v any, p jsonval.Path) any {
	found, _ := jsonval.ValueAt(v, p)
	return found
}
