package sample

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestAMadeUpValueIsTheSchemasOwnOrSmall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, want string }{
		{`true`, `"simulated"`},
		{`{}`, `"simulated"`},
		{`{"const":{"a":[1]}}`, `{"a":[1]}`},
		{`{"type":"string","examples":["first","second"],"default":"third"}`, `"first"`},
		{`{"type":"string","examples":[7],"default":"third"}`, `"third"`},
		{`{"default":5,"minimum":6}`, `6`},
		{`{"enum":["low","high"]}`, `"low"`},
		{`{"enum":[null,"high"],"type":"string"}`, `"high"`},
		{`{"type":"null"}`, `null`},
		{`{"type":["null","integer"]}`, `0`},
		{`{"anyOf":[{"type":"null"},{"type":"boolean"}]}`, `false`},
		{`{"type":"boolean"}`, `false`},
		{`{"type":"integer"}`, `0`},
		{`{"type":"integer","minimum":3}`, `3`},
		{`{"type":"integer","exclusiveMinimum":3,"multipleOf":4}`, `4`},
		{`{"type":"integer","minimum":2.5}`, `3`},
		{`{"type":"integer","maximum":-7}`, `-7`},
		{`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`, `0.125`},
		{`{"type":"number","multipleOf":0.01,"minimum":0.005}`, `0.01`},
		{`{"type":"string","minLength":12}`, `"simulated..."`},
		{`{"type":"string","maxLength":3}`, `"sim"`},
		{`{"type":"string","maxLength":0}`, `""`},
		{`{"type":"string","format":"date-time"}`, `"2000-01-01T00:00:00Z"`},
		{`{"type":"string","pattern":"^[A-Z]{2}-\\d{3,}$"}`, `"AA-000"`},
		{`{"type":"string","pattern":"^(?:GB|DE)\\d+$","minLength":6}`, `"GB0000"`},
		{`{"type":"array","items":{"type":"integer"}}`, `[0]`},
		{`{"type":"array","maxItems":0}`, `[]`},
		{`{"type":"array","items":false}`, `[]`},
		{`{"type":"array","prefixItems":[{"const":1},{"type":"boolean"}],"items":false}`, `[1,false]`},
		{`{"properties":{"b":{"type":"integer"},"a":{"type":"string"}},"required":["b"]}`, `{"a":"simulated","b":0}`},
		{`{"type":"object","properties":{"a":false,"b":{}}}`, `{"b":"simulated"}`},
		{`{"type":"object","maxProperties":1,"properties":{"a":{},"b":{}},"required":["b"]}`, `{"b":"simulated"}`},
		{`{"type":"object","required":["x"],"additionalProperties":{"const":2}}`, `{"x":2}`},
		{`{"allOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"a":{"minimum":4},"b":{"const":1}},"required":["b"]}]}`, `{"a":4,"b":1}`},
		{`{"anyOf":[{"type":"string","minLength":5,"maxLength":2},{"const":"b"}]}`, `"b"`},
		{`{"type":"object","properties":{"kind":{"enum":["card","bank"]}},"required":["kind"],"if":{"properties":{"kind":{"const":"card"}}},"then":{"required":["number"],"properties":{"number":{"pattern":"^\\d{4}$"}}}}`,
			`{"kind":"card","number":"0000"}`},
		{`{"$ref":"#/$defs/id","$defs":{"id":{"type":"integer","minimum":9}}}`, `9`},
		{`{"$ref":"#/$defs/id","maximum":20,"multipleOf":10,"$defs":{"id":{"type":"integer","minimum":9}}}`, `10`},
		{`{"type":"object","properties":{"next":{"$ref":"#"},"v":{"const":1}}}`,
			`{"next":{"next":{"v":1},"v":1},"v":1}`},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"unevaluatedProperties":false}`,
			`{"a":"simulated"}`},
	} {
		v, err := MakeSample(modeltest.DecodeJSON(t, c.schema))
		if got := string(jsonval.Encode(v)); err != nil || got != c.want {
			t.Errorf("%s: %s, want %s, %v", c.schema, got, c.want, err)
		}
	}
}

func TestEveryFormatHasATextThatKeepsIt(t *testing.T) {
	t.Parallel()
	for format := range textByFormat {
		schema := modeltest.DecodeJSON(t,
			fmt.Sprintf(`{"type":"array","minItems":2,"items":{"type":"string","format":%q}}`, format))
		if _, err := MakeSample(schema); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func TestWhatNothingFitsIsSaid(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`false`, `{"not":{}}`, `{"type":"string","minLength":3,"maxLength":2}`,
		`{"type":"integer","minimum":1,"maximum":0}`,
		`{"enum":[]  ,"type":"string"}`, `{"type":"array","minItems":1,"items":false}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"]}}}`,
		`{"type":"string","minLength":100000000}`, `{"type":"array","minItems":100000000}`,
		`{"type":"object","minProperties":100000000}`,
		`{"allOf":[{"type":"string"},{"type":"integer"}]}`,
		`{"type":"array","uniqueItems":true,"minItems":3,"items":{"type":"boolean"}}`,
	} {
		if v, err := MakeSample(modeltest.DecodeJSON(t, schema)); !errors.Is(err, ErrNoSample) {
			t.Errorf("%s: %s, %v", schema, jsonval.Encode(v), err)
		}
	}
	if _, err := MakeSample(modeltest.DecodeJSON(t, `{"type":"nonsense"}`)); err == nil || errors.Is(err, ErrNoSample) {
		t.Errorf("a schema that is none: %v", err)
	}
}

// drawSchema draws a schema of every kind of keyword, mostly of those that something fits.
func drawSchema(t *rapid.T, depth int) any {
	kinds := []string{"string", "integer", "number", "boolean", "enum", "const", "format", "pattern"}
	if depth > 0 {
		kinds = append(kinds, "object", "array", "anyOf", "oneOf", "allOf", "if", "not", "prefix")
	}
	n := func(label string, most int) any { return jsonval.ToJSONValue(rapid.IntRange(0, most).Draw(t, label)) }
	sub := func() any { return drawSchema(t, depth-1) }
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "string":
		return map[string]any{"type": kind, "minLength": n("minLength", 12),
			"maxLength": jsonval.ToJSONValue(rapid.IntRange(8, 30).Draw(t, "maxLength"))}
	case "integer", "number":
		m := map[string]any{"type": kind, "minimum": jsonval.ToJSONValue(rapid.IntRange(-9, 9).Draw(t, "minimum"))}
		if rapid.Bool().Draw(t, "steps") {
			m["multipleOf"] = jsonval.ToJSONValue(rapid.SampledFrom([]float64{0.5, 1, 3, 0.1}).Draw(t, "step"))
		}
		return m
	case "enum":
		return map[string]any{"enum": []any{"a", nil, jsonval.ToJSONValue(3)}}
	case "const":
		return map[string]any{"const": "fixed"}
	case "format":
		return map[string]any{"type": "string",
			"format": rapid.SampledFrom(jsonval.SortedKeys(textByFormat)).Draw(t, "format")}
	case "pattern":
		return map[string]any{"type": "string",
			"pattern": rapid.SampledFrom([]string{`^\d+$`, `[a-c]{2,4}z`, `^(x|yy)?end$`, `\bword\b`, `^.{3}$`,
				`^[^a-z]$`}).Draw(t, "pattern")}
	case "object":
		m := map[string]any{"type": kind, "properties": map[string]any{"p": sub(), "q": sub()},
			"minProperties": n("minProperties", 3)}
		if rapid.Bool().Draw(t, "closed") {
			m["additionalProperties"] = sub()
		}
		if rapid.Bool().Draw(t, "wanted") {
			m["required"] = []any{"q", "r"}
		}
		return m
	case "array":
		return map[string]any{"type": kind, "items": sub(), "minItems": n("minItems", 2),
			"uniqueItems": rapid.Bool().Draw(t, "unique")}
	case "prefix":
		return map[string]any{"type": "array", "prefixItems": []any{sub(), sub()}, "contains": sub()}
	case "anyOf", "oneOf", "allOf":
		return map[string]any{kind: []any{sub(), sub()}}
	case "if":
		return map[string]any{"if": sub(), "then": sub(), "else": sub()}
	case "not":
		return map[string]any{"not": sub()}
	}
	return map[string]any{"type": "boolean"}
}

func TestAMadeUpValueAlwaysFitsAndIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		schema := drawSchema(t, 3)
		v, err := MakeSample(schema)
		again, errAgain := MakeSample(schema)
		if fmt.Sprint(err) != fmt.Sprint(errAgain) || !jsonval.Equal(v, again) {
			t.Fatalf("%s: %s, then %s", jsonval.Encode(schema), jsonval.Encode(v), jsonval.Encode(again))
		}
		s, bad := jsonschema.CompileSchema(schema)
		if bad != nil {
			t.Fatalf("%s: %v", jsonval.Encode(schema), bad)
		}
		if err == nil && s.Validate(v) != nil {
			t.Fatalf("%s: %s does not fit", jsonval.Encode(schema), jsonval.Encode(v))
		}
		if err != nil && !errors.Is(err, ErrNoSample) {
			t.Fatalf("%s: %v", jsonval.Encode(schema), err)
		}
		data := jsonval.Encode(v)
		if _, err := jsonval.Decode(data); err != nil {
			t.Fatalf("%s: %s cannot be read: %v", jsonval.Encode(schema), data, err)
		}
	})
}

func TestAValueIsFoundForEverySchemaWithoutConflicts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		schema := drawSimple(t, 3)
		if _, err := MakeSample(schema); err != nil {
			t.Fatalf("%s: %v", jsonval.Encode(schema), err)
		}
	})
}

// drawSimple draws a schema that something fits for sure.
func drawSimple(t *rapid.T, depth int) any {
	kinds := []string{"string", "integer", "number", "enum", "format", "pattern"}
	if depth > 0 {
		kinds = append(kinds, "object", "array", "anyOf")
	}
	n := func(label string, least, most int) any {
		return jsonval.ToJSONValue(rapid.IntRange(least, most).Draw(t, label))
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "string":
		return map[string]any{"type": kind, "minLength": n("minLength", 0, 20), "maxLength": n("maxLength", 20, 30)}
	case "integer", "number":
		return map[string]any{"type": kind, "minimum": n("minimum", -9, 9), "exclusiveMaximum": n("maximum", 20, 30),
			"multipleOf": n("step", 1, 5)}
	case "format":
		return map[string]any{"type": "string",
			"format": rapid.SampledFrom(jsonval.SortedKeys(textByFormat)).Draw(t, "format")}
	case "pattern":
		return map[string]any{"type": "string",
			"pattern": rapid.SampledFrom([]string{`^\d+$`, `[a-c]{2,4}z`, `^(x|yy)?end$`, `^.{3}$`}).Draw(t, "pattern")}
	case "object":
		return map[string]any{"type": kind,
			"properties": map[string]any{"p": drawSimple(t, depth-1), "q": drawSimple(t, depth-1)},
			"required":   []any{"p", "other"}}
	case "array":
		return map[string]any{"type": kind, "items": drawSimple(t, depth-1), "minItems": n("minItems", 0, 4)}
	case "anyOf":
		return map[string]any{kind: []any{drawSimple(t, depth-1), drawSimple(t, depth-1)}}
	}
	return map[string]any{"enum": []any{"a", "b"}}
}
