package model

import (
	"strings"
	"testing"
	"time"
)

// overruling lists decisions that change what the LLM had proposed, and how it is told.
var overruling = []struct{ kind, rest, call, fact string }{
	{Reject, `{"reason":"too much"}`, "1.1 rejected 1", "1.1 rejected by ann: too much"},
	{Amend, `{"params":{"n":5},"reason":"less"}`, "1.1 awaiting-approval 1", `1.1 amended by ann to run with {"n":5}: less`},
	{Replace, `{"with":{"_tool":"work","x":1}}`, "1.1 done 1", `1.1 replaced by ann with {"_tool":"work","x":1}`},
	{Answer, `{"output":"by hand"}`, "1.1 done 1", "1.1 answered by ann"},
}

const payOnce = `{"calls":[{"_tool":"pay","n":500,"_outputPath":"b"}],"output":null}`

func TestTheNextRequestIsToldWhatAPersonDecided(t *testing.T) {
	for _, c := range overruling {
		t.Run(c.kind, func(t *testing.T) {
			s := withPeople(t, "")
			s.says(payOnce)
			s.decide(c.kind, "1.1", c.rest)
			if c.kind == Amend {
				s.decide(Approve, "1.1")
				c.call, c.fact = "1.1 done 1", c.fact+"\n1.1 approved by ann"
			}
			b := s.asks()
			s.want("the Call", plannedIn(b), c.call)
			s.want("the facts", facts(b), c.fact)
			s.want("the errors", troublesOf(b), "")
			for line := range strings.SplitSeq(c.fact, "\n") {
				if text := Prompt(s.idea, s.bindings, b, nil)[2].Content; !strings.Contains(text, "\n  "+strings.TrimPrefix(line, "1.1 ")+"\n") {
					t.Errorf("the prompt does not say %q:\n%s", line, text)
				}
			}
		})
	}
}

func TestWhatAPersonDecidedOtherwiseIsToldTwoRequestsLaterToo(t *testing.T) {
	for _, c := range overruling {
		t.Run(c.kind, func(t *testing.T) {
			s := withPeople(t, "")
			s.says(payOnce)
			s.decide(c.kind, "1.1", c.rest)
			if c.kind == Amend {
				s.decide(Approve, "1.1")
			}
			for _, path := range []string{"c", "d"} {
				s.says(`{"calls":[{"_tool":"work","_outputPath":"` + path + `"}],"output":null}`)
			}
			first, _, _ := strings.Cut(facts(s.asks()), "\n")
			s.want("two Requests later", first, c.fact)
			if len(s.brief.Plan) != 2 {
				t.Errorf("it is shown %s", plannedIn(s.brief))
			}
		})
	}
}

func TestWhatWasApprovedAsProposedIsToldOnce(t *testing.T) {
	s := withPeople(t, "")
	s.says(payOnce)
	s.decide(Approve, "1.1", `{"reason":"fine"}`)
	s.want("the next one", facts(s.asks()), "1.1 approved by ann: fine")
	s.says(`{"calls":[{"_tool":"work","_outputPath":"c"}],"output":null}`)
	s.want("the one after it", plannedIn(s.asks())+facts(s.brief), "2.1 done 1")
}

func TestARejectedCallWithoutAnOutputPathIsToldAsAFactAndNoError(t *testing.T) {
	s := withPeople(t, "")
	s.says(`{"calls":[{"_tool":"pay"},{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.decide(Reject, "1.1", `{"reason":"no"}`)
	s.want("the Calls", plannedIn(s.asks()), "1.1 rejected 1; 1.2 done 1")
	s.want("the errors", troublesOf(s.brief), "")
}

func TestTheDeadlineIsToldAsAFactToo(t *testing.T) {
	s := withPeople(t, "")
	s.idea.Tool("due").Approval.OnTimeout = Reject
	s.says(`{"calls":[{"_tool":"due","_outputPath":"b"}],"output":null}`)
	s.later(time.Hour)
	s.runs[""].At(s.now)
	s.runs[""].Expire()
	s.goesOn("")
	s.want("it is told", facts(s.asks()), "1.1 rejected by timeout: nobody decided within 1h0m0s")
}

func TestDecisionsOnManyInstancesAreToldTogetherWhereTheyAreTheSame(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(`{"calls":[{"_tool":"pay","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.decide(Reject, "1.1@①", `{"reason":"no"}`)
	s.decide(Approve, "1.1@②")
	s.decide(Reject, "1.1@③", `{"reason":"no"}`)
	b := s.asks()
	s.want("the Calls", plannedIn(b), "1.1 done 1 rejected 2")
	s.want("each by itself", facts(b), "1.1 ① rejected by ann: no\n1.1 ② approved by ann\n1.1 ③ rejected by ann: no")
	if text := Prompt(s.idea, s.bindings, b, nil)[2].Content; !strings.Contains(text, "\n  rejected by ann: no in ①, ③\n  approved by ann in ②\n") {
		t.Errorf("the prompt says\n%s", text)
	}
}

func TestARequestIsToldOnlyWhatWasDecidedInTheInstancesItCovers(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(every("pay", "pay", "work"))
	s.decide(Reject, "1.1@①", `{"reason":"no"}`)
	s.want("about ① and ③", facts(s.asksAbout("① ③")), "1.1 ① rejected by ann: no")
	s.says(noCalls)
	s.decide(Reject, "1.2@②", `{"reason":"never"}`)
	s.want("about ②", facts(s.asksAbout("②")), "1.2 ② rejected by ann: never")
}

func TestATroubleIsToldOnceAndToWhomItConcerns(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(every("fail", "slow", "work"))
	s.waitsFor(DefaultGather)
	s.later(DefaultGather)
	s.want("about ① and ③", troublesOf(s.asksAbout("① ③")), "1.1 tool_failed: no luck in ①")
	s.fails("1.2@②")
	s.says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`)
	s.want("about all", troublesOf(s.asksAbout("① ② ③")), "1.2 tool_failed: no luck in ②")
	s.says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"d"}],"output":null}`)
	s.want("about all again", troublesOf(s.asks()), "")
}

func TestTheSameTroubleInManyInstancesIsOneLine(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(`{"calls":[{"_tool":"fail","_instance":"*"},{"_tool":"fail","_instance":"②"}],"output":null}`)
	s.want("it is told", troublesOf(s.asks()), "1.1 tool_failed: no luck in ①, ②, ③\n1.2 tool_failed: no luck in ②")
}

func TestATroubleIsToldAgainWhereTheRequestThatToldItBrokeOff(t *testing.T) {
	s := withPeople(t, "")
	s.says(`{"calls":[{"_tool":"fail"}],"output":null}`)
	s.breaksOff(Reply{Lost: true, End: fault(CodeLost, "gone")})
	s.want("it is told", troublesOf(s.asks()), "1.1 tool_failed: no luck")
}

func TestCallsThatNobodyNeedsToSeeAreForgotten(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(every("pay", "work", "work"))
	kept := func(after string, want int) {
		t.Helper()
		if plan := s.mind.Carry().Plan; len(plan) != want {
			t.Errorf("after %s %d Calls are kept, not %d: %+v", after, len(plan), want, plan)
		}
	}
	kept("the first", 3)
	for range 5 {
		s.says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`)
		kept("another about ② and ③", 2) // the last, and the one for which a person is waited for
	}
	s.decide(Reject, "1.1@①", `{"reason":"no"}`)
	for range 5 {
		s.says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"d"}],"output":null}`)
		kept("another about all", 2) // the last, and the one that was rejected
	}
	s.says(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"e"}],"output":null}`)
	s.says(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"f"}],"output":null}`)
	kept("① has settled", 1)
}
