package jsonschema_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// multiplying is a schema of so many parts, each of which refers to the next twice, in a form such as {"allOf": [%s,
// %s]}.
func multiplying(parts int, form string) any {
	defs := make([]string, parts)
	for n := range defs {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/p%d"}`, n+1)
		defs[n] = fmt.Sprintf(`"p%d":`, n) + fmt.Sprintf(form, ref, ref)
	}
	return modeltest.MustDecodeJSON(fmt.Sprintf(`{"$ref":"#/$defs/p0","$defs":{%s,"p%d":{"type":"string"}}}`,
		strings.Join(defs, ","), parts))
}

func TestASchemaWhoseReferencesMultiplyOverOneValueIsRefused(t *testing.T) {
	t.Parallel()
	for _, form := range []string{`{"allOf":[%s,%s]}`, `{"anyOf":[%s,%s]}`, `{"oneOf":[%s,%s]}`, `{"if":%s,"then":%s}`,
		`{"dependentSchemas":{"a":%s,"b":%s}}`} {
		_, err := jsonschema.CompileSchema(multiplying(45, form))
		if err == nil || !strings.Contains(err.Error(),
			"its references multiply: one value would be held against more than 10000 parts of it") {
			t.Errorf("%s: got %v", form, err)
		}
	}
}

func TestReferencesThatMultiplyOverMembersAreNoProblem(t *testing.T) {
	t.Parallel()
	s, err := jsonschema.CompileSchema(multiplying(45, `{"properties":{"a":%s,"b":%s}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(modeltest.MustDecodeJSON(`{"a":{"b":{"a":{"a":{}}}},"b":{"b":1}}`)); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestAValueThatWouldBeCheckedTooOftenIsRefusedBeforeItIsChecked(t *testing.T) {
	t.Parallel()
	const choices = `{"type":"object","anyOf":[{"properties":{"kind":{"const":"and"},"arg":{"$ref":"#"}}},{"properties":{"kind":{"const":"or"},"arg":{"$ref":"#"}}}]}`
	const lists = `{"allOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]}`
	for _, c := range []struct{ schema, open, end string }{{choices, `{"kind":"not","arg":`, "}"}, {lists, "[", "]"}} {
		s, err := jsonschema.CompileSchema(modeltest.MustDecodeJSON(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		nested := func(depth int) any {
			return modeltest.MustDecodeJSON(strings.Repeat(c.open, depth) + "{}" + strings.Repeat(c.end, depth))
		}
		_ = s.Validate(nested(5))
		if err := s.Validate(nested(60)); err == nil ||
			!strings.Contains(err.Error(),
				"cannot be checked: checking it would take more than 2000000 steps") {
			t.Errorf("%s: got %v", c.schema, err)
		}
		if _, err := s.Matches(nested(60)); err == nil {
			t.Errorf("%s: nobody says that it cannot be told whether it matches", c.schema)
		}
	}
}

func TestADeepValueOfASchemaThatRefersToItselfByOneWayEachIsChecked(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"properties":{"left":{"$ref":"#"},"right":{"$ref":"#"},"n":{"type":"integer"}}}`,
		`{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#"}},{"type":"object","additionalProperties":{"$ref":"#"}}]}`,
	} {
		s, err := jsonschema.CompileSchema(modeltest.MustDecodeJSON(schema))
		if err != nil {
			t.Fatal(err)
		}
		v := modeltest.MustDecodeJSON(strings.Repeat(`{"left":`, 60) + "{}" + strings.Repeat("}", 60))
		if err := s.Validate(v); err != nil && strings.Contains(err.Error(), "cannot be checked") {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

func TestALargeValueOfASimpleSchemaIsChecked(t *testing.T) {
	t.Parallel()
	s, err := jsonschema.CompileSchema(
		modeltest.MustDecodeJSON(`{"items":{"type":"object","properties":{"n":{"type":"string"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	list := make([]any, 20_000)
	for n := range list {
		list[n] = map[string]any{"n": "x"}
	}
	if err := s.Validate(list); err != nil {
		t.Error(err)
	}
	list[19_999] = map[string]any{"n": true}
	if err := s.Validate(list); err == nil || err.Error() != "/19999/n: expected string, but got boolean" {
		t.Errorf("got %v", err)
	}
}

func TestASchemaThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	_, err := jsonschema.CompileSchema(map[string]any{"description": strings.Repeat("x", jsonschema.MaxSchemaBytes)})
	if err == nil || !strings.Contains(err.Error(), "a schema has 1048576 at most") {
		t.Errorf("got %v", err)
	}
}

// A schema of ten thousand parts is compiled in the time of this test, not with the square of its parts.
func TestASchemaOfManyPartsIsCompiled(t *testing.T) {
	t.Parallel()
	properties := map[string]any{}
	for n := range 10_000 {
		properties[fmt.Sprintf("p%d", n)] = map[string]any{"type": "string"}
	}
	s, err := jsonschema.CompileSchema(map[string]any{"properties": properties})
	if err != nil || s.Validate(map[string]any{"p77": 7}) == nil {
		t.Errorf("it does not check: %v", err)
	}
}

func TestNullsAreRemovedInBoundedTime(t *testing.T) {
	t.Parallel()
	schema := modeltest.MustDecodeJSON(`{"anyOf":[
		{"type":"object","properties":{"kind":{"const":"and"},"arg":{"$ref":"#"}}},
		{"type":"object","properties":{"kind":{"const":"or"},"arg":{"$ref":"#"}}}]}`)
	v := modeltest.MustDecodeJSON(strings.Repeat(`{"kind":"not","arg":`, 60) + "null" + strings.Repeat("}", 60))
	if out := jsonschema.WithoutNulls(schema, nil, v); !jsonval.Equal(out, v) {
		t.Error("a value that fits nothing was changed")
	}
}

func TestASchemaThatIsCompiledLaterChecksTheSame(t *testing.T) {
	t.Parallel()
	source := modeltest.MustDecodeJSON(`{"$defs":{"t":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/t"}}}`)
	s := jsonschema.NewLazySchema(source, "/properties/a")
	if s.Validate("x") == nil || s.Validate(modeltest.MustDecodeJSON("1")) != nil || s.AllowsNull() {
		t.Error("it does not check what it says")
	}
	broken := jsonschema.NewLazySchema(modeltest.MustDecodeJSON(`{"type":"nonsense"}`), "")
	if err := broken.Validate("x"); err == nil || !strings.Contains(err.Error(), "cannot be checked") {
		t.Errorf("got %v", err)
	}
}

// A list of a million mistakes would take a hundred times the memory of the value. Not parallel: it measures what all
// goroutines allocate.
func TestOfALargeValueTheFirstMisfitsAreFound(t *testing.T) {
	list := make([]any, 500_000)
	for n := range list {
		list[n] = json.Number("1")
	}
	for name, c := range map[string]struct{ schema, want string }{
		"items": {`{"type":"object","properties":{"list":{"items":{"type":"string"}}}}`,
			"/list/0: expected string, but got number; /list/1: expected string, but got number; /list/2: expected " +
				"string, but got number; and more"},
		"through a reference": {
			`{"properties":{"list":{"$ref":"#/$defs/l"}},"$defs":{"l":{"allOf":[{"items":{"maximum":0}}]}}}`,
			"/list/0: must be <= 0 but found 1; /list/1: must be <= 0 but found 1; /list/2: must be <= 0 but found " +
				"1; and more"},
		"the number of them": {`{"properties":{"list":{"maxItems":3}}}`,
			"/list: maximum 3 items required, but found 500000 items"},
	} {
		s, err := jsonschema.CompileSchema(modeltest.MustDecodeJSON(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = s.Validate(map[string]any{"list": list})
		runtime.ReadMemStats(&after)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 100 {
			t.Errorf("%s: it takes %d MB", name, mb)
		}
	}
}
