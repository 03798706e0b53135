package workflows_test

import (
	"strings"
	"testing"

	"processidea/internal/longrun"
)

const alikeTools = `"shout": ` + textTool + `, "whisper": ` + textTool + `, "refuse": ` + textTool

// directPlans are processes whose Plans run directly to their end by themselves.
var directPlans = map[string]struct{ tools, form, context string }{
	"a wired output": {form: `{"type": "object", "properties": {"all": {"type": "object"}}, "required": ["all"]}`,
		context: `{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}], "output": {"all": "†state.a"}}`},
	"no form": {
		context: `{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}], "output": {"all": "†state.a"}}`},
	"no output at all": {
		context: `{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}]}`},
	"an output of the wrong form": {form: `{"type": "object", "properties": {"all": {"type": "integer"}}}`,
		context: `{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}], "output": {"all": "†state.a"}}`},
	"an output that reads what is not there": {form: `{"type": "object"}`,
		context: `{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}], "output": {"all": "†state.never"}}`},
	"the same without a form": {
		context: `{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}], "output": {"all": "†state.never"}}`},
	"a literal output": {form: `{"type": "object"}`,
		context: `{"type": "input", "who": "me"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}], "output": {"n": 5, "who": "†input.who"}}`},
	"two Plans with conditions": {form: `{"type": "object"}`,
		context: `{"type": "plan", "name": "low", "stage": "complete", "when": {"properties": {"state": {"properties": {"text": {"enum": ["t1", "t2", "t5"]}}}}}, "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}], "output": {"low": "†state.a"}},
			{"type": "plan", "name": "high", "stage": "complete", "plan": [{"_tool": "whisper", "text": "†state.text", "_outputPath": "b"}], "output": {"high": "†state.b"}}`},
	"no Plan that holds for one": {form: `{"type": "object"}`,
		context: `{"type": "plan", "stage": "complete", "when": {"properties": {"state": {"properties": {"text": {"enum": ["t1", "t2", "t5"]}}}}}, "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}], "output": {"low": "†state.a"}}`},
	"a Plan of one instance": {form: `{"type": "object"}`,
		context: `{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}], "output": {"all": "†state.a"}},
			{"type": "plan", "_instance": "5", "stage": "complete", "plan": [{"_tool": "whisper", "text": "Mine", "_outputPath": "a"}], "output": {"all": "†state.a"}}`},
	"Calls of one instance": {form: `{"type": "object"}`,
		context: `{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}, {"_tool": "refuse", "_instance": "5", "text": "no"},
			{"_tool": "whisper", "_instance": "2", "text": "Two", "_outputPath": "b"}], "output": {"all": "†state.a"}}`},
	"Calls that fail everywhere": {form: `{"type": "object"}`,
		context: `{"type": "plan", "stage": "complete", "plan": [{"_tool": "refuse", "text": "†state.text", "_outputPath": "a"}], "output": {"all": "†state.a"}}`},
	"alternatives": {context: `{"type": "plan", "stage": "complete", "plan": [{"_tool": "refuse", "text": "†state.text", "_outputPath": "a"}, {"_tool": "shout", "text": "†state.text", "_outputPath": "a"},
			{"_tool": "whisper", "text": "†state.text", "_outputPath": "a"}], "output": {"all": "†state.a"}}`},
	"branches": {context: `{"type": "plan", "stage": "complete", "plan": [{"_tool": "refuse", "text": "†state.text", "_outputPath": "†state.ok || †state.failed"}, {"_tool": "shout", "text": "†state.ok", "_outputPath": "a"},
			{"_tool": "shout", "text": "†state.failed.code", "_outputPath": "b"}], "output": {"all": "†state.a || †state.b"}}`},
	"templates and order": {context: `{"type": "input", "day": "Monday"}, {"type": "plan", "stage": "complete", "plan": [
			{"_tool": "shout", "text": "†` + "`${state.text} on ${input.day}`" + `", "_outputPath": "a"}, {"_tool": "whisper", "text": "Then", "_after": "†state.a", "_outputPath": "b"}], "output": {"all": "†state.b"}}`},
	"a State that lacks what it must hold": {form: `{"type": "object"}`,
		context: `{"type": "state", "_instance": "4", "state": {}, "schema": {"type": "object", "properties": {"text": {}, "a": {}, "z": {}}, "required": ["z"]}},
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}], "output": {"all": "†state.a"}}`},
	"a closed State": {form: `{"type": "object"}`,
		context: `{"type": "state", "state": {}, "schema": {"type": "object", "properties": {"text": {}, "a": {"type": "string", "pattern": "^T[1-4]$"}}, "additionalProperties": false}},
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}, {"_tool": "whisper", "text": "x", "_outputPath": "b"}], "output": {"all": "†state.a"}}`},
	"values that are there already": {
		context: `{"type": "state", "_instance": "2", "a": "there"}, {"type": "state", "_instance": "5", "a": null},
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}, {"_tool": "whisper", "text": "†state.a", "_outputPath": "b"}], "output": {"all": "†state.a"}}`},
	"blocked Calls": {
		context: `{"type": "state", "_instance": "1", "extra": "x"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.extra", "_outputPath": "a"}], "output": {"all": "†state.a"}}`},
	"a large output": {form: `{"type": "object"}`,
		context: `{"type": "input", "long": "` + strings.Repeat("x", 70_000) +
			`"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†input.long", "_outputPath": "a"}], "output": {"all": "†state.a"}}`},
	"an optimal Plan": {form: `{"type": "object"}`,
		context: `{"type": "plan", "stage": "optimal", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "a"}], "output": {"all": "†state.a"}}`},
	"results not written": {
		tools:   `, "both": {"type": "object", "properties": {"text": {"type": "string"}}, "_activity": "shout", "_outputPath": "†state.a && †state.b"}`,
		context: `{"type": "state", "_instance": "5", "b": "there"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "both", "text": "†state.text"}], "output": {"all": "†state.a"}}`},
}

// A Plan that runs directly comes to the same in parts, and asks nobody. What starts from its last Idea does nothing
// more.
func TestADirectPlanComesToTheSameInParts(t *testing.T) {
	t.Parallel()
	for name, c := range longrun.SampleRows(t, 4, directPlans) {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			asOneAndInParts(t, func(t *testing.T, config string) (*scenario, map[string]string) {
				form := ""
				if c.form != "" {
					form = `, "output": ` + c.form
				}
				s := newScenario(t, `{"config": {`+config+`}, "schema": {"tools": {`+alikeTools+c.tools+`}`+form+
					`}, "context": [`+rows(1, 5)+`, `+c.context+`]}`)
				s.start()
				p := played{s, s.came(t)}
				if len(s.llm.Requests()) > 0 {
					t.Errorf("the LLM was asked:\n%s", s.story())
				}
				p.forkComesToTheSame(t)
				return s, nil
			})
		})
	}
}
