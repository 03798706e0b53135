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
func AnswersDiffer(palette *ideafile.Palette, view ideafile.InstanceView, token string, firstCalls,
	secondCalls []ideafile.WrittenCall) bool {
	a, b := prepareComparedCalls(palette, view, token, firstCalls),
		prepareComparedCalls(palette, view, token, secondCalls)
	if len(a) != len(b) {
		return true
	}
	m := newMatching(a, b)
	for n := range a {
		if !m.findPartner(n, make([]bool, len(b))) {
			return true
		}
	}
	return false
}

// matching pairs the Calls of two answers. A Call may match several Calls that differ among themselves, because its
// text is prose when it is compared with a text, but counts when it is compared with a Reference.
type matching struct {
	firstCalls, secondCalls []comparedCall
	canBePartners           [][]bool // whether one of firstCalls (row) and one of secondCalls (column) can be partners
	partnerBySecond         []int    // by Call of the second answer: its partner in firstCalls, from 1; 0: none
}

// newMatching finds which Calls can be partners: Calls that decide the same, and use results of Calls that can be
// partners too. If both answers have equally many Calls with an identity, these can only be partners of each other.
func newMatching(firstCalls, secondCalls []comparedCall) matching {
	m := matching{firstCalls, secondCalls, make([][]bool, len(firstCalls)), make([]int, len(secondCalls))}
	countWithIdentity := func(list []comparedCall, identity string) (n int) {
		for _, d := range list {
			if slices.Contains(d.identities, identity) {
				n++
			}
		}
		return n
	}
	for n, d := range firstCalls {
		equallyCommonIdentities := jsonval.Filter(d.identities, func(identity string) bool {
			return countWithIdentity(firstCalls, identity) == countWithIdentity(secondCalls, identity)
		})
		for _, o := range secondCalls {
			isAbsent := func(identity string) bool { return !slices.Contains(o.identities, identity) }
			m.canBePartners[n] = append(m.canBePartners[n], !slices.ContainsFunc(equallyCommonIdentities, isAbsent) &&
				d.decidesSameAs(o))
		}
	}
	for hasChanged := true; hasChanged; {
		hasChanged = false
		for n := range firstCalls {
			for k, canPair := range m.canBePartners[n] {
				if canPair && !m.mayUseSameResults(n, k) {
					m.canBePartners[n][k], hasChanged = false, true
				}
			}
		}
	}
	return m
}

// mayUseSameResults reports whether the results that Call n of first uses can be the same as those that Call k of
// second uses at the same places.
func (m matching) mayUseSameResults(firstIndex, secondIndex int) bool {
	d, o := m.firstCalls[firstIndex], m.secondCalls[secondIndex]
	for path, writerIndexes := range jsonval.Sorted(d.writerCallIndexesByPath) {
		for _, w := range writerIndexes {
			isCompared := d.isReferenceByPath[path] || o.isReferenceByPath[path]
			if isCompared && !slices.ContainsFunc(o.writerCallIndexesByPath[path], func(other int) bool {
				return m.canBePartners[w][other]
			}) {
				return false
			}
		}
	}
	return true
}

// findPartner finds a partner for the Call firstIndex of firstCalls, if need be by giving other Calls another partner.
// isSecondTried marks the Calls of secondCalls that were tried already.
func (m matching) findPartner(firstIndex int, isSecondTried []bool) bool {
	for _, isFree := range []bool{true, false} {
		for k, p := range m.partnerBySecond {
			if isSecondTried[k] || (p == 0) != isFree || !m.canBePartners[firstIndex][k] {
				continue
			}
			isSecondTried[k] = true
			if isFree || m.findPartner(p-1, isSecondTried) {
				m.partnerBySecond[k] = firstIndex + 1
				return true
			}
		}
	}
	return false
}

// CallsForInstance returns only the Calls of an answer that are for an instance.
func CallsForInstance(palette *ideafile.Palette, token string, calls []ideafile.WrittenCall) []ideafile.WrittenCall {
	selectedCalls := []ideafile.WrittenCall{}
	for _, w := range calls {
		if tokens, _ := palette.TargetInstances(w); slices.Contains(tokens, token) {
			selectedCalls = append(selectedCalls, w)
		}
	}
	return selectedCalls
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
	func(l scalar) bool { return idNamePattern.MatchString(l.name) },
}

// hasKeyword reports whether a schema of the scalar has one of the keywords.
func (l scalar) hasKeyword(keywords ...string) bool {
	return slices.ContainsFunc(l.schemas, func(schema jsonval.Object) bool {
		return slices.ContainsFunc(keywords, func(k string) bool { return schema[k] != nil })
	})
}

var idNamePattern = regexp.MustCompile(`(I[dD]s?|_ids?|-id)$|^[iI][dD][sS]?$`)

// comparedCall is a Call prepared for comparison: its parts, with the values of its References.
type comparedCall struct {
	tool                    *ideafile.Tool
	toolName                string // of the Tool
	faultCode               string // the error code of an invalid Call
	paramsAndOutput         jsonval.Object
	isReferenceByPath       map[string]bool  // the places that were References
	writerCallIndexesByPath map[string][]int // the Calls of its answer whose results it uses, by place
	// identities distinguish it from the other Calls of its answer. They are the question that its result answers, word
	// for word, and the places that it writes, if the State schema names these. A place that only the LLM names is no
	// identity.
	identities []string
}

func prepareComparedCalls(palette *ideafile.Palette, view ideafile.InstanceView, token string,
	calls []ideafile.WrittenCall) (list []comparedCall) {
	var plannedWrites []plannedWrite
	for n, w := range CallsForInstance(palette, token, calls) {
		c, _, f := palette.ReadCall(w)
		preparedCall := comparedCall{tool: ideafile.FindTool(palette.Tools, w.Tool), toolName: w.Tool,
			isReferenceByPath: map[string]bool{}, writerCallIndexesByPath: map[string][]int{}}
		if f != nil {
			preparedCall.faultCode = f.Code
		}
		preparedCall.paramsAndOutput = jsonval.Object{"params": c.Params}
		if c.HasLatentOutput {
			preparedCall.paramsAndOutput["output"] = c.LatentOutput
		}
		for _, path := range c.OutputPath.Paths() {
			plannedWrites = append(plannedWrites, plannedWrite{path, w.Tool, n})
			if isDeclaredPath(view.SchemaByKind[ideafile.TypeState], path) {
				preparedCall.identities = append(preparedCall.identities, "writes "+path.String())
			}
		}
		list = append(list, preparedCall)
	}
	for n := range list {
		preparedCall := &list[n]
		preparedCall.paramsAndOutput = jsonval.AsObject(preparedCall.resolveReferences(view.PayloadByKind,
			plannedWrites,
			nil,
			preparedCall.paramsAndOutput))
		if _, hasOutput := preparedCall.paramsAndOutput["output"]; hasOutput {
			preparedCall.identities = append(preparedCall.identities,
				preparedCall.toolName+" asks "+jsonval.EncodeToString(preparedCall.paramsAndOutput["params"]))
		}
	}
	return list
}

// isDeclaredPath reports whether a schema names each key of a path.
func isDeclaredPath(schema any, path jsonval.Path) bool {
	node, _ := jsonschema.ResolveLocalRefs(schema, schema, "")
	for _, key := range path {
		next, isDeclared := jsonschema.Properties(node)[key]
		if !isDeclared {
			return false
		}
		node, _ = jsonschema.ResolveLocalRefs(schema, next, "")
	}
	return len(path) > 0
}

// plannedWrite is a place in State that a Call of an answer is to write, with the Call's Tool and number.
type plannedWrite struct {
	path      jsonval.Path
	toolName  string
	callIndex int
}

// describePlannedResults describes what Calls of the answer will write at a path, above it or below it, without naming
// their places. It also returns the numbers of these Calls.
func describePlannedResults(plannedWrites []plannedWrite, path jsonval.Path) (text string, callIndexes []int) {
	var resultTexts []string
	for _, w := range plannedWrites {
		switch {
		case path.IsAtOrBelow(w.path):
			resultTexts = append(resultTexts, "the result of "+w.toolName+": "+path[len(w.path):].String())
		case w.path.IsAtOrBelow(path):
			resultTexts = append(resultTexts, w.path[len(path):].String()+" by "+w.toolName)
		default:
			continue
		}
		callIndexes = append(callIndexes, w.callIndex)
	}
	slices.Sort(resultTexts)
	return strings.Join(resultTexts, ", "), callIndexes
}

// resolveReferences replaces References by their values, and records their places. A value that another Call of the
// answer will write is replaced by its description (describePlannedResults).
func (d comparedCall) resolveReferences(payloadByKind jsonval.Object, plannedWrites []plannedWrite, path jsonval.Path,
	v any) any {
	text, isText := v.(string)
	if !isText {
		return jsonval.MapMembers(v, func(step string, member any) any {
			return d.resolveReferences(payloadByKind, plannedWrites, path.WithStep(step), member)
		})
	}
	if !refexpr.IsExpressionOrTemplate(text) {
		return strings.TrimPrefix(text, refexpr.Dagger)
	}
	d.isReferenceByPath[path.String()] = !refexpr.IsTemplate(text) // a template is prose
	resolvedValue, err := refexpr.ResolveReferences(v, func(ref refexpr.Reference) (any, bool) {
		if value, ok := refexpr.ValueOrBlobHandleAt(payloadByKind[ref.Kind], ref.Path); ok {
			return value, true
		}
		if ref.Kind != ideafile.TypeState {
			return nil, false
		}
		resultText, callIndexes := describePlannedResults(plannedWrites, ref.Path)
		d.writerCallIndexesByPath[path.String()] = append(d.writerCallIndexesByPath[path.String()], callIndexes...)
		return resultText, resultText != ""
	})
	if err != nil {
		return v
	}
	return resolvedValue
}

// decidesSameAs reports whether two Calls decide the same.
func (d comparedCall) decidesSameAs(o comparedCall) bool {
	if d.toolName != o.toolName || d.faultCode != o.faultCode {
		return false
	}
	isReferenceByPath := map[string]bool{}
	for _, byPath := range []map[string]bool{d.isReferenceByPath, o.isReferenceByPath} {
		//workflowcheck:ignore -- a set
		for path, isReference := range byPath {
			isReferenceByPath[path] = isReferenceByPath[path] || isReference
		}
	}
	ownPart, _ := d.decisionPart(nil, d.paramsAndOutput, isReferenceByPath)
	otherPart, _ := o.decisionPart(nil, o.paramsAndOutput, isReferenceByPath)
	return jsonval.EqualNumerically(ownPart, otherPart)
}

// decisionPart returns the part of a value that decisionRules select; isDecision reports whether there is one.
func (d comparedCall) decisionPart(path jsonval.Path, v any,
	isReferenceByPath map[string]bool) (out any, isDecision bool) {
	if isReferenceByPath[path.String()] {
		return v, true
	}
	switch v := v.(type) {
	case jsonval.Object:
		object := jsonval.Object{}
		for k, value := range jsonval.Sorted(v) {
			if part, isDecision := d.decisionPart(path.WithStep(k), value, isReferenceByPath); isDecision {
				object[k] = part
			}
		}
		return object, len(object) > 0
	case []any:
		list := []any{}
		for n, e := range v {
			if part, isDecision := d.decisionPart(path.WithStep(strconv.Itoa(n)), e, isReferenceByPath); isDecision {
				list = append(list, part)
			}
		}
		return list, len(list) > 0
	}
	scalarValue := scalar{value: v, schemas: d.schemasAt(path)}
	for n := len(path) - 1; n > 0 && scalarValue.name == ""; n-- {
		if _, err := strconv.Atoi(path[n]); err != nil {
			scalarValue.name = path[n]
		}
	}
	return v, slices.ContainsFunc(decisionRules, func(decides func(scalar) bool) bool { return decides(scalarValue) })
}

// schemasAt lists the parts of the Tool's schema for a place in a Call: in its parameters, or in its result.
func (d comparedCall) schemasAt(path jsonval.Path) []jsonval.Object {
	if d.tool == nil || len(path) == 0 {
		return nil
	}
	var rootSchema any = d.tool.Source
	if path[0] == "output" {
		rootSchema = d.tool.Source["_output"]
	}
	return jsonschema.SubschemasAt(rootSchema, path[1:])
}
