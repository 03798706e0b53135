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
	s := modeltest.NewScenario(t, "", `"context": [{"type": "state", "_instance": "①", "state": {"b": 1}}, {"type": "state", "_instance": "②", "state": {}},
		{"type": "plan", "plan": [{"_tool": "work", "_outputPath": "b"}, {"_tool": "work", "_outputPath": "†state.b && †state.c"}, {"_tool": "work", "_instance": "②", "_outputPath": "b"}]}]`)
	text := promptFor(s)
	wantIn(t, text, "## Plan to follow, extend or drop\n", `- {"_outputPath":"b","_tool":"work"}: its value is there in 1 of 2`,
		`- {"_outputPath":"†state.b && †state.c","_tool":"work"}`+"\n", `- {"_instance":"②","_outputPath":"b","_tool":"work"}`+"\n")
	if strings.Contains(text, "alternatives") {
		t.Error("one Plan is no choice")
	}
}

func TestTheRecordBesideAGuideIsShown(t *testing.T) {
	s := modeltest.NewScenario(t, "", `"context": [{"type": "plan", "plan": [{"_tool": "work"}, {"_tool": "fail"}], "record": {"3.1": {"done": 1}, "3.4": "failed"}}]`)
	wantIn(t, promptFor(s), `- {"_tool":"work"}: {"done":1}`, `- {"_tool":"fail"}: failed`)
}

func TestOfSeveralPlansTheLLMPicksWithTheInstructionsInView(t *testing.T) {
	s := modeltest.NewScenario(t, "", `"context": [{"type": "text", "text": "Weather."}, {"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}},
		{"type": "plan", "name": "by car", "when": {"required": ["car"]}, "plan": [{"_tool": "work", "x": "car"}]},
		{"type": "plan", "name": "on foot", "plan": [{"_tool": "work", "x": "foot"}]},
		{"type": "plan", "name": "mine", "_instance": "②", "plan": []},
		{"type": "instruction", "instruction": "Prefer to walk."}]`)
	wantIn(t, promptFor(s), "## Plans\nThese are alternatives: pick the one that fits, as the instructions say.",
		"## Plan to follow, extend or drop by car\n", `It is meant where this schema holds over what an instance sees: {"required":["car"]}`, `{"_tool":"work","x":"car"}`,
		"## Plan to follow, extend or drop on foot\n", "## Plan to follow, extend or drop mine in ②")
	task := Render(s.Idea, s.Bindings, s.Input, nil)[1].Content
	if !strings.HasPrefix(task, "Prefer to walk.") {
		t.Errorf("instructions come first: %s", task)
	}
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	if strings.Contains(promptFor(s), "mine in ②") {
		t.Error("a Plan of an instance that is not asked about is shown")
	}
}

func TestAPlanThatRanByItselfStandsAmongTheCallsSoFar(t *testing.T) {
	s := modeltest.NewScenario(t, "", `"context": [{"type": "plan", "stage": "optimal", "name": "first", "plan": [{"_tool": "work", "_outputPath": "b"}, {"_tool": "fail"}]}]`)
	s.RunDirectPlans()
	text := promptFor(s)
	wantIn(t, text, "Those of request 0 are of a Plan that ran by itself", `- 0.1 of Plan "first" {"_outputPath":"b","_tool":"work"}: done`, `- 0.2 of Plan "first" {"_tool":"fail"}: failed`,
		"## Errors\n- Call 0.2: tool_failed: no luck")
	if strings.Contains(text, "follow, extend or drop") {
		t.Errorf("it is shown twice:\n%s", text)
	}
}

// An instruction for some Tools changes the descriptions of these in the schema, and no other.
func TestAnInstructionForToolsChangesTheirTextAndNoOther(t *testing.T) {
	idea := func(more string) (*ideafile.Idea, map[string]ideafile.Binding) {
		i := modeltest.IdeaFrom(t, `{"schema": {"tools": {"a": {"description": "Does a.", "properties": {}}, "b": {"description": "Does b.", "properties": {}}, "c": {"properties": {}, "_output": {"type": "string"}}}},
			"context": [{"type": "text", "text": "Go."}`+more+`]}`)
		return i, map[string]ideafile.Binding{"a": {Kind: ideafile.KindGo}, "b": {Kind: ideafile.KindGo}, "c": {Kind: ideafile.KindLatent}}
	}
	defs := func(i *ideafile.Idea, bindings map[string]ideafile.Binding) map[string]any {
		form := modeltest.MustDecodeJSON(string(jsonval.Encode(ResponseFormatFor(i, bindings, &turn.RequestInput{Instances: []turn.InstanceInput{{}}}).Schema))).(map[string]any)
		return form["$defs"].(map[string]any)
	}
	i, bindings := idea("")
	before := defs(i, bindings)
	i, bindings = idea(`, {"type": "instruction", "instruction": "Once only.", "tools": ["b", "c"]}, {"type": "instruction", "instruction": {"be": "brief"}, "tools": ["c"]}`)
	after := defs(i, bindings)
	for name, want := range map[string]string{"call_a": "Does a.", "call_b": "Does b.\nOnce only.", "call_c": "Once only.\n" + `{"be":"brief"}`} {
		old, now := before[name].(map[string]any), after[name].(map[string]any)
		if now["description"] != want {
			t.Errorf("%s says %q", name, now["description"])
		}
		if !jsonval.Equal(jsonval.WithoutKey(old, "description"), jsonval.WithoutKey(now, "description")) {
			t.Errorf("%s has changed in more than its text", name)
		}
	}
	asking := &turn.RequestInput{Instances: []turn.InstanceInput{{}}, Questions: []turn.Question{{ID: "1.1", Tool: "c"}}}
	if text := string(jsonval.Encode(ResponseFormatFor(i, bindings, asking).Schema)); !strings.Contains(text, `"description":"Once only.`) {
		t.Errorf("a Request for results does not say it: %s", text)
	}
	system, task := Render(i, bindings, asking, nil)[0].Content, Render(i, bindings, asking, nil)[1].Content
	wantIn(t, system, "### b", "Does b.\nOnce only.", "### c", "Once only.\n"+`{"be":"brief"}`)
	if strings.Contains(task, "Once only.") {
		t.Error("it is given for the whole Plan")
	}
}
