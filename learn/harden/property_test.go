package harden

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/learn/past"
	"processidea/model/check"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

// drawnTools is the palette of random processes: what each gives depends on what it was given alone.
const drawnTools = `"work": {"type": "object", "properties": {"x": {}, "y": {}}}, "other": {"type": "object", "properties": {"x": {}}},
	"look": {"type": "object", "properties": {"x": {}}, "_outputPath": "†state.good || †state.bad"},
	"unused": {"type": "object", "properties": {}, "_outputPath": "†state.nowhere"}, "think": {"type": "object", "properties": {}},
	"log": {"type": "object", "properties": {"x": {}}, "_outputPath": "†state.log", "_outputMethod": "push"}`

// drawnResult is what a Tool gives: a failure, a value, or one that chooses a branch.
func drawnResult(tool string, params map[string]any) (any, *diag.Fault) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(tool + string(jsonval.Encode(params))))
	n := h.Sum32()
	text := fmt.Sprintf("%s %d", tool, n%50)
	switch {
	case n%4 == 0 && tool != "log":
		return nil, diag.Faultf(ideafile.CodeToolFailed, "%s", text)
	case tool == "look" && n%2 == 0:
		return map[string]any{"_outputPath": "†state.bad", "_result": text}, nil
	case n%3 == 0:
		return map[string]any{"sku": text, "list": []any{text, "b2"}}, nil
	}
	return text, nil
}

// drawProcess runs a random process to its end and gives its Ideas; ok is false for one that came to none.
func drawProcess(t *rapid.T, n int) (run past.RecordedProcess, s *modeltest.Scenario, ok bool) {
	values := rapid.SampledFrom([]string{`"a1"`, `"b2"`, `1`, `true`, `["a1", "b2"]`, `{"sku": "b2"}`})
	tokens := []string{"①", "②", "③"}[:rapid.IntRange(1, 3).Draw(t, "instances")]
	context := []string{`{"type": "input", "input": {"shop": ` + values.Draw(t, "shop") + `}}`}
	for _, token := range tokens {
		context = append(context,
			fmt.Sprintf(`{"type": "state", "_instance": %q, "state": {"id": %s, "o": {"items": [%s]}}}`, token,
				values.Draw(t, "id"), values.Draw(t, "item")))
	}
	direct := rapid.IntRange(0, 2).Draw(t, "direct") == 0
	if direct {
		plan, _ := jsonval.DecodeObject([]byte(drawSolution(t, []string{"*"})))
		context = append(context, `{"type": "plan", "stage": "optimal", "plan": `+string(jsonval.Encode(plan["calls"]))+
			`}`)
	}
	s = modeltest.NewScenarioWithTools(t, drawnTools, "", `"context": [`+strings.Join(context, ", ")+`]`,
		rapid.SampledFrom([]string{`"config": {}`, `"config": {"settle": "together"}`}).Draw(t, "config"))
	s.RunTool = drawnResult
	run.ProcessID = fmt.Sprintf("p%d", n)
	if direct {
		run.Ideas = append(run.Ideas, modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil).Source)
		s.RunDirectPlans()
	}
	for request := 1; request <= 8; request++ {
		step, in := s.Loop.Advance(s.Now)
		if step != loop.StepRequest {
			break
		}
		reply := modeltest.EmptyReply
		if request <= 3 {
			reply = drawSolution(t, append(in.InstanceTokens(), in.ReopenableTokens...))
		}
		c := s.ReplyWith(reply)
		idea := modeltest.SnapshotAndReparse(t, s.Idea, c.AllInstancesInput, c.Calls, c.Reply.Output).Source
		idea["meta"] = map[string]any{"request": jsonval.ToJSONValue(in.RequestNumber)}
		run.Ideas, run.Log = append(run.Ideas, idea), append(run.Log, c.LogBeforeRequest...)
	}
	run.Log = append(run.Log, s.Loop.TakeUnsealedLog()...)
	run.Ideas = append(run.Ideas, modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil).Source)
	return run, s, s.Loop.IsFinished()
}

// drawSolution draws Calls as an LLM writes them: with References, with literals in their place, for one instance or
// all.
func drawSolution(t *rapid.T, tokens []string) string {
	values := rapid.SampledFrom([]string{`"†state.id"`, `"†state.o.items[0]"`, `"†input.shop"`, `"†state.a"`,
		`"†state.b || †state.id"`, `"†state.good"`,
		`"†state.good || †state.bad"`, `"a1"`, `"b2"`, `1`, `true`, `["a1", "†state.id"]`, `{"sku": "b2"}`})
	calls := []string{}
	for range rapid.IntRange(0, 3).Draw(t, "calls") {
		tool := rapid.SampledFrom([]string{"work", "work", "other", "look", "log"}).Draw(t, "tool")
		path := ""
		if tool == "work" || tool == "other" {
			path = rapid.SampledFrom([]string{"", `, "_outputPath": "a"`, `, "_outputPath": "b"`,
				`, "_outputPath": "c.d"`}).Draw(t, "path")
		}
		token := rapid.SampledFrom(append([]string{"*", "*"}, tokens...)).Draw(t, "token")
		calls = append(calls, fmt.Sprintf(`{"_tool": %q, "_instance": %q, "x": %s%s}`, tool, token,
			values.Draw(t, "x"), path))
	}
	return `{"calls": [` + strings.Join(calls, ", ") + `], "output": null}`
}

// What harden writes passes the check, and where it is marked optimal it brings every instance of the runs to the State
// that it came to, with no Request, where the Tools give what they gave.
func TestAHardenedPlanRepeatsTheRunsItWasMadeOf(t *testing.T) {
	t.Parallel()
	optimal, total := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var runs []past.RecordedProcess
		var scenarios []*modeltest.Scenario
		for n := 1; n <= rapid.IntRange(1, 2).Draw(t, "processes"); n++ {
			run, s, ok := drawProcess(t, n)
			if ok {
				runs, scenarios = append(runs, run), append(scenarios, s)
			}
		}
		if len(runs) == 0 {
			return
		}
		h, err := Harden(runs, scenarios[0].Bindings, false)
		if err != nil {
			return
		}
		total++
		for _, template := range []bool{false, true} {
			made, _ := Harden(runs, scenarios[0].Bindings, template)
			idea, problems := ideafile.ReadIdea(made.Idea)
			if errs := append(problems.Errors(), check.Check(idea, scenarios[0].Bindings).Errors()...); len(errs) > 0 {
				t.Fatalf("template %v: it does not pass the check: %s\n%s", template, errs, jsonval.Encode(made.Idea))
			}
		}
		if len(h.Differences) > 0 {
			return
		}
		optimal++
		again, twice := repeat(t, h, scenarios[0])
		if len(twice.Differences) > 0 || !jsonval.Equal(planMessage(twice), planMessage(h)) {
			t.Fatalf("hardened again it is %s\nnot %s, naming %v", jsonval.Encode(planMessage(twice)),
				jsonval.Encode(planMessage(h)), twice.Differences)
		}
		for _, token := range again.Loop.InstanceTokens() {
			if got, want := again.InstanceByToken[token].State(),
				scenarios[0].InstanceByToken[token].State(); !jsonval.Equal(got, want) {
				t.Fatalf("%s comes to %s\nwant %s\nby %s", token, jsonval.Encode(got), jsonval.Encode(want),
					jsonval.Encode(h.Idea["context"]))
			}
		}
	})
	if optimal < total/20 {
		t.Errorf("%d of %d Plans are optimal: the property holds of too few", optimal, total)
	}
}

// planMessage is the Plan message of a hardened Idea, as it is written.
func planMessage(h *Result) any {
	context := h.Idea["context"].([]any)
	return context[len(context)-1]
}

// repeat runs a hardened Idea, which must need no Request, and hardens that run.
func repeat(t *rapid.T, h *Result, first *modeltest.Scenario) (*modeltest.Scenario, *Result) {
	source := string(jsonval.Encode(h.Idea["context"]))
	again := modeltest.NewScenarioWithTools(t, drawnTools, "", `"context": `+source)
	again.Bindings, again.RunTool = first.Bindings, drawnResult
	began := modeltest.SnapshotAndReparse(t, again.Idea, again.Loop.AllInstancesInput(), nil, nil).Source
	again.RunDirectPlans()
	if step, _ := again.Loop.Advance(again.Now); step != loop.StepFinished || !again.Loop.IsFinished() {
		t.Fatalf("the next step is %s\nof %s", step, source)
	}
	ended := modeltest.SnapshotAndReparse(t, again.Idea, again.Loop.AllInstancesInput(), nil, nil).Source
	twice, err := Harden([]past.RecordedProcess{{ProcessID: "again", Ideas: []map[string]any{began, ended},
		Log: again.Loop.TakeUnsealedLog()}}, first.Bindings, false)
	if err != nil {
		t.Fatal(err)
	}
	return again, twice
}
