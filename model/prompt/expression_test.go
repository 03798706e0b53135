package prompt

import (
	"strings"
	"testing"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// An expression is allowed wherever a Reference is: in a parameter that is no string, and in a leaf of the output.
func TestTheComposedSchemaAllowsExpressionsWhereItAllowsReferences(t *testing.T) {
	t.Parallel()
	p := modeltest.PaletteFrom(t, `{"count": {"_activity": "c", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
		"think": {"properties": {"n": {"type": "integer"}}, "_output": {"type": "string"}}}`)
	form, err := jsonschema.CompileSchema(
		modeltest.MustDecodeJSON(
			`{"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"], "additionalProperties": false}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, strict := range []bool{true, false} {
		in := ResponseFormatInput{Tools: p.Tools, Bindings: p.BindingByTool, InstanceTokens: []string{""},
			OutputSchema: form}
		composed := NewResponseFormat(in)
		if !composed.IsStrict {
			t.Fatal(composed.NotStrictReason)
		}
		if !strict {
			loose := formatBuilder{input: in}
			composed = ResponseFormat{Schema: loose.rootSchema()}
		}
		s, err := jsonschema.CompileSchema(modeltest.MustDecodeJSON(string(jsonval.Encode(composed.Schema))))
		if err != nil {
			t.Fatal(err)
		}
		reply := `{"calls": [
			{"_tool": "count", "_reasoningForCall": null, "n": "†state.a || †state.b", "_outputPath": "†state.ok || †state.failed", "_after": null},
			{"_tool": "think", "_reasoningForCall": null, "n": "†state.a && †state.b", "_outputPath": "†state.c && †state.d", "_after": ["†state.a", "†call.1.1"], "_output": null}],
			"output": {"sum": "†state.ok || †state.failed.code"}}`
		if err := s.Validate(modeltest.MustDecodeJSON(reply)); err != nil {
			t.Errorf("strict %v: %s", strict, err)
		}
		if s.Validate(modeltest.MustDecodeJSON(strings.Replace(reply, "†state.a ||", "state.a ||", 1))) == nil {
			t.Error("any text is taken for an expression")
		}
	}
}
