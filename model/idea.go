package model

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// Idea is one immutable snapshot of a process: schema, context and solution.
type Idea struct {
	Path, Version string
	Config        Config
	// Tools is the palette, sorted by name.
	Tools []*Tool
	// Output is the form of the final output; nil where there is none.
	Output *Schema
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
	Approval Oversight
	// Adapt says that the LLM may fit values that References brought to the Tools' schemas.
	Adapt bool
	// Gather is how long a Request that could be made waits for instances that are not ready for it yet.
	Gather time.Duration
	// Batch is how many instances a process has at most before it is split into parts of that size.
	Batch int
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

// DefaultGather is `config.gather` unless a file says otherwise.
const DefaultGather = 10 * time.Second

// Limits pause a process that reaches one; 0 is none.
type Limits struct {
	Requests int           `json:"requests,omitempty"`
	Tokens   int           `json:"tokens,omitempty"`
	Calls    int           `json:"calls,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
}

// ParseIdea reads an Idea file and reports everything that breaks its form, each with its place.
func ParseIdea(data []byte) (*Idea, Problems) {
	v, err := Decode(data)
	if err != nil {
		return nil, Problems{{Path: "$", Message: strings.TrimPrefix(err.Error(), "model: ")}}
	}
	return ReadIdea(v)
}

// ReadIdea is ParseIdea for a value that was decoded already.
func ReadIdea(v any) (*Idea, Problems) {
	var ps Problems
	source, ok := v.(map[string]any)
	if !ok {
		ps.add("$", "an Idea is an object, not %s", TypeOf(v))
		return nil, ps
	}
	for _, k := range sortedKeys(source) {
		if !slices.Contains([]string{"config", "context", "meta", "schema", "solution"}, k) {
			ps.add(joinJSONPath("$", k), "unknown key %q; an Idea has meta, config, schema, context and solution", k)
		}
	}
	i := &Idea{Source: source, Config: Config{LLM: LLM{Timeout: DefaultRequestTimeout}, Adapt: true, Gather: DefaultGather, Batch: DefaultBatch}}
	i.readMeta(object(source, "meta", "$", &ps), &ps)
	i.readConfig(object(source, "config", "$", &ps), &ps)
	i.readSchema(object(source, "schema", "$", &ps), &ps)
	i.checkServers(&ps)
	i.checkOversight(&ps)
	i.readContext(source["context"], &ps)
	i.noteSimulated()
	if s := source["solution"]; s != nil && TypeOf(s) != "object" {
		ps.add("$.solution", "want an object, not %s", TypeOf(s))
	}
	return i, ps
}

// object gives the object at a key; nil where it is absent, and a Problem where it is something else.
func object(m map[string]any, key, path string, ps *Problems) map[string]any {
	v, ok := m[key]
	if !ok || v == nil {
		return nil
	}
	o, ok := v.(map[string]any)
	if !ok {
		ps.add(joinJSONPath(path, key), "want an object, not %s", TypeOf(v))
	}
	return o
}

func (i *Idea) readMeta(meta map[string]any, ps *Problems) {
	i.readSimulation(meta[metaSimulated], ps)
	for _, f := range []struct {
		key string
		to  *string
	}{{"path", &i.Path}, {"version", &i.Version}} {
		if v, ok := meta[f.key]; ok && v != nil {
			if *f.to, ok = v.(string); !ok {
				ps.add("$.meta."+f.key, "want a string, not %s", TypeOf(v))
			}
		}
	}
}

func (i *Idea) readConfig(config map[string]any, ps *Problems) {
	for _, k := range sortedKeys(config) {
		at := joinJSONPath("$.config", k)
		switch k {
		case "llm":
			i.Config.LLM = readLLM(object(config, k, "$.config", ps), ps)
		case "limits":
			i.Config.Limits = ReadLimits(object(config, k, "$.config", ps), at, ps)
		case "gather":
			var err error
			if i.Config.Gather, err = readDuration(config[k]); err != nil {
				ps.add(at, "%s", err)
			}
		case "batch":
			n, err := positive(config[k])
			if err != nil {
				ps.add(at, "%s", err)
				continue
			}
			i.Config.Batch = n
		case "adapt":
			adapt, ok := config[k].(bool)
			if i.Config.Adapt = adapt; !ok {
				ps.add(at, "want true or false")
			}
		case "approval":
			i.Config.Approval = readOversight(object(config, k, "$.config", ps), at, ps)
		case "mcp":
			i.Config.MCP = readMCP(object(config, k, "$.config", ps), at, ps)
		default:
			ps.add(at, "unknown key %q; config has adapt, approval, batch, gather, limits, llm and mcp", k)
		}
	}
}

func readLLM(m map[string]any, ps *Problems) LLM {
	llm := LLM{Timeout: DefaultRequestTimeout}
	for _, k := range sortedKeys(m) {
		at := joinJSONPath("$.config.llm", k)
		var err error
		switch k {
		case "model":
			var ok bool
			if llm.Model, ok = m[k].(string); !ok {
				err = fmt.Errorf("want a string, not %s", TypeOf(m[k]))
			}
		case "temperature":
			err = readTemperature(m[k], &llm)
		case "maxTokens":
			llm.MaxTokens, err = positive(m[k])
		case "timeout":
			llm.Timeout, err = readDuration(m[k])
		default:
			err = fmt.Errorf("unknown key %q; llm has maxTokens, model, temperature and timeout", k)
		}
		if err != nil {
			ps.add(at, "%s", err)
		}
	}
	return llm
}

func readTemperature(v any, llm *LLM) error {
	n, err := floatOf(v)
	if err != nil || n < 0 || n > 2 {
		return fmt.Errorf("want a number from 0 to 2")
	}
	llm.Temperature = &n
	return nil
}

// ReadLimits reads {"requests","tokens","calls","duration"}.
func ReadLimits(m map[string]any, path string, ps *Problems) Limits {
	var l Limits
	for _, k := range sortedKeys(m) {
		var err error
		switch k {
		case "requests":
			l.Requests, err = positive(m[k])
		case "tokens":
			l.Tokens, err = positive(m[k])
		case "calls":
			l.Calls, err = positive(m[k])
		case "duration":
			l.Duration, err = readDuration(m[k])
		default:
			err = fmt.Errorf("unknown limit %q; there are calls, duration, requests and tokens", k)
		}
		if err != nil {
			ps.add(joinJSONPath(path, k), "%s", err)
		}
	}
	return l
}

func (i *Idea) readSchema(schema map[string]any, ps *Problems) {
	for _, k := range sortedKeys(schema) {
		if k != "tools" && k != "output" {
			ps.add(joinJSONPath("$.schema", k), "unknown key %q; schema has tools and output", k)
		}
	}
	tools := object(schema, "tools", "$.schema", ps)
	for _, name := range sortedKeys(tools) {
		if t := ReadTool(name, tools[name], joinJSONPath("$.schema.tools", name), ps); t != nil {
			i.Tools = append(i.Tools, t)
		}
	}
	sort.SliceStable(i.Tools, func(a, b int) bool { return i.Tools[a].Name < i.Tools[b].Name })
	if out := schema["output"]; out != nil {
		var err error
		if i.Output, err = CompileSchema(out); err != nil {
			ps.add("$.schema.output", "%s", strings.TrimPrefix(err.Error(), "model: "))
		}
	}
}

// Tool finds a Tool of the palette; nil where there is none of that name.
func (i *Idea) Tool(name string) *Tool { return findTool(i.Tools, name) }

func findTool(tools []*Tool, name string) *Tool {
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
