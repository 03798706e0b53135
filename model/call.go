package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	OutputPath OutputPath `json:"outputPath,omitempty"`
	Method     string     `json:"method,omitempty"` // an update method; empty: write-once
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

// TokenOf gives the instance that a Call's id names; empty for the anonymous one.
func TokenOf(id string) string {
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
	CodeUnknown      = "outcome_unknown"
	// Of MCP servers: one cannot be reached, or may not be; it now offers another tool than it did; a tool asks a person.
	CodeMCPUnreachable = "mcp_unreachable"
	CodeMCPRefused     = "mcp_refused"
	CodeToolChanged    = "tool_changed"
	CodeInputWanted    = "input_wanted"
)

// Fault is what went wrong with a Call, a Request or a process.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error gives code and message.
func (f *Fault) Error() string { return f.Code + ": " + f.Message }

func fault(code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Palette is the Tools that Calls may use, bound to what runs them, and the instances that they may name.
type Palette struct {
	Tools    []*Tool
	Bindings map[string]Binding
	// Tokens are the instances that a Request covers; [""] for the anonymous one.
	Tokens []string
	// Oversight is what the process adds to the Tools' approval policies.
	Oversight Oversight
	// Adapt says that the LLM may be asked to fit values that References brought to the Tools' schemas.
	Adapt bool
	// Template says that a Call without a token is for every instance, as in a Plan message.
	Template bool
}

// callMeta lists the meta properties that a Call may have.
var callMeta = []string{"_instance", "_output", "_outputMethod", "_outputPath", "_reasoningForCall", "_scopes", "_tool"}

// Read reads a Call as the LLM wrote it, and the instances it is for, as far as they can be told even where the Call is
// broken. ID, Request and Index are left to the caller. What only an instance knows (its State schema, what its
// References find) is checked there.
func (p *Palette) Read(raw any) (c Call, tokens []string, f *Fault) {
	m, ok := raw.(map[string]any)
	if !ok {
		return c, nil, fault(CodeBadForm, "a Call is an object, not %s", TypeOf(raw))
	}
	name, _ := m["_tool"].(string)
	c.Tool = name
	tokens, f = p.targets(m["_instance"])
	if f != nil {
		return c, tokens, f
	}
	t := findTool(p.Tools, name)
	if t == nil {
		return c, tokens, fault(CodeUnknownTool, "unknown tool %q", Clip(name, 80))
	}
	if f := checkMeta(m); f != nil {
		return c, tokens, f
	}
	c.Params, f = t.readCallParams(m)
	if f == nil {
		f = t.readCallOutput(&c, m)
	}
	if f == nil {
		f = t.readCallResult(&c, m, p.Bindings[name].Kind)
	}
	return c, tokens, f
}

func checkMeta(m map[string]any) *Fault {
	for _, k := range sortedKeys(m) {
		if strings.HasPrefix(k, "_") && m[k] != nil && !slices.Contains(callMeta, k) {
			return fault(CodeUnknownKey, "a Call has no meta property %q", Clip(k, 80))
		}
	}
	return nil
}

// targets reads `_instance`.
func (p *Palette) targets(v any) ([]string, *Fault) {
	anonymous := len(p.Tokens) == 1 && p.Tokens[0] == ""
	token, ok := v.(string)
	switch {
	case v != nil && !ok:
		return nil, fault(CodeBadInstance, "_instance is a token, not %s", TypeOf(v))
	case len(p.Tokens) == 0:
		return nil, fault(CodeBadInstance, "the Request covers no instance: only its output was wanted")
	case token == "*" && ok, v == nil && (anonymous || p.Template):
		return p.Tokens, nil
	case v == nil:
		return nil, fault(CodeBadInstance, `the Call names no instance: it needs "_instance", a token or "*"`)
	case anonymous || !slices.Contains(p.Tokens, token):
		return nil, fault(CodeBadInstance, "the Request covers no instance %q", Clip(token, 80))
	}
	return []string{token}, nil
}

// readCallParams gives a Call's parameters, wired ones filled in and absent ones dropped, once they fit the Tool as far
// as that can be told before References are resolved.
func (t *Tool) readCallParams(m map[string]any) (map[string]any, *Fault) {
	params := map[string]any{}
	for _, k := range sortedKeys(m) {
		if strings.HasPrefix(k, "_") || t.isOutputAlias(k, m[k]) {
			continue
		}
		v, keep, f := t.readParam(k, m[k])
		if f != nil {
			return nil, f
		}
		if keep {
			params[k] = v
		}
	}
	for _, k := range sortedKeys(t.wired) {
		params[k] = t.wired[k]
	}
	return params, t.checkRequired(params)
}

func (t *Tool) readParam(name string, v any) (out any, keep bool, f *Fault) {
	if ref, ok := t.wired[name]; ok {
		if v != nil && v != ref {
			return nil, false, fault(CodeBadParams, "parameter %q is wired by the tool's designer", name)
		}
		return ref, true, nil
	}
	schema, declared := t.each[name]
	if !declared && !t.open {
		if v == nil {
			return nil, false, nil
		}
		return nil, false, fault(CodeBadParams, "tool %q has no parameter %q", t.Name, Clip(name, 80))
	}
	if absent := v == nil && !t.required(name) && !schema.takesNull(); absent {
		return nil, false, nil
	}
	v = withoutNulls(t.Source, Path{name}, v)
	refs, err := References(v)
	if err != nil {
		return nil, false, fault(CodeBadReference, "parameter %q: %s", name, err)
	}
	if len(refs) > 0 || HasHandle(v) {
		return v, true, nil // checked when it is resolved
	}
	literal, _ := Resolve(v, nil) // only doubled daggers can be in it
	if err := schema.Validate(literal); err != nil {
		return nil, false, fault(CodeBadParams, "parameter %q: %s", name, err)
	}
	return v, true, nil
}

func (t *Tool) required(name string) bool {
	list, _ := stringList(t.Source["required"])
	return slices.Contains(list, name)
}

func (t *Tool) checkRequired(params map[string]any) *Fault {
	list, _ := stringList(t.Source["required"])
	for _, name := range list {
		if _, ok := params[name]; !ok {
			return fault(CodeBadParams, "parameter %q is missing", name)
		}
	}
	return nil
}

// Fits says how resolved parameters do not fit the Tool. Parameters that hold a handle are checked where the value is
// at hand, by the activity.
func (t *Tool) Fits(params map[string]any) error {
	if !HasHandle(params) {
		return t.params.Validate(params)
	}
	for _, k := range sortedKeys(params) {
		if schema := t.each[k]; schema != nil && !HasHandle(params[k]) {
			if err := schema.Validate(params[k]); err != nil {
				return fmt.Errorf("parameter %q: %w", k, err)
			}
		}
	}
	return nil
}

// isOutputAlias recognises a parameter `output` that means `_outputPath`: the Tool declares none, and the value is a
// State reference.
func (t *Tool) isOutputAlias(name string, v any) bool {
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
func (t *Tool) readCallOutput(c *Call, m map[string]any) *Fault {
	chosen := m["_outputPath"]
	if alias := m["output"]; t.isOutputAlias("output", alias) {
		if chosen != nil && chosen != alias {
			return fault(CodeBadPath, "_outputPath and output name two paths")
		}
		chosen = alias
	}
	if samePath(chosen, t.OutputPath.Fixed) {
		chosen = nil
	}
	v, f := t.OutputPath.of("_outputPath", chosen, true)
	if f != nil {
		return f
	}
	if v != nil {
		path, err := parseOutputPath(v)
		if err != nil {
			return fault(CodeBadPath, "%s", err)
		}
		c.OutputPath = path
	}
	if v, f = t.OutputMethod.of("_outputMethod", m["_outputMethod"], false); f != nil {
		return f
	}
	if v != nil {
		if err := checkMethod(v); err != nil {
			return fault(CodeBadForm, "%s", err)
		}
		c.Method = methodOf(v)
	}
	if c.OutputPath.whole() && (c.Method == methodPush || c.Method == methodConcat) {
		return fault(CodeBadPath, "%s to the whole State would make a list of it", c.Method)
	}
	if v, f = t.Scopes.of("_scopes", m["_scopes"], false); f != nil {
		return f
	}
	if v != nil {
		scopes, err := parseScopes(v)
		if err != nil {
			return fault(CodeBadReference, "%s", err)
		}
		c.Scopes = scopes
	}
	return nil
}

// of is a meta property of a Call: what the designer fixed, or what the LLM chose, where it may.
func (ch Choice) of(name string, chosen any, free bool) (any, *Fault) {
	switch {
	case !ch.Declared && (free || chosen == nil):
		return chosen, nil
	case !ch.Declared:
		return nil, fault(CodeUnknownKey, "the tool declares no %s", name)
	case ch.Schema == nil:
		if chosen != nil && !Equal(chosen, ch.Fixed) {
			return nil, fault(CodeUnknownKey, "%s is fixed by the tool's designer", name)
		}
		return ch.Fixed, nil
	case chosen == nil:
		return nil, nil
	}
	if err := ch.Schema.Validate(chosen); err != nil {
		return nil, fault(CodeBadForm, "%s: %s", name, err)
	}
	return chosen, nil
}

// readCallResult reads the result that the LLM wrote, which it may for latent Tools alone.
func (t *Tool) readCallResult(c *Call, m map[string]any, kind Kind) *Fault {
	c.Reasoning, _ = m["_reasoningForCall"].(string)
	out := m["_output"]
	if out == nil {
		return nil
	}
	if kind != KindLatent {
		return fault(CodeUnknownKey, "tool %q is run by code: its result cannot be written by the LLM", t.Name)
	}
	out = t.Output.withoutNulls(out)
	if !HasHandle(out) {
		if err := t.Output.Validate(out); err != nil {
			return fault(CodeBadOutput, "_output: %s", err)
		}
	}
	c.Output, c.HasOutput = out, true
	return nil
}

// parseScopes reads a list of places such as "state.user" or "input", with or without a dagger in front.
func parseScopes(v any) ([]string, error) {
	list, ok := stringList(v)
	if !ok {
		return nil, fmt.Errorf(`_scopes is a list of places such as "state.user"`)
	}
	for _, s := range list {
		if _, err := ParseReference(dagger + strings.TrimPrefix(s, dagger)); err != nil {
			return nil, fmt.Errorf("_scopes: %w", err)
		}
	}
	return list, nil
}

// The ways a result can be put at its output path. The empty method is write-once.
const (
	methodAssign = "assign"
	methodMerge  = "merge"
	methodPush   = "push"
	methodConcat = "concat"
)

func checkMethod(v any) error {
	s, ok := v.(string)
	if !ok || !slices.Contains([]string{"set", methodAssign, methodMerge, methodPush, methodConcat}, s) {
		return fmt.Errorf("_outputMethod is set, assign, merge, push or concat")
	}
	return nil
}

func methodOf(v any) string {
	if s := v.(string); s != "set" {
		return s
	}
	return ""
}

// Raw gives the Call in the form in which the LLM writes it.
func (c Call) Raw(token string) map[string]any {
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
	if c.Method != "" {
		m["_outputMethod"] = c.Method
	}
	if len(c.Scopes) > 0 {
		m["_scopes"] = Normal(c.Scopes)
	}
	return m
}

var _ json.Marshaler = Path(nil)

// MarshalJSON writes a path in the form that ParsePath reads.
func (p Path) MarshalJSON() ([]byte, error) { return json.Marshal(p.String()) }

// UnmarshalJSON reads the form that MarshalJSON writes.
func (p *Path) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	path, err := ParsePath(s)
	*p = path
	return err
}
