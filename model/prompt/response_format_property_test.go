package prompt

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// drawnSchema draws a schema that a designer might write, valid or not.
func drawnSchema(depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		s := map[string]any{}
		kinds := []string{"string", "integer", "number", "boolean", "null", "enum", "const", "types", "anything", "ref"}
		if depth > 0 {
			kinds = append(kinds, "object", "object", "object", "array", "array", "anyOf", "map")
		}
		switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
		case "enum":
			s["enum"] = []any{"a", "b", json.Number("1"), nil}[:rapid.IntRange(1, 4).Draw(t, "values")]
		case "const":
			s["const"] = rapid.SampledFrom([]any{"x", json.Number("2"), true}).Draw(t, "const")
		case "types":
			s["type"] = []any{"string", "null", "integer", "object"}[:rapid.IntRange(1, 4).Draw(t, "types")]
		case "anything":
		case "ref":
			s["$ref"] = rapid.SampledFrom([]string{"#/$defs/one", "#/$defs/two", "#"}).Draw(t, "ref")
		case "object":
			drawObject(t, s, depth)
		case "map":
			s["type"], s["additionalProperties"] = "object", drawnSchema(depth-1).Draw(t, "values")
		case "array":
			s["type"] = "array"
			if rapid.IntRange(0, 5).Draw(t, "items") > 0 {
				s["items"] = drawnSchema(depth-1).Draw(t, "items")
			}
		case "anyOf":
			s["anyOf"] = []any{drawnSchema(depth-1).Draw(t, "choice"), drawnSchema(depth-1).Draw(t, "choice")}
		default:
			s["type"] = kind
		}
		drawKeyword(t, s)
		return s
	})
}

func drawObject(t *rapid.T, s map[string]any, depth int) {
	props, required := map[string]any{}, []any{}
	for range rapid.IntRange(0, 3).Draw(t, "properties") {
		name := rapid.SampledFrom([]string{"a", "b", "c", "$ref", "required", "x y", "p/q~r", "ü"}).Draw(t, "name")
		props[name] = drawnSchema(depth-1).Draw(t, "property")
		if rapid.Bool().Draw(t, "required") && !jsonval.ContainsValue(required, name) {
			required = append(required, name)
		}
	}
	s["type"], s["properties"] = "object", props
	if len(required) > 0 {
		s["required"] = required
	}
	if more := rapid.SampledFrom([]any{nil, nil, false, false, true}).Draw(t, "additional"); more != nil {
		s["additionalProperties"] = more
	}
}

// drawKeyword adds to one schema in three a keyword that strict mode knows, ignores or refuses.
func drawKeyword(t *rapid.T, s map[string]any) {
	k := rapid.SampledFrom([]string{"", "", "", "", "", "", "", "", "", "", "", "description", "title", "default",
		"examples", "$comment", "minLength", "pattern", "minimum", "minItems",
		"uniqueItems", "format", "oneOf", "allOf", "not", "$anchor", "readOnly", "required", "items"}).Draw(t,
		"keyword")
	values := map[string]any{
		"description": "words", "title": "A title", "default": nil, "examples": []any{}, "$comment": "c",
		"minLength": json.Number("1"), "pattern": "^.", "minimum": json.Number("0"), "minItems": json.Number("1"),
		"uniqueItems": true, "format": "date", "oneOf": []any{map[string]any{"type": "string"}},
		"allOf": []any{map[string]any{}}, "not": map[string]any{"const": "z"}, "$anchor": "here", "readOnly": true,
		"required": []any{"gone"}, "items": map[string]any{"type": "string"},
	}
	if _, said := s[k]; k != "" && !said && s["$ref"] == nil {
		s[k] = values[k]
	}
}

func drawnTool(t *rapid.T) map[string]any {
	props, required := map[string]any{}, []any{}
	for range rapid.IntRange(0, 3).Draw(t, "parameters") {
		name := rapid.SampledFrom([]string{"a", "b", "c", "output", "x y", "ü%"}).Draw(t, "parameter")
		props[name] = drawnSchema(3).Draw(t, "schema")
		if rapid.Bool().Draw(t, "required") && !jsonval.ContainsValue(required, name) {
			required = append(required, name)
		}
	}
	tool := map[string]any{"type": "object", "properties": props, "$defs": map[string]any{
		"one": drawnSchema(1).Draw(t, "definition"), "two": drawnSchema(1).Draw(t, "definition"),
	}}
	if len(required) > 0 {
		tool["required"] = required
	}
	for _, k := range []string{"_output", "_scopes", "_outputPath"} {
		if rapid.IntRange(0, 4).Draw(t, k) == 0 {
			meta := drawnSchema(2).Draw(t, "meta")
			meta["$defs"] = map[string]any{"one": map[string]any{"type": "string"},
				"two": map[string]any{"$ref": "#/$defs/one"}}
			tool[k] = meta
		}
	}
	return tool
}

// drawnFormat draws a valid palette and composes its response format.
func drawnFormat(t *rapid.T) (ResponseFormatInput, ResponseFormat, bool) {
	var ps diag.Problems
	in := ResponseFormatInput{Bindings: map[string]ideafile.ToolBinding{},
		InstanceTokens: rapid.SampledFrom([][]string{{""}, {"①", "②"}}).Draw(t, "tokens")}
	for n := range rapid.IntRange(0, 3).Draw(t, "tools") {
		name := string(rune('a' + n))
		in.Tools = append(in.Tools, ideafile.ReadTool(name, drawnTool(t), "$", &ps))
		in.Bindings[name] = ideafile.ToolBinding{
			Kind: rapid.SampledFrom([]ideafile.ToolKind{ideafile.KindGo, ideafile.KindLatent}).Draw(t, "kind")}
	}
	if rapid.Bool().Draw(t, "output") {
		out := drawnSchema(3).Draw(t, "output")
		out["$defs"] = map[string]any{"one": drawnSchema(1).Draw(t, "definition"),
			"two": map[string]any{"type": "string"}}
		var err error
		if in.OutputSchema, err = jsonschema.CompileSchema(out); err != nil {
			return in, ResponseFormat{}, false
		}
	}
	if len(ps) > 0 {
		return in, ResponseFormat{}, false
	}
	return in, NewResponseFormat(in), true
}

func TestAnyPaletteIsComposedStrictOrWithAReason(t *testing.T) {
	t.Parallel()
	strict, loose := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		_, form, ok := drawnFormat(rt)
		if !ok {
			return
		}
		// an anchor that occurs twice does not compile
		if !strings.Contains(string(jsonval.Encode(form.Schema)), `"$anchor"`) {
			mustBeValidFormat(rt, form)
		}
		if form.IsStrict {
			strict++
		} else {
			loose++
		}
	})
	if !testing.Short() && (strict == 0 || loose == 0) {
		t.Errorf("%d strict and %d loose forms: the test tests too little", strict, loose)
	}
}

// drawReply draws a value of a strict schema, as an LLM that is held to it would write it.
func drawReply(t *rapid.T, root, schema any) any {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		def, _ := jsonschema.ResolvePointer(root, strings.TrimPrefix(ref, "#"))
		return drawReply(t, root, def)
	}
	if choices, ok := s["anyOf"].([]any); ok {
		return drawReply(t, root, rapid.SampledFrom(choices).Draw(t, "choice"))
	}
	if values, ok := s["enum"].([]any); ok {
		return rapid.SampledFrom(values).Draw(t, "value")
	}
	if v, ok := s["const"]; ok {
		return v
	}
	kind, _ := s["type"].(string)
	if types, ok := s["type"].([]any); ok {
		kind = rapid.SampledFrom(types).Draw(t, "type").(string)
	}
	switch kind {
	case "object":
		out := map[string]any{}
		for _, k := range jsonval.SortedKeys(s["properties"].(map[string]any)) {
			out[k] = drawReply(t, root, s["properties"].(map[string]any)[k])
		}
		return out
	case "array":
		out := []any{}
		for range rapid.IntRange(1, 2).Draw(t, "elements") {
			out = append(out, drawReply(t, root, s["items"]))
		}
		return out
	case "integer", "number":
		return json.Number("3")
	case "boolean":
		return true
	case "null":
		return nil
	}
	switch {
	case s["format"] == "date":
		return "2026-01-31"
	case s["pattern"] == "^†(state|call)":
		return "†state.x"
	case s["pattern"] == "^†[^†]":
		return "†input.x"
	}
	return "a"
}

// An LLM that is held to a strict schema writes no Call that is refused, whatever the palette: every property is
// present at any depth, and null where it is optional.
func TestNoCallOfAStrictFormIsRefused(t *testing.T) {
	t.Parallel()
	read, results := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		in, form, ok := drawnFormat(rt)
		if !ok || !form.IsStrict {
			return
		}
		schema := modeltest.DecodeJSON(rt, string(jsonval.Encode(form.Schema)))
		reply, _ := drawReply(rt, schema, schema).(map[string]any)
		if mustBeValidFormat(rt, form).Validate(reply) != nil {
			return // drawReply does not know every keyword
		}
		palette := ideafile.Palette{Tools: in.Tools, BindingByTool: in.Bindings, InstanceTokens: in.InstanceTokens}
		calls, _ := reply["calls"].([]any)
		for _, raw := range calls {
			call, ok := raw.(map[string]any)
			if !ok {
				continue
			}
			// their schemas were drawn as well and make no sense as paths and scopes
			call["_outputPath"], call["_scopes"] = nil, nil
			_, _, f := palette.ReadCall(ideafile.ParseWrittenCall(call))
			if f != nil && strings.Contains(f.Message, " are equal") {
				continue // strict mode cannot say uniqueItems
			}
			if f != nil {
				rt.Fatalf("%s: %s\n%s", f, jsonval.Encode(raw), jsonval.Encode(form.Schema))
			}
			read++
		}
		if f := turn.CheckOutput(&ideafile.Idea{OutputSchema: in.OutputSchema}, reply["output"]); f != nil {
			rt.Fatalf("%s: %s\n%s", f, jsonval.Encode(reply["output"]), jsonval.Encode(form.Schema))
		}
		if reply["output"] != nil {
			results++
		}
	})
	if !testing.Short() && (read == 0 || results == 0) {
		t.Errorf("%d Calls and %d outputs: the test tests too little", read, results)
	}
}
