package jsonschema_test

import (
	"strings"
	"testing"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestWhatOnlyPeopleAreShownIsTakenFromASchemaAndNothingElseIs(t *testing.T) {
	t.Parallel()
	schema := modeltest.MustDecodeJSON(`{"title": "T", "_display": "text", "_order": ["title"], "properties": {
		"title": {"type": "string", "title": "A title", "default": {"title": "kept"}},
		"currency": {"enum": [{"_display": "kept"}], "currency": "kept", "_order": []},
		"sum": {"anyOf": [{"_display": "money", "currency": "EUR", "minorUnits": true, "type": "integer"}, {"type": "null", "title": "No"}]}},
		"$defs": {"_display": {"items": {"title": "x", "minimum": 1}}}}`)
	want :=
		`{"$defs":{"_display":{"items":{"minimum":1}}},"properties":{"currency":{"currency":"kept","enum":[{"_display":"kept"}]},` +
			`"sum":{"anyOf":[{"type":"integer"},{"type":"null"}]},"title":{"default":{"title":"kept"},"type":"string"}}}`
	if got := string(jsonval.Encode(jsonschema.WithoutDisplayKeys(schema))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPropertiesAreShownInTheirOrderInTheFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		// written in order: nothing is added
		`{"properties": {"b": {}, "a": {}}, "required": ["b", "a"]}`: `b a `,
		`{"properties": {"a": {}, "b": {}, "c": {}}}`:                `a b c `,
		// sorted as a program writes it: what is required comes first, as before
		`{"properties": {"a": {}, "b": {}}, "required": ["b"]}`:               `b a `,
		`{"properties": {"b": {}, "a": {}}}`:                                  `b a ["b","a"]`,
		`{"properties": {"c": {}, "a": {}, "b": {}}, "required": ["a", "b"]}`: `c a b ["c","a","b"]`,
		// whoever writes the order himself has it
		`{"properties": {"c": {}, "a": {}, "b": {}}, "_order": ["b", "none"], "required": ["c"]}`: `b c a ["b","none"]`,
		`{"properties": {"b": {}, "a": {}}, "_order": []}`:                                        `a b []`,
		`{"properties": {"b": {}, "a": {}}, "_order": "b"}`:                                       `a b "b"`,
		`{"default": {"properties": {"b": 1, "a": 2}}}`:                                           ` `,
		`true`: ` `,
	} {
		v, written, err := jsonval.DecodeWithKeyOrder([]byte(text), jsonval.DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		plain := string(jsonval.Encode(jsonschema.WithoutPropertyOrder(v)))
		jsonschema.StoreSourceKeyOrder(v, written)
		schema := jsonval.AsObject(v)
		got := strings.Join(jsonschema.PropertyDisplayOrder(schema), " ") + " "
		if order := schema[jsonschema.OrderKey]; order != nil {
			got += string(jsonval.Encode(order))
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if now := string(jsonval.Encode(jsonschema.WithoutPropertyOrder(v))); now != plain {
			t.Errorf("%s becomes %s without its order", text, now)
		}
	}
}

func TestTheOrderIsKeptInEverySchemaAndInNoData(t *testing.T) {
	t.Parallel()
	v, written, err := jsonval.DecodeWithKeyOrder([]byte(`{"properties": {"z": {"items": {"properties": {"q": {}, "p": {}}}},
		"properties": {"type": "object", "properties": {"b": {}, "a": {}}, "default": {"properties": {"d": 1, "c": 2}}}},
		"$defs": {"properties": {"anyOf": [{"properties": {"f": {"const": {"properties": {"h": 1, "g": 2}}}, "e": {}}}]}}}`),
		jsonval.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	jsonschema.StoreSourceKeyOrder(v, written)
	want := `{"$defs":{"properties":{"anyOf":[{"_order":["f","e"],"properties":{"e":{},"f":{"const":{"properties":{"g":2,"h":1}}}}}]}},` +
		`"_order":["z","properties"],"properties":{"properties":{"_order":["b","a"],"default":{"properties":{"c":2,"d":1}},` +
		`"properties":{"a":{},"b":{}},"type":"object"},"z":{"items":{"_order":["q","p"],"properties":{"p":{},"q":{}}}}}}`
	if got := string(jsonval.Encode(v)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
