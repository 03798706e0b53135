package quality

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// AnswersDiffer reports whether two answers about an instance decide differently. It compares the Tools of their Calls,
// and the parts of parameters and latent results that decisionRules select. One Call more is a difference. The order of
// Calls is none, but results swapped between two Calls are: see matching. view is what the instance sees.
func AnswersDiffer(palette *ideafile.Palette, view ideafile.InstanceView, token string, first,
	second []ideafile.WrittenCall) bool {
	a, b := prepareComparedCalls(palette, view, token, first), prepareComparedCalls(palette, view, token, second)
	if len(a) != len(b) {
		return true
	}
	m := newMatching(a, b)
	for n := range a {
		if !m.pair(n, make([]bool, len(b))) {
			return true
		}
	}
	return false
}

// matching pairs the Calls of two answers. A Call may match several Calls that differ among themselves, because its
// text is prose when it is compared with a text, but counts when it is compared with a Reference.
type matching struct {
	first, second []comparedCall
	same          [][]bool // whether a Call of first (row) and one of second (column) can be partners
	partner       []int    // by Call of second: its partner in first, from 1; 0: none
}

// newMatching finds which Calls can be partners: Calls that decide the same, and use results of Calls that can be
// partners too. If both answers have equally many Calls with an identity, these can only be partners of each other.
func newMatching(first, second []comparedCall) matching {
	m := matching{first, second, make([][]bool, len(first)), make([]int, len(second))}
	count := func(list []comparedCall, identity string) (n int) {
		for _, d := range list {
			if slices.Contains(d.identities, identity) {
				n++
			}
		}
		return n
	}
	for n, d := range first {
		bound := jsonval.Filter(d.identities, func(identity string) bool {
			return count(first, identity) == count(second, identity)
		})
		for _, o := range second {
			other := func(identity string) bool { return !slices.Contains(o.identities, identity) }
			m.same[n] = append(m.same[n], !slices.ContainsFunc(bound, other) && d.sameAs(o))
		}
	}
	for changed := true; changed; {
		changed = false
		for n := range first {
			for k, same := range m.same[n] {
				if same && !m.useSameResults(n, k) {
					m.same[n][k], changed = false, true
				}
			}
		}
	}
	return m
}

// useSameResults reports whether the results that Call n of first uses can be the same as those that Call k of second
// uses at the same places.
func (m matching) useSameResults(n, k int) bool {
	d, o := m.first[n], m.second[k]
	for at, writers := range jsonval.Sorted(d.results) {
		for _, w := range writers {
			counts := d.references[at] || o.references[at]
			if counts && !slices.ContainsFunc(o.results[at], func(other int) bool { return m.same[w][other] }) {
				return false
			}
		}
	}
	return true
}

// pair finds a partner for Call n of first, if need be by giving other Calls another partner. tried marks the Calls of
// second that were tried already.
func (m matching) pair(n int, tried []bool) bool {
	for _, isFree := range []bool{true, false} {
		for k, p := range m.partner {
			if tried[k] || (p == 0) != isFree || !m.same[n][k] {
				continue
			}
			tried[k] = true
			if isFree || m.pair(p-1, tried) {
				m.partner[k] = n + 1
				return true
			}
		}
	}
	return false
}

// CallsFor returns only the Calls of an answer that are for an instance.
func CallsFor(palette *ideafile.Palette, token string, calls []ideafile.WrittenCall) []ideafile.WrittenCall {
	picked := []ideafile.WrittenCall{}
	for _, w := range calls {
		if tokens, _ := palette.TargetInstances(w); slices.Contains(tokens, token) {
			picked = append(picked, w)
		}
	}
	return picked
}

// scalar is a string, number, boolean or null in a Call that does not come from a Reference.
type scalar struct {
	value   any
	name    string           // of the property with the value, or with the list that has it
	schemas []jsonval.Object // all parts of the Tool's schema that may check it
}

// decisionRules select the scalars that are part of a decision. A value by Reference always is part of it, since it
// names a thing of the case, and another thing is another decision. Text that no rule selects is not, since the LLM
// words it differently each time.
var decisionRules = []func(scalar) bool{
	// a number, a boolean, null: an amount or a yes is acted on unchanged; 1 and 1.0 are one number
	func(l scalar) bool { _, isText := l.value.(string); return !isText },
	// one of an enum, or a const: the file defines the choices
	func(l scalar) bool { return l.hasKeyword("enum", "const") },
	// a format or a pattern: dates, addresses, UUIDs and order numbers are not prose
	func(l scalar) bool { return l.hasKeyword("format", "pattern") },
	// named as an id: it names a thing of the case, written out
	func(l scalar) bool { return idName.MatchString(l.name) },
}

// hasKeyword reports whether a schema of the scalar has one of the keywords.
func (l scalar) hasKeyword(keywords ...string) bool {
	return slices.ContainsFunc(l.schemas, func(schema jsonval.Object) bool {
		return slices.ContainsFunc(keywords, func(k string) bool { return schema[k] != nil })
	})
}

var idName = regexp.MustCompile(`(I[dD]s?|_ids?|-id)$|^[iI][dD][sS]?$`)

// comparedCall is a Call prepared for comparison: its parts, with the values of its References.
type comparedCall struct {
	tool       *ideafile.Tool
	toolName   string // of the Tool
	fault      string // the error code of an invalid Call
	parts      jsonval.Object
	references map[string]bool  // the places that were References
	results    map[string][]int // the Calls of its answer whose results it uses, by place
	// identities distinguish it from the other Calls of its answer. They are the question that its result answers, word
	// for word, and the places that it writes, if the State schema names these. A place that only the LLM names is no
	// identity.
	identities []string
}

func prepareComparedCalls(palette *ideafile.Palette, view ideafile.InstanceView, token string,
	calls []ideafile.WrittenCall) (list []comparedCall) {
	var writers []writer
	for n, w := range CallsFor(palette, token, calls) {
		c, _, f := palette.ReadCall(w)
		d := comparedCall{tool: ideafile.FindTool(palette.Tools, w.Tool), toolName: w.Tool,
			references: map[string]bool{}, results: map[string][]int{}}
		if f != nil {
			d.fault = f.Code
		}
		d.parts = jsonval.Object{"params": c.Params}
		if c.HasOutput {
			d.parts["output"] = c.Output
		}
		for _, path := range c.OutputPath.Paths() {
			writers = append(writers, writer{path, w.Tool, n})
			if isNamedPlace(view.SchemaByKind[ideafile.TypeState], path) {
				d.identities = append(d.identities, "writes "+path.String())
			}
		}
		list = append(list, d)
	}
	for n := range list {
		d := &list[n]
		d.parts = jsonval.AsObject(d.resolveReferences(view.PayloadByKind, writers, nil, d.parts))
		if _, answers := d.parts["output"]; answers {
			d.identities = append(d.identities, d.toolName+" asks "+jsonval.EncodeToString(d.parts["params"]))
		}
	}
	return list
}

// isNamedPlace reports whether a schema names each key of a path.
func isNamedPlace(schema any, path jsonval.Path) bool {
	node, _ := jsonschema.ResolveLocalRefs(schema, schema, "")
	for _, key := range path {
		next, named := jsonschema.Properties(node)[key]
		if !named {
			return false
		}
		node, _ = jsonschema.ResolveLocalRefs(schema, next, "")
	}
	return len(path) > 0
}

// writer is a place in State that a Call of an answer is to write, with the Call's Tool and number.
type writer struct {
	path jsonval.Path
	tool string
	call int
}

// nameResults describes what Calls of the answer will write at a path, above it or below it, without naming their
// places. It also returns the numbers of these Calls.
func nameResults(writers []writer, at jsonval.Path) (text string, calls []int) {
	var names []string
	for _, w := range writers {
		switch {
		case at.IsAtOrBelow(w.path):
			names = append(names, "the result of "+w.tool+": "+at[len(w.path):].String())
		case w.path.IsAtOrBelow(at):
			names = append(names, w.path[len(at):].String()+" by "+w.tool)
		default:
			continue
		}
		calls = append(calls, w.call)
	}
	slices.Sort(names)
	return strings.Join(names, ", "), calls
}

// resolveReferences replaces References by their values, and records their places. A value that another Call of the
// answer will write is replaced by its description (nameResults).
func (d comparedCall) resolveReferences(view jsonval.Object, writers []writer, at jsonval.Path, v any) any {
	text, isText := v.(string)
	if !isText {
		return jsonval.WithMembers(v, func(step string, held any) any {
			return d.resolveReferences(view, writers, at.With(step), held)
		})
	}
	if !refexpr.IsReference(text) {
		return strings.TrimPrefix(text, refexpr.Dagger)
	}
	d.references[at.String()] = !refexpr.IsTemplate(text) // a template is prose
	found, err := refexpr.ResolveReferences(v, func(ref refexpr.Reference) (any, bool) {
		if value, ok := refexpr.ValueOrBlobHandleAt(view[ref.Kind], ref.Path); ok {
			return value, true
		}
		if ref.Kind != ideafile.TypeState {
			return nil, false
		}
		name, calls := nameResults(writers, ref.Path)
		d.results[at.String()] = append(d.results[at.String()], calls...)
		return name, name != ""
	})
	if err != nil {
		return v
	}
	return found
}

// sameAs reports whether two Calls decide the same.
func (d comparedCall) sameAs(o comparedCall) bool {
	if d.toolName != o.toolName || d.fault != o.fault {
		return false
	}
	both := map[string]bool{}
	for _, of := range []map[string]bool{d.references, o.references} {
		//workflowcheck:ignore -- a set
		for at, is := range of {
			both[at] = both[at] || is
		}
	}
	mine, _ := d.decidedPart(nil, d.parts, both)
	others, _ := o.decidedPart(nil, o.parts, both)
	return jsonval.SameValue(mine, others)
}

// decidedPart returns the part of a value that decisionRules select; counts reports whether there is one.
func (d comparedCall) decidedPart(at jsonval.Path, v any, references map[string]bool) (out any, counts bool) {
	if references[at.String()] {
		return v, true
	}
	switch v := v.(type) {
	case jsonval.Object:
		object := jsonval.Object{}
		for k, value := range jsonval.Sorted(v) {
			if part, counts := d.decidedPart(at.With(k), value, references); counts {
				object[k] = part
			}
		}
		return object, len(object) > 0
	case []any:
		list := []any{}
		for n, e := range v {
			if part, counts := d.decidedPart(at.With(strconv.Itoa(n)), e, references); counts {
				list = append(list, part)
			}
		}
		return list, len(list) > 0
	}
	l := scalar{value: v, schemas: d.schemasAt(at)}
	for n := len(at) - 1; n > 0 && l.name == ""; n-- {
		if _, err := strconv.Atoi(at[n]); err != nil {
			l.name = at[n]
		}
	}
	return v, slices.ContainsFunc(decisionRules, func(decides func(scalar) bool) bool { return decides(l) })
}

// schemasAt lists the parts of the Tool's schema for a place in a Call: in its parameters, or in its result.
func (d comparedCall) schemasAt(at jsonval.Path) []jsonval.Object {
	if d.tool == nil || len(at) == 0 {
		return nil
	}
	var root any = d.tool.Source
	if at[0] == "output" {
		root = d.tool.Source["_output"]
	}
	return jsonschema.SubschemasAt(root, at[1:])
}
