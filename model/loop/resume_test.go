package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/check"
	"processidea/model/dataflow"
	"processidea/model/diag"
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
		InstanceByToken:             map[string]*dataflow.Instance{},
		ReportedCallsByToken:        map[string]map[string]dataflow.LastReportedCall{},
		AckedCorrectionCountByToken: map[string]int{}, CorrectionsByToken: map[string][]approval.SteeringPayload{},
	}
	next.Loop = loop.New(i, "q", s.Bindings, modeltest.StartTime)
	if withSolution {
		next.Loop.ResumeSolutionCalls()
	}
	next.StartInstances(i.InstanceTokens())
	handOut(next, next.Loop.TakeCallsToResume())
	next.EndedInstances = next.Loop.TakeEndedInstances()
	return next
}

// handOut sends Calls to instances past the stream of a reply.
func handOut(s *modeltest.Scenario, list []loop.CallDelivery) {
	for _, t := range list {
		for _, c := range t.Calls {
			if s.InstanceByToken[t.InstanceToken].AcceptCall(t.RequestNumber, c.Index,
				ideafile.ParseWrittenCall(c.Call)) &&
				c.ReviewReason != "" {
				s.InstanceByToken[t.InstanceToken].RequireReview(ideafile.FormatCallID(t.RequestNumber, c.Index,
					t.InstanceToken),
					c.ReviewReason)
			}
		}
		s.RunToIdle(t.InstanceToken, t.RequestNumber)
		s.DeliverReport(s.TakeReport(t.InstanceToken, t.RequestNumber))
	}
}

// sealed gives the Idea of a Request.
func sealed(s *modeltest.Scenario, c *loop.RequestConclusion) *ideafile.Idea {
	return modeltest.SnapshotAndReparse(s.T, s.Idea, c.AllInstancesInput, c.Calls, c.Reply.Output)
}

// halfway is a process of three instances at the moment of its second Request, which is about ① alone: an effect is
// done there, ② waits for a person, and something runs in ③.
func halfway(t *testing.T) (s *modeltest.Scenario, second *ideafile.Idea) {
	t.Helper()
	s = newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","x":1},{"_tool":"pay","_instance":"②","n":5,"_outputPath":"paid"},
		{"_tool":"slow","_instance":"③","_outputPath":"s"},{"_tool":"fail","_instance":"①"}],"output":null}`)
	s.AdvanceClock(ideafile.DefaultGatherDelay)
	s.ExpectStep(loop.StepWait)
	s.AdvanceClock(ideafile.DefaultGatherDelay)
	s.ExpectRequestFor("①")
	return s,
		sealed(
			s,
			s.ReplyWith(
				`{"calls":[{"_tool":"work","_instance":"*","x":1},{"_tool":"work","_instance":"①","x":2,"_outputPath":"two"}],"output":null}`))
}

func TestAProcessGoesOnWhereTheIdeaStoodThatItStartsFrom(t *testing.T) {
	t.Parallel()
	s, second := halfway(t)
	q := again(s, second, false)
	p := q.InstanceByToken["②"].PendingApprovals()
	if len(p) != 1 || p[0].CallID != "1.2@②" || p[0].Digest != s.InstanceByToken["②"].PendingApprovals()[0].Digest ||
		!strings.Contains(p[0].ReviewReason, "the process before") {
		t.Fatalf("%+v", p)
	}
	s.WantEqual("what was running runs again", string(q.InstanceByToken["③"].FindCall("1.3@③").Status), "running")
	if len(q.InstanceByToken["①"].CallRecords()) > 0 {
		t.Errorf("a Call that had ended comes again: %+v", q.InstanceByToken["①"].CallRecords()[0])
	}
	q.AdvanceClock(ideafile.DefaultGatherDelay)
	q.ExpectStep(loop.StepWait)
	q.AdvanceClock(ideafile.DefaultGatherDelay)
	b := q.ExpectRequestFor("①")
	s.WantEqual("it makes the same Request", fmt.Sprint(b.RequestNumber, " ", b.TurnNumber), "2 1")
	s.WantEqual("with the same facts", describePlan(b), "1.1 done 1; 1.4 failed 1")
	s.WantEqual("and errors", describeErrors(b), "1.4 tool_failed: no luck in ①")
	c := q.ReplyWith(modeltest.EmptyReply)
	s.WantEqual("what it began with is not counted", fmt.Sprintf("%+v", q.Loop.CallCounts()),
		"{Done:0 Failed:0 Rejected:0 Skipped:0 Blocked:0 Undone:0}")
	asked := `"awaiting-approval":["②"]`
	s.WantEqual("its first Idea has the same context but for what it has done itself", contextText(sealed(q, c)),
		strings.Replace(contextText(second), asked,
			asked+`,"review":{"②":"it waited for a person in the process before"}`, 1))
	q.Decide(policy.Approve, "1.2@②")
	completeSlow(q, "1.3@③")
	s.WantEqual("and goes on", describePlan(q.ExpectRequestFor("② ③")), "1.2 done 1; 1.3 done 1")
}

func contextText(i *ideafile.Idea) string { return string(jsonval.Encode(i.Source["context"])) }

func TestTheSolutionIsTakenUpWithoutWhatTheRecordCallsDone(t *testing.T) {
	t.Parallel()
	s, second := halfway(t)
	q := again(s, second, true)
	s.WantEqual("of the Calls for ① the new one is done",
		fmt.Sprintf("%d %+v", len(q.InstanceByToken["①"].CallRecords()), q.Loop.CallCounts()),
		"1 {Done:1 Failed:0 Rejected:0 Skipped:0 Blocked:0 Undone:0}")
	s.WantEqual("as the Request's answer", q.InstanceByToken["①"].CallRecords()[0].ID, "2.2@①")
	q.AdvanceClock(ideafile.DefaultGatherDelay)
	q.ExpectStep(loop.StepWait)
	q.AdvanceClock(ideafile.DefaultGatherDelay)
	b := q.ExpectRequestFor("①")
	s.WantEqual("the next Request is the one after it", fmt.Sprint(b.RequestNumber), "3")
	s.WantEqual("and is told", describePlan(b), "1.1 done 1; 1.4 failed 1; 2.2 done 1")
	if again := again(s, modeltest.IdeaFrom(t, `{}`), true); len(again.Loop.CarryIntoNextRun().PlannedCalls) > 0 {
		t.Error("an Idea without a solution has Calls")
	}
}

func TestABrokenCallOfTheSolutionIsToldOf(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext,
		`"solution": {"calls": [{"_tool": "work", "_instance": "⑨"}, {"_tool": "nobody", "_instance": "*"}, 5]}`)
	q := again(s, s.Idea, true)
	s.WantEqual("the next Request hears", describeErrors(q.ExpectRequest()), `1.1 bad_instance: the Request covers no instance "⑨"
1.3 bad_form: a Call is an object, not number
1.2 unknown_tool: unknown tool "nobody" in ①, ②`)
}

func TestAnInstanceThatHadEndedStaysSo(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, `"context": [{"type": "state", "_instance": "①", "state": {"a": 1}, "_status": "settled"},
		{"type": "state", "_instance": "②", "state": {}}, {"type": "state", "_instance": "③", "state": {}, "_status": "failed", "_error": {"code": "x", "message": "y"}},
		{"type": "state", "_instance": "④", "state": {}, "_status": "settled"}, {"type": "state", "_instance": "④", "state": {"b": 2}}]`)
	s.WantEqual("those that had ended", s.DescribeInstances(), "① settled, ② working, ③ failed, ④ working")
	if ended := s.Loop.TakeEndedInstances(); len(ended) != 2 {
		t.Errorf("%d instances are told that they have ended", len(ended))
	}
	s.ExpectRequestFor("② ④")
	c := s.ReplyWith(modeltest.EmptyReply)
	s.WantEqual("the Idea says so", contextText(sealed(s, c)),
		`[{"_instance":"①","_status":"settled","state":{"a":1},"type":"state"},`+
			`{"_instance":"②","state":{},"type":"state"},{"_error":{"code":"x","message":"y"},"_instance":"③","_status":"failed","state":{},"type":"state"},`+
			`{"_instance":"④","state":{"b":2},"type":"state"}]`)
	if !s.ExpectRequest().IsOutputOnly {
		t.Error("nobody asks for the output")
	}
	s.ReplyWith(`{"calls":[],"output":{"summary":"z"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the process failed as it had", s.Loop.Result(s.Loop.FinalStatus(), false).Error.Error(),
		"x: 1 of 4 instances failed; the first, ③: y")
}

func TestAProcessOfWhichEveryInstanceHadSettledIsOverAtOnce(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"context": [{"type": "state", "state": {"a": 1}, "_status": "settled"}]`)
	s.ExpectStep(loop.StepFinished)
}

func TestACallThatMustNotRunTwiceAndWasRunningWaitsForAPerson(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenarioWithTools(t, `"slow": {"type": "object", "properties": {}, "_retry": {"attempts": 1}}`, "", `"context": [
		{"type": "plan", "plan": [{"_tool": "slow", "_outputPath": "a"}], "record": {"1.1": {"running": 1}}}]`)
	q := again(s, s.Idea, false)
	p := q.InstanceByToken[""].PendingApprovals()
	if len(p) != 1 || !strings.Contains(p[0].ReviewReason, "it must not run twice") ||
		fmt.Sprint(p[0].AllowedDecisions) != "[approve reject answer]" {
		t.Fatalf("%+v", p)
	}
	q.Decide(policy.Approve, "1.1")
	s.WantEqual("it is asked about once", string(q.InstanceByToken[""].FindCall("1.1").Status), "running")
}

func TestARecordThatIsNotOfItsPlanSaysNothing(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ what, plan, record, want string }{
		{"one for each", `[{"_tool":"work"},{"_tool":"fail"}]`, `{"0.2":{"failed":1},"0.1":{"done":1}}`,
			"0.1 done 2; 0.2 failed 2"},
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
		s.WantEqual(row.what, describePlan(s.ExpectRequest()), row.want)
	}
}

func TestFactsOfTheProcessBeforeAreToldWithResultsAndDecisions(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(`{"calls":[{"_tool":"pay","_instance":"*","x":1}],"output":null}`)
	s.Decide(policy.Approve, "1.1@①")
	s.Decide(policy.Reject, "1.1@②", `{"reason":"too much"}`)
	s.Decide(policy.Approve, "1.1@③")
	idea := modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil)
	q := again(s, idea, false)
	before, after := s.ReplyWith(modeltest.EmptyReply).AllInstancesInput, q.ExpectRequest()
	s.WantEqual("decisions", describeDecisions(after), describeDecisions(before))
	s.WantEqual("results", string(jsonval.Encode(jsonval.ToJSONValue(after.PlanEntries[0].ResultByInstance))),
		string(jsonval.Encode(jsonval.ToJSONValue(before.PlanEntries[0].ResultByInstance))))
	if len(before.PlanEntries[0].ResultByInstance) == 0 {
		t.Error("there are none")
	}
}

// Whatever a process has done, an Idea of the process that starts from its snapshot is that snapshot. A Call that
// nobody was given stands in the errors alone.
func TestAnySnapshotOfAProcessThatStartsFromASnapshotIsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := modeltest.NewScenario(rt, "", modeltest.TwoInstancesContext)
		for range rapid.IntRange(1, 3).Draw(rt, "requests") {
			var calls []string
			for n := range rapid.IntRange(1, 3).Draw(rt, "calls") {
				call := rapid.SampledFrom([]string{
					`{"_tool":"work","_instance":"*","x":N}`,
					`{"_tool":"work","_instance":"①","n":N,"_outputPath":"b"}`, `{"_tool":"fail","_instance":"②"}`,
					`{"_tool":"log","_instance":"*"}`, `{"_tool":"work","_instance":"②","x":"†state.noneN"}`,
					`{"_tool":"nobody","_instance":"*"}`,
				}).Draw(rt, "call")
				calls = append(calls, strings.ReplaceAll(call, "N", fmt.Sprint(n)))
			}
			s.ReplyWith(`{"calls":[` + strings.Join(calls, ",") + `],"output":null}`)
			if s.Loop.IsFinished() {
				return
			}
		}
		once := modeltest.SnapshotAndReparse(rt, s.Idea, s.Loop.AllInstancesInput(), nil, nil)
		if strings.Contains(contextText(once), `":{}`) {
			return
		}
		twice := modeltest.SnapshotAndReparse(rt, once, again(s, once, false).Loop.AllInstancesInput(), nil, nil)
		if a, b := contextText(once), contextText(twice); a != b {
			rt.Fatalf("%s\nbecame\n%s", a, b)
		}
	})
}

func TestWhatIsTakenOutOfStateIsNotDoneAnyMore(t *testing.T) {
	t.Parallel()
	text := `{"schema": {"tools": {` + modeltest.ScenarioToolsJSON + `}}, "context": [{"type": "plan", "plan": [{"_tool":"work","_outputPath":"a.b"},{"_tool":"work","_outputPath":"c"},{"_tool":"log"},
		{"_tool":"work"},{"_tool":"none"},5], "record": {"1.1":{"done":["①","②"],"results":{}},"1.2":{"done":["①"]},"1.3":{"done":["①"]},"1.4":{"done":["①"]},"1.5":{"failed":["①"]},"1.6":{}}}%s]}`
	for path, want := range map[string]string{
		"a":   `{"1.1":{"done":["②"],"results":{}},"1.2":{"done":["①"]},"1.3":{"done":["①"]},"1.4":{"done":["①"]},"1.5":{"failed":["①"]},"1.6":{}}`,
		"log": `{"1.1":{"done":["①","②"],"results":{}},"1.2":{"done":["①"]},"1.3":{},"1.4":{"done":["①"]},"1.5":{"failed":["①"]},"1.6":{}}`,
	} {
		i := modeltest.IdeaFrom(t,
			fmt.Sprintf(text, `, {"type": "state", "_instance": "①"}, {"type": "state", "_instance": "②"}`))
		turn.DropOutcomesWritingTo(i.Source, "①", jsonval.Path{path})
		if got := string(jsonval.Encode(jsonval.AsObject(i.Context[0].Source)["record"])); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	i := modeltest.IdeaFrom(t, `{"schema": {"tools": {`+modeltest.ScenarioToolsJSON+
		`}}, "context": [{"type": "plan", "plan": [{"_tool":"work","_outputPath":"a"}], "record": {"1.1":{"done":1}}}]}`)
	turn.DropOutcomesWritingTo(i.Source, "", jsonval.Path{"a"})
	if got := string(jsonval.Encode(i.Context[0].Source["record"])); got != `{"1.1":{}}` {
		t.Error(got)
	}
}

func TestARecordIsNoPlanToCheck(t *testing.T) {
	t.Parallel()
	plan := `{"type": "plan", "plan": [5, {"_tool": "nobody"}, {"_tool": "work", "x": "†state.none", "_outputPath": "a"}]%s}`
	for more, want := range map[string]int{``: 3,
		`, "record": {"1.1": {}, "1.2": {"failed": 1}, "1.3": {"blocked": 1}}`: 0} {
		i := modeltest.IdeaFrom(t, `{"schema": {"tools": {`+modeltest.ScenarioToolsJSON+`}}, "context": [`+
			fmt.Sprintf(plan, more)+`]}`)
		if n := len(check.Check(i, nil).Errors()); n != want {
			t.Errorf("%d errors, not %d: %v", n, want, check.Check(i, nil))
		}
	}
}

func TestHowAnInstanceEndedIsReadFromAMessageWithItsPayloadUnderItsKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type":"state","state":{},"_status":"settled"}`:  "",
		`{"type":"state","state":{},"_status":"working"}`:  "",
		`{"type":"state","state":{},"_status":"finished"}`: "$.context[0]._status: want working, settled, failed, undo-failed or forgotten",
		`{"type":"state","state":{},"_status":5}`:          "$.context[0]._status: want working, settled, failed, undo-failed or forgotten",
		`{"type":"input","input":{},"_status":"settled"}`:  `$.context[0]._status: a message has no meta property "_status"`,
		`{"type":"state","_status":"settled"}`:             "",
	} {
		i, ps := ideafile.ParseIdea([]byte(`{"context": [` + text + `]}`))
		if ps.Error() != want && !(len(ps) == 0 && want == "") {
			t.Errorf("%s: %q", text, ps.Error())
		}
		if strings.HasSuffix(text, `{"type":"state","_status":"settled"}`) && i.Context[0].InstanceEndStatus != "" {
			t.Errorf("a flat payload is State: %+v", i.Context[0])
		}
	}
}

func TestRequestsGoOnFromTheNumberOfTheIdea(t *testing.T) {
	t.Parallel()
	for meta, want := range map[string]int{`{"request": 5}`: 5, `{}`: 1, `{"request": 0}`: 1, `{"request": "5"}`: 1} {
		s := modeltest.NewScenario(t, "", `"meta": `+meta, modeltest.TwoInstancesContext)
		if b := s.ExpectRequest(); b.RequestNumber != want || b.TurnNumber != 1 {
			t.Errorf("%s: Request %d, turn %d", meta, b.RequestNumber, b.TurnNumber)
		}
	}
}

func TestACallThatIsPutInThePlaceOfOneInDoubtIsNotInDoubt(t *testing.T) {
	t.Parallel()
	s, second := halfway(t)
	q := again(s, second, false)
	q.Decide(policy.Replace, "1.2@②", `{"with": {"_tool": "work", "x": 7}}`)
	s.WantEqual("it has run", string(q.InstanceByToken["②"].FindCall("1.2@②").Status), "done")
}

// lastIdea is the Idea of a process that has ended: that of the Request by which it ended or, if c is nil, of its final
// States.
func lastIdea(s *modeltest.Scenario, c *loop.RequestConclusion) *ideafile.Idea {
	s.T.Helper()
	s.ExpectStep(loop.StepFinished)
	if c != nil {
		return sealed(s, c)
	}
	return modeltest.SnapshotAndReparse(s.T, s.Idea, s.Loop.AllInstancesInput(), nil, s.Loop.Output)
}

func TestAForkOfTheLastIdeaOfAProcessThatHasEndedDoesNothing(t *testing.T) {
	t.Parallel()
	work := `{"_tool":"work","_instance":"*","x":1},{"_tool":"log","_instance":"*"}`
	output := `"stage": "complete", "output": {"summary": "†input.say"}, `
	for name, play := range map[string]func() *ideafile.Idea{
		"settled by a Request": func() *ideafile.Idea {
			s := modeltest.NewScenario(t, modeltest.SummarySchema, modeltest.TwoInstancesContext)
			s.ReplyWith(`{"calls":[` + work + `],"output":null}`)
			return lastIdea(s, s.ReplyWith(`{"calls":[],"output":{"summary":"said"}}`))
		},
		"by a wired output": func() *ideafile.Idea {
			s := modeltest.NewScenario(t, modeltest.SummarySchema, `"context": [{"type": "input", "say": "said"}]`)
			s.ReplyWith(`{"calls":[{"_tool":"work","x":1}],"output":{"summary":"†input.say"}}`)
			return lastIdea(s, nil)
		},
		"failed": func() *ideafile.Idea {
			s := modeltest.NewScenario(t, "", `"context": [{"type": "state", "state": {}, `+
				stateSchemaRequiringMood+`}]`)
			s.ReplyWith(`{"calls":[{"_tool":"fail"},{"_tool":"log"}],"output":null}`)
			var c *loop.RequestConclusion
			for range 4 {
				c = s.ReplyWith(modeltest.EmptyReply)
			}
			return lastIdea(s, c)
		},
		"a direct Plan": func() *ideafile.Idea {
			s := newScenarioWithPeople(t, modeltest.SummarySchema, `"context": [{"type": "input", "say": "said"}, {"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "a": 200},
				{"type": "plan", `+output+`"plan": [{"_tool":"log"},{"_tool":"work"},{"_tool":"huge","n":"†state.a"}]}]`)
			s.RunDirectPlans()
			s.Decide(policy.Reject, "0.3@②", `{"reason":"no"}`)
			return lastIdea(s, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			first := play()
			idea := first
			for range 2 { // a fork, and a fork of the fork
				s := &modeltest.Scenario{T: t, RunTool: func(tool string, _ map[string]any) (any, *diag.Fault) {
					t.Errorf("%s runs again", tool)
					return nil, nil
				}, Bindings: map[string]ideafile.ToolBinding{}}
				for _, tool := range idea.Tools {
					s.Bindings[tool.Name] = ideafile.ToolBinding{Kind: ideafile.KindGo}
				}
				bind := func(*ideafile.Idea) map[string]ideafile.ToolBinding { return s.Bindings }
				if (loop.DelegateIdeaFiles{ToolBindingsFor: bind}).IdeaNeedsLLM(idea) {
					t.Error("an LLM is needed")
				}
				s = again(s, idea, false)
				s.RunDirectPlans()
				next := lastIdea(s, nil)
				for token, instance := range s.InstanceByToken {
					if len(instance.CallRecords()) > 0 {
						t.Errorf("%s has Calls", token)
					}
				}
				s.WantEqual("the output", string(jsonval.Encode(next.Source["solution"])),
					string(jsonval.Encode(map[string]any{"calls": []any{}, "output": s.Loop.Output})))
				if _, has := jsonval.ValueAt(first.Source, jsonval.Path{"schema", "output"}); has &&
					outputJSON(s) != `{"summary":"said"}` {
					t.Errorf("the output is %s", outputJSON(s))
				}
				s.WantEqual("it counts", fmt.Sprint(s.Loop.CallCounts().Total()), "0")
				s.WantEqual("the context", contextText(next), contextText(first))
				idea = next
			}
		})
	}
}

// resting is a process whose direct Plan waits for people, in ① and ③ alike: pushed, failed, rejected and one without a
// path have ended; blocked is what reads the failed one. The Plan's own Calls have made its condition untrue.
func resting(t *testing.T, stage string) *modeltest.Scenario {
	s := newScenarioWithPeople(t, "", `"context": [{"type": "state", "_instance": "①", "state": {"a": 200}}, {"type": "state", "_instance": "②", "state": {"b": 1, "a": 5}},
		{"type": "state", "_instance": "③", "state": {"a": 300}},
		{"type": "plan", "stage": "`+stage+`", "when": {"properties": {"state": {"not": {"required": ["log"]}}}}, "plan": [{"_tool":"log"},{"_tool":"work","x":"done"},{"_tool":"fail","_outputPath":"f"},
			{"_tool":"work","x":"†state.f","_outputPath":"never"},{"_tool":"huge","n":"†state.a"},{"_tool":"pay","n":"†state.a","_outputPath":"paid"},{"_tool":"slow","_outputPath":"s"}]},
		{"type": "plan", "stage": "`+stage+`", "plan": [{"_tool":"log"}]}]`)
	s.RunDirectPlans()
	for _, token := range []string{"①", "②", "③"} {
		if token != "②" {
			s.Decide(policy.Reject, "0.5@"+token, `{"reason":"no"}`)
		}
	}
	return s
}

func statusesOf(s *modeltest.Scenario, token string) string {
	var list []string
	for _, rec := range s.InstanceByToken[token].CallRecords() {
		list = append(list, string(rec.Status))
	}
	return strings.Join(list, " ")
}

func TestAForkOfADirectPlanThatRestsGoesOnWithoutWhatHadEnded(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{ideafile.PlanStageComplete, ideafile.PlanStageOptimal} {
		s := resting(t, stage)
		for _, whose := range []string{"the fork", "its fork"} {
			idea := modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil)
			s.RunTool = func(tool string, _ map[string]any) (any, *diag.Fault) {
				if tool != "pay" {
					t.Errorf("in %s %s runs again", whose, tool)
				}
				return "paid", nil
			}
			s = again(s, idea, false)
			s.RunDirectPlans()
			s.WantEqual(whose, statusesOf(s, "①"), "done done failed blocked rejected awaiting-approval running")
			s.WantEqual("a person is asked", s.InstanceByToken["①"].PendingApprovals()[0].ReviewReason,
				"it waited for a person in the process before")
			s.WantEqual("what had ended is not counted", fmt.Sprint(s.Loop.CallCounts().Total()), "0")
		}
		s.Decide(policy.Approve, "0.6@①")
		completeSlow(s, "0.7@①")
		if stage == ideafile.PlanStageComplete {
			s.ExpectStep(loop.StepWait)
			s.WantEqual("it failed for what had failed", s.DescribeInstances(), "① failed, ② working, ③ working")
			continue
		}
		s.AdvanceClock(ideafile.DefaultGatherDelay)
		s.ExpectStep(loop.StepWait)
		s.AdvanceClock(ideafile.DefaultGatherDelay)
		s.WantEqual("the LLM is told once", describeErrors(s.ExpectRequestFor("①")),
			"0.3 tool_failed: no luck in ①\n0.4 blocked: †state.f would come from 0.3@① (failed) in ①")
	}
}

func TestAnInstanceThatAPersonOpensAgainTriesWhatItsDirectPlanHadTriedInVain(t *testing.T) {
	t.Parallel()
	s := resting(t, ideafile.PlanStageComplete)
	idea := modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil)
	turn.DropFailedOutcomes(idea.Source, []string{"①"})
	idea, _ = ideafile.ReadIdea(idea.Source)
	s = again(s, idea, false)
	s.RunDirectPlans()
	for token, want := range map[string]string{"①": "1 2", "③": "1 2 3 4 5"} {
		var facts []string
		for _, rec := range s.InstanceByToken[token].CallRecords() {
			if rec.IsFromEarlierProcess {
				facts = append(facts, fmt.Sprint(rec.Index))
			}
		}
		s.WantEqual("what stands in "+token, strings.Join(facts, " "), want)
	}
}
