package jsonschema_test

import (
	"testing"

	"pgregory.net/rapid"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestASchemaSaysOfAPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, path, want string }{
		{"nothing, where it says nothing", `{}`, "a", "unknown"},
		{"all, of the whole", `{"type":"object"}`, "", "known"},
		{"what stands under properties", `{"properties":{"a":{"properties":{"b":{}}}}}`, "a.b",
			"known /properties/a/properties/b"},
		{"that a closed object has no other keys", `{"properties":{"a":{}},"additionalProperties":false}`,
			"b", "closed"},
		{"that a closed object inside has none either", `{"properties":{"a":{"additionalProperties":false}}}`,
			"a.b.c", "closed"},
		{"that an open object may have others", `{"properties":{"a":{}},"additionalProperties":true}`, "b", "unknown"},
		{"what other keys look like", `{"properties":{"a":{}},"additionalProperties":{"type":"string"}}`, "b",
			"known /additionalProperties"},
		{"that a key which fits a pattern has room in a closed object",
			`{"patternProperties":{"^x":{}},"additionalProperties":false}`, "x1", "unknown"},
		{"that a key which fits no pattern has none", `{"patternProperties":{"^x":{}},"additionalProperties":false}`,
			"y", "closed"},
		{"that nothing stands where the schema is false", `{"properties":{"a":false}}`, "a", "closed"},
		{"that nothing stands below false", `{"properties":{"a":false}}`, "a.b", "closed"},
		{"nothing, below true", `{"properties":{"a":true}}`, "a.b", "unknown"},
		{"that nothing stands below a string", `{"properties":{"a":{"type":"string"}}}`, "a.b", "closed"},
		{"that something may stand below what may be an object", `{"properties":{"a":{"type":["null","object"]}}}`,
			"a.b", "unknown"},
		{"what an element looks like", `{"properties":{"a":{"items":{"properties":{"id":{}}}}}}`, "a[3].id",
			"known /properties/a/items/properties/id"},
		{"that a list has no keys", `{"properties":{"a":{"type":"array"}}}`, "a.b", "closed"},
		{"that a list has indexes", `{"properties":{"a":{"type":"array"}}}`, "a[0]", "unknown"},
		{"that a number may be a key", `{"properties":{"7":{}}}`, "7", "known /properties/7"},
		{"what a reference leads to", `{"$defs":{"t":{"properties":{"b":{}}}},"properties":{"a":{"$ref":"#/$defs/t"}}}`,
			"a.b", "known /$defs/t/properties/b"},
		{"what a reference to the whole leads to", `{"properties":{"next":{"$ref":"#"}}}`, "next.next.next", "known"},
		{"what an escaped reference leads to",
			`{"$defs":{"a/b ä":{"properties":{"c":{}}}},"$ref":"#/$defs/a~1b%20%C3%A4"}`, "c",
			"known /$defs/a~1b%20%C3%A4/properties/c"},
		{"nothing, behind a circle of references",
			`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, "x", "unknown"},
		{"nothing, behind a reference that finds nothing", `{"$ref":"#/$defs/a"}`, "x", "unknown"},
		{"nothing, behind an anchor", `{"$ref":"#additionalProperties","additionalProperties":{"properties":{}}}`, "x",
			"known /additionalProperties"},
		{"that nothing stands anywhere, where it is false itself", `false`, "", "closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := jsonval.ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			if got := placeWords(jsonschema.SubschemaAt(modeltest.MustDecodeJSON(c.schema), p)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func placeWords(p jsonschema.Subschema) string {
	switch {
	case p.IsForbidden:
		return "closed"
	case !p.IsDescribed:
		return "unknown"
	case p.Pointer == "":
		return "known"
	}
	return "known " + p.Pointer
}

func TestAPointerFindsAnyKeyAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		key, value := modeltest.AnyText().Draw(rt, "key"), modeltest.AnyText().Draw(rt, "value")
		root := map[string]any{"x": []any{map[string]any{key: value}}}
		if got, ok := jsonschema.ResolvePointer(root, "/x/0/"+jsonschema.EscapePointerStep(key)); !ok || got != value {
			rt.Fatalf("key %q: %v, %v", key, got, ok)
		}
	})
}

func TestAPointerFindsNothingWhere(t *testing.T) {
	t.Parallel()
	root := modeltest.MustDecodeJSON(`{"a":{"b":[1]}}`)
	for name, pointer := range map[string]string{
		"a key is not there": "/x", "a step goes below a leaf": "/a/b/0/c", "an index is too large": "/a/b/1",
		"it does not begin with a slash": "a", "its escape is broken": "/%zz",
	} {
		if v, ok := jsonschema.ResolvePointer(root, pointer); ok {
			t.Errorf("%s: it found %v", name, v)
		}
	}
}
