package approval

import (
	"fmt"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// PlannedCallInWords is what a Call of a waiting Plan would do in one instance, in the words of the business. A
// parameter whose value is known only when the Call runs is null.
type PlannedCallInWords struct {
	shown.Call
	CallID, Instance string
	// Error is why it will fail; empty: no reason is known.
	Error string
}

// maxPlannedCallsInWords bounds how many Calls of a Plan are put into words, each once for each instance.
const maxPlannedCallsInWords = 1000

// DescribeCalls describes what the Plan would do. idea is the latest Idea of its process (nil: unknown); nothing has
// run since that Idea. readsOtherOutput reports whether the Call at an index reads what another Call of the Plan
// writes.
func (p PlanAwaitingDecision) DescribeCalls(idea *ideafile.Idea, presenter *shown.Presenter, l shown.Language,
	readsOtherOutput func(n int) bool) (list []PlannedCallInWords) {
	if idea == nil {
		idea = &ideafile.Idea{}
	}
	splitMessages := ideafile.SplitMessagesByInstance(idea.Context)
	for n, c := range p.Calls {
		params := jsonval.AsObject(jsonschema.WithoutMetaKeys(c.WrittenCall.RawObject()))
		if tool := idea.Tool(c.WrittenCall.Tool); tool != nil {
			for name, reference := range tool.WiredExpressionByParam {
				params[name] = reference
			}
		}
		readsOther := readsOtherOutput(n)
		tokens := c.Instances
		if len(tokens) == 0 {
			tokens = []string{""}
		}
		for _, token := range tokens[:min(len(tokens), maxPlannedCallsInWords-len(list))] {
			payloadByKind := splitMessages.InstanceView(token).PayloadByKind
			knownParams := resolveKnownReferences(params, func(r refexpr.Reference) (any, bool) {
				if readsOther && r.Kind == refexpr.StateReferenceKind {
					return nil, false
				}
				return jsonval.ValueAt(payloadByKind[r.Kind], r.Path)
			})
			list = append(list, PlannedCallInWords{CallID: c.CallID, Instance: token, Error: c.Error,
				Call: presenter.Call(c.WrittenCall.Tool, jsonval.AsObject(knownParams), token,
					shown.InstanceValues{Input: payloadByKind[ideafile.TypeInput],
						State: payloadByKind[ideafile.TypeState]}, l)})
		}
	}
	return list
}

// SentenceIn says in one line what the Plan would do, and for which instances, by what is known of their names and
// amounts: "2 × Refund, Send a letter: order A-1 (12.00 EUR), order A-2".
func (p PlanAwaitingDecision) SentenceIn(presenter *shown.Presenter, l shown.Language) string {
	toolTexts := jsonval.Map(p.CountByTool(), func(t PlanToolCount) string {
		if t.CallCount == 1 {
			return presenter.ToolTitle(t.Tool)
		}
		return fmt.Sprintf("%d × %s", t.CallCount, presenter.ToolTitle(t.Tool))
	})
	tokens, instanceTexts := p.Instances, []any{}
	if len(tokens) == 0 {
		tokens = []string{""}
	}
	for _, token := range tokens {
		name, amount := presenter.KnownInstanceName(token), presenter.InstanceAmount(token, l)
		switch {
		case name == token && amount != "":
			instanceTexts = append(instanceTexts, amount)
		case name != token && amount != "":
			instanceTexts = append(instanceTexts, name+" ("+amount+")")
		case name != token:
			instanceTexts = append(instanceTexts, name)
		}
	}
	if len(instanceTexts) == 0 {
		return strings.Join(toolTexts, ", ")
	}
	return strings.Join(toolTexts, ", ") + ": " + shown.Format{}.Text(instanceTexts, l)
}

// resolveKnownReferences resolves the References in a value. A Reference that has no value yet becomes null.
func resolveKnownReferences(v any, lookup func(refexpr.Reference) (any, bool)) any {
	switch v.(type) {
	case jsonval.Object, []any:
		return jsonval.MapChildValues(v, func(member any) any { return resolveKnownReferences(member, lookup) })
	}
	resolved, err := refexpr.ResolveReferences(v, lookup)
	if err != nil {
		return nil
	}
	return resolved
}
