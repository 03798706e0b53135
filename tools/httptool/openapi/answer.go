package openapi

import (
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// maxResultSchemaBytes bounds the schema of a result, in bytes of JSON, since every Request sends it to the LLM.
const maxResultSchemaBytes = 8 << 10

// readResultSchema makes the schema of the result from the schemas of all success answers. If one of them is not
// described, the result has no schema.
func (t *toolBuilder) readResultSchema() {
	var schemas []any
	for status, answer := range jsonval.Sorted(jsonval.AsObject(t.op.definition["responses"])) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		schema, isKnown := t.responseSchema(status, answer)
		if m, ok := schema.(jsonval.Object); !isKnown || !ok || len(m) == 0 {
			return
		}
		schemas = append(schemas, schema)
	}
	if len(schemas) == 0 || (len(schemas) == 1 && jsonval.Equal(schemas[0], nullSchema)) {
		return
	}
	t.resultSchema = t.fitSchema("the form of its result", maxResultSchemaBytes, func(c *converter) any {
		list := jsonval.Map(schemas, c.convert)
		if len(list) == 1 {
			return c.withDefinitions(list[0].(jsonval.Object))
		}
		return c.withDefinitions(jsonval.Object{"anyOf": list})
	}, "writeOnly")
}

// nullSchema is the schema of an empty answer.
var nullSchema = jsonval.Object{"type": "null"}

// responseSchema returns the schema of one answer; isKnown is false if the document lacks it. HTTP tools prefer JSON to
// text.
func (t *toolBuilder) responseSchema(status string, response any) (schema any, isKnown bool) {
	def, err := t.doc.resolveObject(response)
	if err != nil || def == nil {
		if err != nil {
			t.note("%s is read as an answer of unknown content: %s", status, err)
		}
		return nil, false
	}
	content := jsonval.AsObject(def["content"])
	if len(content) == 0 {
		return nullSchema, true
	}
	mediaTypes := jsonval.SortedKeys(content)
	for _, isMatch := range []func(string) bool{isJSONMediaType, isWildcardMediaType} {
		if index := slices.IndexFunc(mediaTypes, isMatch); index >= 0 {
			schema = t.doc.valueAt(content[mediaTypes[index]], "schema")
			return schema, schema != nil
		}
	}
	if slices.ContainsFunc(mediaTypes, func(s string) bool { return strings.HasPrefix(s, "text/") }) {
		return jsonval.Object{"type": "string"}, true
	}
	t.note("an answer of type %s is no result: HTTP tools read JSON and text", strings.Join(mediaTypes, " or "))
	return nil, false
}
