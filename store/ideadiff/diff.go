// Package ideadiff computes how two Ideas differ: in their shared values, in the values of each instance, and in the
// Calls of their solutions.
package ideadiff

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wI2L/jsondiff"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// Diff is how two Ideas of a process differ.
type Diff struct {
	Process     string `json:"process"`
	IdeaNumberA int    `json:"a"`
	IdeaNumberB int    `json:"b"`
	// Changes lists changed values: first the values that all instances share, then instance by instance.
	Changes []Change     `json:"changes"`
	Calls   []CallChange `json:"calls"`
	// Patch leads from the whole Idea A to the whole Idea B: JSON Patch, RFC 6902.
	Patch []any `json:"patch"`
}

// The possible values of What.
const (
	Added   = "added"
	Changed = "changed"
	Removed = "removed"
	Undone  = "undone" // a Call that was done before
)

// Change is one value that differs. Instance is empty for shared values, and for the anonymous instance.
type Change struct {
	Instance string `json:"instance"`
	Kind     string `json:"what"`
	// Path is a Reference (†state.mood), or a place in the Idea (config.limits.requests).
	Path string `json:"path"`
	From any    `json:"from"`
	To   any    `json:"to"`
}

// CallChange is one Call of the solution that differs, or one that was undone; in the latter case From and To are its
// statuses. ID has no instance token, and is empty if the Request is unknown.
type CallChange struct {
	Instance string `json:"instance"`
	Kind     string `json:"what"`
	ID       string `json:"id,omitempty"`
	Tool     string `json:"tool"`
	From     any    `json:"from"`
	To       any    `json:"to"`
}

// Compare compares the Ideas with the numbers a and b of a process.
func Compare(processID string, a, b int, from, to jsonval.Object) (*Diff, error) {
	d := &Diff{Process: processID, IdeaNumberA: a, IdeaNumberB: b, Changes: []Change{}, Calls: diffCalls(from, to)}
	if err := d.compare(from, to); err != nil {
		return nil, fmt.Errorf("ideadiff: compare Ideas %d and %d of %s: %w", a, b, processID, err)
	}
	return d, nil
}

func (d *Diff) compare(from, to jsonval.Object) error {
	patch, err := jsondiff.CompareWithoutMarshal(from, to)
	if err != nil {
		return err
	}
	d.Patch = make([]any, len(patch))
	for i, op := range patch {
		d.Patch[i] = patchStep(op)
	}
	err = d.compareValues("", jsonval.WithOnlyKeys(from, "config", "schema", "delegates"),
		jsonval.WithOnlyKeys(to, "config", "schema", "delegates"), jsonval.Path.String)
	if err != nil {
		return err
	}
	return d.compareContexts(ideafile.SplitContextByInstance(from["context"]),
		ideafile.SplitContextByInstance(to["context"]))
}

// patchStep returns one step of a JSON Patch.
func patchStep(op jsondiff.Operation) any {
	o := jsonval.Object{"op": op.Type, "path": op.Path}
	if op.Type != jsondiff.OperationRemove {
		o["value"] = op.Value
	}
	return o
}

// solutionCall is one Call of an Idea's solution.
type solutionCall struct {
	id, instance, tool string
	call               any
	// matchKey identifies a Call whose parameters changed: instance, Tool and output path.
	matchKey, encodedCall string
}

func readSolutionCalls(idea jsonval.Object) []solutionCall {
	calls := jsonval.AsList(jsonval.Lookup(idea, "solution", "calls"))
	requestJSONNumber, _ := jsonval.Lookup(idea, "meta", "request").(json.Number)
	requestNumber, _ := requestJSONNumber.Int64()
	out := make([]solutionCall, len(calls))
	for i, raw := range calls {
		m := jsonval.AsObject(raw)
		c := solutionCall{call: raw, encodedCall: jsonval.EncodeToString(raw)}
		c.instance, c.tool = jsonval.AsText(m["_instance"]), jsonval.AsText(m["_tool"])
		c.matchKey = jsonval.EncodeToString([]any{c.instance, c.tool, m["_outputPath"]})
		if requestNumber > 0 {
			c.id = ideafile.FormatCallID(int(requestNumber), i+1, "")
		}
		out[i] = c
	}
	return out
}

// diffCalls compares the solutions of two Ideas. Equal Calls match regardless of their order.
func diffCalls(from, to jsonval.Object) []CallChange {
	oldCalls, newCalls := readSolutionCalls(from), readSolutionCalls(to)
	oldCalls, newCalls = subtractCalls(oldCalls, newCalls), subtractCalls(newCalls, oldCalls)
	changes := []CallChange{}
	for _, c := range newCalls {
		change := CallChange{c.instance, Added, c.id, c.tool, nil, c.call}
		if i := slices.IndexFunc(oldCalls, func(o solutionCall) bool { return o.matchKey == c.matchKey }); i >= 0 {
			change.Kind, change.From = Changed, oldCalls[i].call
			oldCalls = slices.Delete(oldCalls, i, i+1)
		}
		changes = append(changes, change)
	}
	for _, c := range oldCalls {
		changes = append(changes, CallChange{c.instance, Removed, c.id, c.tool, c.call, nil})
	}
	changes = append(changes, diffUndoneCalls(from, to)...)
	slices.SortStableFunc(changes, func(x, y CallChange) int { return strings.Compare(x.Instance, y.Instance) })
	return changes
}

// subtractCalls returns calls without those that others has too. A Call that occurs several times is removed as often
// as others has it.
func subtractCalls(calls, callsToSubtract []solutionCall) []solutionCall {
	countByEncodedCall := map[string]int{}
	for _, o := range callsToSubtract {
		countByEncodedCall[o.encodedCall]++
	}
	var remainingCalls []solutionCall
	for _, c := range calls {
		countByEncodedCall[c.encodedCall]--
		if countByEncodedCall[c.encodedCall] < 0 {
			remainingCalls = append(remainingCalls, c)
		}
	}
	return remainingCalls
}

// diffUndoneCalls lists the Calls that were undone between two Ideas, according to their records.
func diffUndoneCalls(from, to jsonval.Object) (changes []CallChange) {
	undoneBefore, undoneAfter := toolByUndoneCallID(from), toolByUndoneCallID(to)
	for id, v := range jsonval.Sorted(undoneAfter) {
		if _, isKnown := undoneBefore[id]; isKnown {
			continue
		}
		key, _ := ideafile.ParseCallKey(id)
		changes = append(changes, CallChange{ideafile.InstanceTokenOfCallID(id), Undone, key.ID(""), v,
			string(ideafile.CallDone), string(ideafile.CallUndone)})
	}
	return changes
}

// toolByUndoneCallID returns the Tools of the Calls that an Idea's records call undone, by Call id.
func toolByUndoneCallID(source jsonval.Object) map[string]string {
	tools := map[string]string{}
	idea, _ := ideafile.ReadIdeaWithoutCheckingTools(jsonval.Object{"context": source["context"]})
	tokens := idea.InstanceTokens()
	for _, m := range idea.Context {
		for _, p := range turn.ReadRecord(m, tokens) {
			for token, status := range p.StatusByInstance {
				if status == ideafile.CallUndone {
					tools[ideafile.FormatCallID(p.Request, p.Index, token)] = p.WrittenCall.Tool
				}
			}
		}
	}
	return tools
}
