package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/check"
	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// again begins a process from an Idea of the one on stage, through bytes and back, and hands out what it takes up.
func again(s *modeltest.Scenario, i *ideafile.Idea, withSolution bool) *modeltest.Scenario {
	s.T.Helper()
	next := &modeltest.Scenario{
		T: s.T, Idea: i, Now: modeltest.StartTime, Bindings: s.Bindings, RunTool: s.RunTool,
		Instances: map[string]*dataflow.Instance{}, Reported: map[string]map[string]modeltest.ReportedCall{}, CorrectionsAcked: map[string]int{}, Corrections: map[string][]loop.Steering{},
	}
	next.Loop = loop.New(i, "q", s.Bindings, modeltest.StartTime)
	if withSolution {
		next.Loop.ResumeSolution()
	}
	next.StartInstances(i.InstanceTokens())
	for _, t := range next.Loop.TakeResumed() {
		for _, c := range t.Calls {
			if next.Instances[t.Token].AcceptCall(t.Request, c.Index, ideafile.ParseWrittenCall(c.Call)) && c.ReviewReason != "" {
				next.Instances[t.Token].RequireReview(ideafile.FormatCallID(t.Request, c.Index, t.Token), c.ReviewReason)
			}
		}
		next.RunToIdle(t.Token, t.Request)
		next.DeliverReport(next.Report(t.Token, t.Request))
	}
	next.Ended = next.Loop.TakeEnded()
	return next
}

// sealed gives the Idea of a Request.
func sealed(s *modeltest.Scenario, c *loop.Conclusion) *ideafile.Idea {
	return modeltest.SnapshotFile(s.T, s.Idea, c.FullInput, c.Calls, c.Reply.Output)
}

// halfway is a process of three instances at the moment of its second Request, which is about ① alone: an effect is done there,
// ② waits for a person, and something runs in ③.
func halfway(t *testing.T) (s *modeltest.Scenario, second *ideafile.Idea) {
	t.Helper()
	s = modeltest.NewScenarioWithPeople(t, "", modeltest.ThreeInstances)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","x":1},{"_tool":"pay","_instance":"②","n":5,"_outputPath":"paid"},
		{"_tool":"slow","_instance":"③","_outputPath":"s"},{"_tool":"fail","_instance":"①"}],"output":null}`)
	s.AdvanceClock(ideafile.DefaultGatherDelay)
	s.ExpectStep(loop.StepWait)
	s.AdvanceClock(ideafile.DefaultGatherDelay)
	s.ExpectRequestFor("①")
	return s, sealed(s, s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","x":1},{"_tool":"work","_instance":"①","x":2,"_outputPath":"two"}],"output":null}`))
}

func TestAProcessGoesOnWhereTheIdeaStoodThatItStartsFrom(t *testing.T) {
	s, second := halfway(t)
	q := again(s, second, false)
	p := q.Instances["②"].Pending()
	if len(p) != 1 || p[0].Call != "1.2@②" || p[0].Digest != s.Instances["②"].Pending()[0].Digest || !strings.Contains(p[0].ReviewReason, "the process before") {
		t.Fatalf("%+v", p)
	}
	s.WantEqual("what was running runs again", string(q.Instances["③"].FindCall("1.3@③").Status), "running")
	if len(q.Instances["①"].Records()) > 0 {
		t.Errorf("a Call that had ended comes again: %+v", q.Instances["①"].Records()[0])
	}
	q.AdvanceClock(ideafile.DefaultGatherDelay)
	q.ExpectStep(loop.StepWait)
	q.AdvanceClock(ideafile.DefaultGatherDelay)
	b := q.ExpectRequestFor("①")
	s.WantEqual("it makes the same Request", fmt.Sprint(b.Number, " ", b.Turn), "2 1")
	s.WantEqual("with the same facts", modeltest.DescribePlan(b), "1.1 done 1; 1.4 failed 1")
	s.WantEqual("and errors", modeltest.DescribeErrors(b), "1.4 tool_failed: no luck in ①")
	c := q.ReplyWith(modeltest.EmptyReply)
	s.WantEqual("what it began with is not counted", fmt.Sprintf("%+v", q.Loop.Counts()), "{Done:0 Failed:0 Rejected:0 Skipped:0 Blocked:0}")
	s.WantEqual("its first Idea has the same context but for what it has done itself", contextText(sealed(q, c)),
		contextText(second))
	q.Decide(ideafile.Approve, "1.2@②")
	q.CompleteSlow("1.3@③")
	s.WantEqual("and goes on", modeltest.DescribePlan(q.ExpectRequestFor("② ③")), "1.2 done 1; 1.3 done 1")
}

func contextText(i *ideafile.Idea) string { return string(jsonval.Encode(i.Source["context"])) }

func TestTheSolutionIsTakenUpWithoutWhatTheRecordCallsDone(t *testing.T) {
	s, second := halfway(t)
	q := again(s, second, true)
	s.WantEqual("of the Calls for ① the new one is done", fmt.Sprintf("%d %+v", len(q.Instances["①"].Records()), q.Loop.Counts()), "1 {Done:1 Failed:0 Rejected:0 Skipped:0 Blocked:0}")
	s.WantEqual("as the Request's answer", q.Instances["①"].Records()[0].ID, "2.2@①")
	q.AdvanceClock(ideafile.DefaultGatherDelay)
	q.ExpectStep(loop.StepWait)
	q.AdvanceClock(ideafile.DefaultGatherDelay)
	b := q.ExpectRequestFor("①")
	s.WantEqual("the next Request is the one after it", fmt.Sprint(b.Number), "3")
	s.WantEqual("and is told", modeltest.DescribePlan(b), "1.1 done 1; 1.4 failed 1; 2.2 done 1")
	if again := again(s, modeltest.IdeaFrom(t, `{}`), true); len(again.Loop.Carry().PlannedCalls) > 0 {
		t.Error("an Idea without a solution has Calls")
	}
}

func TestABrokenCallOfTheSolutionIsToldOf(t *testing.T) {
	s := modeltest.NewScenario(t, "", modeltest.TwoInstances, `"solution": {"calls": [{"_tool": "work", "_instance": "⑨"}, {"_tool": "nobody", "_instance": "*"}, 5]}`)
	q := again(s, s.Idea, true)
	s.WantEqual("the next Request hears", modeltest.DescribeErrors(q.ExpectRequest()), `1.1 bad_instance: the Request covers no instance "⑨"
1.3 bad_form: a Call is an object, not number
1.2 unknown_tool: unknown tool "nobody" in ①, ②`)
}

func TestAnInstanceThatHadEndedStaysSo(t *testing.T) {
	s := modeltest.NewScenario(t, modeltest.SummarySchema, `"context": [{"type": "state", "_instance": "①", "state": {"a": 1}, "_status": "settled"},
		{"type": "state", "_instance": "②", "state": {}}, {"type": "state", "_instance": "③", "state": {}, "_status": "failed", "_error": {"code": "x", "message": "y"}},
		{"type": "state", "_instance": "④", "state": {}, "_status": "settled"}, {"type": "state", "_instance": "④", "state": {"b": 2}}]`)
	s.WantEqual("those that had ended", s.Statuses(), "① settled, ② working, ③ failed, ④ working")
	if ended := s.Loop.TakeEnded(); len(ended) != 2 {
		t.Errorf("%d instances are told that they have ended", len(ended))
	}
	s.ExpectRequestFor("② ④")
	c := s.ReplyWith(modeltest.EmptyReply)
	s.WantEqual("the Idea says so", contextText(sealed(s, c)), `[{"_instance":"①","_status":"settled","state":{"a":1},"type":"state"},`+
		`{"_instance":"②","state":{},"type":"state"},{"_error":{"code":"x","message":"y"},"_instance":"③","_status":"failed","state":{},"type":"state"},`+
		`{"_instance":"④","state":{"b":2},"type":"state"}]`)
	if !s.ExpectRequest().OutputOnly {
		t.Error("nobody asks for the output")
	}
	s.ReplyWith(`{"calls":[],"output":{"summary":"z"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the process failed as it had", s.Loop.Result(s.Loop.FinalStatus(), false).Error.Error(), "x: 1 of 4 instances failed; the first, ③: y")
}

func TestAProcessOfWhichEveryInstanceHadSettledIsOverAtOnce(t *testing.T) {
	s := modeltest.NewScenario(t, "", `"context": [{"type": "state", "state": {"a": 1}, "_status": "settled"}]`)
	s.ExpectStep(loop.StepFinished)
}

func TestACallThatMustNotRunTwiceAndWasRunningWaitsForAPerson(t *testing.T) {
	s := modeltest.NewScenarioWithTools(t, `"slow": {"type": "object", "properties": {}, "_retry": {"attempts": 1}}`, "", `"context": [
		{"type": "plan", "plan": [{"_tool": "slow", "_outputPath": "a"}], "record": {"1.1": {"running": 1}}}]`)
	q := again(s, s.Idea, false)
	p := q.Instances[""].Pending()
	if len(p) != 1 || !strings.Contains(p[0].ReviewReason, "it must not run twice") || fmt.Sprint(p[0].Allow) != "[approve reject answer]" {
		t.Fatalf("%+v", p)
	}
	q.Decide(ideafile.Approve, "1.1")
	s.WantEqual("it is asked about once", string(q.Instances[""].FindCall("1.1").Status), "running")
}

func TestARecordThatIsNotOfItsPlanSaysNothing(t *testing.T) {
	for _, row := range []struct{ what, plan, record, want string }{
		{"one for each", `[{"_tool":"work"},{"_tool":"fail"}]`, `{"0.2":{"failed":1},"0.1":{"done":1}}`, "0.1 done 2; 0.2 failed 2"},
		{"a plain word", `[{"_tool":"work"}]`, `{"0.1":"done"}`, "0.1 done 2"},
		{"one instance", `[{"_tool":"work","_instance":"②"}]`, `{"3.7":{"done":1}}`, "3.7 done 1"},
		{"which of two?", `[{"_tool":"work","_instance":"*"}]`, `{"3.7":{"done":1,"rejected":1}}`, ""},
		{"nobody's", `[{"_tool":"work","_instance":"*"}]`, `{"3.7":{"done":["⑨"]}}`, ""},
		{"too few", `[{"_tool":"work"},{"_tool":"fail"}]`, `{"0.1":{"done":1}}`, ""},
		{"too many", `[]`, `{"0.1":{"done":1}}`, ""},
		{"no ids", `[{"_tool":"work"}]`, `{"first":{"done":1}}`, ""},
		{"another id", `[{"_tool":"work"}]`, `{"01.1":{"done":1}}`, ""},
		{"nothing", `[]`, `{}`, ""},
	} {
		s := modeltest.NewScenario(t, "", `"context": [{"type": "state", "_instance": "①"}, {"type": "state", "_instance": "②"},
			{"type": "plan", "plan": `+row.plan+`, "record": `+row.record+`}]`)
		s.WantEqual(row.what, modeltest.DescribePlan(s.ExpectRequest()), row.want)
	}
}

func TestFactsOfTheProcessBeforeAreToldWithResultsAndDecisions(t *testing.T) {
	s := modeltest.NewScenarioWithPeople(t, "", modeltest.ThreeInstances)
	s.ReplyWith(`{"calls":[{"_tool":"pay","_instance":"*","x":1}],"output":null}`)
	s.Decide(ideafile.Approve, "1.1@①")
	s.Decide(ideafile.Reject, "1.1@②", `{"reason":"too much"}`)
	s.Decide(ideafile.Approve, "1.1@③")
	c := s.ReplyWith(modeltest.EmptyReply)
	q := again(s, sealed(s, c), false)
	before, after := c.FullInput, q.ExpectRequest()
	s.WantEqual("decisions", modeltest.DescribeDecisions(after), modeltest.DescribeDecisions(before))
	s.WantEqual("results", string(jsonval.Encode(jsonval.Normal(after.Plan[0].Results))), string(jsonval.Encode(jsonval.Normal(before.Plan[0].Results))))
	if len(before.Plan[0].Results) == 0 {
		t.Error("there are none")
	}
}

// Whatever a process has done, an Idea of the process that starts from its snapshot is that snapshot. A Call that nobody was
// given stands in the errors alone.
func TestAnySnapshotOfAProcessThatStartsFromASnapshotIsTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := modeltest.NewScenario(rt, "", modeltest.TwoInstances)
		for range rapid.IntRange(1, 3).Draw(rt, "requests") {
			var calls []string
			for n := range rapid.IntRange(1, 3).Draw(rt, "calls") {
				call := rapid.SampledFrom([]string{
					`{"_tool":"work","_instance":"*","x":N}`, `{"_tool":"work","_instance":"①","n":N,"_outputPath":"b"}`, `{"_tool":"fail","_instance":"②"}`,
					`{"_tool":"log","_instance":"*"}`, `{"_tool":"work","_instance":"②","x":"†state.noneN"}`, `{"_tool":"nobody","_instance":"*"}`,
				}).Draw(rt, "call")
				calls = append(calls, strings.ReplaceAll(call, "N", fmt.Sprint(n)))
			}
			s.ReplyWith(`{"calls":[` + strings.Join(calls, ",") + `],"output":null}`)
			if s.Loop.Finished() {
				return
			}
		}
		once := modeltest.SnapshotFile(rt, s.Idea, s.Loop.FullInput(), nil, nil)
		if strings.Contains(contextText(once), `":{}`) {
			return
		}
		twice := modeltest.SnapshotFile(rt, once, again(s, once, false).Loop.FullInput(), nil, nil)
		if a, b := contextText(once), contextText(twice); a != b {
			rt.Fatalf("%s\nbecame\n%s", a, b)
		}
	})
}

func TestWhatIsTakenOutOfStateIsNotDoneAnyMore(t *testing.T) {
	text := `{"schema": {"tools": {` + modeltest.ScenarioTools + `}}, "context": [{"type": "plan", "plan": [{"_tool":"work","_outputPath":"a.b"},{"_tool":"work","_outputPath":"c"},{"_tool":"log"},
		{"_tool":"work"},{"_tool":"none"},5], "record": {"1.1":{"done":["①","②"],"results":{}},"1.2":{"done":["①"]},"1.3":{"done":["①"]},"1.4":{"done":["①"]},"1.5":{"failed":["①"]},"1.6":{}}}%s]}`
	for path, want := range map[string]string{
		"a":   `{"1.1":{"done":["②"],"results":{}},"1.2":{"done":["①"]},"1.3":{"done":["①"]},"1.4":{"done":["①"]},"1.5":{"failed":["①"]},"1.6":{}}`,
		"log": `{"1.1":{"done":["①","②"],"results":{}},"1.2":{"done":["①"]},"1.3":{},"1.4":{"done":["①"]},"1.5":{"failed":["①"]},"1.6":{}}`,
	} {
		i := modeltest.IdeaFrom(t, fmt.Sprintf(text, `, {"type": "state", "_instance": "①"}, {"type": "state", "_instance": "②"}`))
		turn.ForgetWrites(i.Source, "①", jsonval.Path{path})
		if got := string(jsonval.Encode(jsonval.AsObject(i.Context[0].Source)["record"])); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	i := modeltest.IdeaFrom(t, `{"schema": {"tools": {`+modeltest.ScenarioTools+`}}, "context": [{"type": "plan", "plan": [{"_tool":"work","_outputPath":"a"}], "record": {"1.1":{"done":1}}}]}`)
	turn.ForgetWrites(i.Source, "", jsonval.Path{"a"})
	if got := string(jsonval.Encode(i.Context[0].Source["record"])); got != `{"1.1":{}}` {
		t.Error(got)
	}
}

func TestARecordIsNoPlanToCheck(t *testing.T) {
	plan := `{"type": "plan", "plan": [5, {"_tool": "nobody"}, {"_tool": "work", "x": "†state.none", "_outputPath": "a"}]%s}`
	for more, want := range map[string]int{``: 3, `, "record": {"1.1": {}, "1.2": {"failed": 1}, "1.3": {"blocked": 1}}`: 0} {
		i := modeltest.IdeaFrom(t, `{"schema": {"tools": {`+modeltest.ScenarioTools+`}}, "context": [`+fmt.Sprintf(plan, more)+`]}`)
		if n := len(check.Check(i, nil).Errors()); n != want {
			t.Errorf("%d errors, not %d: %v", n, want, check.Check(i, nil))
		}
	}
}

func TestHowAnInstanceEndedIsReadFromAMessageWithItsPayloadUnderItsKey(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"state","state":{},"_status":"settled"}`:  "",
		`{"type":"state","state":{},"_status":"working"}`:  "",
		`{"type":"state","state":{},"_status":"finished"}`: "$.context[0]._status: want working, settled or failed",
		`{"type":"state","state":{},"_status":5}`:          "$.context[0]._status: want working, settled or failed",
		`{"type":"input","input":{},"_status":"settled"}`:  `$.context[0]._status: the payload stands under "input" and flat at once`,
		`{"type":"state","_status":"settled"}`:             "",
	} {
		i, ps := ideafile.ParseIdea([]byte(`{"context": [` + text + `]}`))
		if ps.Error() != want && !(len(ps) == 0 && want == "") {
			t.Errorf("%s: %q", text, ps.Error())
		}
		if strings.HasSuffix(text, `{"type":"state","_status":"settled"}`) && i.Context[0].Status != "" {
			t.Errorf("a flat payload is State: %+v", i.Context[0])
		}
	}
}

func TestRequestsGoOnFromTheNumberOfTheIdea(t *testing.T) {
	for meta, want := range map[string]int{`{"request": 5}`: 5, `{}`: 1, `{"request": 0}`: 1, `{"request": "5"}`: 1} {
		s := modeltest.NewScenario(t, "", `"meta": `+meta, modeltest.TwoInstances)
		if b := s.ExpectRequest(); b.Number != want || b.Turn != 1 {
			t.Errorf("%s: Request %d, turn %d", meta, b.Number, b.Turn)
		}
	}
}

func TestACallThatIsPutInThePlaceOfOneInDoubtIsNotInDoubt(t *testing.T) {
	s, second := halfway(t)
	q := again(s, second, false)
	q.Decide(ideafile.Replace, "1.2@②", `{"with": {"_tool": "work", "x": 7}}`)
	s.WantEqual("it has run", string(q.Instances["②"].FindCall("1.2@②").Status), "done")
}
