package ideafile

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// IsOutputPathAlias reports whether a parameter means `_outputPath`: it is called output, the Tool, if it is known,
// declares no such parameter, and the value is a State reference.
func (t *Tool) IsOutputPathAlias(name string, v any) bool {
	if name != "output" {
		return false
	}
	if t != nil && jsonschema.Properties(t.Source)[name] != nil {
		return false
	}
	s := jsonval.AsText(v)
	return s == "†state" || strings.HasPrefix(s, "†state.") || strings.HasPrefix(s, "†state[")
}

// ReadOutputMeta reads the meta properties for where and how the result is written, and which scopes the Tool may read.
func (t *Tool) ReadOutputMeta(c *Call, rawCall jsonval.Object) *diag.Fault {
	for _, f := range t.OutputMetaFaults(c, rawCall) {
		return f
	}
	return nil
}

// OutputMetaFaults is ReadOutputMeta, but yields every fault with its meta property. It reads only as far as the caller
// ranges over it.
func (t *Tool) OutputMetaFaults(c *Call, rawCall jsonval.Object) iter.Seq2[string, *diag.Fault] {
	return func(yield func(string, *diag.Fault) bool) {
		for _, part := range []struct {
			key  string
			read func(*Call, jsonval.Object) *diag.Fault
		}{{"_outputPath", t.readOutputPath}, {"_outputMethod", t.readOutputMethod}, {"_scopes", t.readScopes}} {
			if f := part.read(c, rawCall); f != nil && !yield(part.key, f) {
				return
			}
		}
	}
}

func (t *Tool) readOutputPath(c *Call, rawCall jsonval.Object) *diag.Fault {
	rawPath := rawCall["_outputPath"]
	if alias := rawCall["output"]; t.IsOutputPathAlias("output", alias) {
		if rawPath != nil && rawPath != alias {
			return diag.Faultf(CodeBadPath, "_outputPath and output name two paths")
		}
		rawPath = alias
	}
	if refexpr.AreSameOutputPaths(rawPath, t.OutputPath.FixedValue) {
		rawPath = nil
	}
	v, f := t.OutputPath.resolveLLMChoice("_outputPath", rawPath, true)
	if f != nil || v == nil {
		return f
	}
	path, err := refexpr.ParseOutputPath(v)
	if err != nil {
		return diag.Faultf(CodeBadPath, "%s", err)
	}
	c.OutputPath = path
	return nil
}

func (t *Tool) readOutputMethod(c *Call, rawCall jsonval.Object) *diag.Fault {
	v, f := t.OutputMethod.resolveLLMChoice("_outputMethod", rawCall["_outputMethod"], false)
	if f != nil {
		return f
	}
	if v != nil {
		if err := statelog.CheckOutputMethod(v); err != nil {
			return diag.Faultf(CodeBadForm, "%s", err)
		}
		c.OutputMethod = statelog.NormalizeOutputMethod(v)
	}
	makesList := c.OutputMethod == statelog.MethodPush || c.OutputMethod == statelog.MethodConcat
	if makesList && c.OutputPath.WritesWholeState() {
		return diag.Faultf(CodeBadPath, "%s to the whole State would make a list of it", c.OutputMethod)
	}
	return nil
}

func (t *Tool) readScopes(c *Call, rawCall jsonval.Object) *diag.Fault {
	v, f := t.ReadableScopes.resolveLLMChoice("_scopes", rawCall["_scopes"], false)
	if f != nil || v == nil {
		return f
	}
	var err error
	if c.ReadableScopes, err = parseScopes(v); err != nil {
		return diag.Faultf(CodeBadReference, "%s", err)
	}
	return nil
}

// parseScopes reads a list of places such as "state.user" or "input", with or without a dagger in front.
func parseScopes(v any) ([]string, error) {
	list, ok := jsonval.AsStringList(v)
	if !ok {
		return nil, errors.New(`_scopes is a list of places such as "state.user"`)
	}
	for _, s := range list {
		if _, err := refexpr.ParseScope(s); err != nil {
			return nil, fmt.Errorf("_scopes: %w", err)
		}
	}
	return list, nil
}

// callReferenceKind is the kind of a Reference in `_after` that names a Call: †call.1.3.
const callReferenceKind = "call"

// ParseAfterReferences reads `_after`: one Reference or a list of them, each to a place in State or to a Call.
func ParseAfterReferences(v any) ([]string, *diag.Fault) {
	if single, ok := v.(string); ok {
		v = []any{single}
	}
	references, ok := jsonval.AsStringList(v)
	if !ok && v != nil {
		return nil, diag.Faultf(CodeBadReference, `_after is a Reference or a list of them, such as "†state.user"`)
	}
	for _, s := range references {
		ref, err := refexpr.ParseReference(s)
		if err != nil {
			return nil, diag.Faultf(CodeBadReference, "_after: %s", err)
		}
		if _, isCall := CallOfReference(ref); !isCall && ref.Kind != TypeState {
			return nil, diag.Faultf(CodeBadReference,
				"_after: %s: it names places in State, and Calls such as †call.1.3", ref)
		}
	}
	return references, nil
}

// The meta properties for the condition of a Call in a Plan that runs directly: see refexpr.Condition. The LLM cannot
// write them.
const (
	WhenKey   = "_when"
	UnlessKey = "_unless"
)

// readCondition reads WhenKey and UnlessKey.
func readCondition(c *Call, rawCall jsonval.Object) *diag.Fault {
	if rawCall[WhenKey] == nil && rawCall[UnlessKey] == nil {
		return nil
	}
	c.Condition = &refexpr.Condition{When: rawCall[WhenKey], Unless: rawCall[UnlessKey]}
	if err := c.Condition.Check(); err != nil {
		return diag.Faultf(CodeBadForm, "%s and %s: %s", WhenKey, UnlessKey, err)
	}
	return nil
}

// UndoesKey is the meta property of a Call that undoes another: {"process", "call", "by", "reason"} and UndoReviewKey.
// Only a Plan that runs directly has it.
const UndoesKey = "_undoes"

// UndoReviewKey is true if a person must review the Call first.
const UndoReviewKey = "review"

func readUndoes(c *Call, rawCall jsonval.Object) *diag.Fault {
	if rawCall[UndoesKey] == nil {
		return nil
	}
	undoneCall := jsonval.WithoutKey(jsonval.AsObject(rawCall[UndoesKey]), "by", "reason", UndoReviewKey)
	processID, isProcess := undoneCall["process"].(string)
	callID, isID := undoneCall["call"].(string)
	if _, ok := ParseCallKey(callID); !ok || !isProcess || !isID || processID == "" || len(undoneCall) != 2 {
		return diag.Faultf(CodeBadForm, `%s wants {"process": ID, "call": ID}, the Call that is taken back`, UndoesKey)
	}
	c.Undoes = &UndoneCall{processID, callID}
	return nil
}

// CheckNewUndoesKeys reports the Calls in the Plans of an Idea's source that claim to undo other Calls, except those
// that were in the source before somebody changed it. Only undo may write such Calls, because they run under the
// idempotency keys of the undone Calls, in whatever process these ran.
func CheckNewUndoesKeys(source, oldSource jsonval.Object) (ps diag.Problems) {
	isOldUndoCall := map[string]bool{}
	visitPlannedCalls(oldSource, func(_ string, call any) {
		if HasUndoesKey(call) {
			isOldUndoCall[jsonval.EncodeToString(call)] = true
		}
	})
	visitPlannedCalls(source, func(path string, call any) {
		if HasUndoesKey(call) && !isOldUndoCall[jsonval.EncodeToString(call)] {
			ps.Add(path+"."+UndoesKey, "%s", ReservedUndoesKeyText)
		}
	})
	return ps
}

func visitPlannedCalls(source jsonval.Object, visit func(path string, call any)) {
	visitAll := func(path string, calls any) {
		for n, c := range jsonval.AsList(calls) {
			visit(fmt.Sprintf("%s[%d]", path, n), c)
		}
	}
	for n, m := range jsonval.AsList(source["context"]) {
		visitAll(fmt.Sprintf("$.context[%d].plan", n), jsonval.AsObject(m)["plan"])
	}
	visitAll("$.solution.calls", jsonval.Lookup(source, "solution", "calls"))
}

// HasUndoesKey reports whether a written Call claims to undo another Call.
func HasUndoesKey(call any) bool { return jsonval.AsObject(call)[UndoesKey] != nil }

// ReservedUndoesKeyText is the error for a Call that claims to undo another Call but was not written by undo.
const ReservedUndoesKeyText = "only undo writes this; take a Call back with: undo ID --call CALL"

// UndoReviewReason returns why a person must review a Call that undoes another, even if its Tool's policy requires
// none; empty: the policy decides.
func UndoReviewReason(w WrittenCall) string {
	if jsonval.AsObject(w.RawObject()[UndoesKey])[UndoReviewKey] == true {
		return "it takes back what was done, and a person looks at each such Call first"
	}
	return ""
}

// CallOfReference returns the Call that a Reference in `_after` names, as in †call.1.3.
func CallOfReference(ref refexpr.Reference) (CallKey, bool) {
	if ref.Kind != callReferenceKind || len(ref.Path) != 2 {
		return CallKey{}, false
	}
	return ParseCallKey(ref.Path[0] + "." + ref.Path[1])
}

// ReadLatentResult reads the result that the LLM wrote into the Call. Only a latent Tool may have one.
func (t *Tool) ReadLatentResult(c *Call, rawCall jsonval.Object, kind ToolKind) *diag.Fault {
	c.Reasoning = jsonval.AsText(rawCall["_reasoningForCall"])
	out := rawCall["_output"]
	if out == nil {
		return nil
	}
	if kind != KindLatent {
		return diag.Faultf(CodeUnknownKey, "tool %q is run by code: its result cannot be written by the LLM", t.Name)
	}
	out = t.OutputSchema.WithoutNulls(out)
	if !jsonval.ContainsBlobHandle(out) {
		if err := t.OutputSchema.Validate(out); err != nil {
			return diag.Faultf(CodeBadOutput, "_output: %s", err)
		}
	}
	c.LatentOutput, c.HasLatentOutput = out, true
	return nil
}
