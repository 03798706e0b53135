package model

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// again begins a process from an Idea of the one on stage, through bytes and back, and hands out what it takes up.
func (s *stage) again(i *Idea, withSolution bool) *stage {
	s.t.Helper()
	next := &stage{
		t: s.t, idea: i, now: began, bindings: s.bindings, work: s.work,
		runs: map[string]*Run{}, said: map[string]map[string]said{}, corrected: map[string]int{}, revisions: map[string][]Steering{},
	}
	next.mind = NewMind(i, "q", s.bindings, began)
	if withSolution {
		next.mind.TakeSolution()
	}
	next.join(i.Tokens())
	for _, t := range next.mind.TakeUp() {
		for _, c := range t.Calls {
			if next.runs[t.Token].Accept(t.Request, c.Index, c.Call) && c.Why != "" {
				next.runs[t.Token].Doubt(CallID(t.Request, c.Index, t.Token), c.Why)
			}
		}
		next.settleRun(t.Token, t.Request)
		next.heard(next.report(t.Token, t.Request))
	}
	next.ended = next.mind.TakeEnded()
	return next
}

// sealed gives the Idea of a Request.
func (s *stage) sealed(c *Conclusion) *Idea {
	return sealed(s.t, s.idea, c.Seen, c.Calls, c.Reply.Output)
}

// halfway is a process of three instances at the moment of its second Request, which is about ① alone: an effect is done there,
// ② waits for a person, and something runs in ③.
func halfway(t *testing.T) (s *stage, second *Idea) {
	t.Helper()
	s = withPeople(t, "", threeInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"①","x":1},{"_tool":"pay","_instance":"②","n":5,"_outputPath":"paid"},
		{"_tool":"slow","_instance":"③","_outputPath":"s"},{"_tool":"fail","_instance":"①"}],"output":null}`)
	s.later(DefaultGather)
	s.expect(StepWait)
	s.later(DefaultGather)
	s.asksAbout("①")
	return s, s.sealed(s.says(`{"calls":[{"_tool":"work","_instance":"*","x":1},{"_tool":"work","_instance":"①","x":2,"_outputPath":"two"}],"output":null}`))
}

func TestAProcessGoesOnWhereTheIdeaStoodThatItStartsFrom(t *testing.T) {
	s, second := halfway(t)
	q := s.again(second, false)
	p := q.runs["②"].Pending()
	if len(p) != 1 || p[0].Call != "1.2@②" || p[0].Digest != s.runs["②"].Pending()[0].Digest || !strings.Contains(p[0].Why, "the process before") {
		t.Fatalf("%+v", p)
	}
	s.want("what was running runs again", string(q.runs["③"].Find("1.3@③").Status), "running")
	if len(q.runs["①"].Records()) > 0 {
		t.Errorf("a Call that had ended comes again: %+v", q.runs["①"].Records()[0])
	}
	q.later(DefaultGather)
	q.expect(StepWait)
	q.later(DefaultGather)
	b := q.asksAbout("①")
	s.want("it makes the same Request", fmt.Sprint(b.Number, " ", b.Turn), "2 1")
	s.want("with the same facts", plannedIn(b), "1.1 done 1; 1.4 failed 1")
	s.want("and errors", troublesOf(b), "1.4 tool_failed: no luck in ①")
	c := q.says(noCalls)
	s.want("what it began with is not counted", fmt.Sprintf("%+v", q.mind.Counts()), "{Done:0 Failed:0 Rejected:0 Skipped:0 Blocked:0}")
	s.want("its first Idea has the same context but for what it has done itself", contextText(q.sealed(c)),
		contextText(second))
	q.decide(Approve, "1.2@②")
	q.done("1.3@③")
	s.want("and goes on", plannedIn(q.asksAbout("② ③")), "1.2 done 1; 1.3 done 1")
}

func contextText(i *Idea) string { return string(Encode(i.Source["context"])) }

func TestTheSolutionIsTakenUpWithoutWhatTheRecordCallsDone(t *testing.T) {
	s, second := halfway(t)
	q := s.again(second, true)
	s.want("of the Calls for ① the new one is done", fmt.Sprintf("%d %+v", len(q.runs["①"].Records()), q.mind.Counts()), "1 {Done:1 Failed:0 Rejected:0 Skipped:0 Blocked:0}")
	s.want("as the Request's answer", q.runs["①"].Records()[0].ID, "2.2@①")
	q.later(DefaultGather)
	q.expect(StepWait)
	q.later(DefaultGather)
	b := q.asksAbout("①")
	s.want("the next Request is the one after it", fmt.Sprint(b.Number), "3")
	s.want("and is told", plannedIn(b), "1.1 done 1; 1.4 failed 1; 2.2 done 1")
	if again := s.again(ideaOf(t, `{}`), true); len(again.mind.Carry().Plan) > 0 {
		t.Error("an Idea without a solution has Calls")
	}
}

func TestABrokenCallOfTheSolutionIsToldOf(t *testing.T) {
	s := onStage(t, "", twoInstances, `"solution": {"calls": [{"_tool": "work", "_instance": "⑨"}, {"_tool": "nobody", "_instance": "*"}, 5]}`)
	q := s.again(s.idea, true)
	s.want("the next Request hears", troublesOf(q.asks()), `1.1 bad_instance: the Request covers no instance "⑨"
1.3 bad_form: a Call is an object, not number
1.2 unknown_tool: unknown tool "nobody" in ①, ②`)
}

func TestAnInstanceThatHadEndedStaysSo(t *testing.T) {
	s := onStage(t, aSummary, `"context": [{"type": "state", "_instance": "①", "state": {"a": 1}, "_status": "settled"},
		{"type": "state", "_instance": "②", "state": {}}, {"type": "state", "_instance": "③", "state": {}, "_status": "failed", "_error": {"code": "x", "message": "y"}},
		{"type": "state", "_instance": "④", "state": {}, "_status": "settled"}, {"type": "state", "_instance": "④", "state": {"b": 2}}]`)
	s.want("those that had ended", s.statuses(), "① settled, ② working, ③ failed, ④ working")
	if ended := s.mind.TakeEnded(); len(ended) != 2 {
		t.Errorf("%d instances are told that they have ended", len(ended))
	}
	s.asksAbout("② ④")
	c := s.says(noCalls)
	s.want("the Idea says so", contextText(s.sealed(c)), `[{"_instance":"①","_status":"settled","state":{"a":1},"type":"state"},`+
		`{"_instance":"②","state":{},"type":"state"},{"_error":{"code":"x","message":"y"},"_instance":"③","_status":"failed","state":{},"type":"state"},`+
		`{"_instance":"④","state":{"b":2},"type":"state"}]`)
	if !s.asks().Closing {
		t.Error("nobody asks for the output")
	}
	s.says(`{"calls":[],"output":{"summary":"z"}}`)
	s.expect(StepOver)
	s.want("the process failed as it had", s.mind.Result(s.mind.Outcome(), false).Error.Error(), "x: 1 of 4 instances failed; the first, ③: y")
}

func TestAProcessOfWhichEveryInstanceHadSettledIsOverAtOnce(t *testing.T) {
	s := onStage(t, "", `"context": [{"type": "state", "state": {"a": 1}, "_status": "settled"}]`)
	s.expect(StepOver)
}

func TestACallThatMustNotRunTwiceAndWasRunningWaitsForAPerson(t *testing.T) {
	s := onStageWith(t, `"slow": {"type": "object", "properties": {}, "_retry": {"attempts": 1}}`, "", `"context": [
		{"type": "plan", "plan": [{"_tool": "slow", "_outputPath": "a"}], "record": {"1.1": {"running": 1}}}]`)
	q := s.again(s.idea, false)
	p := q.runs[""].Pending()
	if len(p) != 1 || !strings.Contains(p[0].Why, "it must not run twice") || fmt.Sprint(p[0].Allow) != "[approve reject answer]" {
		t.Fatalf("%+v", p)
	}
	q.decide(Approve, "1.1")
	s.want("it is asked about once", string(q.runs[""].Find("1.1").Status), "running")
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
		s := onStage(t, "", `"context": [{"type": "state", "_instance": "①"}, {"type": "state", "_instance": "②"},
			{"type": "plan", "plan": `+row.plan+`, "record": `+row.record+`}]`)
		s.want(row.what, plannedIn(s.asks()), row.want)
	}
}

func TestFactsOfTheProcessBeforeAreToldWithResultsAndDecisions(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(`{"calls":[{"_tool":"pay","_instance":"*","x":1}],"output":null}`)
	s.decide(Approve, "1.1@①")
	s.decide(Reject, "1.1@②", `{"reason":"too much"}`)
	s.decide(Approve, "1.1@③")
	c := s.says(noCalls)
	q := s.again(s.sealed(c), false)
	before, after := c.Seen, q.asks()
	s.want("decisions", facts(after), facts(before))
	s.want("results", string(Encode(Normal(after.Plan[0].Results))), string(Encode(Normal(before.Plan[0].Results))))
	if len(before.Plan[0].Results) == 0 {
		t.Error("there are none")
	}
}

// Whatever a process has done, an Idea of the process that starts from its snapshot is that snapshot. A Call that nobody was
// given stands in the errors alone.
func TestAnySnapshotOfAProcessThatStartsFromASnapshotIsTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := onStage(rt, "", twoInstances)
		for range rapid.IntRange(1, 3).Draw(rt, "requests") {
			var calls []string
			for n := range rapid.IntRange(1, 3).Draw(rt, "calls") {
				call := rapid.SampledFrom([]string{
					`{"_tool":"work","_instance":"*","x":N}`, `{"_tool":"work","_instance":"①","n":N,"_outputPath":"b"}`, `{"_tool":"fail","_instance":"②"}`,
					`{"_tool":"log","_instance":"*"}`, `{"_tool":"work","_instance":"②","x":"†state.noneN"}`, `{"_tool":"nobody","_instance":"*"}`,
				}).Draw(rt, "call")
				calls = append(calls, strings.ReplaceAll(call, "N", fmt.Sprint(n)))
			}
			s.says(`{"calls":[` + strings.Join(calls, ",") + `],"output":null}`)
			if s.mind.Over() {
				return
			}
		}
		once := sealed(rt, s.idea, s.mind.Final(), nil, nil)
		if strings.Contains(contextText(once), `":{}`) {
			return
		}
		twice := sealed(rt, once, s.again(once, false).mind.Final(), nil, nil)
		if a, b := contextText(once), contextText(twice); a != b {
			rt.Fatalf("%s\nbecame\n%s", a, b)
		}
	})
}

func TestWhatIsTakenOutOfStateIsNotDoneAnyMore(t *testing.T) {
	text := `{"schema": {"tools": {` + stagedTools + `}}, "context": [{"type": "plan", "plan": [{"_tool":"work","_outputPath":"a.b"},{"_tool":"work","_outputPath":"c"},{"_tool":"log"},
		{"_tool":"work"},{"_tool":"none"},5], "record": {"1.1":{"done":["①","②"],"results":{}},"1.2":{"done":["①"]},"1.3":{"done":["①"]},"1.4":{"done":["①"]},"1.5":{"failed":["①"]},"1.6":{}}}%s]}`
	for path, want := range map[string]string{
		"a":   `{"1.1":{"done":["②"],"results":{}},"1.2":{"done":["①"]},"1.3":{"done":["①"]},"1.4":{"done":["①"]},"1.5":{"failed":["①"]},"1.6":{}}`,
		"log": `{"1.1":{"done":["①","②"],"results":{}},"1.2":{"done":["①"]},"1.3":{},"1.4":{"done":["①"]},"1.5":{"failed":["①"]},"1.6":{}}`,
	} {
		i := ideaOf(t, fmt.Sprintf(text, `, {"type": "state", "_instance": "①"}, {"type": "state", "_instance": "②"}`))
		Forget(i.Source, "①", Path{path})
		if got := string(Encode(asObject(i.Context[0].Source)["record"])); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	i := ideaOf(t, `{"schema": {"tools": {`+stagedTools+`}}, "context": [{"type": "plan", "plan": [{"_tool":"work","_outputPath":"a"}], "record": {"1.1":{"done":1}}}]}`)
	Forget(i.Source, "", Path{"a"})
	if got := string(Encode(i.Context[0].Source["record"])); got != `{"1.1":{}}` {
		t.Error(got)
	}
}

func TestARecordIsNoPlanToCheck(t *testing.T) {
	plan := `{"type": "plan", "plan": [5, {"_tool": "nobody"}, {"_tool": "work", "x": "†state.none", "_outputPath": "a"}]%s}`
	for more, want := range map[string]int{``: 3, `, "record": {"1.1": {}, "1.2": {"failed": 1}, "1.3": {"blocked": 1}}`: 0} {
		i := ideaOf(t, `{"schema": {"tools": {`+stagedTools+`}}, "context": [`+fmt.Sprintf(plan, more)+`]}`)
		if n := len(Check(i, nil).Errors()); n != want {
			t.Errorf("%d errors, not %d: %v", n, want, Check(i, nil))
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
		i, ps := ParseIdea([]byte(`{"context": [` + text + `]}`))
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
		s := onStage(t, "", `"meta": `+meta, twoInstances)
		if b := s.asks(); b.Number != want || b.Turn != 1 {
			t.Errorf("%s: Request %d, turn %d", meta, b.Number, b.Turn)
		}
	}
}

func TestACallThatIsPutInThePlaceOfOneInDoubtIsNotInDoubt(t *testing.T) {
	s, second := halfway(t)
	q := s.again(second, false)
	q.decide(Replace, "1.2@②", `{"with": {"_tool": "work", "x": 7}}`)
	s.want("it has run", string(q.runs["②"].Find("1.2@②").Status), "done")
}
