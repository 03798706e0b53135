package check_test

import (
	"strings"
	"testing"

	"processidea/model/check"
	"processidea/model/ideafile"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

const tools = `"work": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
	"think": {"type": "object", "properties": {}, "_output": {"type": "string"}}, "log": {"type": "object", "properties": {}, "_outputPath": "†state.log", "_outputMethod": "push"},
	"ask": {"type": "object", "properties": {"x": {}}, "_approval": true}`

func process(t *testing.T, context string) check.AmendedPlanChecker {
	t.Helper()
	idea := modeltest.IdeaFrom(t, `{"schema": {"tools": {`+tools+`}}, "context": [`+context+`]}`)
	p := check.AmendedPlanChecker{Context: idea.Context,
		Palette: ideafile.Palette{Tools: idea.Tools, BindingByTool: map[string]ideafile.ToolBinding{}}}
	for _, tool := range idea.Tools {
		p.Palette.BindingByTool[tool.Name] = ideafile.ToolBinding{Kind: ideafile.KindGo}
	}
	p.Palette.BindingByTool["think"] = ideafile.ToolBinding{Kind: ideafile.KindLatent}
	return p
}

func calls(t *testing.T, text string) []ideafile.WrittenCall {
	t.Helper()
	return ideafile.ParseWrittenCalls(modeltest.DecodeJSON(t, "["+text+"]").([]any))
}

// want fails the test unless the error says this; "": there is none.
func want(t *testing.T, err error, says string) {
	t.Helper()
	if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
		t.Errorf("it says %v, want %q", err, says)
	}
}

// Each row says a Plan that a person has made of a Request's, for instances a and b, and what is said of it. c is an
// instance that the Request does not cover, and d one that it may open again.
func TestTheCallsOfAnAmendedPlanAreCheckedAsThoseOfTheLLMAre(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ calls, says string }{
		"Calls that can run": {
			`{"_tool": "work", "_instance": "a", "x": "y"}, {"_tool": "work", "_instance": "*", "x": "†state.id", "_outputPath": "b"}`, ""},
		"a Call that reads what another one writes": {
			`{"_tool": "work", "_instance": "a", "x": "y", "_outputPath": "b"}, {"_tool": "work", "_instance": "a", "x": "†state.b"}`, ""},
		"a Call that a person will be asked about": {`{"_tool": "ask", "_instance": "a"}`, ""},
		"a Tool without code": {`{"_tool": "think", "_instance": "a", "_outputPath": "b"}`,
			""},
		"an instance that may be opened again": {`{"_tool": "work", "_instance": "d", "x": "y"}`, ""},
		"no object": {`{"_tool": "work", "_instance": "a", "x": "y"}, 5`,
			"calls[1]: a Call is an object, not number"},
		"an unknown Tool": {`{"_tool": "sing", "_instance": "a"}`,
			`calls[0]: unknown tool "sing"`},
		"a parameter that is missing": {`{"_tool": "work", "_instance": "a"}`, `calls[0]: `},
		"a parameter of another type": {`{"_tool": "work", "_instance": "a", "x": 5}`,
			"expected string, but got number"},
		"an instance that the Request does not cover": {`{"_tool": "work", "_instance": "c", "x": "y"}`,
			`calls[0]: the Request covers no instance "c"`},
		"no instance": {`{"_tool": "work", "x": "y"}`,
			`calls[0]: the Call names no instance`},
		"a Reference that is none": {`{"_tool": "work", "_instance": "a", "x": "†"}`,
			"calls[0]: "},
		"a path outside of State": {
			`{"_tool": "work", "_instance": "a", "x": "y", "_outputPath": "†input.x"}`, "calls[0]: "},
		"a condition, which only a direct Plan's Call has": {
			`{"_tool": "work", "_instance": "a", "x": "y", "_when": {}}`, "calls[0]: "},
		"a path that one instance of two does not have": {
			`{"_tool": "work", "_instance": "*", "x": "y", "_outputPath": "extra"}`, "calls[0], in instance a: "},
	} {
		t.Run(name, func(t *testing.T) {
			p := process(t, `{"type": "state", "_instance": "a", "schema": {"additionalProperties": false, "properties": {"id": {}, "b": {}, "log": {}}}, "state": {"id": "A"}}, {"type": "state", "_instance": "b", "state": {"id": "B"}},
				{"type": "state", "_instance": "c", "state": {}}, {"type": "state", "_instance": "d", "state": {}}`)
			input := &turn.RequestInput{RequestNumber: 2, Instances: []turn.InstanceInput{{Token: "a"}, {Token: "b"}},
				ReopenableTokens: []string{"d"}}
			want(t, p.CheckRequestCalls(input, calls(t, row.calls)), row.says)
		})
	}
}

// Each row says a direct Plan that a person has amended, for instances a and b: its Calls are for all, and may have
// conditions.
func TestTheCallsOfAnAmendedDirectPlanAreCheckedInEveryInstance(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ calls, says string }{
		"Calls that can run": {`{"_tool": "work", "x": "†state.id", "_outputPath": "b"}, {"_tool": "log"}`,
			""},
		"a Call with a condition": {
			`{"_tool": "work", "x": "y", "_when": {"properties": {"state": {"required": ["id"]}}}}`, ""},
		"an unknown Tool":             {`{"_tool": "log"}, {"_tool": "sing"}`, `calls[1]: unknown tool "sing"`},
		"a parameter of another type": {`{"_tool": "work", "x": 5}`, "expected string, but got number"},
		"a path that one instance lacks": {`{"_tool": "work", "x": "y", "_outputPath": "extra"}`,
			"calls[0], in instance a: "},
	} {
		t.Run(name, func(t *testing.T) {
			p := process(t, `{"type": "state", "_instance": "a", "schema": {"additionalProperties": false, "properties": {"id": {}, "b": {}, "log": {}}}, "state": {"id": "A"}}, {"type": "state", "_instance": "b", "state": {"id": "B"}},
				{"type": "plan", "stage": "optimal", "plan": [`+row.calls+`]}`)
			want(t, p.CheckDirectCalls([]string{"a", "b"}, calls(t, row.calls), 0), row.says)
		})
	}
}

// What is wrong with a Call of a process without tokens names no instance.
func TestAProcessOfOneInstanceNamesNone(t *testing.T) {
	t.Parallel()
	p := process(
		t,
		`{"type": "state", "schema": {"additionalProperties": false, "properties": {"id": {}}}, "state": {"id": "A"}}`)
	input := &turn.RequestInput{RequestNumber: 1, Instances: []turn.InstanceInput{{}}}
	want(t, p.CheckRequestCalls(input, calls(t, `{"_tool": "work", "x": "y"}`)), "")
	err := p.CheckRequestCalls(input, calls(t, `{"_tool": "work", "x": "y", "_outputPath": "extra"}`))
	want(t, err, "calls[0]: ")
	if err != nil && strings.Contains(err.Error(), "in instance") {
		t.Errorf("it names one: %s", err)
	}
}
