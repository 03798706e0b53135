package ideafile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// Call is one use of a Tool in one instance: its parameters, with References, and its meta properties.
type Call struct {
	ID      string `json:"id"` // 3.2@①, or 3.2 in the anonymous instance
	Request int    `json:"request"`
	Index   int    `json:"index"` // in the Request's solution, from 1
	Tool    string `json:"tool"`
	// Params may hold References.
	Params map[string]any `json:"params"`
	// OutputPath is where in State the result goes; empty: nowhere, the Call is run for its effect.
	OutputPath refexpr.OutputPath `json:"outputPath,omitempty"`
	OutputMethod     string             `json:"method,omitempty"` // an update method; empty: write-once
	// Scopes is the allow-list of what the Tool is given beside its parameters.
	Scopes []string `json:"scopes,omitempty"`
	// Output is the result that the LLM wrote for a latent Tool.
	Output    any    `json:"output,omitempty"`
	HasOutput bool   `json:"hasOutput,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
}

// CallID names a Call: Request and index from 1, and the instance, if it has a token.
func CallID(request, index int, token string) string {
	id := strconv.Itoa(request) + "." + strconv.Itoa(index)
	if token != "" {
		id += "@" + token
	}
	return id
}

// TokenOfCallID gives the instance that a Call's id names; empty for the anonymous one.
func TokenOfCallID(id string) string {
	_, token, _ := strings.Cut(id, "@")
	return token
}

// Error codes of structural and runtime errors.
const (
	CodeBadForm      = "bad_form"
	CodeUnknownTool  = "unknown_tool"
	CodeUnknownKey   = "unknown_key"
	CodeBadInstance  = "bad_instance"
	CodeBadParams    = "bad_parameters"
	CodeBadReference = "bad_reference"
	CodeBadPath      = "bad_path"
	CodeBadOutput    = "bad_output"
	CodeBlocked      = "blocked"
	CodeToolFailed   = "tool_failed"
	CodeOutcomeUnknown      = "outcome_unknown"
	// Of MCP servers: one cannot be reached, or may not be; it now offers another tool than it did; a tool asks a person.
	CodeMCPUnreachable = "mcp_unreachable"
	CodeMCPRefused     = "mcp_refused"
	CodeToolChanged    = "tool_changed"
	CodeInputWanted    = "input_wanted"
)

// Palette is the Tools that Calls may use, bound to what runs them, and the instances that they may name.
type Palette struct {
	Tools    []*Tool
	Bindings map[string]Binding
	// Tokens are the instances that a Request covers; [""] for the anonymous one.
	Tokens []string
	// Oversight is what the process adds to the Tools' approval policies.
	ApprovalOverride ApprovalOverride
	// Adapt says that the LLM may be asked to fit values that References brought to the Tools' schemas.
	Adapt bool
	// UntargetedForAll says that a Call without a token is for every instance, as in a Plan message.
	UntargetedForAll bool
}

// callMeta lists the meta properties that a Call may have.
var CallMetaKeys = []string{"_instance", "_output", "_outputMethod", "_outputPath", "_reasoningForCall", "_scopes", "_tool"}

// Read reads a Call as the LLM wrote it, and the instances it is for, as far as they can be told even where the Call is
// broken. ID, Request and Index are left to the caller. What only an instance knows (its State schema, what its
// References find) is checked there.
func (p *Palette) Read(w WrittenCall) (c Call, tokens []string, f *diag.Fault) {
	c.Tool = w.Tool
	tokens, f = p.Targets(w)
	if f != nil {
		return c, tokens, f
	}
	m, name := w.object, w.Tool
	t := FindTool(p.Tools, name)
	if t == nil {
		return c, tokens, diag.Faultf(CodeUnknownTool, "unknown tool %q", jsonval.Clip(name, 80))
	}
	if f := checkMeta(m); f != nil {
		return c, tokens, f
	}
	c.Params, f = t.readCallParams(m)
	if f == nil {
		f = t.ReadOutputMeta(&c, m)
	}
	if f == nil {
		f = t.ReadLatentResult(&c, m, p.Bindings[name].Kind)
	}
	return c, tokens, f
}

func checkMeta(m map[string]any) *diag.Fault {
	for _, k := range jsonval.SortedKeys(m) {
		if strings.HasPrefix(k, "_") && m[k] != nil && !slices.Contains(CallMetaKeys, k) {
			return diag.Faultf(CodeUnknownKey, "a Call has no meta property %q", jsonval.Clip(k, 80))
		}
	}
	return nil
}

// parseTarget reads `_instance`.
func (p *Palette) parseTarget(v any) ([]string, *diag.Fault) {
	anonymous := len(p.Tokens) == 1 && p.Tokens[0] == ""
	token, ok := v.(string)
	switch {
	case v != nil && !ok:
		return nil, diag.Faultf(CodeBadInstance, "_instance is a token, not %s", jsonval.TypeOf(v))
	case len(p.Tokens) == 0:
		return nil, diag.Faultf(CodeBadInstance, "the Request covers no instance: only its output was wanted")
	case token == "*" && ok, v == nil && (anonymous || p.UntargetedForAll):
		return p.Tokens, nil
	case v == nil:
		return nil, diag.Faultf(CodeBadInstance, `the Call names no instance: it needs "_instance", a token or "*"`)
	case anonymous || !slices.Contains(p.Tokens, token):
		return nil, diag.Faultf(CodeBadInstance, "the Request covers no instance %q", jsonval.Clip(token, 80))
	}
	return []string{token}, nil
}

// readCallParams gives a Call's parameters, wired ones filled in and absent ones dropped, once they fit the Tool as far
// as that can be told before References are resolved.
func (t *Tool) readCallParams(m map[string]any) (map[string]any, *diag.Fault) {
	params := map[string]any{}
	for _, k := range jsonval.SortedKeys(m) {
		if strings.HasPrefix(k, "_") || t.IsOutputPathAlias(k, m[k]) {
			continue
		}
		v, keep, f := t.ReadParam(k, m[k])
		if f != nil {
			return nil, f
		}
		if keep {
			params[k] = v
		}
	}
	for _, k := range jsonval.SortedKeys(t.WiredParams) {
		params[k] = t.WiredParams[k]
	}
	return params, t.checkRequired(params)
}

func (t *Tool) ReadParam(name string, v any) (out any, keep bool, f *diag.Fault) {
	if ref, ok := t.WiredParams[name]; ok {
		if v != nil && v != ref {
			return nil, false, diag.Faultf(CodeBadParams, "parameter %q is wired by the tool's designer", name)
		}
		return ref, true, nil
	}
	schema, declared := t.SchemaByParam[name]
	if !declared && !t.AllowsExtraParams {
		if v == nil {
			return nil, false, nil
		}
		return nil, false, diag.Faultf(CodeBadParams, "tool %q has no parameter %q", t.Name, jsonval.Clip(name, 80))
	}
	if absent := v == nil && !t.Requires(name) && !schema.TakesNull(); absent {
		return nil, false, nil
	}
	v = jsonschema.WithoutNulls(t.Source, jsonval.Path{name}, v)
	refs, err := refexpr.References(v)
	if err != nil {
		return nil, false, diag.Faultf(CodeBadReference, "parameter %q: %s", name, err)
	}
	if len(refs) > 0 || jsonval.HasHandle(v) {
		return v, true, nil // checked when it is resolved
	}
	literal, _ := refexpr.Resolve(v, nil) // only doubled daggers can be in it
	if err := schema.Validate(literal); err != nil {
		return nil, false, diag.Faultf(CodeBadParams, "parameter %q: %s", name, err)
	}
	return v, true, nil
}

func (t *Tool) Requires(name string) bool {
	list, _ := jsonval.StringList(t.Source["required"])
	return slices.Contains(list, name)
}

func (t *Tool) checkRequired(params map[string]any) *diag.Fault {
	list, _ := jsonval.StringList(t.Source["required"])
	for _, name := range list {
		if _, ok := params[name]; !ok {
			return diag.Faultf(CodeBadParams, "parameter %q is missing", name)
		}
	}
	return nil
}

// ValidateParams says how resolved parameters do not fit the Tool. Parameters that hold a handle are checked where the value is
// at hand, by the activity.
func (t *Tool) ValidateParams(params map[string]any) error {
	if !jsonval.HasHandle(params) {
		return t.ParamsSchema.Validate(params)
	}
	for _, k := range jsonval.SortedKeys(params) {
		if schema := t.SchemaByParam[k]; schema != nil && !jsonval.HasHandle(params[k]) {
			if err := schema.Validate(params[k]); err != nil {
				return fmt.Errorf("parameter %q: %w", k, err)
			}
		}
	}
	return nil
}

// isOutputAlias recognises a parameter `output` that means `_outputPath`: the Tool declares none, and the value is a
// State reference.
func (t *Tool) IsOutputPathAlias(name string, v any) bool {
	if name != "output" {
		return false
	}
	props, _ := t.Source["properties"].(map[string]any)
	if _, declared := props[name]; declared {
		return false
	}
	s, ok := v.(string)
	return ok && (s == "†state" || strings.HasPrefix(s, "†state.") || strings.HasPrefix(s, "†state["))
}

// readCallOutput reads where the result goes and how it is put there.
func (t *Tool) ReadOutputMeta(c *Call, m map[string]any) *diag.Fault {
	written := m["_outputPath"]
	if alias := m["output"]; t.IsOutputPathAlias("output", alias) {
		if written != nil && written != alias {
			return diag.Faultf(CodeBadPath, "_outputPath and output name two paths")
		}
		written = alias
	}
	if refexpr.SamePath(written, t.OutputPath.Fixed) {
		written = nil
	}
	v, f := t.OutputPath.resolve("_outputPath", written, true)
	if f != nil {
		return f
	}
	if v != nil {
		path, err := refexpr.ParseOutputPath(v)
		if err != nil {
			return diag.Faultf(CodeBadPath, "%s", err)
		}
		c.OutputPath = path
	}
	if v, f = t.OutputMethod.resolve("_outputMethod", m["_outputMethod"], false); f != nil {
		return f
	}
	if v != nil {
		if err := statelog.CheckMethod(v); err != nil {
			return diag.Faultf(CodeBadForm, "%s", err)
		}
		c.OutputMethod = statelog.MethodOf(v)
	}
	if c.OutputPath.WritesWholeState() && (c.OutputMethod == statelog.MethodPush || c.OutputMethod == statelog.MethodConcat) {
		return diag.Faultf(CodeBadPath, "%s to the whole State would make a list of it", c.OutputMethod)
	}
	if v, f = t.Scopes.resolve("_scopes", m["_scopes"], false); f != nil {
		return f
	}
	if v != nil {
		scopes, err := parseScopes(v)
		if err != nil {
			return diag.Faultf(CodeBadReference, "%s", err)
		}
		c.Scopes = scopes
	}
	return nil
}

// resolve is a meta property of a Call: what the designer fixed, or what the LLM chose, where it may.
func (v MetaValue) resolve(name string, chosen any, allowUndeclared bool) (any, *diag.Fault) {
	switch {
	case !v.Declared && (allowUndeclared || chosen == nil):
		return chosen, nil
	case !v.Declared:
		return nil, diag.Faultf(CodeUnknownKey, "the tool declares no %s", name)
	case v.Schema == nil:
		if chosen != nil && !jsonval.Equal(chosen, v.Fixed) {
			return nil, diag.Faultf(CodeUnknownKey, "%s is fixed by the tool's designer", name)
		}
		return v.Fixed, nil
	case chosen == nil:
		return nil, nil
	}
	if err := v.Schema.Validate(chosen); err != nil {
		return nil, diag.Faultf(CodeBadForm, "%s: %s", name, err)
	}
	return chosen, nil
}

// readCallResult reads the result that the LLM wrote, which it may for latent Tools alone.
func (t *Tool) ReadLatentResult(c *Call, m map[string]any, kind ToolKind) *diag.Fault {
	c.Reasoning, _ = m["_reasoningForCall"].(string)
	out := m["_output"]
	if out == nil {
		return nil
	}
	if kind != KindLatent {
		return diag.Faultf(CodeUnknownKey, "tool %q is run by code: its result cannot be written by the LLM", t.Name)
	}
	out = t.Output.WithoutNulls(out)
	if !jsonval.HasHandle(out) {
		if err := t.Output.Validate(out); err != nil {
			return diag.Faultf(CodeBadOutput, "_output: %s", err)
		}
	}
	c.Output, c.HasOutput = out, true
	return nil
}

// parseScopes reads a list of places such as "state.user" or "input", with or without a dagger in front.
func parseScopes(v any) ([]string, error) {
	list, ok := jsonval.StringList(v)
	if !ok {
		return nil, fmt.Errorf(`_scopes is a list of places such as "state.user"`)
	}
	for _, s := range list {
		if _, err := refexpr.ParseReference(refexpr.Dagger + strings.TrimPrefix(s, refexpr.Dagger)); err != nil {
			return nil, fmt.Errorf("_scopes: %w", err)
		}
	}
	return list, nil
}

// AsWritten gives the Call in the form in which the LLM writes it.
func (c Call) AsWritten(token string) map[string]any {
	m := map[string]any{"_tool": c.Tool}
	//workflowcheck:ignore -- a map again
	for k, v := range c.Params {
		m[k] = v
	}
	if token != "" {
		m["_instance"] = token
	}
	if c.OutputPath != nil {
		m["_outputPath"] = c.OutputPath.Reference()
	}
	if c.OutputMethod != "" {
		m["_outputMethod"] = c.OutputMethod
	}
	if len(c.Scopes) > 0 {
		m["_scopes"] = jsonval.Normal(c.Scopes)
	}
	return m
}

var _ json.Marshaler = jsonval.Path(nil)

// withoutAbsent leaves out what is null because it may be absent.
func (t *Tool) WithoutNullParams(params map[string]any) map[string]any {
	out := map[string]any{}
	for _, k := range jsonval.SortedKeys(params) {
		if t == nil {
			out[k] = params[k]
			continue
		}
		if params[k] == nil && !t.Requires(k) && !t.SchemaByParam[k].TakesNull() {
			continue
		}
		out[k] = jsonschema.WithoutNulls(t.Source, jsonval.Path{k}, params[k])
	}
	return out
}
