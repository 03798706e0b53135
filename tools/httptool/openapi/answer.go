package openapi

import (
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// maxOutput bounds the schema of a result, in bytes of JSON, since every Request sends it to the LLM.
const maxOutput = 8 << 10

// readAnswer makes the schema of the result from the schemas of all success answers. If one of them is not described,
// the result has no schema.
func (t *tool) readAnswer() {
	var forms []any
	for _, status := range t.successes() {
		form, known := t.answer(status)
		if m, ok := form.(jsonval.Object); !known || !ok || len(m) == 0 {
			return
		}
		forms = append(forms, form)
	}
	if len(forms) == 0 || (len(forms) == 1 && jsonval.Equal(forms[0], nullSchema)) {
		return
	}
	t.output = t.fitSchema("the form of its result", maxOutput, func(c *converter) any {
		list := jsonval.Map(forms, c.convert)
		if len(list) == 1 {
			return c.root(list[0].(jsonval.Object))
		}
		return c.root(jsonval.Object{"anyOf": list})
	}, "writeOnly")
}

func (t *tool) successes() []string {
	if t.op.op.Responses == nil {
		return nil
	}
	var list []string
	for _, status := range jsonval.SortedKeys(t.op.op.Responses.Map()) {
		if r := t.op.op.Responses.Value(status); strings.HasPrefix(status, "2") && r != nil && r.Value != nil {
			list = append(list, status)
		}
	}
	return list
}

// nullSchema is the schema of an empty answer.
var nullSchema = jsonval.Object{"type": "null"}

// answer returns the schema of one answer; known is false if the document lacks it. HTTP tools prefer JSON to text.
func (t *tool) answer(status string) (form any, known bool) {
	content := t.op.op.Responses.Value(status).Value.Content
	if len(content) == 0 {
		return nullSchema, true
	}
	types := jsonval.SortedKeys(content)
	for _, fits := range []func(string) bool{isJSON, isAnyType} {
		if at := slices.IndexFunc(types, fits); at >= 0 {
			form = t.doc.valueAt(t.op.written, "responses", status, "content", types[at], "schema")
			return form, form != nil
		}
	}
	if slices.ContainsFunc(types, func(s string) bool { return strings.HasPrefix(s, "text/") }) {
		return jsonval.Object{"type": "string"}, true
	}
	t.note("an answer of type %s is no result: HTTP tools read JSON and text", strings.Join(types, " or "))
	return nil, false
}
