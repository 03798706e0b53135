package loop_test

import (
	"strings"
	"testing"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/modeltest"
	"processidea/model/prompt"
	"processidea/model/turn"
)

// overruling lists decisions that change what the LLM had proposed, and how it is told.
var overruling = []struct{ kind, rest, call, fact string }{
	{ideafile.Reject, `{"reason":"too much"}`, "1.1 rejected 1", "1.1 rejected by ann: too much"},
	{ideafile.Amend, `{"params":{"n":5},"reason":"less"}`, "1.1 awaiting-approval 1", `1.1 amended by ann to run with {"n":5}: less`},
	{ideafile.Replace, `{"with":{"_tool":"work","x":1}}`, "1.1 done 1", `1.1 replaced by ann with {"_tool":"work","x":1}`},
	{ideafile.Answer, `{"output":"by hand"}`, "1.1 done 1", "1.1 answered by ann"},
}

const payOnce = `{"calls":[{"_tool":"pay","n":500,"_outputPath":"b"}],"output":null}`

func TestTheNextRequestIsToldWhatAPersonDecided(t *testing.T) {
	for _, c := range overruling {
		t.Run(c.kind, func(t *testing.T) {
			s := modeltest.WithPeople(t, "")
			s.Says(payOnce)
			s.Decide(c.kind, "1.1", c.rest)
			if c.kind == ideafile.Amend {
				s.Decide(ideafile.Approve, "1.1")
				c.call, c.fact = "1.1 done 1", c.fact+"\n1.1 approved by ann"
			}
			b := s.Asks()
			s.Want("the Call", modeltest.PlannedIn(b), c.call)
			s.Want("the facts", modeltest.Facts(b), c.fact)
			s.Want("the errors", modeltest.TroublesOf(b), "")
			for line := range strings.SplitSeq(c.fact, "\n") {
				if text := prompt.Render(s.Idea, s.Bindings, b, nil)[2].Content; !strings.Contains(text, "\n  "+strings.TrimPrefix(line, "1.1 ")+"\n") {
					t.Errorf("the prompt does not say %q:\n%s", line, text)
				}
			}
		})
	}
}

func TestWhatAPersonDecidedOtherwiseIsToldTwoRequestsLaterToo(t *testing.T) {
	for _, c := range overruling {
		t.Run(c.kind, func(t *testing.T) {
			s := modeltest.WithPeople(t, "")
			s.Says(payOnce)
			s.Decide(c.kind, "1.1", c.rest)
			if c.kind == ideafile.Amend {
				s.Decide(ideafile.Approve, "1.1")
			}
			for _, path := range []string{"c", "d"} {
				s.Says(`{"calls":[{"_tool":"work","_outputPath":"` + path + `"}],"output":null}`)
			}
			first, _, _ := strings.Cut(modeltest.Facts(s.Asks()), "\n")
			s.Want("two Requests later", first, c.fact)
			if len(s.Brief.Plan) != 2 {
				t.Errorf("it is shown %s", modeltest.PlannedIn(s.Brief))
			}
		})
	}
}

func TestWhatWasApprovedAsProposedIsToldOnce(t *testing.T) {
	s := modeltest.WithPeople(t, "")
	s.Says(payOnce)
	s.Decide(ideafile.Approve, "1.1", `{"reason":"fine"}`)
	s.Want("the next one", modeltest.Facts(s.Asks()), "1.1 approved by ann: fine")
	s.Says(`{"calls":[{"_tool":"work","_outputPath":"c"}],"output":null}`)
	s.Want("the one after it", modeltest.PlannedIn(s.Asks())+modeltest.Facts(s.Brief), "2.1 done 1")
}

func TestARejectedCallWithoutAnOutputPathIsToldAsAFactAndNoError(t *testing.T) {
	s := modeltest.WithPeople(t, "")
	s.Says(`{"calls":[{"_tool":"pay"},{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.Decide(ideafile.Reject, "1.1", `{"reason":"no"}`)
	s.Want("the Calls", modeltest.PlannedIn(s.Asks()), "1.1 rejected 1; 1.2 done 1")
	s.Want("the errors", modeltest.TroublesOf(s.Brief), "")
}

func TestTheDeadlineIsToldAsAFactToo(t *testing.T) {
	s := modeltest.WithPeople(t, "")
	s.Idea.Tool("due").Approval.OnTimeout = ideafile.Reject
	s.Says(`{"calls":[{"_tool":"due","_outputPath":"b"}],"output":null}`)
	s.Later(time.Hour)
	s.Runs[""].At(s.Now)
	s.Runs[""].Expire()
	s.GoesOn("")
	s.Want("it is told", modeltest.Facts(s.Asks()), "1.1 rejected by timeout: nobody decided within 1h0m0s")
}

func TestDecisionsOnManyInstancesAreToldTogetherWhereTheyAreTheSame(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(`{"calls":[{"_tool":"pay","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.Decide(ideafile.Reject, "1.1@①", `{"reason":"no"}`)
	s.Decide(ideafile.Approve, "1.1@②")
	s.Decide(ideafile.Reject, "1.1@③", `{"reason":"no"}`)
	b := s.Asks()
	s.Want("the Calls", modeltest.PlannedIn(b), "1.1 done 1 rejected 2")
	s.Want("each by itself", modeltest.Facts(b), "1.1 ① rejected by ann: no\n1.1 ② approved by ann\n1.1 ③ rejected by ann: no")
	if text := prompt.Render(s.Idea, s.Bindings, b, nil)[2].Content; !strings.Contains(text, "\n  rejected by ann: no in ①, ③\n  approved by ann in ②\n") {
		t.Errorf("the prompt says\n%s", text)
	}
}

func TestARequestIsToldOnlyWhatWasDecidedInTheInstancesItCovers(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(every("pay", "pay", "work"))
	s.Decide(ideafile.Reject, "1.1@①", `{"reason":"no"}`)
	s.Want("about ① and ③", modeltest.Facts(s.AsksAbout("① ③")), "1.1 ① rejected by ann: no")
	s.Says(modeltest.NoCalls)
	s.Decide(ideafile.Reject, "1.2@②", `{"reason":"never"}`)
	s.Want("about ②", modeltest.Facts(s.AsksAbout("②")), "1.2 ② rejected by ann: never")
}

func TestATroubleIsToldOnceAndToWhomItConcerns(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(every("fail", "slow", "work"))
	s.WaitsFor(ideafile.DefaultGather)
	s.Later(ideafile.DefaultGather)
	s.Want("about ① and ③", modeltest.TroublesOf(s.AsksAbout("① ③")), "1.1 tool_failed: no luck in ①")
	s.Fails("1.2@②")
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`)
	s.Want("about all", modeltest.TroublesOf(s.AsksAbout("① ② ③")), "1.2 tool_failed: no luck in ②")
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"d"}],"output":null}`)
	s.Want("about all again", modeltest.TroublesOf(s.Asks()), "")
}

func TestTheSameTroubleInManyInstancesIsOneLine(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(`{"calls":[{"_tool":"fail","_instance":"*"},{"_tool":"fail","_instance":"②"}],"output":null}`)
	s.Want("it is told", modeltest.TroublesOf(s.Asks()), "1.1 tool_failed: no luck in ①, ②, ③\n1.2 tool_failed: no luck in ②")
}

func TestATroubleIsToldAgainWhereTheRequestThatToldItBrokeOff(t *testing.T) {
	s := modeltest.WithPeople(t, "")
	s.Says(`{"calls":[{"_tool":"fail"}],"output":null}`)
	s.BreaksOff(turn.Reply{Lost: true, End: diag.Faultf(turn.CodeLost, "gone")})
	s.Want("it is told", modeltest.TroublesOf(s.Asks()), "1.1 tool_failed: no luck")
}

func TestCallsThatNobodyNeedsToSeeAreForgotten(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(every("pay", "work", "work"))
	kept := func(after string, want int) {
		t.Helper()
		if plan := s.Mind.Carry().Plan; len(plan) != want {
			t.Errorf("after %s %d Calls are kept, not %d: %+v", after, len(plan), want, plan)
		}
	}
	kept("the first", 3)
	for range 5 {
		s.Says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`)
		kept("another about ② and ③", 2) // the last, and the one for which a person is waited for
	}
	s.Decide(ideafile.Reject, "1.1@①", `{"reason":"no"}`)
	for range 5 {
		s.Says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"d"}],"output":null}`)
		kept("another about all", 2) // the last, and the one that was rejected
	}
	s.Says(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"e"}],"output":null}`)
	s.Says(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"f"}],"output":null}`)
	kept("① has settled", 1)
}

const planForC = `{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`

func TestThatARequestBrokeOffIsToldOfEachInstanceItCovered(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.BreaksOff(turn.Reply{Lost: true, End: diag.Faultf(turn.CodeLost, "gone")},
		`{"_tool":"work","_instance":"*","_outputPath":"b"}`, `{"_tool":"pay","_instance":"②"}`)
	const gone = "worker_lost: request 1 was cut off: gone; the 2 calls that had come were taken and are listed"
	s.Want("about the two that do not wait", modeltest.TroublesOf(s.AsksAbout("① ③")), gone)
	second := s.BreaksOff(turn.Reply{End: diag.Faultf(turn.CodeTruncated, "short")}, `{"_tool":"work","_instance":"*","_outputPath":"c"}`)
	s.Want("the chain has", modeltest.TroublesOf(second.Seen), gone)
	const short = "truncated: request 2 was cut off: short; the 1 calls that had come were taken and are listed"
	s.Decide(ideafile.Approve, "1.2@②")
	s.Want("and about the one that waited, each of its own", modeltest.TroublesOf(s.AsksAbout("① ② ③")), gone+" in ②\n"+short+" in ①, ③")
	s.Says(planForC)
	s.Want("about all again", modeltest.TroublesOf(s.Asks()), "")
}

func TestAFaultOfACallForNobodyIsToldOfEachInstanceThatWasCovered(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"④"},{"_tool":"work","_instance":"*","_outputPath":"b"},{"_tool":"pay","_instance":"②"}],"output":null}`)
	const nobody = `1.1 bad_instance: the Request covers no instance "④"`
	s.Want("about the two that do not wait", modeltest.TroublesOf(s.AsksAbout("① ③")), nobody)
	s.Says(modeltest.NoCalls)
	s.Decide(ideafile.Approve, "1.3@②")
	s.Want("and about the one that waited", modeltest.TroublesOf(s.AsksAbout("②")), nobody)
	s.Says(planForC)
	s.Want("once", modeltest.TroublesOf(s.AsksAbout("②")), "")
}

func TestAProcessThatGoesOnTellsWhatIsStillUntold(t *testing.T) {
	idea := modeltest.IdeaOf(t, `{"schema": {"tools": {`+modeltest.StagedTools+`}}, "context": [
		{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}, "_status": "settled"}, {"type": "state", "_instance": "③", "state": {}},
		{"type": "error", "error": {"code": "truncated", "message": "request 1 was cut off"}},
		{"type": "error", "instances": ["②", "③"], "error": {"code": "truncated", "message": "request 2 was cut off"}}]}`)
	s := modeltest.OnStage(t, "")
	q := again(s, idea, false)
	q.Want("the Request is told", modeltest.TroublesOf(q.Asks()), "truncated: request 1 was cut off\ntruncated: request 2 was cut off in ③")
	q.Says(modeltest.NoCalls)
	if left := q.Mind.Carry().PendingErrors; left != nil {
		t.Errorf("somebody is still to be told: %+v", left)
	}
}
