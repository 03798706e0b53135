package loop

import (
	"fmt"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// OutputWiring is an output as written, with References, and the instances whose States these are resolved from. A
// Reference to State becomes an object that maps the token of each instance with a value to that value. Instances
// without a value, because they failed or took another branch, are left out.
//
// Invariant: the same Wirings over the same States give the same output, whether the process is split or not.
type OutputWiring struct {
	WrittenOutput  any      `json:"output"`
	InstanceTokens []string `json:"instances"`
	// DirectPlanPosition is the place in the context, from 1, of the direct Plan with this output; 0: a reply gave it.
	DirectPlanPosition int `json:"place,omitempty"`
}

// PartialOutputChangeID names the rule that an output leaves out instances without a value. Processes that began before
// it refuse an output if one instance has no value.
const PartialOutputChangeID = "outputs leave out instances without a value"

// ResolveOutputWirings makes the output of a process: it resolves each OutputWiring over its instances, merges the
// results in order, and checks the output against its schema. isPatched is called with PartialOutputChangeID only if
// the answer matters; a nil isPatched means yes.
func ResolveOutputWirings(i *ideafile.Idea, wirings []OutputWiring, stateOf func(token string) any,
	isPatched func(change string) bool) (out any, f *diag.Fault) {
	sharedView, subject := ideafile.InstanceViewOf(i.Context, ""), "the output"
	for n, w := range wirings {
		if w.DirectPlanPosition > 0 {
			subject = "the Plan's output"
		}
		resolvedOutput, err := w.resolveReferences(sharedView, stateOf, isPatched)
		if err != nil {
			return nil, diag.Faultf(ideafile.CodeBadOutput, "%s: %s", subject, err)
		}
		if n > 0 {
			resolvedOutput = jsonval.DeepMerge(out, resolvedOutput)
		}
		out = resolvedOutput
	}
	if i.OutputSchema == nil || jsonval.ContainsBlobHandle(out) { // values in the blob store were checked before
		return out, nil
	}
	if err := i.OutputSchema.Validate(out); err != nil {
		return nil, diag.Faultf(ideafile.CodeBadOutput, "%s does not fit its form: %s", subject, err)
	}
	return out, nil
}

// resolveReferences replaces the References by values. In a process with named instances, an expression that reads
// State becomes an object with the value of each instance that has one, by token. It is an error if no instance has a
// value, since nobody can mean that.
func (w OutputWiring) resolveReferences(sharedView ideafile.InstanceView, stateOf func(token string) any,
	isPatched func(change string) bool) (any, error) {
	isMissingEverywhere := false
	out, err := refexpr.ResolveExpressions(w.WrittenOutput, func(e refexpr.Expression) (any, bool) {
		if w.InstanceTokens[0] == "" || !e.HasReferenceOfKind(ideafile.TypeState) {
			return evaluateForInstance(e, sharedView, stateOf(w.InstanceTokens[0]))
		}
		valueByToken := jsonval.Object{}
		for _, token := range w.InstanceTokens {
			if v, ok := evaluateForInstance(e, sharedView, stateOf(token)); ok {
				valueByToken[token] = v
			}
		}
		if isMissingEverywhere = len(valueByToken) == 0; isMissingEverywhere {
			return nil, false
		}
		return valueByToken, len(valueByToken) == len(w.InstanceTokens) || isPatched == nil ||
			isPatched(PartialOutputChangeID)
	})
	if isMissingEverywhere {
		return nil, fmt.Errorf("%w in any instance", err)
	}
	return out, err
}

// evaluateForInstance resolves an expression over an instance's State and the shared context. State is final, since no
// Call runs any more.
func evaluateForInstance(e refexpr.Expression, sharedView ideafile.InstanceView, state any) (any, bool) {
	return e.Evaluate(func(r refexpr.Reference) (any, bool) {
		payload, ok := sharedView.PayloadByKind[r.Kind]
		if r.Kind == ideafile.TypeState {
			payload, ok = state, true
		}
		if !ok {
			return nil, false
		}
		return refexpr.ValueOrBlobHandleAt(payload, r.Path)
	})
}

// HasOnlyReferences reports whether a value contains References and no other scalar.
func HasOnlyReferences(v any) bool {
	isReference := func(v any) bool { return refexpr.IsExpressionOrTemplate(jsonval.AsText(v)) }
	return jsonval.ContainsAny(v, isReference) && !jsonval.ContainsAny(v, func(v any) bool {
		t := jsonval.TypeOf(v)
		return t != "object" && t != "array" && !isReference(v)
	})
}

// NoPlanOutputFault returns why a process that may not ask the LLM has no output.
func NoPlanOutputFault() *diag.Fault {
	return diag.Faultf(ideafile.CodeBadOutput, "the output form wants an output, and the Plan has none")
}
