package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Tool is a JSON Schema that names a capability: parameters, and meta properties with a leading `_`.
type Tool struct {
	Name        string
	Description string
	// Source is the Tool as it was written.
	Source map[string]any
	// Output describes the result (`_output`); nil where nothing is said.
	Output *Schema
	// OutputPath, OutputMethod and Scopes say who chooses these meta properties of a Call.
	OutputPath, OutputMethod, Scopes Choice
	// Timeout is for one attempt of the Tool's activity.
	Timeout time.Duration
	// Attempts is how often the Tool may fail by itself before its Call does. 1 means: never run twice.
	Attempts int
	// Activity is `_activity` as written: nil, a name, {"http": …}, or {"mcp": …}.
	Activity any
	// Delegate is `_delegate`: the Idea file that a Call runs, or Anonymous; empty where it is none.
	Delegate string
	// Writes are the paths of its parent's State for which a delegate may hand values back.
	Writes []Path
	// Approval says when a person must look at a Call; nil: never.
	Approval *Approval

	params *Schema            // all parameters at once
	each   map[string]*Schema // every declared parameter alone
	wired  map[string]string  // parameters the designer wired to a Reference
	open   bool               // other parameters than the declared ones may be given
}

const (
	defaultTimeout  = 60 * time.Second
	defaultAttempts = 3
)

// Choice is a Tool's word on a meta property of its Calls: undeclared, fixed by the designer, or for the LLM within a
// schema.
type Choice struct {
	Declared bool
	Fixed    any     // where Schema is nil
	Schema   *Schema // what the LLM may choose
}

// toolMeta lists the meta properties of a Tool.
var toolMeta = []string{"_activity", "_approval", "_delegate", "_output", "_outputMethod", "_outputPath", "_retry",
	"_scopes", "_timeout", "_writes"}

// ReadTool reads one Tool of the palette; what is wrong with it goes to ps under path.
func ReadTool(name string, raw any, path string, ps *Problems) *Tool {
	source, ok := raw.(map[string]any)
	if !ok {
		ps.add(path, "a tool is an object, not %s", TypeOf(raw))
		return nil
	}
	t := &Tool{Name: name, Source: source, Timeout: defaultTimeout, Attempts: defaultAttempts}
	if name == "" || strings.HasPrefix(name, "_") || len(name) > 64 {
		ps.add(path, "a tool's name has 1 to 64 bytes and does not begin with _")
	}
	t.Description, _ = source["description"].(string)
	t.readParams(path, ps)
	t.readMeta(path, ps)
	return t
}

func (t *Tool) readParams(path string, ps *Problems) {
	if typ, ok := t.Source["type"]; ok && typ != "object" {
		ps.add(path+".type", `a tool's parameters are an object: "type" must be "object"`)
	}
	var err error
	form := t.Form()
	if t.params, err = CompileSchema(form); err != nil {
		ps.add(path, "%s", strings.TrimPrefix(err.Error(), "model: "))
		return
	}
	props, declared := t.Source["properties"].(map[string]any)
	more, said := t.Source["additionalProperties"]
	t.open = said && more != false || !said && !declared
	t.each, t.wired = map[string]*Schema{}, map[string]string{}
	for _, name := range sortedKeys(props) {
		at := joinJSONPath(path+".properties", name)
		if strings.HasPrefix(name, "_") {
			ps.add(at, "a parameter's name does not begin with _: that is for meta properties")
		}
		if ref, ok := wiredReference(props[name]); ok {
			if _, err := ParseExpression(ref); err != nil {
				ps.add(at+".const", "%s", err)
			}
			t.wired[name] = ref
		}
		if t.each[name], err = compileAt(form, "/properties/"+escapePointer(name)); err != nil {
			ps.add(at, "%s", strings.TrimPrefix(err.Error(), "model: "))
		}
	}
}

// Form is the JSON Schema of resolved parameters: of a wired one the value fits, not the Reference that stands for it.
func (t *Tool) Form() map[string]any {
	props, ok := t.Source["properties"].(map[string]any)
	if !ok {
		return t.Source
	}
	open := map[string]any{}
	//workflowcheck:ignore -- a map again
	for name, schema := range props {
		if _, wired := wiredReference(schema); wired {
			schema = withoutKey(schema.(map[string]any), "const")
		}
		open[name] = schema
	}
	form := withoutKey(t.Source, "properties")
	form["properties"] = open
	return form
}

func withoutKey(m map[string]any, key string) map[string]any {
	out := make(map[string]any, len(m))
	//workflowcheck:ignore -- a map again
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}

// wiredReference reads {"const": "†…"}: a parameter that the engine fills and the LLM never sees.
func wiredReference(schema any) (string, bool) {
	m, _ := schema.(map[string]any)
	s, ok := m["const"].(string)
	return s, ok && IsReference(s)
}

func (t *Tool) readMeta(path string, ps *Problems) {
	for _, k := range sortedKeys(t.Source) {
		if strings.HasPrefix(k, "_") && !slices.Contains(toolMeta, k) {
			ps.add(joinJSONPath(path, k), "unknown meta property; a tool has %s", strings.Join(toolMeta, ", "))
		}
	}
	t.readDelegate(path, ps)
	t.Approval = readApproval(t.Source["_approval"], path+"._approval", ps)
	if out, ok := t.Source["_output"]; ok && out != nil {
		var err error
		if t.Output, err = CompileSchema(out); err != nil {
			ps.add(path+"._output", "%s", strings.TrimPrefix(err.Error(), "model: "))
		}
	}
	t.OutputPath = readChoice(t.Source, "_outputPath", path, ps, func(v any) error {
		_, err := parseOutputPath(v)
		return err
	})
	t.OutputMethod = readChoice(t.Source, "_outputMethod", path, ps, checkMethod)
	t.Scopes = readChoice(t.Source, "_scopes", path, ps, func(v any) error {
		_, err := parseScopes(v)
		return err
	})
	t.readActivity(path, ps)
	t.readEffort(path, ps)
}

func readChoice(source map[string]any, key, path string, ps *Problems, check func(any) error) Choice {
	v, ok := source[key]
	if !ok || v == nil {
		return Choice{}
	}
	at := joinJSONPath(path, key)
	if schema, ok := v.(map[string]any); ok {
		s, err := CompileSchema(schema)
		if err != nil {
			ps.add(at, "%s", strings.TrimPrefix(err.Error(), "model: "))
		}
		return Choice{Declared: true, Schema: s}
	}
	if err := check(v); err != nil {
		ps.add(at, "%s", err)
	}
	return Choice{Declared: true, Fixed: v}
}

func (t *Tool) readActivity(path string, ps *Problems) {
	t.Activity = t.Source["_activity"]
	at := path + "._activity"
	switch a := t.Activity.(type) {
	case nil:
	case string:
		if a == "" {
			ps.add(at, "an activity's name is not empty")
		}
	case map[string]any:
		spec, mcp := a["mcp"].(map[string]any)
		if _, http := a["http"].(map[string]any); http == mcp || len(a) != 1 {
			ps.add(at, `want a name, {"http": {…}} or {"mcp": {…}}`)
		}
		readMCPTool(spec, at+".mcp", mcp, ps)
	default:
		ps.add(at, `want a name, {"http": {…}} or {"mcp": {…}}, not %s`, TypeOf(a))
	}
}

func (t *Tool) readEffort(path string, ps *Problems) {
	if v := t.Source["_timeout"]; v != nil {
		d, err := readDuration(v)
		if err != nil {
			ps.add(path+"._timeout", "%s", err)
		} else {
			t.Timeout = d
		}
	}
	v := t.Source["_retry"]
	if v == nil {
		return
	}
	retry, ok := v.(map[string]any)
	n, err := positive(retry["attempts"])
	if !ok || err != nil || len(retry) != 1 {
		ps.add(path+"._retry", `want {"attempts": N} with N from 1`)
		return
	}
	t.Attempts = n
}

// readDuration reads "72h", "10s", or a number of seconds.
func readDuration(v any) (time.Duration, error) {
	switch v := v.(type) {
	case string:
		if d, err := time.ParseDuration(v); err == nil && d > 0 {
			return d, nil
		}
	case json.Number:
		if f, err := v.Float64(); err == nil && f > 0 && f < 1e9 {
			return time.Duration(f * float64(time.Second)), nil
		}
	}
	return 0, fmt.Errorf(`want a duration such as "60s", or seconds, above zero`)
}

func positive(v any) (int, error) {
	n, ok := v.(json.Number)
	if ok {
		if i, err := n.Int64(); err == nil && i > 0 && i < 1<<31 {
			return int(i), nil
		}
	}
	return 0, fmt.Errorf("want a whole number from 1")
}

// Kind says how a Tool is run.
type Kind string

// The kinds of Tools that run so far.
const (
	KindGo     Kind = "go"     // a Go function the worker knows
	KindHTTP   Kind = "http"   // an HTTP request
	KindMCP    Kind = "mcp"    // a tool of an MCP server
	KindLatent Kind = "latent" // the LLM itself writes the result
	// KindDelegate runs another Idea as a process of its own.
	KindDelegate Kind = "delegate"
)

// Binding is what a Tool was bound to when its process started; it is decided once and carried along, so that a worker
// that knows other tools does not change a running process.
type Binding struct {
	Kind Kind `json:"kind"`
	// Name of the Go function.
	Name string `json:"name,omitempty"`
	// Pure functions run as local activities.
	Pure bool `json:"pure,omitempty"`
	// Simulated says that nothing is run: the result is made up. nil: it runs.
	Simulated *Simulation `json:"simulated,omitempty"`
}

// Bind decides what runs a Tool. lookup tells whether a Go function of a name is registered, and whether it is pure.
func (t *Tool) Bind(lookup func(name string) (pure, ok bool)) (Binding, error) {
	if t.Delegate != "" {
		return Binding{Kind: KindDelegate}, nil
	}
	switch a := t.Activity.(type) {
	case map[string]any:
		if _, ok := a["mcp"]; ok {
			return Binding{Kind: KindMCP}, nil
		}
		return Binding{Kind: KindHTTP}, nil
	case string:
		pure, ok := lookup(a)
		if !ok {
			return Binding{}, fmt.Errorf("no activity %q is registered", a)
		}
		return Binding{Kind: KindGo, Name: a, Pure: pure}, nil
	}
	if pure, ok := lookup(t.Name); ok {
		return Binding{Kind: KindGo, Name: t.Name, Pure: pure}, nil
	}
	return Binding{Kind: KindLatent}, nil
}
