package ideafile

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// Idea is one immutable snapshot of a process: schema, context and solution.
type Idea struct {
	Path, Version string
	Config        Config
	// Tools is the palette, sorted by name.
	Tools []*Tool
	// Output is the form of the final output; nil where there is none.
	Output *jsonschema.Schema
	// Context is the Messages, in order.
	Context []Message
	// Source is the Idea as it was written.
	Source map[string]any
	// Simulated says that its Tools are played; nil: they run.
	Simulated *Simulation
}

// Config is how a process is run.
type Config struct {
	LLM    LLM
	Limits Limits
	// Approval adds to what the Tools say of when a person must look.
	Approval ApprovalOverride
	// Adapt says that the LLM may fit values that References brought to the Tools' schemas.
	Adapt bool
	// GatherDelay is how long a Request that could be made waits for instances that are not ready for it yet.
	GatherDelay time.Duration
	// BatchSize is how many instances a process has at most before it is split into parts of that size.
	BatchSize int
	// MCP is the servers whose tools join the palette, by name.
	MCP []MCPServer
}

// LLM is what the process asks of the LLM. The address and the key are the worker's.
type LLM struct {
	Model       string        `json:"model,omitempty"` // empty: the worker's OPENAI_MODEL
	Temperature *float64      `json:"temperature,omitempty"`
	MaxTokens   int           `json:"maxTokens,omitempty"` // of one reply; 0: the server's own limit
	Timeout     time.Duration `json:"timeout,omitempty"`   // of one Request, whole
}

// DefaultRequestTimeout is how long one Request may take, whole, unless `config.llm.timeout` says otherwise.
const DefaultRequestTimeout = 5 * time.Minute

// DefaultGatherDelay is `config.gather` unless a file says otherwise.
const DefaultGatherDelay = 10 * time.Second

// DefaultBatchSize is how many instances a process has at most before it is split, unless its config says otherwise.
const DefaultBatchSize = 100

// Limits pause a process that reaches one; 0 is none.
type Limits struct {
	Requests int           `json:"requests,omitempty"`
	Tokens   int           `json:"tokens,omitempty"`
	Calls    int           `json:"calls,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
}

// ParseIdea reads an Idea file and reports everything that breaks its form, each with its place.
func ParseIdea(data []byte) (*Idea, diag.Problems) {
	v, err := jsonval.Decode(data)
	if err != nil {
		return nil, diag.Problems{{Path: "$", Message: strings.TrimPrefix(err.Error(), "model: ")}}
	}
	return ReadIdea(v)
}

// ReadIdea is ParseIdea for a value that was decoded already.
func ReadIdea(v any) (*Idea, diag.Problems) {
	var ps diag.Problems
	source, ok := v.(map[string]any)
	if !ok {
		ps.Add("$", "an Idea is an object, not %s", jsonval.TypeOf(v))
		return nil, ps
	}
	for _, k := range jsonval.SortedKeys(source) {
		if !slices.Contains([]string{"config", "context", "meta", "schema", "solution"}, k) {
			ps.Add(jsonval.JSONPathKey("$", k), "unknown key %q; an Idea has meta, config, schema, context and solution", k)
		}
	}
	i := &Idea{Source: source, Config: Config{LLM: LLM{Timeout: DefaultRequestTimeout}, Adapt: true, GatherDelay: DefaultGatherDelay, BatchSize: DefaultBatchSize}}
	i.readMeta(ReadObject(source, "meta", "$", &ps), &ps)
	i.readConfig(ReadObject(source, "config", "$", &ps), &ps)
	i.readSchema(ReadObject(source, "schema", "$", &ps), &ps)
	i.checkServerNames(&ps)
	i.checkApprovalOverride(&ps)
	i.readContext(source["context"], &ps)
	i.detectSimulation()
	if s := source["solution"]; s != nil && jsonval.TypeOf(s) != "object" {
		ps.Add("$.solution", "want an object, not %s", jsonval.TypeOf(s))
	}
	return i, ps
}

// object gives the object at a key; nil where it is absent, and a Problem where it is something else.
func ReadObject(m map[string]any, key, path string, ps *diag.Problems) map[string]any {
	v, ok := m[key]
	if !ok || v == nil {
		return nil
	}
	o, ok := v.(map[string]any)
	if !ok {
		ps.Add(jsonval.JSONPathKey(path, key), "want an object, not %s", jsonval.TypeOf(v))
	}
	return o
}

func (i *Idea) readMeta(meta map[string]any, ps *diag.Problems) {
	i.readSimulation(meta[simulatedMetaKey], ps)
	for _, f := range []struct {
		key string
		to  *string
	}{{"path", &i.Path}, {"version", &i.Version}} {
		if v, ok := meta[f.key]; ok && v != nil {
			if *f.to, ok = v.(string); !ok {
				ps.Add("$.meta."+f.key, "want a string, not %s", jsonval.TypeOf(v))
			}
		}
	}
}

func (i *Idea) readConfig(config map[string]any, ps *diag.Problems) {
	for _, k := range jsonval.SortedKeys(config) {
		at := jsonval.JSONPathKey("$.config", k)
		switch k {
		case "llm":
			i.Config.LLM = readLLM(ReadObject(config, k, "$.config", ps), ps)
		case "limits":
			i.Config.Limits = ReadLimits(ReadObject(config, k, "$.config", ps), at, ps)
		case "gather":
			var err error
			if i.Config.GatherDelay, err = readDuration(config[k]); err != nil {
				ps.Add(at, "%s", err)
			}
		case "batch":
			n, err := ReadPositiveInt(config[k])
			if err != nil {
				ps.Add(at, "%s", err)
				continue
			}
			i.Config.BatchSize = n
		case "adapt":
			adapt, ok := config[k].(bool)
			if i.Config.Adapt = adapt; !ok {
				ps.Add(at, "want true or false")
			}
		case "approval":
			i.Config.Approval = readApprovalOverride(ReadObject(config, k, "$.config", ps), at, ps)
		case "mcp":
			i.Config.MCP = readMCPServers(ReadObject(config, k, "$.config", ps), at, ps)
		default:
			ps.Add(at, "unknown key %q; config has adapt, approval, batch, gather, limits, llm and mcp", k)
		}
	}
}

func readLLM(m map[string]any, ps *diag.Problems) LLM {
	llm := LLM{Timeout: DefaultRequestTimeout}
	for _, k := range jsonval.SortedKeys(m) {
		at := jsonval.JSONPathKey("$.config.llm", k)
		var err error
		switch k {
		case "model":
			var ok bool
			if llm.Model, ok = m[k].(string); !ok {
				err = fmt.Errorf("want a string, not %s", jsonval.TypeOf(m[k]))
			}
		case "temperature":
			err = readTemperature(m[k], &llm)
		case "maxTokens":
			llm.MaxTokens, err = ReadPositiveInt(m[k])
		case "timeout":
			llm.Timeout, err = readDuration(m[k])
		default:
			err = fmt.Errorf("unknown key %q; llm has maxTokens, model, temperature and timeout", k)
		}
		if err != nil {
			ps.Add(at, "%s", err)
		}
	}
	return llm
}

func readTemperature(v any, llm *LLM) error {
	n, err := jsonval.FloatOf(v)
	if err != nil || n < 0 || n > 2 {
		return fmt.Errorf("want a number from 0 to 2")
	}
	llm.Temperature = &n
	return nil
}

// ReadLimits reads {"requests","tokens","calls","duration"}.
func ReadLimits(m map[string]any, path string, ps *diag.Problems) Limits {
	var l Limits
	for _, k := range jsonval.SortedKeys(m) {
		var err error
		switch k {
		case "requests":
			l.Requests, err = ReadPositiveInt(m[k])
		case "tokens":
			l.Tokens, err = ReadPositiveInt(m[k])
		case "calls":
			l.Calls, err = ReadPositiveInt(m[k])
		case "duration":
			l.Duration, err = readDuration(m[k])
		default:
			err = fmt.Errorf("unknown limit %q; there are calls, duration, requests and tokens", k)
		}
		if err != nil {
			ps.Add(jsonval.JSONPathKey(path, k), "%s", err)
		}
	}
	return l
}

func (i *Idea) readSchema(schema map[string]any, ps *diag.Problems) {
	for _, k := range jsonval.SortedKeys(schema) {
		if k != "tools" && k != "output" {
			ps.Add(jsonval.JSONPathKey("$.schema", k), "unknown key %q; schema has tools and output", k)
		}
	}
	tools := ReadObject(schema, "tools", "$.schema", ps)
	for _, name := range jsonval.SortedKeys(tools) {
		if t := ReadTool(name, tools[name], jsonval.JSONPathKey("$.schema.tools", name), ps); t != nil {
			i.Tools = append(i.Tools, t)
		}
	}
	sort.SliceStable(i.Tools, func(a, b int) bool { return i.Tools[a].Name < i.Tools[b].Name })
	if out := schema["output"]; out != nil {
		var err error
		if i.Output, err = jsonschema.CompileSchema(out); err != nil {
			ps.Add("$.schema.output", "%s", strings.TrimPrefix(err.Error(), "model: "))
		}
	}
}

// Tool finds a Tool of the palette; nil where there is none of that name.
func (i *Idea) Tool(name string) *Tool { return FindTool(i.Tools, name) }

func FindTool(tools []*Tool, name string) *Tool {
	for _, t := range tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Tokens lists the instances in the order in which the context first names them. A process that names none has one
// anonymous instance, whose token is "".
func (i *Idea) Tokens() []string {
	var tokens []string
	seen := map[string]bool{}
	for _, m := range i.Context {
		if m.Instance != "" && !seen[m.Instance] {
			seen[m.Instance] = true
			tokens = append(tokens, m.Instance)
		}
	}
	if tokens == nil {
		return []string{""}
	}
	return tokens
}

// Override is the limits with others in their place, where they are given (0 keeps one).
func (l Limits) Override(other Limits) Limits {
	for _, f := range []struct {
		to *int
		n  int
	}{{&l.Requests, other.Requests}, {&l.Tokens, other.Tokens}, {&l.Calls, other.Calls}} {
		if f.n > 0 {
			*f.to = f.n
		}
	}
	if other.Duration > 0 {
		l.Duration = other.Duration
	}
	return l
}
