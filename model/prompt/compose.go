package prompt

import (
	"fmt"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// Form is the JSON Schema that a reply must follow, composed of the palette, the tokens and the output form.
type Form struct {
	Schema any
	// Strict says that the schema keeps the rules of strict structured outputs; Reason says why it does not.
	Strict bool
	Reason string
}

// ComposeInput is what a Form depends on, and all that it depends on.
type ComposeInput struct {
	Tools    []*ideafile.Tool
	Bindings map[string]ideafile.Binding
	Tokens   []string
	Output   *jsonschema.Schema
	// Notes are the instructions attached to Tools, by Tool.
	Notes map[string]string
}

// Compose gives the form of a solution: {"calls": […], "output": …}. A palette that can be said in the strict subset is;
// another is composed loosely, with the reason. The same input gives the same bytes.
func Compose(in ComposeInput) Form {
	c := composer{in: in, strict: true}
	schema := c.root()
	if c.reason == "" {
		c.reason = strictProblem(schema)
	}
	if c.reason == "" {
		return Form{Schema: schema, Strict: true}
	}
	loose := composer{in: in}
	return Form{Schema: loose.root(), Reason: c.reason}
}

type composer struct {
	in     ComposeInput
	strict bool
	defs   jsonval.Ordered
	reason string // why strict is out of the question
}

func (c *composer) refuse(place, why string) {
	if c.reason == "" {
		c.reason = place + ": " + why
	}
}

func (c *composer) root() any {
	if c.tokens() {
		c.define("instance", jsonval.Ordered{{Key: "type", Value: "string"}, {Key: "enum", Value: c.enum()}})
	}
	choices := []any{}
	for _, t := range c.in.Tools {
		choices = append(choices, c.define("call_"+t.Name, c.call(t)))
		if !c.strict {
			c.move("tool_"+t.Name, unwired(t))
		}
	}
	calls := jsonval.Ordered{{Key: "type", Value: "array"}, {Key: "items", Value: jsonval.Ordered{{Key: "anyOf", Value: choices}}}}
	if len(choices) == 0 {
		calls = jsonval.Ordered{{Key: "type", Value: "array"}, {Key: "items", Value: jsonval.Ordered{{Key: "type", Value: "null"}}}}
	}
	return c.whole(closedObject(jsonval.Field{Key: "calls", Value: calls}, jsonval.Field{Key: "output", Value: c.output()}))
}

// define adds a definition and gives a reference to it.
func (c *composer) define(name string, schema any) jsonval.Ordered {
	c.defs = append(c.defs, jsonval.Field{Key: name, Value: schema})
	return jsonval.Ordered{{Key: "$ref", Value: definition(name)}}
}

// move is define for a designer's schema, whose own references go along.
func (c *composer) move(name string, schema any) jsonval.Ordered {
	return c.define(name, jsonschema.Rehome(jsonschema.WithoutMeta(schema), definition(name)))
}

func definition(name string) string { return "#/$defs/" + jsonschema.EscapePointer(name) }

// whole adds the definitions to a root.
func (c *composer) whole(root jsonval.Ordered) any {
	if len(c.defs) > 0 {
		root = append(root, jsonval.Field{Key: "$defs", Value: c.defs})
	}
	return root
}

// closedObject is a closed object with all its properties required.
func closedObject(props ...jsonval.Field) jsonval.Ordered {
	required := make([]any, len(props))
	for i, p := range props {
		required[i] = p.Key
	}
	return jsonval.Ordered{{Key: "type", Value: "object"}, {Key: "properties", Value: jsonval.Ordered(props)}, {Key: "required", Value: required}, {Key: "additionalProperties", Value: false}}
}

func (c *composer) tokens() bool { return len(c.in.Tokens) != 1 || c.in.Tokens[0] != "" }

func (c *composer) enum() []any {
	list := []any{}
	for _, t := range c.in.Tokens {
		list = append(list, t)
	}
	return append(list, "*")
}

// call is the form of one Tool's Calls.
func (c *composer) call(t *ideafile.Tool) any {
	props := []jsonval.Field{{Key: "_tool", Value: jsonval.Ordered{{Key: "type", Value: "string"}, {Key: "enum", Value: []any{t.Name}}}}}
	if c.tokens() {
		props = append(props, jsonval.Field{Key: "_instance", Value: jsonval.Ordered{{Key: "$ref", Value: definition("instance")}}})
	}
	props = append(props, jsonval.Field{Key: "_reasoningForCall", Value: nullable(jsonval.Ordered{{Key: "type", Value: "string"}})})
	optional := map[string]bool{"_reasoningForCall": true}
	params, _ := t.Source["properties"].(map[string]any)
	for _, name := range jsonval.SortedKeys(params) {
		if _, wired := t.WiredParams[name]; wired {
			continue
		}
		optional[name] = !t.Requires(name)
		props = append(props, jsonval.Field{Key: name, Value: c.param(t, name, params[name])})
	}
	for _, f := range c.meta(t) {
		optional[f.Key] = true
		props = append(props, f)
	}
	form := closedObject(props...)
	if !c.strict {
		form = loosen(form, optional, t.AllowsExtraParams)
	} else if t.AllowsExtraParams {
		c.refuse("tool "+t.Name, "it takes parameters beside those it names")
	}
	if text := c.describe(t); text != "" {
		form = append(jsonval.Ordered{{Key: "description", Value: text}}, form...)
	}
	return form
}

// loosen drops what only strict mode demands: that every property is there, and that an open object is closed.
func loosen(form jsonval.Ordered, optional map[string]bool, open bool) jsonval.Ordered {
	out := jsonval.Ordered{}
	for _, f := range form {
		switch {
		case f.Key == "required":
			var needed []any
			for _, k := range f.Value.([]any) {
				if !optional[k.(string)] {
					needed = append(needed, k)
				}
			}
			f.Value = needed
		case f.Key == "additionalProperties":
			f.Value = open
		}
		out = append(out, f)
	}
	return out
}

func (c *composer) describe(t *ideafile.Tool) string {
	parts := []string{}
	for _, s := range []string{t.Description, c.in.Notes[t.Name]} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n")
}

// meta is the meta properties that the LLM may choose in a Tool's Calls.
func (c *composer) meta(t *ideafile.Tool) []jsonval.Field {
	var out []jsonval.Field
	if !t.OutputPath.Declared {
		out = append(out, jsonval.Field{Key: "_outputPath", Value: nullable(jsonval.Ordered{{Key: "type", Value: "string"}})})
	}
	for _, m := range []struct {
		key    string
		choice ideafile.MetaValue
	}{{"_outputPath", t.OutputPath}, {"_outputMethod", t.OutputMethod}, {"_scopes", t.Scopes}} {
		if m.choice.Schema != nil {
			out = append(out, jsonval.Field{Key: m.key, Value: nullable(c.embed(t, m.key, m.choice.Schema.Source))})
		}
	}
	if c.in.Bindings[t.Name].Kind == ideafile.KindLatent {
		var form any = jsonval.Ordered{{Key: "type", Value: "string"}}
		if t.Output != nil {
			form = c.embed(t, "_output", t.Output.Source)
		}
		out = append(out, jsonval.Field{Key: "_output", Value: nullable(form)})
	}
	return out
}

// embed is the form of a Tool's meta property for which its designer gave a schema.
func (c *composer) embed(t *ideafile.Tool, key string, schema any) any {
	if !c.strict {
		return c.move(strings.TrimPrefix(key, "_")+"_of_"+t.Name, schema)
	}
	s, why := strictForm(jsonschema.Rooted(schema, schema), nil)
	if why != "" {
		c.refuse("tool "+t.Name+", "+key, why)
	}
	return s
}

// reference is the form of a Reference where something other than a string is wanted.
var reference = jsonval.Ordered{{Key: "type", Value: "string"}, {Key: "pattern", Value: "^†[^†]"}}

func nullable(schema any) any { return either(schema, jsonval.Ordered{{Key: "type", Value: "null"}}) }

// either adds a choice to a form, without making a choice of choices.
func either(form any, other any) any {
	o, ok := form.(jsonval.Ordered)
	if !ok || len(o) != 1 || o[0].Key != "anyOf" {
		return jsonval.Ordered{{Key: "anyOf", Value: []any{form, other}}}
	}
	choices := o[0].Value.([]any)
	if jsonval.ContainsValue(choices, other) {
		return form
	}
	return jsonval.Ordered{{Key: "anyOf", Value: append(choices[:len(choices):len(choices)], other)}}
}

// param is the form of a parameter: what the Tool says, or a Reference, or null where it may be left out.
func (c *composer) param(t *ideafile.Tool, name string, schema any) any {
	var form any
	if c.strict {
		s, why := strictForm(jsonschema.Rooted(t.Source, schema), nil)
		if why != "" {
			c.refuse(fmt.Sprintf("tool %s, parameter %q", t.Name, name), why)
		}
		form = s
	} else {
		form = jsonval.Ordered{{Key: "$ref", Value: definition("tool_"+t.Name) + "/properties/" + jsonschema.EscapePointer(name)}}
	}
	if !plainString(schema) {
		form = either(form, reference)
	}
	if !t.Requires(name) && c.strict {
		form = nullable(form)
	}
	return form
}

// plainString says whether a schema takes any string, and so a Reference too.
func plainString(schema any) bool {
	m, ok := schema.(map[string]any)
	if !ok || m["type"] != "string" {
		return false
	}
	//workflowcheck:ignore -- all or not all, in any order
	for k := range m {
		if k != "type" && k != "description" && k != "title" && k != "default" && k != "examples" {
			return false
		}
	}
	return true
}

// output is the form of the final output, of which every part may be a Reference, or null.
func (c *composer) output() any {
	if c.in.Output == nil {
		return jsonval.Ordered{{Key: "type", Value: "null"}}
	}
	if !c.strict {
		form := c.move("output", c.in.Output.Source)
		return jsonval.Ordered{{Key: "anyOf", Value: []any{form, jsonval.Ordered{{Key: "type", Value: []any{"object", "array"}}}, reference, jsonval.Ordered{{Key: "type", Value: "null"}}}}}
	}
	part := func(schema any, form any) any {
		if plainString(schema) {
			return form
		}
		return either(form, reference)
	}
	s, why := strictForm(jsonschema.Rooted(c.in.Output.Source, c.in.Output.Source), part)
	if why != "" {
		c.refuse("output", why)
	}
	return nullable(s)
}

// ComposeFor composes the form of one Request's reply.
func ComposeFor(i *ideafile.Idea, bindings map[string]ideafile.Binding, b *turn.RequestInput) Form {
	if len(b.Questions) > 0 {
		return composeResults(i, b)
	}
	in := ComposeInput{Tools: i.Tools, Bindings: bindings, Tokens: b.Tokens(), Output: i.Output, Notes: ToolNotes(i)}
	if b.OutputOnly {
		in.Tools, in.Tokens = nil, []string{""}
	}
	return Compose(in)
}

// composeResults is the form of a reply that gives the results of latent Calls, {"calls": [{"_call", "_output"}]}, and
// fitted values, {"calls": [{"_call", "_params"}]}, alone.
func composeResults(i *ideafile.Idea, b *turn.RequestInput) Form {
	form := func(strict bool) (any, string) {
		c := composer{in: ComposeInput{Tools: i.Tools}, strict: strict}
		choices, notes := []any{}, ToolNotes(i)
		for _, t := range i.Tools {
			ids := []any{}
			choices = append(choices, c.fitting(t, b.Questions)...)
			for _, a := range b.Questions {
				if a.Tool == t.Name && a.ParamsError == "" {
					ids = append(ids, a.ID)
				}
			}
			if len(ids) == 0 {
				continue
			}
			var out any = jsonval.Ordered{{Key: "type", Value: "string"}}
			if t.Output != nil {
				out = c.embed(t, "_output", t.Output.Source)
			}
			choice := closedObject(jsonval.Field{Key: "_call", Value: jsonval.Ordered{{Key: "type", Value: "string"}, {Key: "enum", Value: ids}}}, jsonval.Field{Key: "_output", Value: out})
			if note := notes[t.Name]; note != "" {
				choice = append(jsonval.Ordered{{Key: "description", Value: note}}, choice...)
			}
			choices = append(choices, choice)
		}
		items := jsonval.Ordered{{Key: "type", Value: "array"}, {Key: "items", Value: jsonval.Ordered{{Key: "anyOf", Value: choices}}}}
		return c.whole(closedObject(jsonval.Field{Key: "calls", Value: items}, jsonval.Field{Key: "output", Value: jsonval.Ordered{{Key: "type", Value: "null"}}})), c.reason
	}
	schema, why := form(true)
	if why == "" {
		why = strictProblem(schema)
	}
	if why == "" {
		return Form{Schema: schema, Strict: true}
	}
	schema, _ = form(false)
	return Form{Schema: schema, Reason: why}
}
