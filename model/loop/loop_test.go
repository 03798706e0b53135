package loop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func TestARequestCoversEveryInstanceAndTellsWhereItStands(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	b := s.Asks()
	s.Want("the process", b.Process, "p")
	s.Want("number and turn", fmt.Sprint(b.Number, b.Turn), "1 1")
	s.Want("covered", string(jsonval.Encode(jsonval.Normal(b.Covered))), `[{"state":{"a":1},"token":"①"},{"state":{"a":2},"token":"②"}]`)
	if b.Closing || b.Questions != nil || b.Plan != nil || b.Errors != nil {
		t.Errorf("the first Request has no past: %+v", b)
	}
	if s.Mind.InFlight() != b {
		t.Error("it is the Request under way")
	}
}

func TestOneRequestIsInFlightAtMost(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.Asks()
	s.Expect(loop.StepWait)
	s.Heard(turn.Report{Token: "①", ClosedThrough: 1, Idle: true})
	s.Expect(loop.StepWait)
	s.Mind.ApplyReply(turn.Reply{Whole: true})
	s.Expect(loop.StepWait)
	if c := s.Mind.Conclude(); c == nil || s.Mind.InFlight() != nil {
		t.Error("it has ended with its reply")
	}
	if s.Mind.Conclude() != nil {
		t.Error("it ends once")
	}
}

func TestARequestThatBrokeOffEndsWhenEveryInstanceHasClosedIt(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.Asks()
	s.Mind.ApplyReply(turn.Reply{End: diag.Faultf(turn.CodeTruncated, "cut")})
	s.Heard(turn.Report{Token: "①", ClosedThrough: 1, Idle: true})
	if s.Mind.Conclude() != nil {
		t.Error("what ② has accepted is not known")
	}
	s.Heard(turn.Report{Token: "②", ClosedThrough: 1, Idle: false})
	if s.Mind.Conclude() == nil {
		t.Error("its Calls may go on running")
	}
}

func TestAReplyAndTheReportsMayComeInAnyOrder(t *testing.T) {
	s := modeltest.OnStage(t, "")
	s.Asks()
	s.Heard(turn.Report{Token: "", ClosedThrough: 1, Idle: true})
	if s.Mind.Conclude() != nil {
		t.Error("it is over before the reply")
	}
	s.Mind.ApplyReply(turn.Reply{Whole: true, Idle: []string{""}})
	if s.Mind.Conclude() == nil {
		t.Error("it is over")
	}
	s.Want("it", s.Statuses(), "settled")
}

func TestWhatTheMindDidNotAskForChangesNothing(t *testing.T) {
	s := modeltest.OnStage(t, "")
	s.Mind.ApplyReply(turn.Reply{Whole: true})
	s.Heard(turn.Report{Token: "③", ClosedThrough: 1, Idle: true})
	s.Asks()
	s.Mind.ApplyReply(turn.Reply{Whole: true, Calls: []ideafile.WrittenCall{}, Usage: turn.Usage{PromptTokens: 1}})
	s.Mind.ApplyReply(turn.Reply{Whole: true, Calls: ideafile.WrittenCalls([]any{"twice"}), Usage: turn.Usage{PromptTokens: 1}})
	s.Heard(turn.Report{ClosedThrough: 1, Idle: true})
	s.Mind.Conclude()
	r := s.Mind.Result(loop.StatusRunning, false)
	s.Want("it counts once", fmt.Sprint(r.Requests, r.Usage.PromptTokens), "1 1")
}

func TestTheNextRequestSeesWhatBecameOfTheCalls(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"b"},{"_tool":"fail","_instance":"①"},{"_tool":"work","_instance":"②","x":"†state.never"},{"_tool":"work","_instance":"*","_outputPath":"a"},{"_tool":"work","_instance":"①","n":"x"}],"output":null}`)
	b := s.Asks()
	s.Want("the Calls", modeltest.PlannedIn(b), "1.1 done 2; 1.2 failed 1; 1.3 blocked 1; 1.4 skipped 2; 1.5 failed 1")
	s.Want("the troubles", modeltest.TroublesOf(b), `1.2 tool_failed: no luck in ①
1.3 blocked: †state.never is not there and no Call writes it in ②
1.5 bad_parameters: parameter "n": expected integer, but got string in ①`)
	s.Want("the States", string(jsonval.Encode(b.Covered[1].State)), `{"a":2,"b":2}`)
	s.Want("number and turn", fmt.Sprint(b.Number, b.Turn), "2 2")
}

func TestATroubleOfManyInstancesIsToldOnce(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"fail","_instance":"*"},{"_tool":"fail","_instance":"*"}],"output":null}`)
	s.Want("it is told", modeltest.TroublesOf(s.Asks()), "1.1 tool_failed: no luck in ①, ②\n1.2 tool_failed: no luck in ①, ②")
}

func TestATroubleIsToldToTheNextRequestAlone(t *testing.T) {
	s := modeltest.OnStage(t, "")
	s.Says(`{"calls":[{"_tool":"fail"}],"output":null}`)
	s.Says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.Want("it is not told again", modeltest.TroublesOf(s.Asks()), "")
}

func TestCallsWithoutAnOutputPathStayInSightWithTheirResults(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a"},{"_tool":"work","_instance":"*","_outputPath":"b"},{"_tool":"log","_instance":"*"},{"_tool":"work","_instance":"*","output":"†state.c"},"nonsense"],"output":null}`)
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"d"}],"output":null}`)
	b := s.Asks()
	s.Want("kept", modeltest.PlannedIn(b), "1.1 done 2; 2.1 done 2")
	s.Want("its results", string(jsonval.Encode(b.Plan[0].Results)), `{"①":1,"②":2}`)
}

func TestARequestIsNotShownTheCallsOfSettledInstances(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a"},{"_tool":"work","_instance":"②"}],"output":null}`)
	s.Says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"c"}],"output":null}`)
	b := s.Asks()
	s.Want("the Calls", modeltest.PlannedIn(b), "1.1 done 1; 2.1 done 1")
	s.Want("the results", string(jsonval.Encode(b.Plan[0].Results)), `{"①":1}`)
	s.Want("the chain has them all", modeltest.PlannedIn(s.Mind.Final()), "1.1 done 2; 1.2 done 1; 2.1 done 1")
}

func TestARequestThatBrokeOffIsNotSpokenTwice(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	c := s.BreaksOff(turn.Reply{End: diag.Faultf(turn.CodeTruncated, "the stream broke off")}, `{"_tool":"work","_instance":"①","_outputPath":"b"}`, `{"_tool":"work","_instance":"*","_outputPath":"c"}`)
	s.Want("its solution is what was accepted", string(jsonval.Encode(c.Calls)), `[{"_instance":"①","_outputPath":"b","_tool":"work"},{"_instance":"*","_outputPath":"c","_tool":"work"}]`)
	b := s.Asks()
	s.Want("the loop goes on", fmt.Sprint(b.Number, b.Turn), "2 2")
	s.Want("with what was done", modeltest.PlannedIn(b), "1.1 done 1; 1.2 done 2")
	s.Want("and told", modeltest.TroublesOf(b), "truncated: request 1 was cut off: the stream broke off; the 2 calls that had come were taken and are listed")
	s.Want("everyone still works", fmt.Sprint(b.Tokens()), "[① ②]")
}

func TestARequestOfWhichNothingWasTakenIsAskedAfresh(t *testing.T) {
	s := modeltest.OnStage(t, "")
	s.BreaksOff(turn.Reply{End: diag.Faultf(turn.CodeNotJSON, "no JSON")})
	b := s.Asks()
	s.Want("under the next number, as another turn", fmt.Sprint(b.Number, b.Turn), "2 2")
	s.Want("and told", modeltest.TroublesOf(b), "not_json: request 1 was cut off: no JSON; no call of it was taken")
}

func TestALostWorkerIsNoTurnWhereNothingWasTaken(t *testing.T) {
	s := modeltest.OnStage(t, "")
	s.BreaksOff(turn.Reply{Lost: true, End: diag.Faultf(turn.CodeLost, "gone")})
	b := s.Asks()
	s.Want("the same turn under the next number", fmt.Sprint(b.Number, b.Turn), "2 1")
	s.Want("the LLM is told nothing", modeltest.TroublesOf(b), "")
}

func TestWhatALostWorkerHandedOnIsTheSolution(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	c := s.BreaksOff(turn.Reply{Lost: true, End: diag.Faultf(turn.CodeLost, "gone")}, `{"_tool":"work","_instance":"①","_outputPath":"b"}`)
	s.Want("as the instances have it", string(jsonval.Encode(c.Calls)), `[{"_instance":"①","_outputPath":"b","_tool":"work"}]`)
	b := s.Asks()
	s.Want("it is a turn", fmt.Sprint(b.Number, b.Turn), "2 2")
	s.Want("the LLM is told", modeltest.TroublesOf(b), "worker_lost: request 1 was cut off: gone; the 1 calls that had come were taken and are listed")
}

func TestTroublesAreToldUntilARequestPlannedWithThem(t *testing.T) {
	for name, end := range map[string]turn.Reply{
		"a lost worker": {Lost: true, End: diag.Faultf(turn.CodeLost, "gone")},
		"a bad reply":   {End: diag.Faultf(turn.CodeNotJSON, "no JSON")},
	} {
		s := modeltest.OnStage(t, "")
		s.Says(`{"calls":[{"_tool":"fail"}],"output":null}`)
		s.BreaksOff(end)
		if got := modeltest.TroublesOf(s.Asks()); !strings.Contains(got, "1.1 tool_failed: no luck") {
			t.Errorf("after %s: %q", name, got)
		}
	}
}

func TestThePlanOfARequestStaysInSightWhenTheNextBringsNothing(t *testing.T) {
	s := modeltest.OnStage(t, "")
	s.Says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.BreaksOff(turn.Reply{End: diag.Faultf(turn.CodeNotJSON, "no JSON")})
	s.Want("the Calls", modeltest.PlannedIn(s.Asks()), "1.1 done 1")
}

func TestThreeBadRepliesInARowPause(t *testing.T) {
	s := modeltest.OnStage(t, "")
	bad := turn.Reply{End: diag.Faultf(turn.CodeNotJSON, "no JSON")}
	s.BreaksOff(bad)
	s.BreaksOff(bad)
	s.Says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.BreaksOff(bad)
	s.BreaksOff(turn.Reply{End: diag.Faultf(turn.CodeRefusal, "no")})
	s.BreaksOff(turn.Reply{End: diag.Faultf(turn.CodeEndless, "on and on")})
	s.Expect(loop.StepPaused)
	s.Want("why", s.Mind.Paused().Error(), "bad_replies: 3 bad replies in a row; the last one: on and on")
	s.Mind.Resume(ideafile.Limits{})
	s.Want("it goes on", fmt.Sprint(s.Asks().Number), "7")
	s.Says(modeltest.NoCalls)
	s.Expect(loop.StepOver)
}

func TestALostWorkerIsNoBadReply(t *testing.T) {
	s := modeltest.OnStage(t, "")
	for range 5 {
		s.BreaksOff(turn.Reply{Lost: true, End: diag.Faultf(turn.CodeLost, "gone")})
	}
	s.Want("it goes on", fmt.Sprint(s.Asks().Number), "6")
}

func TestRequestsThatTakeTheirWorkersDownOneAfterTheOtherPauseTheProcess(t *testing.T) {
	s := modeltest.OnStage(t, "")
	for range 10 {
		s.BreaksOff(turn.Reply{Lost: true, End: diag.Faultf(turn.CodeLost, "gone")})
	}
	s.Expect(loop.StepPaused)
	s.Mind.Resume(ideafile.Limits{})
	s.Want("it goes on", fmt.Sprint(s.Asks().Number), "11")
}

func TestWhatAskingAgainDoesNotMendPausesAtOnce(t *testing.T) {
	s := modeltest.OnStage(t, "")
	s.BreaksOff(turn.Reply{Final: true, End: diag.Faultf(turn.CodeLLMRefused, "401 no such key")})
	s.Expect(loop.StepPaused)
	s.Want("why", s.Mind.Paused().Error(), "llm_error: 401 no such key")
	s.Want("the result", s.Mind.Result(loop.StatusPaused, false).Error.Error(), "llm_error: 401 no such key")
	s.Mind.Resume(ideafile.Limits{})
	s.Says(modeltest.NoCalls)
	s.Expect(loop.StepOver)
	if s.Mind.Result(loop.StatusCompleted, false).Error != nil {
		t.Error("what is over is forgotten")
	}
}

func TestAttemptsBeforeTheFirstByteAreTurns(t *testing.T) {
	s := modeltest.OnStage(t, "")
	s.Asks()
	r := s.Hear([]any{modeltest.Value(t, `{"_tool":"work"}`)})
	r.Whole, r.Attempts = true, 3
	s.Concludes(r)
	s.Want("number and turn", fmt.Sprint(s.Asks().Number, s.Brief.Turn), "2 4")
}

func TestALimitPausesAndAHigherOneLetsItGoOn(t *testing.T) {
	again := `{"calls":[{"_tool":"work"}],"output":null}`
	for _, c := range []struct {
		name, limits, why string
		higher            ideafile.Limits
	}{
		{"Requests", `{"requests": 2}`, "limit_reached: 2 Requests were made, the limit", ideafile.Limits{Requests: 3}},
		{"tokens", `{"tokens": 220}`, "limit_reached: 220 tokens were used; the limit is 220", ideafile.Limits{Tokens: 221}},
		{"Calls", `{"calls": 2}`, "limit_reached: 2 Calls were made; the limit is 2", ideafile.Limits{Calls: 3}},
		{"duration", `{"duration": "2m"}`, "limit_reached: the process has run for 2m0s, the limit", ideafile.Limits{Duration: 3 * time.Minute}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modeltest.OnStage(t, "", `"config": {"limits": `+c.limits+`}`)
			for range 2 {
				s.Says(again)
				s.Now = s.Now.Add(time.Minute)
			}
			s.Expect(loop.StepPaused)
			s.Want("why", s.Mind.Paused().Error(), c.why)
			s.Want("the result", s.Mind.Result(loop.StatusPaused, false).Error.Error(), c.why)
			s.Mind.Resume(ideafile.Limits{})
			s.Expect(loop.StepPaused)
			s.Mind.Resume(c.higher)
			s.Says(again)
			s.Now = s.Now.Add(time.Minute)
			s.Expect(loop.StepPaused)
		})
	}
}

func TestALimitDoesNotStopWhatIsOver(t *testing.T) {
	s := modeltest.OnStage(t, "", `"config": {"limits": {"requests": 1, "tokens": 1}}`)
	s.Says(modeltest.NoCalls)
	s.Expect(loop.StepOver)
}

func TestLimitsThatAreNotSetAreNone(t *testing.T) {
	s := modeltest.OnStage(t, "")
	s.Now = s.Now.Add(1000 * time.Hour)
	for range 50 {
		s.Says(`{"calls":[{"_tool":"work"}],"output":null}`)
	}
	s.Asks()
}

func TestLatentResultsAreAskedForByThemselves(t *testing.T) {
	s := modeltest.OnStage(t, modeltest.ASummary, modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"think","_instance":"*","x":"†state.a","_outputPath":"mood"},{"_tool":"work","_instance":"①","x":"†state.mood","_outputPath":"b"},{"_tool":"fail","_instance":"②"}],"output":null}`)
	b := s.Asks()
	s.Want("asked for", string(jsonval.Encode(jsonval.Normal(b.Questions))), `[{"id":"1.1@①","params":{"x":1},"token":"①","tool":"think"},{"id":"1.1@②","params":{"x":2},"token":"②","tool":"think"}]`)
	if b.Closing {
		t.Error("it is no closing Request")
	}
	c := s.Says(`{"calls":[{"_call":"1.1@①","_output":"good"},{"_call":"1.1@②","_output":"bad"}],"output":null}`)
	if len(s.Ended) != 0 || len(c.Calls) != 0 {
		t.Errorf("it settles nobody and plans nothing: %+v", c)
	}
	s.Want("nobody settles by it", s.Statuses(), "① working, ② working")
	b = s.Asks()
	s.Want("the next plans again, and counts", fmt.Sprint(b.Number, b.Turn, len(b.Questions)), "3 3 0")
	s.Want("what waited for the result has run", string(jsonval.Encode(b.Covered[0].State)), `{"a":1,"b":"good","mood":"good"}`)
	s.Want("the Plan is in sight", modeltest.PlannedIn(b), "1.1 done 2; 1.2 done 1; 1.3 failed 1")
	s.Want("and what went wrong in it", modeltest.TroublesOf(b), "1.3 tool_failed: no luck in ②")
}

func TestARequestForResultsCoversOnlyThoseThatWait(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"think","_instance":"②"},{"_tool":"work","_instance":"①"}],"output":null}`)
	s.Want("covered", fmt.Sprint(s.Asks().Tokens()), "[②]")
}

func TestResultsThatStayAwayAreAskedForAgainAndTheThirdTimePauses(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"think","_instance":"*"}],"output":null}`)
	s.Says(`{"calls":[{"_call":"1.1@①","_output":"good"}],"output":null}`)
	b := s.Asks()
	s.Want("asked again", fmt.Sprintf("%d: %s", len(b.Questions), b.Questions[0].ID), "1: 1.1@②")
	s.Says(`{"calls":[{"_call":"1.1@②","_output":5}],"output":null}`)
	s.Want("told", modeltest.TroublesOf(s.Asks()), "3.1 bad_output: the result of 1.1@②: expected string, but got number")
	s.Says(`{"calls":[{"_call":"9.9@②","_output":"good"},"x",{"_call":"1.1@②"}],"output":null}`)
	s.Expect(loop.StepPaused)
	s.Want("why", s.Mind.Paused().Error(), "bad_replies: 3 bad replies in a row; the last one: results that were asked for are missing")
	s.Mind.Resume(ideafile.Limits{})
	s.Says(`{"calls":[{"_call":"1.1@②","_output":"good"}],"output":null}`)
	s.Says(modeltest.NoCalls)
	s.Expect(loop.StepOver)
}

func TestALatentCallWithItsResultNeedsNoRequest(t *testing.T) {
	s := modeltest.OnStage(t, modeltest.ASummary)
	s.Says(`{"calls":[{"_tool":"think","_output":"good","_outputPath":"mood"},{"_tool":"work","x":"†state.mood","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"summary":"good"}`)
}

func TestEveryCallIsCountedByItsEnd(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"b"},{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"fail","_instance":"*"},{"_tool":"work","_instance":"②","x":"†state.never"},{"_tool":"work","_instance":"③"},{"_tool":"odd","_instance":"①"}],"output":null}`)
	s.Says(modeltest.NoCalls)
	s.Expect(loop.StepOver)
	r := s.Mind.Result(s.Mind.Outcome(), true)
	s.Want("the result", string(jsonval.Encode(jsonval.Normal(r))), `{"calls":{"blocked":1,"done":2,"failed":4,"rejected":0,"skipped":1},"error":null,"ideas":0,`+
		`"instances":{"①":{"state":{"a":1,"b":"work done"},"status":"settled"},"②":{"state":{"a":2,"b":"work done"},"status":"settled"}},`+
		`"output":null,"process":"p","requests":2,"status":"completed","usage":{"completionTokens":20,"promptTokens":200}}`)
	if r := s.Mind.Result(loop.StatusCompleted, false); r.Instances["①"].State != nil {
		t.Error("States are left out where they were not asked for")
	}
}

func TestTheMindKeepsEveryStateAsItsInstanceDoes(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"log","_instance":"*"},{"_tool":"work","_instance":"*","x":{"c":1},"_outputPath":"b"},{"_tool":"log","_instance":"②"},{"_tool":"work","_instance":"①","x":{"d":2},"_outputPath":"†state"}],"output":null}`)
	for _, c := range s.Mind.Final().Covered {
		s.Want(c.Token, string(jsonval.Encode(c.State)), string(jsonval.Encode(s.Runs[c.Token].State())))
	}
}

func TestALongProcessShowsTheLLMNoMoreThanAShortOne(t *testing.T) {
	s := modeltest.OnStage(t, "")
	sizes := map[int]int{}
	for n := 1; n <= 60; n++ {
		s.Says(`{"calls":[{"_tool":"log"},{"_tool":"nonsense"},{"_tool":"work","_outputPath":"p"},7],"output":null}`)
		sizes[n] = len(s.Asks().Plan)
	}
	if sizes[60] != sizes[2] {
		t.Errorf("%d Calls are shown after 2 Requests, %d after 60", sizes[2], sizes[60])
	}
}

func TestTheLastHundredRefusalsAreKeptAndAllAreCounted(t *testing.T) {
	var r turn.Refusals
	for n := range 250 {
		r.Add(turn.Refusal{Signal: "resume", Reason: fmt.Sprint(n)})
	}
	if r.Count != 250 || len(r.Last) != 100 || r.Last[0].Reason != "150" || r.Last[99].Reason != "249" {
		t.Errorf("%d, the last %d, from %s", r.Count, len(r.Last), r.Last[0].Reason)
	}
}
