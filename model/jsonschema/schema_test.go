package jsonschema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestASchemaIsRefusedWhen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, want string }{
		{"a $ref is remote", `{"$ref":"https://example.com/s.json"}`,
			`$ref "https://example.com/s.json" leaves the schema`},
		{"a $ref is a file", `{"properties":{"a":{"$ref":"file:///etc/passwd"}}}`,
			`$ref "file:///etc/passwd" leaves the schema`},
		{"a $ref is a path", `{"items":[{"$ref":"other.json#/a"}]}`, "leaves the schema"},
		{"a $dynamicRef is remote", `{"$dynamicRef":"http://x/#a"}`, "$dynamicRef"},
		{"a $recursiveRef is remote", `{"$recursiveRef":"http://x/"}`, "$recursiveRef"},
		{"a $ref leaves it from within an unused part", `{"$defs":{"x":{"allOf":[{"$ref":"http://x/"}]}}}`,
			"leaves the schema"},
		{"its $schema is to be loaded", `{"$schema":"http://example.com/meta"}`, "nothing is ever loaded"},
		{"a $ref finds nothing", `{"$ref":"#/$defs/nobody"}`, `#/$defs/nobody`},
		{"a keyword has a wrong value", `{"type":"objekt"}`, "type"},
		{"a pattern is no regular expression", `{"pattern":"("}`, "regex"},
		{"a pattern repeats much", `{"pattern":"(` + strings.Repeat("ab", 400) + `){1000}"}`, "100000 steps"},
		{"patterns repeat much together", `{"properties":{` + repeated(`"a%d":{"pattern":"[a-z]{1000}%d"}`, 200) + `}}`,
			"100000 steps"},
		{"so do those of keys", `{"patternProperties":{` + repeated(`"(.{100}a){10}%d%d":true`, 200) + `}}`,
			"100000 steps"},
		{"a pattern is very long", `{"pattern":"` + strings.Repeat("a", 200_000) + `"}`, "100000 steps"},
		{"it is text", `"object"`, "object"},
		{"it is a number", `7`, "object"},
		{"it is null", `null`, "object"},
		{"a limit is an absurd number", `{"maximum":1e10000000}`, "out of range"},
		{"a limit is a large number", `{"multipleOf":1e1000000}`, "out of range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var source any
			d := json.NewDecoder(strings.NewReader(c.schema)) // Decode would refuse some of them itself
			d.UseNumber()
			if err := d.Decode(&source); err != nil {
				t.Fatal(err)
			}
			s, err := jsonschema.CompileSchema(source)
			if err == nil {
				t.Fatalf("it was compiled: %v", s)
			}
			if !strings.HasPrefix(err.Error(), "model: compile schema: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error %q does not say %q", err, c.want)
			}
		})
	}
}

// repeated lists members that differ by their numbers.
func repeated(member string, times int) string {
	list := make([]string, times)
	for n := range list {
		list[n] = fmt.Sprintf(member, n, n)
	}
	return strings.Join(list, ",")
}

func TestPatternsAsPeopleWriteThemAreCompiled(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`^.{1,1000}$`, `^[^@ ]{1,64}@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,63}$`,
		`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, `^(\\p{L}|[ '-]){1,255}$`} {
		text := `{"properties":{` + repeated(`"a%d":{"pattern":"`+strings.ReplaceAll(pattern, "%", "%%")+`"},"b%d":{}`, 20) + `}}`
		if _, err := jsonschema.CompileUncached([]byte(text)); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

func TestASchemaNestedTooDeepIsRefused(t *testing.T) {
	t.Parallel()
	var deep any = map[string]any{}
	for range 200 {
		deep = map[string]any{"not": deep}
	}
	if _, err := jsonschema.CompileSchema(deep); err == nil || !strings.Contains(err.Error(), "nested deeper") {
		t.Errorf("got %v", err)
	}
}

func TestASchemaChecks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, good, bad, why string }{
		{"types", `{"type":"string"}`, `"a"`, `1`, "expected string, but got number"},
		{"what is below, with its place", `{"properties":{"a":{"items":{"type":"string"}}}}`, `{"a":["x"]}`,
			`{"a":["x",2]}`, "/a/1: expected string, but got number"},
		{"references into itself", `{"$defs":{"t":{"enum":["x"]}},"properties":{"a":{"$ref":"#/$defs/t"}}}`,
			`{"a":"x"}`, `{"a":"y"}`, `/a: value must be "x"`},
		{"references to itself", `{"properties":{"next":{"$ref":"#"},"n":{"type":"integer"}}}`,
			`{"next":{"next":{"n":1}}}`, `{"next":{"next":{"n":"x"}}}`, "/next/next/n"},
		{"anchors", `{"$defs":{"t":{"$anchor":"here","type":"null"}},"$ref":"#here"}`, `null`, `1`, "expected null"},
		{"formats", `{"format":"date-time"}`, `"2026-11-21T10:00:00Z"`, `"soon"`, "is not valid 'date-time'"},
		{"formats, in an older draft too", `{"$schema":"http://json-schema.org/draft-07/schema#","format":"email"}`,
			`"a@b.c"`, `"x"`, "email"},
		{"integers written with a fraction of zero", `{"type":"integer"}`, `1.0`, `1.5`, "expected integer"},
		{"numbers beyond 2^53 exactly", `{"const":9007199254740993}`, `9007199254740993`, `9007199254740992`,
			"value must be"},
		{"nothing, where it is true", `true`, `{"a":1}`, ``, ""},
		{"everything, where it is false", `false`, ``, `1`, "not allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := jsonschema.CompileSchema(modeltest.MustDecodeJSON(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			if c.good != "" {
				if err := s.Validate(modeltest.MustDecodeJSON(c.good)); err != nil {
					t.Errorf("%s does not fit: %s", c.good, err)
				}
			}
			if c.bad == "" {
				return
			}
			if err := s.Validate(modeltest.MustDecodeJSON(c.bad)); err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: got %v, want %q", c.bad, err, c.why)
			}
		})
	}
}

func TestNoSchemaFitsEverything(t *testing.T) {
	t.Parallel()
	var s *jsonschema.Schema
	if s.Validate(1) != nil || s.Validate(nil) != nil {
		t.Error("something does not fit where nothing is said")
	}
}

func TestMetaPropertiesAreNoBusinessOfTheValidator(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"_output":{"type":"nonsense"},"_x":{"$ref":"http://x/"},"type":"object"}`,
		`{"_a":1e3}`} {
		if _, err := jsonschema.CompileSchema(modeltest.MustDecodeJSON(text)); err != nil {
			t.Errorf("%s: %s", text, err)
		}
	}
}

// Two schemas that differ in their meta properties alone share what is compiled, but not what was written.
func TestASchemaKeepsItsSourceAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"type":"string","_title":"one"}`, `{"type":"string","_title":"two"}`} {
		s, err := jsonschema.CompileSchema(modeltest.MustDecodeJSON(text))
		if err != nil || !jsonval.Equal(s.Source, modeltest.MustDecodeJSON(text)) {
			t.Errorf("the source of %s is %s, %v", text, jsonval.Encode(s.Source), err)
		}
	}
}

func TestAPartIsCompiledWithTheWholeAsItsHome(t *testing.T) {
	t.Parallel()
	whole := modeltest.MustDecodeJSON(
		`{"$defs":{"t":{"type":"integer"}},"properties":{"a/b ~%\"":{"$ref":"#/$defs/t"}}}`)
	s, err := jsonschema.CompileAt(whole, "/properties/"+jsonschema.EscapePointerStep(`a/b ~%"`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Validate(modeltest.MustDecodeJSON(`1`)) != nil || s.Validate("x") == nil {
		t.Error("the part does not check what it says")
	}
}

// The library words and orders its errors at random; histories and prompts must not.
func TestErrorsAreWordedTheSameEachTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schema, value string }{
		"many wrong properties": {`{"additionalProperties":{"type":"string"}}`,
			`{"e":1,"d":2,"c":3,"b":4,"a":5}`},
		"properties that are not allowed": {`{"additionalProperties":false}`, `{"d":1,"it's":1,"c', 'd":1,"a":1}`},
		"properties left unevaluated":     {`{"unevaluatedProperties":false}`, `{"d":1,"c":1,"b":1,"a":1}`},
		"missing properties":              {`{"required":["a","b","c"],"properties":{"d":{"type":"null"}}}`, `{"d":1}`},
		"alternatives": {`{"anyOf":[{"type":"string"},{"required":["x"]},{"minProperties":5}]}`,
			`{"a":1}`},
		"patterns": {`{"patternProperties":{"^a":{"type":"null"},"b$":{"type":"null"}}}`,
			`{"ab":1,"a":1,"b":1}`},
		"names":             {`{"propertyNames":{"maxLength":1}}`, `{"cc":1,"bb":1,"aa":1}`},
		"dependencies":      {`{"dependentRequired":{"a":["x","y"],"b":["z"]}}`, `{"a":1,"b":1}`},
		"a constant object": {`{"const":{"a":1,"b":2}}`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			first := ""
			for i := range 50 {
				compiled, err := jsonschema.CompileUncached([]byte(c.schema))
				if err != nil {
					t.Fatal(err)
				}
				err = compiled.Validate(modeltest.MustDecodeJSON(c.value))
				if err == nil {
					t.Fatal("it fits")
				}
				if i == 0 {
					first = err.Error()
				}
				if err.Error() != first {
					t.Fatalf("first %q, then %q", first, err)
				}
			}
		})
	}
}

func TestABrokenSchemaIsRefusedInTheSameWordsEachTime(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"properties":{"a":{"$ref":"#/x"},"b":{"$ref":"#/y"},"c":{"$ref":"#/z"}}}`,
		`{"properties":{"a":{"type":"x"},"b":{"type":"y"},"c":{"minimum":"z"},"d":{"pattern":"("}}}`,
		`{"$id":"http://x/","$defs":{"a":{"$id":"http://x/q"},"b":{"$id":"http://x/q"},"c":{"$id":"http://x/q"}}}`,
		`{"$id":"http://x/","properties":{"a":{"$ref":"#/x"},"b":{"$ref":"#/y"},"c":{"$ref":"#/z"}}}`,
		`{"properties":{"a":{"$ref":"#x"},"b":{"$ref":"#y"},"c":{"$ref":"#z"}}}`,
		`{"patternProperties":{"(":{},"[":{},"*":{}}}`,
	} {
		first := ""
		for i := range 50 {
			_, err := jsonschema.CompileUncached([]byte(schema))
			if err == nil {
				t.Fatalf("%s was compiled", schema)
			}
			if i == 0 {
				first = err.Error()
			}
			if err.Error() != first {
				t.Fatalf("%s: first %q, then %q", schema, first, err)
			}
		}
	}
}

func TestAnErrorNamesThreeThingsAndCountsTheRest(t *testing.T) {
	t.Parallel()
	s, err := jsonschema.CompileSchema(modeltest.MustDecodeJSON(`{"additionalProperties":{"type":"string"}}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = "/a: expected string, but got number; /b: expected string, but got number; /c: expected string, but " +
		"got number; and 2 more"
	if err := s.Validate(modeltest.MustDecodeJSON(`{"e":1,"d":2,"c":3,"b":4,"a":5}`)); err == nil ||
		err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestAValidatorThatPanicsIsAnError(t *testing.T) {
	t.Parallel()
	s, err := jsonschema.CompileSchema(modeltest.MustDecodeJSON(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	type noJSON struct{}
	if err := s.Validate(noJSON{}); err == nil {
		t.Error("a value that is no JSON fits")
	}
}

func TestTheCacheOfSchemasMayBeginAnew(t *testing.T) {
	t.Parallel()
	for n := range jsonschema.CacheSize + 10 {
		s, err := jsonschema.CompileSchema(map[string]any{"const": fmt.Sprint(n)})
		if err != nil || s.Validate(fmt.Sprint(n)) != nil || s.Validate(fmt.Sprint(n+1)) == nil {
			t.Fatalf("schema %d is not itself: %v", n, err)
		}
	}
}

func TestSchemasAreCompiledAndUsedFromManySides(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 50 {
				s, err := jsonschema.CompileSchema(map[string]any{"maxLength": i % 5})
				if err != nil || s.Validate(strings.Repeat("x", i%5)) != nil || s.Validate("xxxxx") == nil {
					t.Errorf("side %d: %v", n, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestAnyNameCanBeAParameter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		name := modeltest.AnyText().Draw(rt, "name")
		whole := map[string]any{"properties": map[string]any{name: map[string]any{"type": "null"}}}
		s, err := jsonschema.CompileAt(whole, "/properties/"+jsonschema.EscapePointerStep(name))
		if err != nil {
			rt.Fatalf("a parameter %q: %s", name, err)
		}
		if s.Validate(nil) != nil || s.Validate("x") == nil {
			rt.Fatalf("the schema of %q is not found", name)
		}
	})
}

// The validator walks maps in any order; whatever the schema, its words must be the same, and it must not panic.
func TestAnySchemaSaysTheSameEachTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		schema := anySchema(3).Draw(rt, "schema")
		value := map[string]any{"a": modeltest.AnyJSON(2).Draw(rt, "a"), "b": modeltest.AnyJSON(2).Draw(rt, "b"),
			modeltest.AnyText().Draw(rt, "key"): nil}
		first, _ := verdict(schema, value)
		for range 10 {
			if again, _ := verdict(schema, value); again != first {
				rt.Fatalf("%s over %s: first %q, then %q", jsonval.Encode(schema), jsonval.Encode(value), first, again)
			}
		}
	})
}

// anySchema draws schemas, most of them right, some with a part that is none.
func anySchema(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		part := func() any {
			if depth == 0 {
				return rapid.Bool().Draw(t, "bool")
			}
			return anySchema(depth-1).Draw(t, "part")
		}
		m := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "keywords") {
			switch rapid.IntRange(0, 9).Draw(t, "keyword") {
			case 0:
				m["type"] = rapid.SampledFrom([]string{"object", "array", "string", "null", "objekt"}).Draw(t, "type")
			case 1:
				m["properties"] = map[string]any{"a": part(), "b": part(), modeltest.AnyText().Draw(t, "name"): part()}
			case 2:
				m["additionalProperties"] = part()
			case 3:
				m["required"] = []any{"a", "b", "c", "d"}
			case 4:
				m[rapid.SampledFrom([]string{"anyOf", "allOf", "oneOf"}).Draw(t, "of")] = []any{part(), part()}
			case 5:
				m["patternProperties"] = map[string]any{"^a": part(), "b$": part(),
					rapid.SampledFrom([]string{"c", "("}).Draw(t, "pattern"): part()}
			case 6:
				m["$ref"] = rapid.SampledFrom([]string{"#", "#/properties/a", "#/nowhere", "#anchor"}).Draw(t, "ref")
			case 7:
				m[rapid.SampledFrom([]string{"items", "not", "contains", "propertyNames",
					"unevaluatedProperties"}).Draw(t, "sub")] = part()
			case 8:
				m[rapid.SampledFrom([]string{"minProperties", "maxLength", "uniqueItems", "enum", "const"}).Draw(t,
					"limit")] = modeltest.AnyJSON(1).Draw(t, "limit")
			case 9:
				m["dependentRequired"] = map[string]any{"a": []any{"x", "y"}, "b": []any{"z"}}
			}
		}
		return m
	})
}

func FuzzSchema(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","required":["a"],"additionalProperties":false}`, `{"b":1,"c":2}`},
		{`{"$ref":"#"}`, `1`}, {`{"$ref":"#/a"}`, `1`}, {`{"$ref":"http://x"}`, `1`},
		{`{"$ref":"file:///etc/passwd"}`, `1`},
		{`{"$id":"http://x/y","$ref":"#"}`, `1`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","id":"#a"}`, `{}`},
		{`{"multipleOf":1e-300}`, `1e300`}, {`{"maximum":1e308}`, `1e308`}, {`{"uniqueItems":true}`, `[1,1.0,1e0]`},
		{`{"allOf":[{"$ref":"#/allOf/0"}]}`, `{}`}, {`{"$dynamicRef":"#a","$dynamicAnchor":"a"}`, `[[]]`},
		{`{"pattern":"(a*)*$"}`, `"aaaaaaaaaaaaaaaaaaaab"`},
		{`{"contentEncoding":"base64","contentMediaType":"application/json"}`, `"e30="`}, {`{"format":"regex"}`, `"("`},
		{`true`, `null`},
		{`{"if":true,"then":false}`, `0`}, {`{"enum":[1e5,{"a":[]}]}`, `100000`},
		{`{"properties":{"a":{"$recursiveRef":"#"}}}`, `{"a":{}}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, schema, value []byte) {
		source, err := jsonval.Decode(schema)
		if err != nil {
			return
		}
		v, err := jsonval.Decode(value)
		if err != nil {
			return
		}
		first, firstErr := verdict(source, v)
		for range 5 {
			if again, err := verdict(source, v); again != first || (err == nil) != (firstErr == nil) {
				t.Fatalf("%s over %s: first %q, then %q", schema, value, first, again)
			}
		}
	})
}

// verdict compiles without the cache and gives how a value does not fit, or why the schema is none.
func verdict(source, v any) (string, error) {
	compiled, err := jsonschema.CompileUncached(jsonval.Encode(jsonschema.WithoutMetaKeys(source)))
	if err != nil {
		return err.Error(), err
	}
	if err := compiled.Validate(v); err != nil {
		return err.Error(), nil
	}
	return "", nil
}
