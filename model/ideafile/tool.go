package ideafile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// Tool is a JSON Schema that names a capability: parameters, and meta properties with a leading `_`.
type Tool struct {
	Name        string
	Description string
	// Source is the Tool as it was written.
	Source map[string]any
	// Output describes the result (`_output`); nil where nothing is said.
	Output *jsonschema.Schema
	// OutputPath, OutputMethod and Scopes say who chooses these meta properties of a Call.
	OutputPath, OutputMethod, Scopes MetaValue
	// Timeout is for one attempt of the Tool's activity.
	Timeout time.Duration
	// Attempts is how often the Tool may fail by itself before its Call does. 1 means: never run twice.
	Attempts int
	// Activity is `_activity` as written: nil, the name of a Go function, or {"<kind>": spec}.
	Activity any
	// Delegate is `_delegate`: the Idea file that a Call runs, or Anonymous; empty where it is none.
	Delegate string
	// DelegateWrites are the paths of its parent's State for which a delegate may hand values back.
	DelegateWrites []jsonval.Path
	// Approval says when a person must look at a Call; nil: never.
	Approval *Approval

	ParamsSchema *jsonschema.Schema            // all parameters at once
	SchemaByParam map[string]*jsonschema.Schema // every declared parameter alone
	WiredParams        map[string]string             // parameters the designer wired to a Reference
	AllowsExtraParams   bool                          // other parameters than the declared ones may be given
}

const (
	defaultTimeout  = 60 * time.Second
	defaultAttempts = 3
)

// Choice is a Tool's word on a meta property of its Calls: undeclared, fixed by the designer, or for the LLM within a
// schema.
type MetaValue struct {
	Declared bool
	Fixed    any                // where Schema is nil
	Schema   *jsonschema.Schema // what the LLM may choose
}

// toolMeta lists the meta properties of a Tool.
var ToolMetaKeys = []string{"_activity", "_approval", "_delegate", "_output", "_outputMethod", "_outputPath", "_retry",
	"_scopes", "_timeout", "_writes"}

// ReadTool reads one Tool of the palette; what is wrong with it goes to ps under path.
func ReadTool(name string, raw any, path string, ps *diag.Problems) *Tool {
	source, ok := raw.(map[string]any)
	if !ok {
		ps.Add(path, "a tool is an object, not %s", jsonval.TypeOf(raw))
		return nil
	}
	t := &Tool{Name: name, Source: source, Timeout: defaultTimeout, Attempts: defaultAttempts}
	if name == "" || strings.HasPrefix(name, "_") || len(name) > 64 {
		ps.Add(path, "a tool's name has 1 to 64 bytes and does not begin with _")
	}
	t.Description, _ = source["description"].(string)
	t.readParams(path, ps)
	t.readMeta(path, ps)
	return t
}

func (t *Tool) readParams(path string, ps *diag.Problems) {
	if typ, ok := t.Source["type"]; ok && typ != "object" {
		ps.Add(path+".type", `a tool's parameters are an object: "type" must be "object"`)
	}
	var err error
	schema := t.ParamsSchemaSource()
	if t.ParamsSchema, err = jsonschema.CompileSchema(schema); err != nil {
		ps.Add(path, "%s", strings.TrimPrefix(err.Error(), "model: "))
		return
	}
	props, declared := t.Source["properties"].(map[string]any)
	additional, hasAdditional := t.Source["additionalProperties"]
	t.AllowsExtraParams = hasAdditional && additional != false || !hasAdditional && !declared
	t.SchemaByParam, t.WiredParams = map[string]*jsonschema.Schema{}, map[string]string{}
	for _, name := range jsonval.SortedKeys(props) {
		at := jsonval.JSONPathKey(path+".properties", name)
		if strings.HasPrefix(name, "_") {
			ps.Add(at, "a parameter's name does not begin with _: that is for meta properties")
		}
		if ref, ok := wiredReference(props[name]); ok {
			if _, err := refexpr.ParseExpression(ref); err != nil {
				ps.Add(at+".const", "%s", err)
			}
			t.WiredParams[name] = ref
		}
		if t.SchemaByParam[name], err = jsonschema.CompileAt(schema, "/properties/"+jsonschema.EscapePointer(name)); err != nil {
			ps.Add(at, "%s", strings.TrimPrefix(err.Error(), "model: "))
		}
	}
}

// ParamsSchemaSource is the JSON Schema of resolved parameters: of a wired one the value fits, not the Reference that stands for it.
func (t *Tool) ParamsSchemaSource() map[string]any {
	props, ok := t.Source["properties"].(map[string]any)
	if !ok {
		return t.Source
	}
	properties := map[string]any{}
	//workflowcheck:ignore -- a map again
	for name, schema := range props {
		if _, wired := wiredReference(schema); wired {
			schema = jsonval.WithoutKey(schema.(map[string]any), "const")
		}
		properties[name] = schema
	}
	schema := jsonval.WithoutKey(t.Source, "properties")
	schema["properties"] = properties
	return schema
}

// wiredReference reads {"const": "†…"}: a parameter that the engine fills and the LLM never sees.
func wiredReference(schema any) (string, bool) {
	m, _ := schema.(map[string]any)
	s, ok := m["const"].(string)
	return s, ok && refexpr.IsReference(s)
}

func (t *Tool) readMeta(path string, ps *diag.Problems) {
	for _, k := range jsonval.SortedKeys(t.Source) {
		if strings.HasPrefix(k, "_") && !slices.Contains(ToolMetaKeys, k) {
			ps.Add(jsonval.JSONPathKey(path, k), "unknown meta property; a tool has %s", strings.Join(ToolMetaKeys, ", "))
		}
	}
	t.readDelegate(path, ps)
	t.Approval = readApproval(t.Source["_approval"], path+"._approval", ps)
	if out, ok := t.Source["_output"]; ok && out != nil {
		var err error
		if t.Output, err = jsonschema.CompileSchema(out); err != nil {
			ps.Add(path+"._output", "%s", strings.TrimPrefix(err.Error(), "model: "))
		}
	}
	t.OutputPath = readMetaValue(t.Source, "_outputPath", path, ps, func(v any) error {
		_, err := refexpr.ParseOutputPath(v)
		return err
	})
	t.OutputMethod = readMetaValue(t.Source, "_outputMethod", path, ps, statelog.CheckMethod)
	t.Scopes = readMetaValue(t.Source, "_scopes", path, ps, func(v any) error {
		_, err := parseScopes(v)
		return err
	})
	t.readActivity(path, ps)
	t.readTimeoutAndRetry(path, ps)
}

func readMetaValue(source map[string]any, key, path string, ps *diag.Problems, check func(any) error) MetaValue {
	v, ok := source[key]
	if !ok || v == nil {
		return MetaValue{}
	}
	at := jsonval.JSONPathKey(path, key)
	if schema, ok := v.(map[string]any); ok {
		s, err := jsonschema.CompileSchema(schema)
		if err != nil {
			ps.Add(at, "%s", strings.TrimPrefix(err.Error(), "model: "))
		}
		return MetaValue{Declared: true, Schema: s}
	}
	if err := check(v); err != nil {
		ps.Add(at, "%s", err)
	}
	return MetaValue{Declared: true, Fixed: v}
}

func (t *Tool) readActivity(path string, ps *diag.Problems) {
	t.Activity = t.Source["_activity"]
	at := path + "._activity"
	switch a := t.Activity.(type) {
	case nil:
	case string:
		if a == "" {
			ps.Add(at, "an activity's name is not empty")
		}
	case map[string]any:
		// Whether a kind is known, and whether its spec is right, is said by the runner that is registered under it.
		kind, spec, ok := t.activityKind()
		if !ok {
			ps.Add(at, activityForm)
		}
		if kind == KindMCP {
			readMCPTool(spec, at+".mcp", ps)
		}
	default:
		ps.Add(at, activityForm+", not %s", jsonval.TypeOf(a))
	}
}

const activityForm = `want a name, or one kind of tool with its settings, as {"http": {…}} or {"mcp": {…}}`

// activityKind reads `_activity: {"<kind>": spec}`; ok is false where it is of no such form.
func (t *Tool) activityKind() (kind ToolKind, spec any, ok bool) {
	a, _ := t.Activity.(map[string]any)
	if len(a) != 1 {
		return "", nil, false
	}
	k := ToolKind(jsonval.SortedKeys(a)[0])
	return k, a[string(k)], k != "" && k != KindGo && k.HasRunner()
}

func (t *Tool) readTimeoutAndRetry(path string, ps *diag.Problems) {
	if v := t.Source["_timeout"]; v != nil {
		d, err := readDuration(v)
		if err != nil {
			ps.Add(path+"._timeout", "%s", err)
		} else {
			t.Timeout = d
		}
	}
	v := t.Source["_retry"]
	if v == nil {
		return
	}
	retry, ok := v.(map[string]any)
	n, err := ReadPositiveInt(retry["attempts"])
	if !ok || err != nil || len(retry) != 1 {
		ps.Add(path+"._retry", `want {"attempts": N} with N from 1`)
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

func ReadPositiveInt(v any) (int, error) {
	n, ok := v.(json.Number)
	if ok {
		if i, err := n.Int64(); err == nil && i > 0 && i < 1<<31 {
			return int(i), nil
		}
	}
	return 0, fmt.Errorf("want a whole number from 1")
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// ToolKind says how a Tool is run. Beside those below there may be others: workers know a runner for each.
type ToolKind string

// The kinds of Tools that come with the program.
const (
	KindGo     ToolKind = "go"     // a Go function the worker knows
	KindHTTP   ToolKind = "http"   // an HTTP request
	KindMCP    ToolKind = "mcp"    // a tool of an MCP server
	KindLatent ToolKind = "latent" // the LLM itself writes the result
	// KindDelegate runs another Idea as a process of its own.
	KindDelegate ToolKind = "delegate"
)

// HasRunner reports whether a worker's runner runs Tools of this kind, as an activity. The others are carried out by
// workflows.
func (k ToolKind) HasRunner() bool { return k != KindLatent && k != KindDelegate }

// Binding is what a Tool was bound to when its process started; it is decided once and carried along, so that a worker
// that knows other tools does not change a running process.
type Binding struct {
	Kind ToolKind `json:"kind"`
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
		kind, _, _ := t.activityKind()
		return Binding{Kind: kind}, nil
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

// RunSpec is what the runner of a Tool's kind is told of the Tool: a Go function's name, an MCPSpec, and of any other kind
// what stands in `_activity` under it.
func (t *Tool) RunSpec(b Binding, servers []MCPServer) any {
	switch b.Kind {
	case KindGo:
		return b.Name
	case KindMCP:
		return t.mcpSpec(servers)
	}
	_, spec, _ := t.activityKind()
	return spec
}
