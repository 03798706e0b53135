package plangraph_test

import (
	"encoding/json"
	"testing"

	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestValuesAreToldWithoutReferences(t *testing.T) {
	t.Parallel()
	idea, problems := ideafile.ReadIdea(modeltest.MustDecodeJSON(`{"schema": {"tools": {}}, "context": [
		{"type": "input", "input": {}, "schema": {"properties": {"name": {"title": "Supplier"}, "city": {}}}}]}`).(map[string]any))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	labels := plangraph.Labels{Presenter: shown.NewPresenter(idea)}
	for written, want := range map[string]string{
		`"†input.name"`: `"“Supplier”"`,
		`"†input.name || †input.city && †input"`:     `"“Supplier” / “What it began with”"`,
		"\"†`Dear ${input.name} of ${input.city}`\"": `"Dear “Supplier” of “City”"`,
		`"††5"`:                          `"†5"`,
		`{"to": ["†input.city", 12.50]}`: `{"to":["“City”",12.50]}`,
		`"†input..name"`:                 `"†input..name"`,
	} {
		told := labels.ExpressionsInWords(modeltest.MustDecodeJSON(written))
		if got := string(jsonval.Encode(told)); got != want {
			t.Errorf("%s is told as %s, want %s", written, got, want)
		}
	}
	call := jsonval.Object{"_tool": "pay", "to": "†input.name", "wrong": "†", "cents": json.Number("1")}
	got := jsonval.EncodeToString(labels.ParamsInWords(call))
	if got != `{"cents":1,"to":"“Supplier”","wrong":"†"}` {
		t.Error(got)
	}
}
