package loop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/prompt"
	"processidea/model/turn"
)

// overruling lists decisions that change what the LLM had proposed, and how it is told.
var overruling = []struct{ kind, rest, call, fact string }{
	{policy.Reject, `{"reason":"too much"}`, "1.1 rejected 1", "1.1 rejected by ann: too much"},
	{policy.Amend, `{"params":{"n":5},"reason":"less"}`, "1.1 awaiting-approval 1",
		`1.1 amended by ann to run with {"n":5}: less`},
	{policy.Replace, `{"with":{"_tool":"work","x":1}}`, "1.1 done 1",
		`1.1 replaced by ann with {"_tool":"work","x":1}`},
	{policy.Answer, `{"output":"by hand"}`, "1.1 done 1", "1.1 answered by ann"},
}

const payOnce = `{"calls":[{"_tool":"pay","n":500,"_outputPath":"b"}],"output":null}`

func TestTheNextRequestIsToldWhatAPersonDecided(t *testing.T) {
	t.Parallel()
	for _, c := range overruling {
		t.Run(c.kind, func(t *testing.T) {
			s := newScenarioWithPeople(t, "")
			s.ReplyWith(payOnce)
			s.Decide(c.kind, "1.1", c.rest)
			if c.kind == policy.Amend {
				s.Decide(policy.Approve, "1.1")
				c.call, c.fact = "1.1 done 1", c.fact+"\n1.1 approved by ann"
			}
			b := s.ExpectRequest()
			s.WantEqual("the Call", describePlan(b), c.call)
			s.WantEqual("the facts", describeDecisions(b), c.fact)
			s.WantEqual("the errors", describeErrors(b), "")
			for line := range strings.SplitSeq(c.fact, "\n") {
				text := prompt.Render(s.Idea, s.Bindings, b, nil)[2].Content
				if said := strings.Contains(text, "\n  "+strings.TrimPrefix(line, "1.1 ")+
					"\n"); said == strings.Contains(line, " approved by ") {
					t.Errorf("the prompt does not say %q, or says what is as the LLM proposed:\n%s", line, text)
				}
			}
		})
	}
}

func TestWhatAPersonDecidedOtherwiseIsToldTwoRequestsLaterToo(t *testing.T) {
	t.Parallel()
	for _, c := range overruling {
		t.Run(c.kind, func(t *testing.T) {
			s := newScenarioWithPeople(t, "")
			s.ReplyWith(payOnce)
			s.Decide(c.kind, "1.1", c.rest)
			if c.kind == policy.Amend {
				s.Decide(policy.Approve, "1.1")
			}
			for _, path := range []string{"c", "d"} {
				s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"` + path + `"}],"output":null}`)
			}
			first, _, _ := strings.Cut(describeDecisions(s.ExpectRequest()), "\n")
			s.WantEqual("two Requests later", first, c.fact)
			if len(s.RequestInput.PlanEntries) != 2 {
				t.Errorf("it is shown %s", describePlan(s.RequestInput))
			}
		})
	}
}

func TestWhatWasApprovedAsProposedIsToldOnce(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "")
	s.ReplyWith(payOnce)
	s.Decide(policy.Approve, "1.1", `{"reason":"fine"}`)
	s.WantEqual("the next one", describeDecisions(s.ExpectRequest()), "1.1 approved by ann: fine")
	s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"c"}],"output":null}`)
	s.WantEqual("the one after it", describePlan(s.ExpectRequest())+describeDecisions(s.RequestInput),
		"2.1 done 1")
}

func TestARejectedCallWithoutAnOutputPathIsToldAsAFactAndNoError(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "")
	s.ReplyWith(`{"calls":[{"_tool":"pay"},{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.Decide(policy.Reject, "1.1", `{"reason":"no"}`)
	s.WantEqual("the Calls", describePlan(s.ExpectRequest()), "1.1 rejected 1; 1.2 done 1")
	s.WantEqual("the errors", describeErrors(s.RequestInput), "")
	result := s.Loop.Result(loop.StatusRunning, false)
	s.WantEqual("the result", fmt.Sprintf("%+v", result.Instances[""]),
		"{Status:working State:<nil> Cost:$0.00 FailedCallCount:0 RejectedCallCount:1}")
}

func TestTheDeadlineIsToldAsAFactToo(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "")
	s.Idea.Tool("due").Approval.TimeoutAction = policy.Reject
	s.ReplyWith(`{"calls":[{"_tool":"due","_outputPath":"b"}],"output":null}`)
	s.AdvanceClock(time.Hour)
	s.InstanceByToken[""].SetTime(s.Now)
	s.InstanceByToken[""].ApplyDeadlines()
	s.AdvanceInstance("")
	s.WantEqual("it is told", describeDecisions(s.ExpectRequest()),
		"1.1 rejected by timeout: nobody decided within 1h0m0s")
}

func TestDecisionsOnManyInstancesAreToldTogetherWhereTheyAreTheSame(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(`{"calls":[{"_tool":"pay","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.Decide(policy.Reject, "1.1@①", `{"reason":"no"}`)
	s.Decide(policy.Approve, "1.1@②")
	s.Decide(policy.Reject, "1.1@③", `{"reason":"no"}`)
	b := s.ExpectRequest()
	s.WantEqual("the Calls", describePlan(b), "1.1 done 1 rejected 2")
	s.WantEqual("each by itself", describeDecisions(b),
		"1.1 ① rejected by ann: no\n1.1 ② approved by ann\n1.1 ③ rejected by ann: no")
	if text := prompt.Render(s.Idea, s.Bindings, b, nil)[2].Content; !strings.Contains(text,
		"\n  rejected by ann: no (①, ③)\n") || strings.Contains(text, "approved by") {
		t.Errorf("the prompt says\n%s", text)
	}
}

func TestARequestIsToldOnlyWhatWasDecidedInTheInstancesItCovers(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(every("pay", "pay", "work"))
	s.Decide(policy.Reject, "1.1@①", `{"reason":"no"}`)
	s.WantEqual("about ① and ③", describeDecisions(s.ExpectRequestFor("① ③")), "1.1 ① rejected by ann: no")
	s.ReplyWith(modeltest.EmptyReply)
	s.Decide(policy.Reject, "1.2@②", `{"reason":"never"}`)
	s.WantEqual("about ②", describeDecisions(s.ExpectRequestFor("②")), "1.2 ② rejected by ann: never")
}

func TestATroubleIsToldOnceAndToWhomItConcerns(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(every("fail", "slow", "work"))
	expectWait(s, ideafile.DefaultGatherDelay)
	s.AdvanceClock(ideafile.DefaultGatherDelay)
	s.WantEqual("about ① and ③", describeErrors(s.ExpectRequestFor("① ③")), "1.1 tool_failed: no luck in ①")
	failSlow(s, "1.2@②")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`)
	s.WantEqual("about all", describeErrors(s.ExpectRequestFor("① ② ③")), "1.2 tool_failed: no luck in ②")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"d"}],"output":null}`)
	s.WantEqual("about all again", describeErrors(s.ExpectRequest()), "")
}

func TestTheSameTroubleInManyInstancesIsOneLine(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(`{"calls":[{"_tool":"fail","_instance":"*"},{"_tool":"fail","_instance":"②"}],"output":null}`)
	s.WantEqual("it is told", describeErrors(s.ExpectRequest()),
		"1.1 tool_failed: no luck in ①, ②, ③\n1.2 tool_failed: no luck in ②")
}

func TestATroubleIsToldAgainWhereTheRequestThatToldItBrokeOff(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "")
	s.ReplyWith(`{"calls":[{"_tool":"fail"}],"output":null}`)
	s.InterruptRequest(turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")})
	s.WantEqual("it is told", describeErrors(s.ExpectRequest()), "1.1 tool_failed: no luck")
}

func TestCallsThatNobodyNeedsToSeeAreForgotten(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(every("pay", "work", "work"))
	kept := func(after string, want int) {
		t.Helper()
		if plan := s.Loop.CarryIntoNextRun().PlannedCalls; len(plan) != want {
			t.Errorf("after %s %d Calls are kept, not %d: %+v", after, len(plan), want, plan)
		}
	}
	kept("the first", 3)
	for n := range 5 {
		s.ReplyWith(fmt.Sprintf(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c%d"}],"output":null}`, n))
		kept("another about ② and ③", 2) // the last, and the one for which a person is waited for
	}
	s.Decide(policy.Reject, "1.1@①", `{"reason":"no"}`)
	for n := range 5 {
		s.ReplyWith(fmt.Sprintf(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"d%d"}],"output":null}`, n))
		kept("another about all", 2) // the last, and the one that was rejected
	}
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"e"}],"output":null}`)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"f"}],"output":null}`)
	kept("① has settled", 1)
}

func TestWhoWritesTheOutputIsToldWhatPeopleDecidedOtherwise(t *testing.T) {
	t.Parallel()
	const goal = `"schema": {"type": "object", "required": ["c"]}`
	s := newScenarioWithPeople(t, `{"type": "string"}`, `"context": [{"type": "state", "_instance": "①", "state": {}, `+goal+`},
		{"type": "state", "_instance": "②", "state": {}, `+goal+`}]`)
	s.ReplyWith(`{"calls":[{"_tool":"pay","_instance":"*","_outputPath":"b"}]}`)
	s.Decide(policy.Reject, "1.1@①", `{"reason":"not delivered"}`)
	s.Decide(policy.Approve, "1.1@②")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":["①"],"_outputPath":"c"}]}`) // it has settled before ② has
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":["②"],"_outputPath":"c"}]}`)
	closing := s.ExpectRequest()
	if !closing.IsOutputOnly {
		t.Errorf("it is about %v", closing.InstanceTokens())
	}
	var told []string
	for _, entry := range closing.PlanEntries {
		for _, d := range entry.Decisions {
			told = append(told, entry.CallID+" "+d.Token+": "+d.Decision.Describe())
		}
	}
	s.WantEqual("it is told", strings.Join(told, "\n"), "1.1 ①: rejected by ann: not delivered")
}

const planForC = `{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`

func TestThatARequestBrokeOffIsToldOfEachInstanceItCovered(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.InterruptRequest(turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")},
		`{"_tool":"work","_instance":"*","_outputPath":"b"}`, `{"_tool":"pay","_instance":"②"}`)
	const gone = "worker_lost: request 1 was cut off: gone; the 2 Calls that had come were taken"
	s.WantEqual("about the two that do not wait", describeErrors(s.ExpectRequestFor("① ③")), gone)
	second := s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeTruncated, "short")},
		`{"_tool":"work","_instance":"*","_outputPath":"c"}`)
	s.WantEqual("the chain has", describeErrors(second.AllInstancesInput), gone)
	const short = "truncated: request 2 was cut off: short; the Call that had come was taken"
	s.Decide(policy.Approve, "1.2@②")
	s.WantEqual("and about the one that waited, each of its own", describeErrors(s.ExpectRequestFor("① ② ③")),
		gone+" in ②\n"+short+" in ①, ③")
	s.ReplyWith(planForC)
	s.WantEqual("about all again", describeErrors(s.ExpectRequest()), "")
}

func TestAFaultOfACallForNobodyIsToldOfEachInstanceThatWasCovered(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"④"},{"_tool":"work","_instance":"*","_outputPath":"b"},{"_tool":"pay","_instance":"②"}],"output":null}`)
	const nobody = `1.1 bad_instance: the Request covers no instance "④"`
	s.WantEqual("about the two that do not wait", describeErrors(s.ExpectRequestFor("① ③")), nobody)
	s.ReplyWith(modeltest.EmptyReply)
	s.Decide(policy.Approve, "1.3@②")
	s.WantEqual("and about the one that waited", describeErrors(s.ExpectRequestFor("②")), nobody)
	s.ReplyWith(planForC)
	s.WantEqual("once", describeErrors(s.ExpectRequestFor("②")), "")
}

func TestAProcessThatGoesOnTellsWhatIsStillUntold(t *testing.T) {
	t.Parallel()
	idea := modeltest.IdeaFrom(t, `{"schema": {"tools": {`+modeltest.ScenarioToolsJSON+`}}, "context": [
		{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}, "_status": "settled"}, {"type": "state", "_instance": "③", "state": {}},
		{"type": "error", "error": {"code": "truncated", "message": "request 1 was cut off"}},
		{"type": "error", "instances": ["②", "③"], "error": {"code": "truncated", "message": "request 2 was cut off"}}]}`)
	s := modeltest.NewScenario(t, "")
	q := again(s, idea, false)
	q.WantEqual("the Request is told", describeErrors(q.ExpectRequest()),
		"truncated: request 1 was cut off\ntruncated: request 2 was cut off in ③")
	q.ReplyWith(modeltest.EmptyReply)
	if left := q.Loop.CarryIntoNextRun().PendingErrors; left != nil {
		t.Errorf("somebody is still to be told: %+v", left)
	}
}
