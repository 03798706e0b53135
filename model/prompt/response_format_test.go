package prompt

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// paletteJSON is a palette as JSON text.
type paletteJSON struct {
	name, tools, output string
	latent              string // names of the latent Tools
	tokens              []string
	reason              string // why the schema is not strict
	right, wrong        []string
}

func (c paletteJSON) input(t modeltest.Fataler) ResponseFormatInput {
	schema := `{"tools": {` + c.tools + `}}`
	if c.output != "" {
		schema = `{"tools": {` + c.tools + `}, "output": ` + c.output + `}`
	}
	i := modeltest.IdeaFrom(t, `{"schema": `+schema+`}`)
	in := ResponseFormatInput{Tools: i.Tools, Bindings: map[string]ideafile.ToolBinding{}, InstanceTokens: c.tokens,
		OutputSchema: i.OutputSchema}
	if in.InstanceTokens == nil {
		in.InstanceTokens = []string{""}
	}
	for _, tool := range i.Tools {
		in.Bindings[tool.Name] = ideafile.ToolBinding{Kind: ideafile.KindGo}
		if slices.Contains(strings.Fields(c.latent), tool.Name) {
			in.Bindings[tool.Name] = ideafile.ToolBinding{Kind: ideafile.KindLatent}
		}
	}
	return in
}

// mustBeValidFormat checks what holds of every ResponseFormat: it keeps the strict rules or says why not, and it
// compiles.
func mustBeValidFormat(t modeltest.Fataler, format ResponseFormat) *jsonschema.Schema {
	text := jsonval.Encode(format.Schema)
	if format.IsStrict != (format.NotStrictReason == "") {
		t.Fatalf("strict: %v, reason: %q", format.IsStrict, format.NotStrictReason)
	}
	if b := violations(text); format.IsStrict && b != nil {
		t.Fatalf("sent strict, and breaks its rules: %s\n%s", strings.Join(b, "; "), text)
	}
	v, err := jsonval.Decode(text)
	if err != nil {
		t.Fatalf("%s", err)
	}
	s, err := jsonschema.CompileSchema(v)
	if err != nil {
		t.Fatalf("%s\n%s", err, text)
	}
	return s
}

const anyLetter = `"a": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}`

var forms = []paletteJSON{
	{name: "no tools and no output", right: []string{`{"calls":[]}`},
		wrong: []string{`{}`, `{"output":null}`,
			`{"calls":[{"_tool":"a"}]}`,
			`{"calls":[],"output":1}`,
			`{"calls":[],"output":null,"more":1}`, `[]`}},
	{name: "an explicit tool", tools: anyLetter,
		right: []string{
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"x":"text","_outputPath":"p"},{"_tool":"a","_reasoningForCall":"so","x":"†state.y","_outputPath":null}]}`},
		wrong: []string{
			`{"calls":[{"_tool":"b","_reasoningForCall":null,"x":"text","_outputPath":null}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"x":1,"_outputPath":null}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"x":null,"_outputPath":null}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":null}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"x":"text","_outputPath":null,"_output":"y"}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"x":"text","_outputPath":null,"_approval":false}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"x":"text","_outputPath":null,"_instance":"*"}]}`,
		}},
	{name: "a parameter that may be left out may be null",
		tools: `"a": {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "object", "properties": {"z": {"type": "string"}}}}}`,
		right: []string{`{"calls":[{"_tool":"a","_reasoningForCall":null,"x":null,"y":null,"_outputPath":null}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"x":3,"y":{"z":null},"_outputPath":null}]}`},
		wrong: []string{`{"calls":[{"_tool":"a","_reasoningForCall":null,"x":3,"_outputPath":null}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"x":3,"y":{},"_outputPath":null}]}`}},
	{name: "a parameter that is no string may be a Reference",
		tools: `"a": {"type": "object", "properties": {"n": {"type": "number"}, "o": {"type": "object", "properties": {"z": {"type": "string"}}, "required": ["z"]}, "l": {"type": "array", "items": {"type": "integer"}}}, "required": ["n", "o", "l"]}`,
		right: []string{
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"n":"†state.n","o":"†input.o","l":"†state.l[0]","_outputPath":null}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"n":1.5,"o":{"z":"†state.z"},"l":[1],"_outputPath":null}]}`},
		wrong: []string{
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"n":"five","o":"†input.o","l":[],"_outputPath":null}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"n":"††state.n","o":"†input.o","l":[],"_outputPath":null}]}`}},
	{name: "so may an enum, and any string with a form",
		tools: `"a": {"type": "object", "properties": {"e": {"type": "string", "enum": ["u", "v"]}, "d": {"type": "string", "format": "date"}}, "required": ["e", "d"]}`,
		right: []string{
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"e":"u","d":"2026-01-31","_outputPath":null}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"e":"†state.e","d":"†state.d","_outputPath":null}]}`},
		wrong: []string{
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"e":"w","d":"2026-01-31","_outputPath":null}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"e":"u","d":"soon","_outputPath":null}]}`}},
	{name: "a wired parameter is not there",
		tools: `"a": {"type": "object", "properties": {"key": {"const": "†input.key"}, "x": {"type": "string"}}, "required": ["key", "x"]}`,
		right: []string{`{"calls":[{"_tool":"a","_reasoningForCall":null,"x":"y","_outputPath":null}]}`},
		wrong: []string{
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"x":"y","key":"†input.key","_outputPath":null}]}`}},
	{name: "a latent tool gives its result", latent: "a",
		tools: `"a": {"type": "object", "properties": {}, "_output": {"type": "object", "properties": {"mood": {"type": "string", "enum": ["good", "bad"]}}, "required": ["mood"]}}`,
		right: []string{
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":"m","_output":{"mood":"good"}}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":"m","_output":null}]}`},
		wrong: []string{
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":"m","_output":{"mood":"so so"}}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":"m","_output":"good"}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":"m"}]}`}},
	{name: "a latent tool of which nothing is said gives a text", latent: "a",
		tools: `"a": {"type": "object", "properties": {}}`,
		right: []string{`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":"m","_output":"good"}]}`},
		wrong: []string{`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":"m","_output":{}}]}`}},
	{name: "a result whose schema has definitions", latent: "a",
		tools: `"a": {"type": "object", "properties": {}, "_output": {"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}}`,
		right: []string{`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":"m","_output":[1,2]}]}`},
		wrong: []string{`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":"m","_output":["x"]}]}`}},
	{name: "_outputMethod and _scopes where the LLM may choose",
		tools: `"a": {"type": "object", "properties": {}, "_outputMethod": {"type": "string", "enum": ["push", "merge"]}, "_scopes": {"type": "array", "items": {"type": "string", "enum": ["input"]}}, "_outputPath": {"type": "string", "pattern": "^log"}}`,
		right: []string{
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":"log.x","_outputMethod":"push","_scopes":["input"]}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":null,"_outputMethod":null,"_scopes":null}]}`},
		wrong: []string{
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":"x","_outputMethod":"push","_scopes":null}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":"log","_outputMethod":"concat","_scopes":null}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":"log","_outputMethod":"push","_scopes":["state"]}]}`}},
	{name: "not where they are fixed",
		tools: `"a": {"type": "object", "properties": {}, "_outputMethod": "push", "_scopes": ["input"], "_outputPath": "†state.log"}`,
		right: []string{`{"calls":[{"_tool":"a","_reasoningForCall":null}]}`},
		wrong: []string{`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputPath":"x"}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"_outputMethod":"push"}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"_scopes":["input"]}]}`}},
	{name: "instances", tools: anyLetter + `, "b": {"type": "object", "properties": {}}`, tokens: []string{"①", "②"},
		right: []string{
			`{"calls":[{"_tool":"a","_instance":"①","_reasoningForCall":null,"x":"y","_outputPath":null},{"_tool":"b","_instance":"*","_reasoningForCall":null,"_outputPath":null}]}`},
		wrong: []string{`{"calls":[{"_tool":"a","_instance":"③","_reasoningForCall":null,"x":"y","_outputPath":null}]}`,
			`{"calls":[{"_tool":"b","_reasoningForCall":null,"_outputPath":null}]}`,
			`{"calls":[{"_tool":"b","_instance":null,"_reasoningForCall":null,"_outputPath":null}]}`}},
	{name: "an output", output: `{"type": "object", "properties": {"summary": {"type": "string"}, "n": {"type": "integer"}, "note": {"type": "string"}}, "required": ["summary", "n"]}`,
		right: []string{`{"calls":[],"output":null}`,
			`{"calls":[],"output":{"summary":"s","n":1,"note":null}}`,
			`{"calls":[],"output":{"summary":"†state.s","n":"†state.n","note":null}}`,
			`{"calls":[],"output":"†state.all"}`},
		wrong: []string{`{"calls":[],"output":{"summary":"s","note":null}}`,
			`{"calls":[],"output":{"summary":1,"n":1,"note":null}}`,
			`{"calls":[],"output":{"summary":"s","n":"one","note":null}}`,
			`{"calls":[],"output":"all is well"}`}},
	{name: "a list or an object of an output may be a Reference as a whole",
		output: `{"type": "object", "properties": {"l": {"type": "array", "items": {"type": "integer"}}, "o": {"type": "object", "properties": {"x": {"type": "string"}}}}}`,
		right: []string{`{"calls":[],"output":{"l":"†state.l","o":"†state.o"}}`,
			`{"calls":[],"output":{"l":[1,"†state.n"],"o":{"x":"†state.x"}}}`,
			`{"calls":[],"output":{"l":null,"o":null}}`},
		wrong: []string{`{"calls":[],"output":{"l":"all","o":null}}`,
			`{"calls":[],"output":{"l":["one"],"o":null}}`,
			`{"calls":[],"output":{"l":null,"o":"††state.o"}}`}},
	{name: "an output that is one value", output: `{"type": "integer"}`, right: []string{`{"calls":[],"output":7}`,
		`{"calls":[],"output":"†state.n"}`,
		`{"calls":[],"output":null}`}, wrong: []string{`{"calls":[],"output":"seven"}`}},

	{name: "what strict mode cannot say is left out, and the rest stays strict",
		tools: `"a": {"type": "object", "properties": {"x": {"type": "string", "maxLength": 2, "format": "uri"}, "y": {"type": "array", "items": {"oneOf": [{"type": "integer"}, {"type": "boolean"}]}, "uniqueItems": true}}, "required": ["x", "y"], "minProperties": 2, "not": {"required": ["z"]}},
			"b": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}`,
		right: []string{`{"calls":[{"_tool":"a","_reasoningForCall":null,"x":"a:","y":[1,true],"_outputPath":null}]}`},
		wrong: []string{`{"calls":[{"_tool":"b","_reasoningForCall":null,"n":"x","_outputPath":null}]}`,
			`{"calls":[{"_tool":"a","_reasoningForCall":null,"x":"x","y":["x"],"_outputPath":null}]}`}},
	{name: "loosely: a tool that takes anything", tools: `"a": {"type": "object"}`,
		reason: `tool a: it takes parameters beside those it names`,
		right: []string{`{"calls":[{"_tool":"a","any":[1]}]}`,
			`{"calls":[{"_tool":"a","_outputPath":"x"}]}`}, wrong: []string{`{"calls":[{"any":1}]}`,
			`{"calls":[{"_tool":"b"}]}`,
			`{"calls":[],"output":null}`}},
	{name: "loosely: what may be left out may be left out",
		tools: `"a": {"type": "object", "properties": {"x": {"type": "string", "allOf": [{"minLength": 2}]}, "y": {"type": "integer"}}, "required": ["y"]}`, reason: `tool a, parameter "x": keyword "allOf"`,
		right: []string{`{"calls":[{"_tool":"a","y":1}]}`,
			`{"calls":[{"_tool":"a","x":"xx","y":"†state.y"}]}`,
			`{"calls":[{"_tool":"a","x":"†state.x","y":1}]}`},
		wrong: []string{`{"calls":[{"_tool":"a","x":"x","y":1}]}`,
			`{"calls":[{"_tool":"a","x":"xx"}]}`,
			`{"calls":[{"_tool":"a","y":1,"z":1}]}`}},
	{name: "loosely: a schema that holds itself",
		tools:  `"a": {"type": "object", "properties": {"tree": {"$ref": "#/$defs/node"}}, "required": ["tree"], "$defs": {"node": {"type": "object", "properties": {"name": {"type": "string"}, "below": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "required": ["name"]}}}`,
		reason: `tool a, parameter "tree": a schema that holds itself`,
		right: []string{`{"calls":[{"_tool":"a","tree":{"name":"x","below":[{"name":"y"}]}}]}`,
			`{"calls":[{"_tool":"a","tree":"†state.tree"}]}`},
		wrong: []string{`{"calls":[{"_tool":"a","tree":{"name":"x","below":[{"nam":"y"}]}}]}`}},
	{name: "loosely: a result that holds itself", latent: "a",
		tools: `"a": {"type": "object", "properties": {}, "_output": {"type": "object", "properties": {"below": {"type": "array", "items": {"$ref": "#"}}}, "required": ["below"]}}`, reason: `tool a, _output: a schema that holds itself`,
		right: []string{`{"calls":[{"_tool":"a","_output":{"below":[]}}]}`},
		wrong: []string{`{"calls":[{"_tool":"a","_output":{"below":1}}]}`,
			`{"calls":[{"_tool":"a","_output":5}]}`}},
	{name: "loosely: schemas with addresses of their own", latent: "a",
		tools:  `"a": {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "https://example.com/a", "type": "object", "properties": {"x": {"$ref": "#/definitions/n"}, "y": {"minLength": 1}}, "definitions": {"n": {"type": "integer"}}, "_output": {"$id": "https://example.com/o", "not": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}}`,
		reason: `tool a, parameter "y": a value of any type`,
		right:  []string{`{"calls":[{"_tool":"a","x":1,"_output":"x"}]}`},
		wrong: []string{`{"calls":[{"_tool":"a","x":1.5}]}`,
			`{"calls":[{"_tool":"a","_output":1}]}`}},
	{name: "loosely: what a designer wired is not shown",
		tools: `"a": {"type": "object", "properties": {"key": {"const": "†input.secret"}, "x": {"minLength": 1}}, "required": ["key"]}`, reason: `tool a, parameter "x": a value of any type`,
		right: []string{`{"calls":[{"_tool":"a"}]}`},
		wrong: []string{`{"calls":[{"_tool":"a","key":"†input.secret"}]}`}},
	{name: "loosely: an open output", output: `{"type": "object", "additionalProperties": {"type": "string"}}`,
		reason: `output: an open object`,
		right: []string{`{"calls":[],"output":{"a":"b"}}`,
			`{"calls":[],"output":{"a":"†state.x"}}`,
			`{"calls":[],"output":null}`}, wrong: []string{`{"calls":[],"output":5}`,
			`{"calls":[],"output":"text"}`}},
	{name: "loosely: an output that is one value may be a Reference", tools: `"a": {"type": "object"}`,
		output: `{"type": "integer"}`, reason: `tool a: it takes parameters beside those it names`,
		right: []string{`{"calls":[],"output":7}`,
			`{"calls":[],"output":"†state.n"}`}, wrong: []string{`{"calls":[],"output":"seven"}`}},
	{name: "loosely: odd names",
		tools:  `"a b": {"type": "object", "properties": {"x/y~z%20 \"q\"": {"minLength": 1}, "ä†#?": {"type": "integer", "not": {"const": 5}}, "$ref": {"type": "string"}}}, "c/d~#": {"type": "object", "properties": {}}`,
		reason: `tool a b, parameter "x/y~z%20 \"q\"": a value of any type`,
		right:  []string{`{"calls":[{"_tool":"a b","x/y~z%20 \"q\"":"xx","ä†#?":3,"$ref":"text"},{"_tool":"c/d~#"}]}`},
		wrong: []string{`{"calls":[{"_tool":"a b","ä†#?":5}]}`,
			`{"calls":[{"_tool":"c/d~#","x":1}]}`}},
}

// withAfter adds to each Call of a reply the `_after` that a strict form wants.
func withAfter(reply any, strict bool) any {
	m, _ := reply.(map[string]any)
	calls, _ := m["calls"].([]any)
	for _, call := range calls {
		if call, ok := call.(map[string]any); ok && strict {
			call["_after"] = nil
		}
	}
	return reply
}

func TestAFormIsComposedOfThePalette(t *testing.T) {
	t.Parallel()
	for _, c := range forms {
		t.Run(c.name, func(t *testing.T) {
			form := NewResponseFormat(c.input(t))
			if form.NotStrictReason != c.reason {
				t.Errorf("the reason is %q", form.NotStrictReason)
			}
			s := mustBeValidFormat(t, form)
			for _, reply := range c.right {
				if err := s.Validate(withAfter(modeltest.DecodeJSON(t, reply), form.IsStrict)); err != nil {
					t.Errorf("refused %s: %s\n%s", reply, err, jsonval.Encode(form.Schema))
				}
			}
			for _, reply := range c.wrong {
				if s.Validate(withAfter(modeltest.DecodeJSON(t, reply), form.IsStrict)) == nil {
					t.Errorf("took %s\n%s", reply, jsonval.Encode(form.Schema))
				}
			}
		})
	}
}

// The palette reads every Call that the schema allows: an LLM that keeps to the schema writes no broken Call.
func TestWhatAFormTakesThePaletteReads(t *testing.T) {
	t.Parallel()
	for _, c := range forms {
		in := c.input(t)
		palette := ideafile.Palette{Tools: in.Tools, BindingByTool: in.Bindings, InstanceTokens: in.InstanceTokens}
		for _, reply := range c.right {
			for _, call := range modeltest.DecodeJSON(t, reply).(map[string]any)["calls"].([]any) {
				if _, _, f := palette.ReadCall(ideafile.ParseWrittenCall(call)); f != nil {
					t.Errorf("%s: %s: %s", c.name, jsonval.Encode(call), f)
				}
			}
		}
	}
}

func TestAFormSaysCallsFirstAndWhatItSaysInAFixedOrder(t *testing.T) {
	t.Parallel()
	c := paletteJSON{latent: "b", tokens: []string{"②", "①"},
		output: `{"type": "object", "properties": {"z": {"type": "string"}, "y": {"type": "string"}}}`,
		tools:  `"b": {"description": "Thinks.", "type": "object", "properties": {"q": {"type": "string"}, "p": {"type": "string"}}, "required": ["q"]}, "a": {"type": "object", "properties": {}}`}
	in := c.input(t)
	in.InstructionsByTool = map[string]string{"b": "Think twice."}
	want :=
		`{"type":"object","properties":{"calls":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/call_a"},{"$ref":"#/$defs/call_b"}]}},` +
			`"output":{"anyOf":[{"type":"object","properties":{"y":{"anyOf":[{"type":"string"},{"type":"null"}]},"z":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["y","z"],"additionalProperties":false},{"type":"string","pattern":"^†[^†]"},{"type":"null"}]}},` +
			`"required":["calls","output"],"additionalProperties":false,"$defs":{"instance":{"type":"string","enum":["②","①","*"]},"instances":{"anyOf":[{"$ref":"#/$defs/instance"},{"type":"array","items":{"$ref":"#/$defs/instance"}}]},"after":{"anyOf":[{"type":"array","items":{"type":"string","pattern":"^†(state|call)"}},{"type":"null"}]},` +
			`"call_a":{"type":"object","properties":{"_tool":{"type":"string","enum":["a"]},"_instance":{"$ref":"#/$defs/instances"},"_reasoningForCall":{"anyOf":[{"type":"string"},{"type":"null"}]},"_outputPath":{"anyOf":[{"type":"string"},{"type":"null"}]},"_after":{"$ref":"#/$defs/after"}},` +
			`"required":["_tool","_instance","_reasoningForCall","_outputPath","_after"],"additionalProperties":false},` +
			`"call_b":{"description":"Thinks.\nThink twice.","type":"object","properties":{"_tool":{"type":"string","enum":["b"]},"_instance":{"$ref":"#/$defs/instances"},"_reasoningForCall":{"anyOf":[{"type":"string"},{"type":"null"}]},` +
			`"q":{"type":"string"},"p":{"anyOf":[{"type":"string"},{"type":"null"}]},"_outputPath":{"anyOf":[{"type":"string"},{"type":"null"}]},"_after":{"$ref":"#/$defs/after"},"_output":{"anyOf":[{"type":"string"},{"type":"null"}]}},` +
			`"required":["_tool","_instance","_reasoningForCall","q","p","_outputPath","_after","_output"],"additionalProperties":false}}}`
	if got := string(jsonval.Encode(NewResponseFormat(in).Schema)); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestTokensAreOneSharedDefinition(t *testing.T) {
	t.Parallel()
	var tokens []string
	for n := range 100 {
		tokens = append(tokens, fmt.Sprintf("row %d", n))
	}
	c := paletteJSON{tokens: tokens}
	for n := range 30 {
		c.tools += fmt.Sprintf(`"t%d": {"type": "object", "properties": {}},`, n)
	}
	c.tools = strings.TrimSuffix(c.tools, ",")
	form := NewResponseFormat(c.input(t))
	mustBeValidFormat(t, form)
	if !form.IsStrict {
		t.Errorf("a hundred instances and thirty tools are not sent strict: %s", form.NotStrictReason)
	}
	if n := strings.Count(string(jsonval.Encode(form.Schema)), `"row 7"`); n != 1 {
		t.Errorf("a token stands %d times", n)
	}
}

func TestTheSameIdeaGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, c := range forms {
		first := jsonval.Encode(NewResponseFormat(c.input(t)).Schema)
		for range 100 {
			if again := jsonval.Encode(NewResponseFormat(c.input(t)).Schema); string(again) != string(first) {
				t.Fatalf("%s: %s\nthen %s", c.name, first, again)
			}
		}
	}
}

// reordered encodes a JSON value with the keys of each object in a random order.
func reordered(r *rand.Rand, v any) string {
	switch v := v.(type) {
	case map[string]any:
		keys := jsonval.SortedKeys(v)
		r.Shuffle(len(keys), func(a, b int) { keys[a], keys[b] = keys[b], keys[a] })
		parts := make([]string, len(keys))
		for i, k := range keys {
			parts[i] = string(jsonval.Encode(k)) + ": " + reordered(r, v[k])
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = reordered(r, e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return string(jsonval.Encode(v))
}

func TestTheOrderOfKeysInAFileMakesNoDifference(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewSource(1))
	for _, c := range forms {
		first := jsonval.Encode(NewResponseFormat(c.input(t)).Schema)
		tools := modeltest.DecodeJSON(t, "{"+c.tools+"}")
		for range 20 {
			other := c
			other.tools = strings.TrimSuffix(strings.TrimPrefix(reordered(r, tools), "{"), "}")
			if c.output != "" {
				other.output = reordered(r, modeltest.DecodeJSON(t, c.output))
			}
			if again := jsonval.Encode(NewResponseFormat(other.input(t)).Schema); string(again) != string(first) {
				t.Fatalf("%s: %s\nthen %s", c.name, first, again)
			}
		}
	}
}

func TestSchemasThatMultiplyEndSoon(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for _, n := range []int{5, 12, 14, 60} {
		c := paletteJSON{latent: "a", output: exponentialSchema(n),
			tools: fmt.Sprintf(
				`"a": {"type": "object", "properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": %s}, "_output": %s, "_scopes": %s}`,
				strings.ReplaceAll(exponentialSchema(n), `#/$defs/`, `#/$defs/x/$defs/`), exponentialSchema(n),
				exponentialSchema(n))}
		form := NewResponseFormat(c.input(t))
		if size := len(jsonval.Encode(form.Schema)); size > 8<<20 {
			t.Errorf("%d definitions are sent as %d bytes", n, size)
		}
		if n > 5 && form.IsStrict {
			t.Errorf("%d definitions are sent strict", n)
		}
		mustBeValidFormat(t, form)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}
