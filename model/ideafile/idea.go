package ideafile

import (
	"fmt"
	"slices"
	"sort"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// ToolsPath is the place of the palette in an Idea file.
const ToolsPath = "$.schema.tools"

// Idea is one snapshot of a process: schema, context and solution.
//
// Invariant: it is immutable. What changes an Idea returns another one.
type Idea struct {
	// Path and Version name the business process that the file describes (`meta.path`, `meta.version`).
	Path, Version string
	Config        Config
	// Tools is the palette, sorted by name.
	Tools []*Tool
	// Output is the form of the process's output; nil if it has none.
	Output *jsonschema.Schema
	// Context holds the Messages, in order.
	Context []Message
	// Source is the Idea as it was written.
	Source map[string]any
	// Simulated is set if no Tool is run and results are made up.
	Simulated *Simulation
}

// ParseIdea reads an Idea file. It returns every problem with the file's form, not only the first one. The Idea may be used only
// if none of them is an error; it is nil if the file is no JSON object.
func ParseIdea(data []byte) (*Idea, diag.Problems) {
	v, err := jsonval.Decode(data)
	if err != nil {
		return nil, diag.Problems{{Path: "$", Message: withoutPackagePrefix(err)}}
	}
	return ReadIdea(v)
}

// ReadIdea is ParseIdea for a decoded value.
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
	i := &Idea{Source: source, Config: defaultConfig()}
	i.readMeta(ReadObject(source, "meta", "$", &ps), &ps)
	i.readConfig(ReadObject(source, "config", "$", &ps), &ps)
	i.readSchema(ReadObject(source, "schema", "$", &ps), &ps)
	i.checkServerNames(&ps)
	i.checkApprovalOverride(&ps)
	i.readContext(source["context"], &ps)
	i.markIfSimulated()
	if s := source["solution"]; s != nil && jsonval.TypeOf(s) != "object" {
		ps.Add("$.solution", "want an object, not %s", jsonval.TypeOf(s))
	}
	return i, ps
}

func (i *Idea) readMeta(meta map[string]any, ps *diag.Problems) {
	i.readSimulation(meta[simulatedMetaKey], ps)
	i.Path = readOptionalText(meta, "path", "$.meta", ps)
	i.Version = readOptionalText(meta, "version", "$.meta", ps)
}

func (i *Idea) readSchema(schema map[string]any, ps *diag.Problems) {
	for _, k := range jsonval.SortedKeys(schema) {
		if k != "tools" && k != "output" {
			ps.Add(jsonval.JSONPathKey("$.schema", k), "unknown key %q; schema has tools and output", k)
		}
	}
	tools := ReadObject(schema, "tools", "$.schema", ps)
	for _, name := range jsonval.SortedKeys(tools) {
		if t := ReadTool(name, tools[name], jsonval.JSONPathKey(ToolsPath, name), ps); t != nil {
			i.Tools = append(i.Tools, t)
		}
	}
	sort.SliceStable(i.Tools, func(a, b int) bool { return i.Tools[a].Name < i.Tools[b].Name })
	if out := schema["output"]; out != nil {
		i.Output = compileSchema(out, "$.schema.output", ps)
	}
}

// Tool returns the Tool of a name, or nil.
func (i *Idea) Tool(name string) *Tool { return FindTool(i.Tools, name) }

// InstanceTokens lists the instances in the order in which the context first names them. A process that names none has one instance, the
// anonymous one, whose token is "".
func (i *Idea) InstanceTokens() []string {
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

// WithRawMessages returns the Idea with more messages. They must have been checked with ReadMessages: with invalid ones, the Idea is
// returned as it is.
func (i *Idea) WithRawMessages(context []any) *Idea {
	messages, err := ReadMessages(context)
	if err != nil || len(messages) == 0 {
		return i
	}
	return i.WithMessages(messages)
}

// WithMessages returns the Idea with more messages at the end of its context.
func (i *Idea) WithMessages(messages []Message) *Idea {
	next := *i
	next.Context = append(i.Context[:len(i.Context):len(i.Context)], messages...)
	old, _ := i.Source["context"].([]any)
	context := append([]any(nil), old...)
	for _, m := range messages {
		context = append(context, m.Source)
	}
	next.Source = jsonval.WithoutKey(i.Source, "context")
	next.Source["context"] = context
	return &next
}

// WithContextReplaced returns the Idea with these messages as its whole context.
func (i *Idea) WithContextReplaced(messages []Message) *Idea {
	next := *i
	next.Context = messages
	context := make([]any, len(messages))
	for n, m := range messages {
		context[n] = m.Source
	}
	next.Source = jsonval.WithoutKey(i.Source, "context")
	next.Source["context"] = context
	return &next
}

// ReadMessages reads a list of messages. If one is invalid, it returns an error with all problems.
func ReadMessages(context []any) ([]Message, error) {
	var ps diag.Problems
	var list []Message
	for n, raw := range context {
		if m, ok := ReadMessage(raw, fmt.Sprintf("$.context[%d]", n), &ps); ok {
			list = append(list, m)
		}
	}
	if errs := ps.Errors(); len(errs) > 0 {
		return nil, errs
	}
	return list, nil
}
