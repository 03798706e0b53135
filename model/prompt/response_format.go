package prompt

import (
	"fmt"
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
	// Strict reports whether the schema keeps the rules of strict structured outputs. NotStrictReason says why it does
	// not, else it is "".
	Strict          bool
	NotStrictReason string
}

// FormatInput is everything that a ResponseFormat depends on.
type FormatInput struct {
	Tools    []*ideafile.Tool
	Bindings map[string]ideafile.Binding
	Tokens   []string
	Output   *jsonschema.Schema
	// ToolInstructions holds the instructions attached to Tools, by the Tool's name.
	ToolInstructions map[string]string
}

// NewResponseFormat composes the schema of a solution: {"calls": […], "output": …}. Where strict structured outputs
// cannot express the palette, the schema uses all of JSON Schema, and NotStrictReason names the first obstacle. The
// same input yields the same bytes.
func NewResponseFormat(in FormatInput) ResponseFormat {
	return strictIfPossible(in, (*formatBuilder).rootSchema)
}

// strictIfPossible builds a schema in strict mode, and, where that cannot express it, once more without.
func strictIfPossible(in FormatInput, build func(*formatBuilder) any) ResponseFormat {
	strictBuilder := formatBuilder{input: in, strict: true}
	schema, reason := build(&strictBuilder), strictBuilder.notStrictReason
	if reason == "" {
		reason = exceededLimit(schema)
	}
	if reason == "" {
		return ResponseFormat{Schema: schema, Strict: true}
	}
	return ResponseFormat{Schema: build(&formatBuilder{input: in}), NotStrictReason: reason}
}

type formatBuilder struct {
	input           FormatInput
	strict          bool
	defs            jsonval.Ordered
	notStrictReason string // the first reason why strict structured outputs cannot express the schema
}

func (b *formatBuilder) rejectStrict(location, reason string) {
	if b.notStrictReason == "" {
		b.notStrictReason = location + ": " + reason
	}
}

func (b *formatBuilder) rootSchema() any {
	if b.hasNamedInstances() {
		b.define("instance", stringEnum(b.instanceEnum()))
	}
	callChoices := []any{}
	for _, t := range b.input.Tools {
		callChoices = append(callChoices, b.define("call_"+t.Name, b.callSchema(t)))
		if !b.strict {
			b.defineRebased("tool_"+t.Name, schemaWithoutWired(t))
		}
	}
	calls := arrayOf(jsonval.Ordered{{Key: "anyOf", Value: callChoices}})
	if len(callChoices) == 0 {
		calls = arrayOf(typeSchema("null"))
	}
	return b.withDefinitions(closedObject(jsonval.Field{Key: "calls", Value: calls}, jsonval.Field{Key: "output", Value: b.outputSchema()}))
}

// define adds a definition and returns a reference to it.
func (b *formatBuilder) define(name string, schema any) jsonval.Ordered {
	b.defs = append(b.defs, jsonval.Field{Key: name, Value: schema})
	return refSchema(definitionRef(name))
}

// defineRebased adds a definition for a designer's schema, whose "#/…" references are rewritten to its new place.
func (b *formatBuilder) defineRebased(name string, schema any) jsonval.Ordered {
	return b.define(name, jsonschema.RebaseRefs(jsonschema.WithoutMeta(schema), definitionRef(name)))
}

func definitionRef(name string) string { return "#/$defs/" + jsonschema.EscapePointer(name) }

// withDefinitions adds the definitions to a root schema.
func (b *formatBuilder) withDefinitions(root jsonval.Ordered) any {
	if len(b.defs) > 0 {
		root = append(root, jsonval.Field{Key: "$defs", Value: b.defs})
	}
	return root
}

func typeSchema(name string) jsonval.Ordered { return jsonval.Ordered{{Key: "type", Value: name}} }

func stringEnum(values []any) jsonval.Ordered {
	return append(typeSchema("string"), jsonval.Field{Key: "enum", Value: values})
}

func arrayOf(items any) jsonval.Ordered {
	return append(typeSchema("array"), jsonval.Field{Key: "items", Value: items})
}

func refSchema(ref string) jsonval.Ordered { return jsonval.Ordered{{Key: "$ref", Value: ref}} }

// closedObject is an object schema in which all properties are required and no others are allowed.
func closedObject(props ...jsonval.Field) jsonval.Ordered {
	required := make([]any, len(props))
	for i, p := range props {
		required[i] = p.Key
	}
	return append(typeSchema("object"), jsonval.Field{Key: "properties", Value: jsonval.Ordered(props)},
		jsonval.Field{Key: "required", Value: required}, jsonval.Field{Key: "additionalProperties", Value: false})
}

func (b *formatBuilder) hasNamedInstances() bool {
	return len(b.input.Tokens) != 1 || b.input.Tokens[0] != ""
}

func (b *formatBuilder) instanceEnum() []any {
	values := []any{}
	for _, token := range b.input.Tokens {
		values = append(values, token)
	}
	return append(values, "*")
}

// callSchema is the schema of one Tool's Calls.
func (b *formatBuilder) callSchema(t *ideafile.Tool) any {
	props := []jsonval.Field{{Key: "_tool", Value: stringEnum([]any{t.Name})}}
	if b.hasNamedInstances() {
		props = append(props, jsonval.Field{Key: "_instance", Value: refSchema(definitionRef("instance"))})
	}
	props = append(props, jsonval.Field{Key: "_reasoningForCall", Value: nullable(typeSchema("string"))})
	optional := map[string]bool{"_reasoningForCall": true}
	params, _ := t.Source["properties"].(map[string]any)
	for _, name := range jsonval.SortedKeys(params) {
		if _, wired := t.WiredParams[name]; wired {
			continue
		}
		optional[name] = !t.Requires(name)
		props = append(props, jsonval.Field{Key: name, Value: b.paramSchema(t, name, params[name])})
	}
	for _, f := range b.metaProperties(t) {
		optional[f.Key] = true
		props = append(props, f)
	}
	schema := closedObject(props...)
	if !b.strict {
		schema = relaxStrict(schema, optional, t.AllowsExtraParams)
	} else if t.AllowsExtraParams {
		b.rejectStrict("tool "+t.Name, "it takes parameters beside those it names")
	}
	if text := b.toolDescription(t); text != "" {
		schema = append(jsonval.Ordered{{Key: "description", Value: text}}, schema...)
	}
	return schema
}

// relaxStrict takes back what only strict mode demands: that every property is required, and that an open object is
// closed.
func relaxStrict(schema jsonval.Ordered, optional map[string]bool, open bool) jsonval.Ordered {
	out := jsonval.Ordered{}
	for _, f := range schema {
		switch {
		case f.Key == "required":
			var stillRequired []any
			for _, k := range f.Value.([]any) {
				if !optional[k.(string)] {
					stillRequired = append(stillRequired, k)
				}
			}
			f.Value = stillRequired
		case f.Key == "additionalProperties":
			f.Value = open
		}
		out = append(out, f)
	}
	return out
}

func (b *formatBuilder) toolDescription(t *ideafile.Tool) string {
	parts := []string{}
	for _, s := range []string{t.Description, b.input.ToolInstructions[t.Name]} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n")
}

// metaProperties are the schemas of the meta properties that the LLM may choose in a Tool's Calls.
func (b *formatBuilder) metaProperties(t *ideafile.Tool) []jsonval.Field {
	var out []jsonval.Field
	if !t.OutputPath.Declared {
		out = append(out, jsonval.Field{Key: "_outputPath", Value: nullable(typeSchema("string"))})
	}
	for _, m := range []struct {
		key   string
		value ideafile.MetaValue
	}{{"_outputPath", t.OutputPath}, {"_outputMethod", t.OutputMethod}, {"_scopes", t.Scopes}} {
		if m.value.Schema != nil {
			out = append(out, jsonval.Field{Key: m.key, Value: nullable(b.metaSchema(t, m.key, m.value.Schema.Source))})
		}
	}
	if b.input.Bindings[t.Name].Kind == ideafile.KindLatent {
		out = append(out, jsonval.Field{Key: "_output", Value: nullable(b.resultSchema(t))})
	}
	return out
}

// resultSchema is the schema of a result that the LLM writes for a latent Tool.
func (b *formatBuilder) resultSchema(t *ideafile.Tool) any {
	if t.Output == nil {
		return typeSchema("string")
	}
	return b.metaSchema(t, "_output", t.Output.Source)
}

// metaSchema is the schema of a meta property, as the Tool's designer wrote it.
func (b *formatBuilder) metaSchema(t *ideafile.Tool, key string, schema any) any {
	if !b.strict {
		return b.defineRebased(strings.TrimPrefix(key, "_")+"_of_"+t.Name, schema)
	}
	strictSchema, reason := toStrict(jsonschema.InlineRefs(schema, schema), nil)
	if reason != "" {
		b.rejectStrict("tool "+t.Name+", "+key, reason)
	}
	return strictSchema
}

// referenceSchema matches a Reference, where the schema itself does not allow every string.
var referenceSchema = jsonval.Ordered{{Key: "type", Value: "string"}, {Key: "pattern", Value: "^†[^†]"}}

func nullable(schema any) any {
	return withChoice(schema, typeSchema("null"))
}

// withChoice adds a choice to a schema. An anyOf is extended rather than nested.
func withChoice(schema any, choice any) any {
	anyOf, ok := schema.(jsonval.Ordered)
	if !ok || len(anyOf) != 1 || anyOf[0].Key != "anyOf" {
		return jsonval.Ordered{{Key: "anyOf", Value: []any{schema, choice}}}
	}
	choices := anyOf[0].Value.([]any)
	if jsonval.ContainsValue(choices, choice) {
		return schema
	}
	return jsonval.Ordered{{Key: "anyOf", Value: append(choices[:len(choices):len(choices)], choice)}}
}

// paramSchema is the schema of a parameter: what the Tool declares, or a Reference, or, in strict mode, null for an
// optional one.
func (b *formatBuilder) paramSchema(t *ideafile.Tool, name string, schema any) any {
	var result any
	if b.strict {
		strictSchema, reason := toStrict(jsonschema.InlineRefs(t.Source, schema), nil)
		if reason != "" {
			b.rejectStrict(fmt.Sprintf("tool %s, parameter %q", t.Name, name), reason)
		}
		result = strictSchema
	} else {
		result = refSchema(definitionRef("tool_"+t.Name) + "/properties/" + jsonschema.EscapePointer(name))
	}
	if !acceptsAnyString(schema) {
		result = withChoice(result, referenceSchema)
	}
	if !t.Requires(name) && b.strict {
		result = nullable(result)
	}
	return result
}

// acceptsAnyString reports whether a schema accepts every string, and so every Reference.
func acceptsAnyString(schema any) bool {
	object, ok := schema.(map[string]any)
	if !ok || object["type"] != "string" {
		return false
	}
	//workflowcheck:ignore -- visits all: the order does not matter
	for k := range object {
		if k != "type" && k != "description" && k != "title" && k != "default" && k != "examples" {
			return false
		}
	}
	return true
}

// outputSchema is the schema of the final output: any part of it may be a Reference, and all of it may be null.
func (b *formatBuilder) outputSchema() any {
	if b.input.Output == nil {
		return typeSchema("null")
	}
	if !b.strict {
		defined := b.defineRebased("output", b.input.Output.Source)
		anyContainer := jsonval.Ordered{{Key: "type", Value: []any{"object", "array"}}} // its leaves may be References
		return jsonval.Ordered{{Key: "anyOf", Value: []any{defined, anyContainer, referenceSchema, typeSchema("null")}}}
	}
	allowReference := func(schema, strict any) any {
		if acceptsAnyString(schema) {
			return strict
		}
		return withChoice(strict, referenceSchema)
	}
	strictSchema, reason := toStrict(jsonschema.InlineRefs(b.input.Output.Source, b.input.Output.Source), allowReference)
	if reason != "" {
		b.rejectStrict("output", reason)
	}
	return nullable(strictSchema)
}

// ResponseFormatFor composes the schema for the reply to one Request.
func ResponseFormatFor(idea *ideafile.Idea, bindings map[string]ideafile.Binding, request *turn.RequestInput) ResponseFormat {
	if len(request.Questions) > 0 {
		return answersFormat(idea, request)
	}
	in := FormatInput{Tools: idea.Tools, Bindings: bindings, Tokens: request.InstanceTokens(), Output: idea.Output, ToolInstructions: ToolInstructions(idea)}
	if request.OutputOnly {
		in.Tools, in.Tokens = nil, []string{""}
	}
	return NewResponseFormat(in)
}
