package ideafile

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// ToolsJSONPath is the place of the palette in an Idea file.
const ToolsJSONPath = "$.schema.tools"

// Idea is one snapshot of a process: schema, context and solution.
//
// Invariant: it is immutable. What changes an Idea returns another one.
type Idea struct {
	// ProcessPath and ProcessVersion name the business process that the file describes (`meta.path`, `meta.version`).
	ProcessPath, ProcessVersion string
	Config                      Config
	// Tools is the palette, sorted by name.
	Tools []*Tool
	// OutputSchema is the form of the process's output; nil if it has none.
	OutputSchema *jsonschema.Schema
	// Context holds the Messages, in order.
	Context []Message
	// Source is the Idea as it was written.
	Source jsonval.Object
	// QualitySeed orders instances in prompts, and draws the instances whose answers are asked for twice (`meta.seed`).
	QualitySeed string
	// Simulation is set if no Tool is run and results are made up.
	Simulation *Simulation
	// IsTemplate is set if the instances and their data are added later (`meta.template`).
	IsTemplate bool
}

// ParseIdea reads an Idea file. It returns every problem with the file's form, not only the first one. The Idea may be
// used only if none of them is an error; it is nil if the file is no JSON object.
func ParseIdea(data []byte) (*Idea, diag.Problems) {
	v, keyOrder, err := jsonval.DecodeWithKeyOrder(data, jsonval.DefaultLimits)
	if err != nil {
		return nil, diag.Problems{{JSONPath: "$", Message: diag.WithoutPackagePrefix(err)}}
	}
	RecordParamOrder(v, keyOrder)
	return ReadIdea(v)
}

// RecordParamOrder records the order in which the parameters of Tools were written, in an Idea's source that was just
// decoded and in its delegates: see jsonschema.StoreSourceKeyOrder. A tool of an MCP server has the order of the
// server.
func RecordParamOrder(source any, keyOrder jsonval.KeyOrder) {
	if len(keyOrder) == 0 {
		return
	}
	mapTools(source, func(tool any) any {
		if jsonval.Lookup(tool, "_activity", string(KindMCP)) == nil {
			jsonschema.StoreSourceKeyOrder(tool, keyOrder)
		}
		return tool
	})
}

// WithoutParamOrder returns an Idea's source without what RecordParamOrder records. Sources that differ only in that
// are the same.
func WithoutParamOrder(source any) any { return mapTools(source, jsonschema.WithoutPropertyOrder) }

// mapTools returns an Idea's source with its Tools, and those of its delegates, changed.
func mapTools(source any, change func(tool any) any) any {
	if tools, ok := jsonval.Lookup(source, "schema", "tools").(jsonval.Object); ok {
		source = WithTools(jsonval.AsObject(source), jsonval.AsObject(jsonval.MapChildValues(tools, change)))
	}
	if files, ok := jsonval.Lookup(source, DelegatesKey).(jsonval.Object); ok {
		source = jsonval.WithKey(jsonval.AsObject(source), DelegatesKey, jsonval.MapChildValues(files,
			func(file any) any { return mapTools(file, change) }))
	}
	return source
}

// ReadIdea is ParseIdea for a decoded value.
func ReadIdea(v any) (*Idea, diag.Problems) { return readIdea(v, false) }

// ReadIdeaWithoutCheckingTools is ReadIdea for an Idea whose Tools are checked elsewhere, before their Calls run: the
// schema of a Tool that no Call uses is never compiled.
func ReadIdeaWithoutCheckingTools(v any) (*Idea, diag.Problems) { return readIdea(v, true) }

func readIdea(v any, skipToolChecks bool) (*Idea, diag.Problems) {
	var ps diag.Problems
	source, ok := v.(jsonval.Object)
	if !ok {
		ps.AddWrongType("$", "an Idea is an object", v)
		return nil, ps
	}
	rejectKeysExcept(source, "$", &ps, "an Idea", "$schema", "meta", "config", "schema", "context", "solution",
		DelegatesKey)
	i := &Idea{Source: source, Config: Config{LLMs: DefaultLLMs(), AdaptValuesWithLLM: true,
		RequestGatherDelay: DefaultGatherDelay}}
	if !skipToolChecks {
		if _, err := jsonschema.CountCompiledPatternSteps(schemasIn(source),
			jsonschema.MaxCompiledPatternStepsInFile); err != nil {
			ps.Add("$", "%s", diag.WithoutPackagePrefix(err))
			return i, ps
		}
	}
	i.readMeta(diag.ReadObject(source, "meta", "$", &ps), &ps)
	i.readConfig(diag.ReadObject(source, "config", "$", &ps), &ps)
	i.readSchema(diag.ReadObject(source, "schema", "$", &ps), skipToolChecks, &ps)
	i.checkMCPServerNames(&ps)
	i.checkApprovalToolNames(&ps)
	i.readContext(source["context"], &ps)
	i.checkDeciderExclusions(&ps)
	i.checkConfusableTokens(&ps)
	i.inferSimulationFromMessages()
	diag.ReadObject(source, DelegatesKey, "$", &ps) // delegate.CheckFiles reports what is wrong in it
	if s := source["solution"]; s != nil && jsonval.TypeOf(s) != "object" {
		ps.AddWrongType("$.solution", "want an object", s)
	}
	return i, ps
}

func (i *Idea) readMeta(meta jsonval.Object, ps *diag.Problems) {
	i.readSimulation(meta[simulatedMetaKey], ps)
	i.ProcessPath = diag.ReadOptionalText(meta, "path", "$.meta", ps)
	i.ProcessVersion = diag.ReadOptionalText(meta, "version", "$.meta", ps)
	i.QualitySeed = diag.ReadOptionalText(meta, qualitySeedKey, "$.meta", ps)
	if v := meta["template"]; v != nil {
		var err error
		if i.IsTemplate, err = readBool(v); err != nil {
			ps.Add("$.meta.template", "%s", err)
		}
	}
}

const qualitySeedKey = "seed"

// WithQualitySeed returns an Idea's source with a seed in its meta, unless it has one. An empty seed counts as none: it
// would leave instances in the order of the file, and draw any share from the file's beginning.
func WithQualitySeed(idea jsonval.Object, seed string) jsonval.Object {
	meta := jsonval.AsObject(idea["meta"])
	if seed := meta[qualitySeedKey]; seed != nil && seed != "" {
		return idea
	}
	return jsonval.WithKey(idea, "meta", jsonval.WithKey(meta, qualitySeedKey, seed))
}

// schemasIn lists the parts of a file, and of its delegates, that hold JSON Schemas.
func schemasIn(source jsonval.Object) []any {
	list := []any{source["schema"]}
	for _, m := range jsonval.AsList(source["context"]) {
		m := jsonval.AsObject(m)
		list = append(list, m["schema"], m["when"], m["plan"], m[InstructionContentKey])
	}
	for _, file := range jsonval.Sorted(jsonval.AsObject(source[DelegatesKey])) {
		list = append(list, schemasIn(jsonval.AsObject(file))...)
	}
	return list
}

func (i *Idea) readSchema(schema jsonval.Object, skipToolChecks bool, ps *diag.Problems) {
	rejectKeysExcept(schema, "$.schema", ps, "schema", "tools", "output")
	i.readTools(schema, skipToolChecks, ps)
	if out := schema["output"]; out != nil {
		i.OutputSchema = jsonschema.CompileReportingProblems(out, "$.schema.output", ps)
	}
}

// Tool returns the Tool of a name, or nil.
func (i *Idea) Tool(name string) *Tool { return FindTool(i.Tools, name) }

// InstanceTokens lists the instances in the order in which the context first names them. A process that names none has
// one instance, the anonymous one, whose token is "".
func (i *Idea) InstanceTokens() []string {
	return instanceTokens(i.Context)
}

// IsUnfilledTemplate reports whether the Idea is a template that no instance was put into: it cannot run.
func (i *Idea) IsUnfilledTemplate() bool {
	return i.IsTemplate && i.InstanceTokens()[0] == ""
}

// WithRawMessagesAdded returns the Idea with more messages. They must have been checked with ReadMessages: with invalid
// ones, the Idea is returned as it is.
func (i *Idea) WithRawMessagesAdded(context []any) *Idea {
	messages, err := ReadMessages(context)
	if err != nil || len(messages) == 0 {
		return i
	}
	return i.WithMessagesAdded(messages)
}

// WithMessagesAdded returns the Idea with more messages at the end of its context.
func (i *Idea) WithMessagesAdded(messages []Message) *Idea {
	return i.WithContextReplaced(slices.Concat(i.Context, messages))
}

// WithMeta returns the Idea with another meta in its Source; the values already read from the old meta stay.
func (i *Idea) WithMeta(meta any) *Idea {
	next := *i
	next.Source = jsonval.WithoutKey(i.Source, "meta")
	if meta != nil {
		next.Source["meta"] = meta
	}
	return &next
}

// WithContextReplaced returns the Idea with these messages as its whole context.
func (i *Idea) WithContextReplaced(messages []Message) *Idea {
	next := *i
	next.Context = slices.Clone(messages)
	for n := range next.Context {
		next.Context[n].IndexInFile = int32(n) //nolint:gosec // no file has so many
	}
	context := jsonval.Map(messages, func(m Message) any { return m.Source })
	next.Source = jsonval.WithKey(i.Source, "context", context)
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
	if err := ps.ErrorOrNil(); err != nil {
		return nil, err
	}
	return list, nil
}
