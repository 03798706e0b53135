package backtest_test

import (
	"strings"
	"testing"

	"processidea/learn/backtest"
	"processidea/learn/past"
	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/statelog"
	"processidea/model/turn"
)

func TestWhatTheNewFileGivesToAllCountsAndWhatAnInstanceHasStaysItsOwn(t *testing.T) {
	t.Parallel()
	context := strings.TrimSuffix(orders,
		"]") + `, {"type": "input", "input": {"rate": 3}}, {"type": "input", "_instance": "②", "input": {"note": "mine"}}]`
	rated := `[{"_tool": "rate", "_instance": "*", "of": "†input.rate", "_outputPath": "rating"},
		{"_tool": "rate", "_instance": "②", "of": "†input.note", "_outputPath": "noted"}]`
	past := ran(t, context, reply(rated), reply(`[]`))
	want(t, compare(t, idea(t, ""), nil, past), "① same", "② same", "③ same")
	want(t, compare(t, idea(t, `{"type": "input", "input": {"rate": 3}}, {"type": "input", "_instance": "②", "input": {"note": "the file's"}},
		{"type": "state", "_instance": "①", "state": {"id": "the file's"}}`), nil, past), "① same", "② same", "③ same")
	want(t, compare(t, idea(t, `{"type": "input", "input": {"rate": 4}}`), nil, past),
		`① different; call-changed: rate would have of 4, and had 3`,
		`② different; call-changed: rate would have of 4, and had 3`,
		`③ different; call-changed: rate would have of 4, and had 3`)
}

func TestOneInstanceWithoutAToken(t *testing.T) {
	t.Parallel()
	past := ran(t, `"context": [{"type": "state", "state": {"id": "a"}}, {"type": "input", "input": {"x": 1}}]`,
		reply(
			`[{"_tool": "fetch", "id": "†state.id", "_outputPath": "order"}, {"_tool": "rate", "of": "†input.x", "_outputPath": "rating"}]`), reply(`[]`))
	r := compare(
		t, idea(t, `{"type": "state", "state": {"id": "z", "more": 1}}, {"type": "input", "input": {"x": 2}}, `+
			direct(
				`[{"_tool": "rate", "of": 1, "_outputPath": "r"}, {"_tool": "fetch", "id": "†state.id", "_outputPath": "o"}]`)), nil, past)
	want(t, r, "same")
	if got := r.Instances[0].Name(false); got != "p" {
		t.Errorf("it is called %q", got)
	}
}

func TestInstancesOfSeveralProcessesAreToldApart(t *testing.T) {
	t.Parallel()
	past := ran(t, orders, reply(plan), reply(`[]`))
	r := compare(t, idea(t, "", `"minimum": 100`, `"minimum": 30`), nil, past, past)
	if len(r.DifferenceGroups) != 1 ||
		r.DifferenceGroups[0].String() != "newly-asked: refund would be asked about (in p/②, p/②)" &&
			len(r.DifferenceGroups[0].Instances) == 0 {
		t.Errorf("%v", r.DifferenceGroups)
	}
	if r.SameCount != 4 || r.DifferentCount != 2 || r.DifferingCount() != 2 {
		t.Errorf("%+v", r)
	}
}

func TestValuesThatTheLLMFittedAreFittedAgain(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenarioWithTools(t, tools, "", `"context": [{"type": "state", "state": {"amount": "five"}}]`)
	calls := `[{"_tool": "refund", "amount": "†state.amount", "_outputPath": "paid"}]`
	past := finish(t, s, approve, reply(calls),
		`{"calls": [{"_call": "1.1", "_params": {"amount": 5}}], "output": null}`, reply(`[]`))
	want(t, compare(t, idea(t, ""), nil, past), "same")
	want(
		t, compare(t, idea(t, strings.Replace(direct(strings.Replace(calls, "paid", "done", 1)), "complete", "optimal",
			1), `"amount": {"type": "integer"}`, `"amount": {"type": "integer", "maximum": 3}`), nil, past),
		`different; call-unfit: refund with {"amount":5} no longer fits: the values were fitted to the schema and still do not fit: /amount: must be <= 3 but found 5; `+
			`? the LLM would be asked: 0.1: the values were fitted to the schema and still do not fit: /amount: must be <= 3 but found 5`)
}

func TestAnInstanceOfWhichTheChainDoesNotTellAllIsLeftOut(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenarioWithTools(t, tools, "", orders)
	run := past.RecordedProcess{ProcessID: "p"}
	c := s.ReplyWith(reply(plan))
	first := modeltest.SnapshotAndReparse(t, s.Idea, c.AllInstancesInput, c.Calls, nil).Source
	first["meta"] = map[string]any{"request": jsonval.ToJSONValue(1)}
	run.Ideas, run.Log = append(run.Ideas, first), c.LogBeforeRequest
	s.Revise(`{"by": "ann", "context": [{"type": "state", "_instance": "①", "state": {"note": "by hand"}}]}`)
	s.ApplyCorrections("①", "ann")
	approve(s, s.InstanceByToken["③"].PendingApprovals()[0])
	for {
		step, _ := s.Loop.Advance(s.Now)
		if step == loop.StepFinished {
			break
		}
		if step == loop.StepWait {
			s.Now = s.Loop.NextWakeTime()
			continue
		}
		run.Log = append(run.Log, s.ReplyWith(reply(`[]`)).LogBeforeRequest...)
	}
	if _, err := backtest.Read(run); err == nil || !strings.Contains(err.Error(), "it has not finished") {
		t.Errorf("before its end: %v", err)
	}
	run.Ideas = append(run.Ideas, modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil).Source)
	run.Log = append(run.Log, s.Loop.TakeUnsealedLog()...)
	read, err := backtest.Read(run)
	if err != nil {
		t.Fatal(err)
	}
	r, err := backtest.Compare(idea(t, ""), bind, nil, read)
	if err != nil || len(r.SkippedInstances) != 1 ||
		r.SkippedInstances[0] != (backtest.SkippedInstance{ProcessID: "p", Instance: "①",
			Reason: "a person changed its State while it ran"}) || r.SameCount != 2 {
		t.Errorf("%v; left out %v, %d the same", err, r.SkippedInstances, r.SameCount)
	}
	run.Ideas[0]["meta"] = map[string]any{"simulated": true}
	if _, err := backtest.Read(run); err == nil || !strings.Contains(err.Error(), "it was simulated") {
		t.Errorf("simulated: %v", err)
	}
	if _, err := backtest.Read(past.RecordedProcess{ProcessID: "p"}); err == nil {
		t.Error("a process without Ideas is read")
	}
}

func TestAPlanThatWouldNeedTheLLMIsNotKnownFromThere(t *testing.T) {
	t.Parallel()
	s := scenario(t, strings.Replace(orders, "150", "50", 1))
	s.RunTool = func(tool string, _ map[string]any) (any, *diag.Fault) {
		if tool == "rate" {
			return nil, fault("no luck")
		}
		return tool + " done", nil
	}
	past := finish(t, s, approve, reply(plan), reply(`[{"_tool": "log", "_instance": "*", "line": "mended"}]`),
		reply(`[]`))
	optimal := `{"type": "plan", "stage": "optimal", "plan": ` + strings.ReplaceAll(plan,
		`"_instance": "*", `, "") + `}`
	r := compare(t, idea(t, optimal), nil, past)
	got := strings.SplitN(describe(r), "\n", 2)[0]
	if !strings.HasPrefix(got, "① unknown; ? the LLM would be asked: ") || !strings.Contains(got, "no luck") {
		t.Error(got)
	}
	want(t, compare(t, idea(t, ""), nil, past), "① same", "② same", "③ same")
}

func TestAnotherOutputIsNamedWhereEveryInstanceIsTheSame(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenarioWithTools(t, tools, modeltest.SummarySchema, orders)
	past := finish(t, s, approve, `{"calls": `+plan+`, "output": null}`,
		`{"calls": [], "output": {"summary": "all well"}}`)
	made := func(output string) *ideafile.Idea {
		return modeltest.IdeaFrom(t, `{"schema": {"tools": {`+tools+`}, "output": `+modeltest.SummarySchema+
			`}, "context": [{"type": "plan", "stage": "complete", "plan": `+
			strings.ReplaceAll(plan, `"_instance": "*", `, "")+`, "output": `+output+`}]}`)
	}
	if r := compare(t, made(`{"summary": "all well"}`), nil, past); len(r.OutputDifferences) != 0 || r.SameCount != 3 {
		t.Errorf("%+v", r)
	}
	if r := compare(t, made(`{"summary": "badly"}`), nil, past); len(r.OutputDifferences) != 1 ||
		r.OutputDifferences[0].Text != `p would give the output {"summary":"badly"}, and gave {"summary":"all well"}` {
		t.Errorf("%+v", r.OutputDifferences)
	}
}

func TestWhatADelegateHandedBackIsPlayedToo(t *testing.T) {
	t.Parallel()
	first := `{"meta": {"request": 1}, "schema": {"tools": {"ask": {"type": "object", "properties": {}, "_delegate": "anonymous", "_output": {"type": "string"}, "_writes": ["state.draft"]},
		"send": {"type": "object", "properties": {"text": {}}}}},
		"context": [{"type": "state", "state": {}}], "solution": {"calls": [{"_tool": "ask", "_outputPath": "answer"}, {"_tool": "send", "text": "†state.draft"}], "output": null}}`
	last := strings.Replace(strings.Replace(first, `"state": {}}]`, `"state": {"answer": "yes", "draft": "Dear Ann"}}, {"type": "plan",
		"plan": [{"_tool": "ask", "_outputPath": "answer"}, {"_tool": "send", "text": "†state.draft"}], "record": {"1.1": {"done": null}, "1.2": {"done": null}}}]`, 1),
		`"calls": [{"_tool": "ask", "_outputPath": "answer"}, {"_tool": "send", "text": "†state.draft"}]`,
		`"calls": []`, 1)
	write := func(path, value string) turn.LogEntry {
		return turn.LogEntry{Write: statelog.Write{Path: jsonval.Path{path}, Value: value, Author: "1.1", Request: 1,
			Index: 1}}
	}
	past, err := backtest.Read(past.RecordedProcess{ProcessID: "d",
		Ideas: []map[string]any{modeltest.MustDecodeJSON(first).(map[string]any),
			modeltest.MustDecodeJSON(last).(map[string]any)},
		Log: []turn.LogEntry{write("answer", "yes"), write("draft", "Dear Ann")}})
	if err != nil {
		t.Fatal(err)
	}
	new := modeltest.IdeaFrom(t, strings.Replace(first[:strings.Index(first, `"context"`)], `"meta": {"request": 1}, `,
		"", 1)+`"context": [{"type": "state", "state": {}}, `+
		direct(`[{"_tool": "ask", "_outputPath": "answer"}, {"_tool": "send", "text": "†state.draft"}]`)+`]}`)
	delegates := func(*ideafile.Idea) map[string]ideafile.ToolBinding {
		return map[string]ideafile.ToolBinding{"ask": {Kind: ideafile.KindDelegate}, "send": {Kind: ideafile.KindGo}}
	}
	r, err := backtest.Compare(new, delegates, nil, past)
	if err != nil || len(r.SkippedInstances) > 0 || describe(r) != "same" {
		t.Errorf("%v %v: %s", err, r.SkippedInstances, describe(r))
	}
}

func TestWhoMayDecideAndUntilWhenIsNotLookedAt(t *testing.T) {
	t.Parallel()
	past := ran(t, orders, reply(plan), reply(`[]`))
	r := compare(t, idea(t, "", `"_approval": {"when"`,
		`"_approval": {"by": {"groups": ["finance"], "count": 2}, "timeout": "1h", "onTimeout": "pause", "when"`), nil,
		past)
	want(t, r, "① same", "② same", "③ same")
}

func TestACallForAllIsForThoseThatItsRequestCovered(t *testing.T) {
	t.Parallel()
	waited := 0
	late := func(s *modeltest.Scenario, p approval.PendingCall) {
		if waited++; waited > 1 {
			approve(s, p)
		}
	}
	// ③ waits for a person when the second Request is made, and has no part in it.
	past := finish(t, scenario(t, orders), late, reply(plan),
		reply(`[{"_tool": "log", "_instance": "*", "line": "x"}]`), reply(`[]`))
	want(t, compare(t, idea(t, ""), nil, past), "① same", "② same", "③ same")
	got := describe(compare(t, idea(t, direct(strings.ReplaceAll(plan, `"_instance": "*", `, ""))), nil, past))
	if !strings.HasPrefix(got, "① different; call-missing: log would not run") || !strings.HasSuffix(got, "\n③ same") {
		t.Error(got)
	}
}

func TestWhatADirectPlanPushedIsNotThereAtItsBeginning(t *testing.T) {
	t.Parallel()
	logged := `[{"_tool": "log", "line": "one"}, {"_tool": "log", "line": "two"}]`
	past := ran(t, `"context": [{"type": "state", "state": {"log": ["old"], "empty": {}}}, `+direct(logged)+`]`)
	want(t, compare(t, idea(t, direct(logged)), nil, past), "same")
	want(t, compare(t, idea(t, direct(`[{"_tool": "rate", "of": "†state.log"}]`)), nil, past),
		`different; call-missing: log would not run; it ran with {"line":"one"}; call-missing: log would not run; it ran with {"line":"two"}; `+
			`call-added: rate would run with {"of":["old"]}, and did not: its result is not known`)
}

func TestTheSchemasAreThoseOfTheNewFile(t *testing.T) {
	t.Parallel()
	closed := `"schema": {"type": "object", "properties": {"id": {}, "order": {}}, "additionalProperties": false}`
	calls := `[{"_tool": "fetch", "id": "†state.id", "_outputPath": "order"}]`
	past := ran(t, `"context": [{"type": "state", "state": {"id": "a"}, `+closed+`}]`, reply(calls), reply(`[]`))
	renamed := direct(strings.Replace(calls, "order", "found", 1))
	want(t, compare(t, idea(t, renamed), nil, past), "same")
	got := describe(compare(t, idea(t, `{"type": "state", "state": {}, `+closed+`}, `+renamed), nil, past))
	if !strings.HasPrefix(got, "different; call-unfit: fetch with ") {
		t.Error(got)
	}
}

func TestStepsThatANewInstructionRequiresAreNamedWhereTheyWouldNotBeFulfilled(t *testing.T) {
	t.Parallel()
	past := ran(t, orders, reply(plan), reply(`[]`))
	policy := func(tool string) string {
		return `{"type": "instruction", "file": "p.json", "instruction": {"instruction": {"steps": [{"id": "a", "text": "x",
			"when": {"properties": {"state": {"properties": {"amount": {"minimum": 30}}}}},
			"require": {"properties": {"calls": {"contains": {"properties": {"tool": {"const": "` + tool + `"}, "output": {"const": "fetch done"}}}}}}}]}}}`
	}
	want(t, compare(t, idea(t, policy("fetch")), nil, past), "① same", "② same", "③ same")
	r := compare(t, idea(t, policy("log")), nil, past)
	got := describe(r)
	if !strings.HasPrefix(got, "① same\n② different; step-unfulfilled: step a of p.json would not be fulfilled: ") ||
		strings.Count(got, "step-unfulfilled") != 2 || strings.Contains(got, "other-end") {
		t.Error(got)
	}
	if len(r.InstructionStepCounts) != 1 || r.InstructionStepCounts[0].Unfulfilled != 2 ||
		r.InstructionStepCounts[0].NotApplicable != 1 {
		t.Errorf("counted %+v", r.InstructionStepCounts)
	}
	strict := strings.TrimSuffix(orders, "]") + ", " + policy("log") + "]"
	mended := ran(t, strict, reply(plan), reply(`[{"_tool": "log", "_instance": "*", "line": 1}]`), reply(`[]`))
	if got := describe(compare(t, idea(t, policy("log")), nil, mended)); strings.Contains(got, "step-") {
		t.Errorf("of an instance that was told and did it: %s", got)
	}
}
