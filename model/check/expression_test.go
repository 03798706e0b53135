package check

import (
	"strings"
	"testing"

	"processidea/model/check/plangraph"
	"processidea/model/modeltest"
)

func TestCheckFollowsExpressions(t *testing.T) {
	t.Parallel()
	plan := func(calls string) string {
		return `{"type": "state", "state": {"id": 1, "text": "x"}}, {"type": "plan", "plan": [` + calls + `]}`
	}
	runChecks(t, []checkCase{
		{"a good branch with its two readers", "", plan(`{"_tool": "fetch", "id": "†state.id", "_outputPath": "†state.ok || †state.failed"},
			{"_tool": "analyze", "text": "†state.ok.name", "_outputPath": "a"}, {"_tool": "analyze", "text": "†state.failed.message", "_outputPath": "b"},
			{"_tool": "analyze", "text": "†state.a || †state.b", "_outputPath": "c"}`), nil},
		{"an alternative that nobody writes is a warning", "",
			plan(`{"_tool": "analyze", "text": "†state.never || †state.text"}`), []string{
				"warning $.context[1].plan[0].text: no Call writes †state.never and no State holds it at the start; " +
					"there are †state.id, †state.text"}},
		{"none that can come is an error, for each", "",
			plan(`{"_tool": "analyze", "text": "†state.never || †input.x"}`), []string{
				`error $.context[1].plan[0].text: no Call writes †state.never and no State holds it at the start; there are †state.id, †state.text`,
				`error $.context[1].plan[0].text: reference †input.x: the context has no "input"`}},
		{"one term of && that cannot come is an error", "",
			plan(`{"_tool": "analyze", "text": "†state.never && †state.text"}`), []string{
				"error $.context[1].plan[0].text: no Call writes †state.never and no State holds it at the start; " +
					"there " +
					"are †state.id, †state.text"}},
		{"of && the last is compared", "", plan(`{"_tool": "analyze", "text": "†state.id && †state.text"},
			{"_tool": "analyze", "text": "†state.text && †state.id"}`), []string{
			`error $.context[1].plan[1].text: †state.id is of type integer; the parameter "text" wants string; convert it first, or read another value`}},
		{"of || each is compared, and may never be taken", "",
			plan(`{"_tool": "analyze", "text": "†state.text || †state.id"}`), []string{
				`warning $.context[1].plan[0].text: †state.id is of type integer; the parameter "text" wants string; convert it first, or read another value`}},
		{"a cycle through every alternative is one", "", plan(`{"_tool": "analyze", "text": "†state.b || †state.c", "_outputPath": "a"},
			{"_tool": "analyze", "text": "†state.a", "_outputPath": "b"}, {"_tool": "analyze", "text": "†state.a", "_outputPath": "c"}`), []string{
			"error $.context[1].plan[0].text: a cycle: plan[0] (analyze) → plan[1] (analyze) → plan[0] (analyze); " +
				"each waits for the one before it, so none can start: have one of them read something else",
			"error $.context[1].plan[2].text: a cycle: plan[2] (analyze) → plan[0] (analyze) → plan[2] (analyze); " +
				"each waits for the one before it, so none can start: have one of them read something else"}},
		{"a way round the cycle is none", "", plan(`{"_tool": "analyze", "text": "†state.b || †state.text", "_outputPath": "a"},
			{"_tool": "analyze", "text": "†state.a", "_outputPath": "b"}`), nil},
		{"a wired expression is read too",
			`"rule": {"type": "object", "properties": {"r": {"const": "†state.rule || †state.text"}}, "required": ["r"]}`,
			plan(`{"_tool": "rule"}`), []string{
				`warning $.context[1].plan[0]: the wired parameter "r": no Call writes †state.rule and no State holds it at the start; there are †state.id, †state.text`}},
		{"a value that is there is not written again, though the Call runs for its other path", "", plan(`{"_tool": "analyze", "text": "†state.text", "_outputPath": "†state.id && †state.new"},
			{"_tool": "analyze", "text": "†state.id.x"}, {"_tool": "analyze", "text": "†state.new"}`), []string{
			"error $.context[1].plan[1].text: no Call writes †state.id.x and no State holds it at the start; there " +
				"are †state.id, †state.new, †state.text"}},
		{"a path of a branch outside a closed schema", "", `{"type": "state", "state": {"id": 1}, "schema": {"type": "object",
			"properties": {"id": {"type": "integer"}, "ok": {"type": "object"}}, "additionalProperties": false}},
			{"type": "plan", "plan": [{"_tool": "fetch", "id": "†state.id", "_outputPath": "ok || failed"}]}`, []string{
			"error $.context[1].plan[0]._outputPath: †state.failed stands outside the closed State schema"}},
	})
}

func TestAGraphDrawsEveryTermAndEveryBranch(t *testing.T) {
	t.Parallel()
	calls := modeltest.MustDecodeJSON(`[{"_tool": "look", "_outputPath": "†state.ok || †state.failed"}, {"_tool": "go", "x": "†state.ok", "_outputPath": "a"},
		{"_tool": "stay", "x": "†state.failed", "_outputPath": "b"}, {"_tool": "tell", "x": "†state.a || †state.b || †input.x"}]`).([]any)
	text := plangraph.RenderDOT(calls)
	for _, want := range []string{`look\n→ †state.ok || †state.failed`, `c1 -> c2 [label="ok"]`,
		`c1 -> c3 [label="failed"]`, `c2 -> c4 [label="a"]`, `c3 -> c4 [label="b"]`, `g1 -> c4`} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %s:\n%s", want, text)
		}
	}
}
