package prompt

import (
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// promptFor renders the last message of a Request's prompt: Plans, States, errors.
func promptFor(s *modeltest.Scenario) string {
	return Render(s.Idea, s.Bindings, s.ExpectRequest(), nil)[2].Content
}

func wantIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		at := strings.Index(text, part)
		if at < 0 {
			t.Errorf("it lacks %q, or has it before what stands before it:\n%s", part, text)
			return
		}
		text = text[at+len(part):]
	}
}

func TestAPlanWithoutAStageGuidesWithWhatBecameOfItsCalls(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"context": [{"type": "state", "_instance": "①", "state": {"b": 1}}, {"type": "state", "_instance": "②", "state": {}},
		{"type": "plan", "plan": [{"_tool": "work", "_outputPath": "b"}, {"_tool": "work", "_outputPath": "†state.b && †state.c"}, {"_tool": "work", "_instance": "②", "_outputPath": "b"}]}]`)
	text := promptFor(s)
	wantIn(t, text, "## Plan that you may follow, extend or drop\n", `- work() → b: its value is there in 1 of 2`,
		"- work() → †state.b && †state.c\n", "- work() → b for ②\n")
	if strings.Contains(text, "alternatives") {
		t.Error("one Plan is no choice")
	}
}

func TestTheRecordBesideAGuideIsShown(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "",
		`"context": [{"type": "plan", "plan": [{"_tool": "work"}, {"_tool": "fail"}], "record": {"3.1": {"done": 1}, "3.4": "failed"}}]`)
	wantIn(t, promptFor(s), `- work(): {"done":1}`, `- fail(): failed`)
}

func TestOfSeveralPlansTheLLMPicksWithTheInstructionsInView(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"context": [{"type": "text", "text": "Weather."}, {"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}},
		{"type": "plan", "name": "by car", "when": {"required": ["car"]}, "plan": [{"_tool": "work", "x": "car"}]},
		{"type": "plan", "name": "on foot", "plan": [{"_tool": "work", "x": "foot"}]},
		{"type": "plan", "name": "mine", "_instance": "②", "plan": []},
		{"type": "instruction", "instruction": "Prefer to walk."}]`)
	wantIn(t, promptFor(s), "## Plans\nThese are alternatives: pick the one that fits, as the instructions say.",
		"## Plan that you may follow, extend or drop: by car\n",
		`It is meant for instances of which this JSON Schema holds: {"required":["car"]}`, `work(x: "car")`,
		"## Plan that you may follow, extend or drop: on foot\n",
		"## Plan that you may follow, extend or drop: mine (②)")
	task := Render(s.Idea, s.Bindings, s.RequestInput, nil)[1].Content
	if !strings.HasPrefix(task, "## The process\n> Prefer to walk.") {
		t.Errorf("instructions come first: %s", task)
	}
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	if strings.Contains(promptFor(s), "mine (②)") {
		t.Error("a Plan of an instance that is not asked about is shown")
	}
}

func TestAPlanThatRanByItselfStandsAmongTheCallsSoFar(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "",
		`"context": [{"type": "plan", "stage": "optimal", "name": "first", "plan": [{"_tool": "work", "_outputPath": "b"}, {"_tool": "fail"}]}]`)
	s.RunDirectPlans()
	text := promptFor(s)
	wantIn(t, text, "Those whose ids begin with 0 are of a Plan that ran by itself",
		`- 0.1 work(…) of Plan "first" → b: done`, `- 0.2 of Plan "first" fail(): failed`,
		"## What went wrong\n- 0.2 fail: tool_failed: no luck")
	if strings.Contains(text, "follow, extend or drop") {
		t.Errorf("it is shown twice:\n%s", text)
	}
}

// An instruction for some Tools changes the descriptions of these in the schema, and no other.
func TestAnInstructionForToolsChangesTheirTextAndNoOther(t *testing.T) {
	t.Parallel()
	idea := func(more string) (*ideafile.Idea, map[string]ideafile.ToolBinding) {
		i := modeltest.IdeaFrom(t, `{"schema": {"tools": {"a": {"description": "Does a.", "properties": {}}, "b": {"description": "Does b.", "properties": {}}, "c": {"properties": {}, "_output": {"type": "string"}}}},
			"context": [{"type": "text", "text": "Go."}`+more+`]}`)
		return i, map[string]ideafile.ToolBinding{"a": {Kind: ideafile.KindGo}, "b": {Kind: ideafile.KindGo},
			"c": {Kind: ideafile.KindLatent}}
	}
	defs := func(i *ideafile.Idea, bindings map[string]ideafile.ToolBinding) map[string]any {
		form := modeltest.MustDecodeJSON(
			string(
				jsonval.Encode(ResponseFormatFor(i, bindings,
					&turn.RequestInput{Instances: []turn.InstanceInput{{}}}).Schema))).(map[string]any)
		return form["$defs"].(map[string]any)
	}
	i, bindings := idea("")
	before := defs(i, bindings)
	i,
		bindings = idea(
		`, {"type": "instruction", "instruction": "Once only.", "tools": ["b", "c"]}, {"type": "instruction", "instruction": {"be": "brief"}, "tools": ["c"]}`)
	after := defs(i, bindings)
	for name, want := range map[string]string{"call_a": "Does a.", "call_b": "Does b.\nOnce only.",
		"call_c": "Once only.\n" + `{"be":"brief"}`} {
		old, now := before[name].(map[string]any), after[name].(map[string]any)
		if now["description"] != want {
			t.Errorf("%s says %q", name, now["description"])
		}
		if !jsonval.Equal(jsonval.WithoutKey(old, "description"), jsonval.WithoutKey(now, "description")) {
			t.Errorf("%s has changed in more than its text", name)
		}
	}
	asking := &turn.RequestInput{Instances: []turn.InstanceInput{{}},
		Questions: []turn.QuestionToLLM{{CallID: "1.1", Tool: "c"}}}
	if text := string(jsonval.Encode(ResponseFormatFor(i, bindings, asking).Schema)); !strings.Contains(text,
		`"description":"Once only.`) {
		t.Errorf("a Request for results does not say it: %s", text)
	}
	system, task := Render(i, bindings, asking, nil)[0].Content, Render(i, bindings, asking, nil)[1].Content
	wantIn(t, system, "### b", "> Does b.\n> Once only.", "### c", "> Once only.\n> "+`{"be":"brief"}`)
	if strings.Contains(task, "Once only.") {
		t.Error("it is given for the whole Plan")
	}
}
