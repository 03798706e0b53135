package jsonschema_test

import (
	"testing"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestWhatOnlyPeopleAreShownIsTakenFromASchemaAndNothingElseIs(t *testing.T) {
	t.Parallel()
	schema := modeltest.MustDecodeJSON(`{"title": "T", "_display": "text", "properties": {
		"title": {"type": "string", "title": "A title", "default": {"title": "kept"}},
		"currency": {"enum": [{"_display": "kept"}], "currency": "kept"},
		"sum": {"anyOf": [{"_display": "money", "currency": "EUR", "minorUnits": true, "type": "integer"}, {"type": "null", "title": "No"}]}},
		"$defs": {"_display": {"items": {"title": "x", "minimum": 1}}}}`)
	want :=
		`{"$defs":{"_display":{"items":{"minimum":1}}},"properties":{"currency":{"currency":"kept","enum":[{"_display":"kept"}]},` +
			`"sum":{"anyOf":[{"type":"integer"},{"type":"null"}]},"title":{"default":{"title":"kept"},"type":"string"}}}`
	if got := string(jsonval.Encode(jsonschema.WithoutDisplay(schema))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
