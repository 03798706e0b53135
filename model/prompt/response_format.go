package prompt

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// ResponseFormat is the JSON Schema that a reply must follow: it allows the Calls of the palette, for the instances of
// the Request, and the output.
type ResponseFormat struct {
	Schema any
	// IsStrict reports whether the schema keeps the rules of strict structured outputs. NotStrictReason says why it does
	// not; "" if it does.
	IsStrict        bool
	NotStrictReason string
}

// ResponseFormatInput is everything that a ResponseFormat depends on.
type ResponseFormatInput struct {
	Tools          []*ideafile.Tool
	Bindings       ideafile.ToolBindings
	InstanceTokens []string
	// ReopenableTokens are instances that a Call may name although the Request does not cover them.
	ReopenableTokens []string
	OutputSchema     *jsonschema.Schema // nil: no output is wanted
	// IsOutputRequired means that only the output is wanted, so it cannot be null.
	IsOutputRequired bool
	// MayBeLast means that the reply may call itself the last one.
	MayBeLast bool
	// MayHoldNotes means that the reply may hold the LLM's notes to itself.
	MayHoldNotes bool
	// ForbidsOutputReferences means that no part of the output may be a Reference.
	ForbidsOutputReferences bool
	// InstructionsByTool holds the instructions attached to Tools, by the Tool's name.
	InstructionsByTool map[string]string
}

// NewResponseFormat composes the schema of a solution: {"calls": […]}, with "finished" if the reply may be the last,
// "output" if one is wanted, and "notes" if they are useful. If strict structured outputs cannot express the palette,
// the schema uses all of JSON Schema, and NotStrictReason names the first obstacle. The same input yields the same
// bytes.
func NewResponseFormat(in ResponseFormatInput) ResponseFormat {
	return buildStrictIfPossible(in, (*formatBuilder).rootSchema)
}

// buildStrictIfPossible builds a schema in strict mode. If strict mode cannot express it, the schema is built again
// without.
func buildStrictIfPossible(in ResponseFormatInput, build func(*formatBuilder) any) ResponseFormat {
	strictBuilder := formatBuilder{input: in, isStrict: true}
	schema, notStrictReason := build(&strictBuilder), strictBuilder.notStrictReason
	if notStrictReason == "" {
		notStrictReason = exceededStrictLimit(schema)
	}
	if notStrictReason == "" {
		return ResponseFormat{Schema: schema, IsStrict: true}
	}
	return ResponseFormat{Schema: build(&formatBuilder{input: in}), NotStrictReason: notStrictReason}
}

type formatBuilder struct {
	input           ResponseFormatInput
	isStrict        bool
	defs            jsonval.OrderedObject
	notStrictReason string // the first reason why strict structured outputs cannot express the schema
}

func (b *formatBuilder) setNotStrictReason(location, reason string) {
	if b.notStrictReason == "" {
		b.notStrictReason = location + ": " + reason
	}
}

func (b *formatBuilder) rootSchema() any {
	if b.hasNamedInstances() {
		tokens := slices.Concat(b.input.InstanceTokens, []string{"*"}, b.input.ReopenableTokens)
		instanceRef := b.addDefinition("instance", stringEnum(tokens...))
		b.addDefinition("instances", schemaWithAlternative(instanceRef, arraySchema(instanceRef)))
	}
	if len(b.input.Tools) > 0 {
		b.addDefinition("after", nullableSchema(arraySchema(awaitedReferenceSchema)))
	}
	callChoices := []any{}
	for _, t := range b.input.Tools {
		if b.isStrict && b.notStrictReason != "" {
			break // the whole schema is built again without strict mode
		}
		callChoices = append(callChoices, b.addDefinition("call_"+t.Name, b.callSchema(t)))
		if !b.isStrict {
			b.addRebasedDefinition("tool_"+t.Name, schemaWithoutWiredParams(t))
		}
	}
	calls := arraySchema(anyOfSchema(callChoices...))
	if len(callChoices) == 0 {
		calls = arraySchema(typeSchema("null"))
	}
	fields := jsonval.OrderedObject{}.Append("calls", calls)
	if b.input.MayBeLast {
		fields = fields.Append("finished", typeSchema("boolean"))
	}
	if b.input.OutputSchema != nil {
		fields = fields.Append("output", b.outputSchema())
	}
	if b.input.MayHoldNotes {
		fields = fields.Append("notes", nullableSchema(typeSchema("string")))
	}
	return b.withDefinitions(closedObjectSchema(fields))
}

// addDefinition adds a definition and returns a reference to it.
func (b *formatBuilder) addDefinition(name string, schema any) jsonval.OrderedObject {
	b.defs = b.defs.Append(name, schema)
	return refSchema(definitionRef(name))
}

// addRebasedDefinition adds a definition for a designer's schema, whose "#/…" references are rewritten to its new
// place.
func (b *formatBuilder) addRebasedDefinition(name string, schema any) jsonval.OrderedObject {
	return b.addDefinition(name, jsonschema.RebaseRefs(jsonschema.WithoutDisplayKeys(jsonschema.WithoutMetaKeys(schema)),
		definitionRef(name)))
}

func definitionRef(name string) string { return "#/$defs/" + jsonschema.EscapePointerStep(name) }

// withDefinitions adds the definitions to a root schema.
func (b *formatBuilder) withDefinitions(root jsonval.OrderedObject) any {
	if len(b.defs) > 0 {
		root = root.Append("$defs", b.defs)
	}
	return root
}

// typeSchema takes the name of a type, or a list of them.
func typeSchema(name any) jsonval.OrderedObject {
	return jsonval.OrderedObject{}.Append("type", name)
}

func stringEnum(values ...string) jsonval.OrderedObject {
	return typeSchema("string").Append("enum", jsonval.ToJSONValue(values))
}

func arraySchema(items any) jsonval.OrderedObject {
	return typeSchema("array").Append("items", items)
}

func refSchema(ref string) jsonval.OrderedObject {
	return jsonval.OrderedObject{}.Append("$ref", ref)
}

func anyOfSchema(choices ...any) jsonval.OrderedObject {
	return jsonval.OrderedObject{}.Append("anyOf", choices)
}

// schemaWithDescription begins a schema with a description, unless the text is empty.
func schemaWithDescription(text string) jsonval.OrderedObject {
	if text == "" {
		return nil
	}
	return jsonval.OrderedObject{}.Append("description", text)
}

// closedObjectSchema is an object schema in which all properties are required and no others are allowed.
func closedObjectSchema(props jsonval.OrderedObject) jsonval.OrderedObject {
	return objectSchema(props, func(string) bool { return true }, false)
}

func objectSchema(props jsonval.OrderedObject, isRequired func(name string) bool, isOpen bool) jsonval.OrderedObject {
	required := []any{}
	for _, p := range props {
		if isRequired(p.Key) {
			required = append(required, p.Key)
		}
	}
	return typeSchema("object").Append("properties", props).Append("required", required).
		Append("additionalProperties", isOpen)
}

func (b *formatBuilder) hasNamedInstances() bool {
	return len(b.input.InstanceTokens) != 1 || b.input.InstanceTokens[0] != ""
}

// callSchema is the schema of one Tool's Calls.
func (b *formatBuilder) callSchema(t *ideafile.Tool) any {
	props := jsonval.OrderedObject{}.Append("_tool", stringEnum(t.Name))
	if b.hasNamedInstances() {
		props = props.Append("_instance", refSchema(definitionRef("instances")))
	}
	props = props.Append("_reasoningForCall", nullableSchema(typeSchema("string")))
	isOptionalByName := map[string]bool{"_reasoningForCall": true}
	params := jsonschema.Properties(t.Source)
	required := jsonschema.Required(t.Source)
	for _, name := range jsonschema.OrderedPropertyNames(params, required) {
		if _, isWired := t.WiredExpressionByParam[name]; isWired {
			continue
		}
		isOptionalByName[name] = !t.RequiresParam(name)
		props = props.Append(name, b.paramSchema(t, name, params[name]))
	}
	for _, f := range b.metaProperties(t) {
		isOptionalByName[f.Key] = true
		props = append(props, f)
	}
	if b.isStrict && t.AllowsExtraParams {
		b.setNotStrictReason("tool "+t.Name, "it takes parameters beside those it names")
	}
	isRequired := func(name string) bool { return b.isStrict || !isOptionalByName[name] }
	return append(schemaWithDescription(b.toolDescription(t)),
		objectSchema(props, isRequired, !b.isStrict && t.AllowsExtraParams)...)
}

func (b *formatBuilder) toolDescription(t *ideafile.Tool) string {
	texts := []string{t.Description, b.input.InstructionsByTool[t.Name]}
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n")
}

// metaProperties are the schemas of the meta properties that the LLM may choose in a Tool's Calls.
func (b *formatBuilder) metaProperties(t *ideafile.Tool) []jsonval.OrderedField {
	var out jsonval.OrderedObject
	if !t.OutputPath.IsDeclared {
		out = out.Append("_outputPath", nullableSchema(typeSchema("string")))
	}
	for _, m := range []struct {
		key   string
		value ideafile.MetaProperty
	}{{"_outputPath", t.OutputPath}, {"_outputMethod", t.OutputMethod}, {"_scopes", t.ReadableScopes}} {
		if m.value.Schema != nil {
			out = out.Append(m.key, nullableSchema(b.metaPropertySchema(t, m.key, m.value.Schema.Source)))
		}
	}
	out = out.Append("_after", refSchema(definitionRef("after")))
	if b.input.Bindings[t.Name].Kind == ideafile.KindLatent {
		out = out.Append("_output", nullableSchema(b.resultSchema(t)))
	}
	return out
}

// resultSchema is the schema of a result that the LLM writes for a latent Tool.
func (b *formatBuilder) resultSchema(t *ideafile.Tool) any {
	if t.OutputSchema == nil {
		return typeSchema("string")
	}
	return b.metaPropertySchema(t, "_output", t.OutputSchema.Source)
}

// metaPropertySchema is the schema of a meta property, as the Tool's designer wrote it.
func (b *formatBuilder) metaPropertySchema(t *ideafile.Tool, key string, schema any) any {
	if !b.isStrict {
		return b.addRebasedDefinition(strings.TrimPrefix(key, "_")+"_of_"+t.Name, schema)
	}
	strictSchema, reason := toInlinedStrictSchema(schema, schema, nil)
	if reason != "" {
		b.setNotStrictReason("tool "+t.Name+", "+key, reason)
	}
	return strictSchema
}

// referenceSchema matches a Reference, where the schema itself does not allow every string.
var referenceSchema = typeSchema("string").Append("pattern", "^†[^†]")

// awaitedReferenceSchema matches a Reference in `_after`: to a place in State, or to a Call.
var awaitedReferenceSchema = typeSchema("string").Append("pattern", "^†(state|call)")

func nullableSchema(schema any) any {
	return schemaWithAlternative(schema, typeSchema("null"))
}

// schemaWithAlternative adds a choice to a schema. An anyOf is extended rather than nested.
func schemaWithAlternative(schema any, alternative any) any {
	anyOf, ok := schema.(jsonval.OrderedObject)
	if !ok || len(anyOf) != 1 || anyOf[0].Key != "anyOf" {
		return anyOfSchema(schema, alternative)
	}
	choices := anyOf[0].Value.([]any)
	if jsonval.ContainsValue(choices, alternative) {
		return schema
	}
	return jsonval.OrderedObject{{Key: "anyOf", Value: append(slices.Clip(choices), alternative)}}
}

// paramSchema is the schema of a parameter. It allows what the Tool declares, a Reference, and, in strict mode, null
// for an optional parameter.
func (b *formatBuilder) paramSchema(t *ideafile.Tool, name string, schema any) any {
	result := b.declaredParamSchema(t, name, schema, "tool_"+t.Name)
	if !acceptsAnyString(schema) {
		result = schemaWithAlternative(result, referenceSchema)
	}
	if !t.RequiresParam(name) && b.isStrict {
		result = nullableSchema(result)
	}
	return result
}

// declaredParamSchema is the schema of a parameter as the Tool declares it. definitionName names the definition with
// the Tool's schema, to which the schema refers if it is not strict.
func (b *formatBuilder) declaredParamSchema(t *ideafile.Tool, name string, schema any, definitionName string) any {
	if !b.isStrict {
		return refSchema(definitionRef(definitionName) + "/properties/" + jsonschema.EscapePointerStep(name))
	}
	strictSchema, reason := toInlinedStrictSchema(t.Source, schema, nil)
	if reason != "" {
		b.setNotStrictReason(fmt.Sprintf("tool %s, parameter %q", t.Name, name), reason)
	}
	return strictSchema
}

// acceptsAnyString reports whether a schema accepts every string, and so every Reference.
func acceptsAnyString(schema any) bool {
	object, ok := schema.(jsonval.Object)
	if !ok || object["type"] != "string" {
		return false
	}
	return !slices.ContainsFunc(jsonval.SortedKeys(object), func(k string) bool {
		return !slices.Contains([]string{"type", "description", "default", "examples"}, k) &&
			!jsonschema.IsDisplayKey(object, k)
	})
}

// outputSchema is the schema of the final output. Any part of it may be a Reference, if the referenced value can fit
// there. The whole may be null if Calls may be planned too.
func (b *formatBuilder) outputSchema() any {
	if !b.isStrict {
		outputRef := b.addRebasedDefinition("output", b.input.OutputSchema.Source)
		if b.input.ForbidsOutputReferences {
			return b.nullableOutput(outputRef)
		}
		// its leaves may be References
		containerSchema := typeSchema([]any{"object", "array"})
		return b.nullableOutput(
			anyOfSchema(outputRef, containerSchema, referenceSchema))
	}
	allowReference := func(schema, strict any) any {
		if b.input.ForbidsOutputReferences || acceptsAnyString(schema) {
			return strict
		}
		return schemaWithAlternative(strict, referenceSchema)
	}
	strictSchema, reason := toInlinedStrictSchema(b.input.OutputSchema.Source, b.input.OutputSchema.Source,
		allowReference)
	if reason != "" {
		b.setNotStrictReason("output", reason)
	}
	return b.nullableOutput(strictSchema)
}

func (b *formatBuilder) nullableOutput(schema any) any {
	if b.input.IsOutputRequired {
		return schema
	}
	return nullableSchema(schema)
}

// ResponseFormatFor composes the schema for the reply to one Request.
func ResponseFormatFor(idea *ideafile.Idea, bindings ideafile.ToolBindings,
	request *turn.RequestInput) ResponseFormat {
	if len(request.Questions) > 0 {
		return answersFormat(idea, request)
	}
	in := ResponseFormatInput{Tools: idea.Tools, Bindings: bindings, InstanceTokens: request.InstanceTokens(),
		ReopenableTokens: request.ReopenableTokens,
		OutputSchema:     idea.OutputSchema, ForbidsOutputReferences: idea.OutputSchema != nil &&
			!outputMayReferToState(idea),
		MayBeLast: mayReportFinished(idea, request), MayHoldNotes: mayHoldNotes(idea, request),
		InstructionsByTool: ToolInstructions(idea)}
	if request.IsOutputOnly {
		in.Tools, in.InstanceTokens, in.IsOutputRequired = nil, []string{""}, true
	}
	if !request.ReplyMayHoldOutput() {
		in.OutputSchema = nil
	}
	return NewResponseFormat(in)
}

// mayHoldOutputBesideCalls reports whether the reply to a Request for Calls may also hold the output.
func mayHoldOutputBesideCalls(idea *ideafile.Idea, request *turn.RequestInput) bool {
	return idea.OutputSchema != nil && !request.IsOutputOnly && request.ReplyMayHoldOutput()
}

// mayReportFinished reports whether the reply to a Request may say that nothing is left to plan.
func mayReportFinished(idea *ideafile.Idea, request *turn.RequestInput) bool {
	return request.MayBeLast || mayHoldOutputBesideCalls(idea, request)
}

// mayHoldNotes reports whether the reply to a Request may hold notes. They are useful if the output may come with later
// Calls, when other instances are shown.
func mayHoldNotes(idea *ideafile.Idea, request *turn.RequestInput) bool {
	return mayHoldOutputBesideCalls(idea, request) && !hasOnlyUnnamedInstance(idea)
}
