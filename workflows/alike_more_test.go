package workflows_test

import (
	"strings"
	"testing"

	"processidea/internal/longrun"
)

// A Plan that is optimal gives the instances in which it fails to the LLM.
func TestWhatFallsBackToTheLLMComesToTheSameInParts(t *testing.T) {
	t.Parallel()
	for name, c := range longrun.SampleRows(t, 2, map[string]struct {
		form, output string
	}{
		"with an output of the Plan": {`, "output": {"type": "object", "properties": {"all": {}}, "required": ["all"]}`,
			`, "output": {"all": "†state.said"}`},
		"without a form":    {``, `, "output": {"all": "†state.said"}`},
		"without an output": {``, ``},
		"with a form alone": {`, "output": {"type": "object", "properties": {"all": {}}, "required": ["all"]}`,
			``},
	}) {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			asOneAndInParts(t, func(t *testing.T, config string) (*scenario, map[string]string) {
				s := newScenario(t, `{"config": {"gather": "5m", `+config+`}, "schema": {"tools": {"weigh": `+weigh(t, "2", "7")+`, `+alikeTools+`}`+c.form+`},
					"context": [`+rowsOf(7)+`{"type": "plan", "stage": "optimal", "plan": [
					{"_tool": "shout", "text": "†state.weight", "_outputPath": "said"}, {"_tool": "weigh", "n": "†state.n", "_outputPath": "weight"}]`+c.output+`}]}`,
					`{"when": "\"said\":\"BY HAND\"", "solution": {"calls": [], "output": {"all": "†state.said"}}}`,
					`{"when": "What went wrong", "solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "by hand", "_outputPath": "said"}]}}`,
					`{"when": "Write the output", "solution": {"calls": [], "output": {"all": "†state.said"}}}`,
				)
				s.start()
				p := played{s, s.came(t)}
				asked := len(s.llm.Requests())
				p.forkComesToTheSame(t)
				if len(s.llm.Requests()) > asked {
					t.Errorf("the fork asked the LLM:\n%s", s.story())
				}
				return s, nil
			})
		})
	}
}
