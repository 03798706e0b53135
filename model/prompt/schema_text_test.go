package prompt

import (
	"strings"
	"testing"

	"processidea/model/modeltest"
	"processidea/model/turn"
)

func TestASchemaIsWrittenAsAType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, want string }{
		{`{"type": "string"}`, `string`},
		{`true`, `any`},
		{`{}`, `any`},
		{`{"type": ["string", "null"]}`, `string | null`},
		{`{"enum": ["a", 2, null]}`, `"a" | 2 | null`},
		{`{"const": "x"}`, `"x"`},
		{`{"type": "object"}`, `object`},
		{`{"type": "object", "additionalProperties": false}`, `{}`},
		{`{"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "string"}}, "required": ["b"]}`,
			`{b: integer, a?: string}`},
		{`{"properties": {"day": {"type": "string", "description": "the\n day", "format": "date"}}}`,
			`{day?: string /* the day; format "date" */}`},
		{`{"type": "array", "items": {"enum": ["a", "b"]}}`, `("a" | "b")[]`},
		{`{"type": "array", "items": {"type": "number", "minimum": 0}}`, `(number /* minimum 0 */)[]`},
		{`{"type": "object", "additionalProperties": {"type": "number"}}`, `{[key: string]: number}`},
		{`{"anyOf": [{"type": "string"}, {"type": "object", "properties": {"x y": {}}}]}`, `string | {"x y"?: any}`},
		{`{"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}}`,
			`{a?: integer}`},
		{`{"description": "ends */ the comment", "properties": {"a": {"type": "null", "description": "*/ x"}}}`,
			`{a?: null /* * / x */}`},
		// What a type cannot say is written as JSON Schema.
		{`{"not": {"type": "string"}}`, `{"not":{"type":"string"}}`},
		{`{"properties": {"a": {"if": {}}}}`, `{"properties":{"a":{"if":{}}}}`},
		{`{"properties": {"a": {"$ref": "#"}}}`, `{"properties":{"a":{"$ref":"#"}}}`},
		{`{"$ref": "https://example.com/x"}`, `{"$ref":"https://example.com/x"}`},
	} {
		schema := modeltest.DecodeJSON(t, c.schema)
		if text := schemaText(schema, schema); text != c.want {
			t.Errorf("%s is written %s, not %s", c.schema, text, c.want)
		}
	}
}

func TestAFormThatThePaletteHasShownAsAResultIsNotRepeated(t *testing.T) {
	t.Parallel()
	const rate = `{"type": "object", "properties": {"amount": {"type": "number"}, "currency": {"type": "string"}}, "required": ["amount", "currency"]}`
	idea := modeltest.IdeaFrom(t, `{"schema": {"tools": {"convert": {"type": "object", "_output": `+rate+`}, "count": {"type": "object", "_output": {"type": "integer"}}}}, "context": [{"type": "state", "state": {},
		"schema": {"type": "object", "properties": {"price": `+rate+`, "n": {"type": "integer"}, "list": {"type": "array", "items": `+rate+`}}, "required": ["price"]}}]}`)
	text := Render(idea, nil, &turn.RequestInput{Instances: []turn.InstanceInput{{State: map[string]any{}}}},
		nil)[1].Content
	want := `Form of State: {price: result of convert, list?: {amount: number, currency: string}[], n?: integer}`
	if !strings.Contains(text, want) {
		t.Errorf("got %s", text)
	}
}
