package ideafile

import (
	"cmp"
	"slices"
	"strings"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/jsonval"
)

// Palette is what a Call may use: the Tools with their bindings, and the instances that the Call may name.
type Palette struct {
	Tools []*Tool
	// BindingByTool maps the names of Tools to their bindings.
	BindingByTool ToolBindings
	// InstanceTokens are the instances that the Request covers; [""] for the anonymous one.
	InstanceTokens []string
	// ReopenableTokens are instances that have settled and that a Call reopens by naming them; "*" does not mean them.
	ReopenableTokens []string
	// ApprovalOversight is the process's addition to the Tools' approval policies.
	ApprovalOversight policy.Oversight
	// AdaptValuesWithLLM allows asking the LLM to adapt values that came through References to a Tool's schema.
	AdaptValuesWithLLM bool
	// UntargetedCallsGoToAll makes a Call without `_instance` count for every instance, as in a Plan message. In a
	// Request such a Call is an error: a forgotten token must not become a hundred refunds.
	UntargetedCallsGoToAll bool
	// AllowsDirectPlanKeys lets Calls have a condition, and undo others, as in a Plan that runs directly. The LLM
	// cannot write either.
	AllowsDirectPlanKeys bool
	// KeepsUndoableCallParams makes records keep the parameters of Calls that can be undone.
	KeepsUndoableCallParams bool
}

// ReadCall reads a Call and the instances that it is for. It returns the instances even for a broken Call, if they are
// readable. ID, Request and Index are left empty. What depends on an instance (its State schema, the values of its
// References) is not checked.
func (p *Palette) ReadCall(w WrittenCall) (c Call, tokens []string, f *diag.Fault) {
	c.Tool = w.Tool
	tokens, f = p.TargetInstances(w)
	if len(tokens) == 0 {
		return c, tokens, f
	}
	t := FindTool(p.Tools, w.Tool)
	if t == nil {
		return c, tokens, diag.Faultf(CodeUnknownTool, "unknown tool %q", jsonval.ClipForError(w.Tool))
	}
	if f := p.checkCallMetaKeys(w.rawObject); f != nil {
		return c, tokens, f
	}
	c.Params, f = t.readCallParams(w.rawObject)
	if f == nil {
		f = t.ReadOutputMeta(&c, w.rawObject)
	}
	if f == nil {
		f = t.ReadLatentResult(&c, w.rawObject, p.BindingByTool[w.Tool].Kind)
	}
	if f == nil {
		c.AfterReferences, f = ParseAfterReferences(w.rawObject["_after"])
	}
	if f == nil {
		f = readCondition(&c, w.rawObject)
	}
	if f == nil {
		f = readUndoes(&c, w.rawObject)
	}
	return c, tokens, f
}

// TargetInstances returns the instances that a Call is for. For a list with unknown instances, it returns the known
// ones and a fault.
func (p *Palette) TargetInstances(w WrittenCall) ([]string, *diag.Fault) {
	if w.rawObject == nil {
		return nil, diag.Faultf(CodeBadForm, "a Call is an object, not %s", jsonval.TypeOf(w.rawValue))
	}
	list, isList := w.rawObject["_instance"].([]any)
	if !isList {
		return p.parseTargetInstances(w.rawObject["_instance"])
	}
	if len(list) == 0 {
		return nil, diag.Faultf(CodeBadInstance, "_instance is an empty list")
	}
	var tokens []string
	var fault *diag.Fault
	for _, raw := range list {
		newTokens, f := p.parseTargetInstances(raw)
		fault = cmp.Or(fault, f)
		tokens = jsonval.AppendNew(tokens, newTokens...)
	}
	return tokens, fault
}

func (p *Palette) parseTargetInstances(v any) ([]string, *diag.Fault) {
	isAnonymous := len(p.InstanceTokens) == 1 && p.InstanceTokens[0] == ""
	token, ok := v.(string)
	switch {
	case v != nil && !ok:
		return nil, diag.Faultf(CodeBadInstance, "_instance is a token or a list of tokens, not %s", jsonval.TypeOf(v))
	case len(p.InstanceTokens) == 0:
		return nil, diag.Faultf(CodeBadInstance, "the Request covers no instance: only its output was wanted")
	case token == "*", v == nil && (isAnonymous || p.UntargetedCallsGoToAll):
		return p.InstanceTokens, nil
	case v == nil:
		return nil, diag.Faultf(CodeBadInstance,
			`the Call names no instance: it needs "_instance": a token, a list of them, or "*"`)
	case isAnonymous || (!slices.Contains(p.InstanceTokens, token) && !slices.Contains(p.ReopenableTokens, token)):
		return nil, diag.Faultf(CodeBadInstance, "the Request covers no instance %q", jsonval.ClipForError(token))
	}
	return []string{token}, nil
}

// baseCallMetaKeys lists the meta properties that a Call may have.
var baseCallMetaKeys = strings.Fields(
	"_after _instance _output _outputMethod _outputPath _reasoningForCall _scopes _tool")

// CallMetaKeys lists the meta properties that a Call of the palette may have.
func (p *Palette) CallMetaKeys() []string {
	if p.AllowsDirectPlanKeys {
		return append(slices.Clip(baseCallMetaKeys), WhenKey, UnlessKey, UndoesKey)
	}
	return baseCallMetaKeys
}

func (p *Palette) checkCallMetaKeys(m jsonval.Object) *diag.Fault {
	for k, v := range jsonval.Sorted(m) {
		if strings.HasPrefix(k, "_") && v != nil && !slices.Contains(p.CallMetaKeys(), k) {
			return diag.Faultf(CodeUnknownKey, "a Call has no meta property %q", jsonval.ClipForError(k))
		}
	}
	return nil
}
