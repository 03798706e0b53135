package model

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestARequestCoversEveryInstanceAndTellsWhereItStands(t *testing.T) {
	s := onStage(t, "", twoInstances)
	b := s.asks()
	s.want("the process", b.Process, "p")
	s.want("number and turn", fmt.Sprint(b.Number, b.Turn), "1 1")
	s.want("covered", string(Encode(Normal(b.Covered))), `[{"state":{"a":1},"token":"①"},{"state":{"a":2},"token":"②"}]`)
	if b.Closing || b.Asking != nil || b.Plan != nil || b.Troubles != nil {
		t.Errorf("the first Request has no past: %+v", b)
	}
	if s.mind.Asked() != b {
		t.Error("it is the Request under way")
	}
}

func TestOneRequestIsInFlightAtMost(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.asks()
	s.expect(StepWait)
	s.heard(Report{Token: "①", Closed: 1, Quiet: true})
	s.expect(StepWait)
	s.mind.Replied(Reply{Whole: true})
	s.expect(StepWait)
	if c := s.mind.Conclude(); c == nil || s.mind.Asked() != nil {
		t.Error("it has ended with its reply")
	}
	if s.mind.Conclude() != nil {
		t.Error("it ends once")
	}
}

func TestARequestThatBrokeOffEndsWhenEveryInstanceHasClosedIt(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.asks()
	s.mind.Replied(Reply{End: fault(CodeTruncated, "cut")})
	s.heard(Report{Token: "①", Closed: 1, Quiet: true})
	if s.mind.Conclude() != nil {
		t.Error("what ② has accepted is not known")
	}
	s.heard(Report{Token: "②", Closed: 1, Quiet: false})
	if s.mind.Conclude() == nil {
		t.Error("its Calls may go on running")
	}
}

func TestAReplyAndTheReportsMayComeInAnyOrder(t *testing.T) {
	s := onStage(t, "")
	s.asks()
	s.heard(Report{Token: "", Closed: 1, Quiet: true})
	if s.mind.Conclude() != nil {
		t.Error("it is over before the reply")
	}
	s.mind.Replied(Reply{Whole: true, Idle: []string{""}})
	if s.mind.Conclude() == nil {
		t.Error("it is over")
	}
	s.want("it", s.statuses(), "settled")
}

func TestWhatTheMindDidNotAskForChangesNothing(t *testing.T) {
	s := onStage(t, "")
	s.mind.Replied(Reply{Whole: true})
	s.heard(Report{Token: "③", Closed: 1, Quiet: true})
	s.asks()
	s.mind.Replied(Reply{Whole: true, Calls: []any{}, Usage: Usage{PromptTokens: 1}})
	s.mind.Replied(Reply{Whole: true, Calls: []any{"twice"}, Usage: Usage{PromptTokens: 1}})
	s.heard(Report{Closed: 1, Quiet: true})
	s.mind.Conclude()
	r := s.mind.Result(StatusRunning, false)
	s.want("it counts once", fmt.Sprint(r.Requests, r.Usage.PromptTokens), "1 1")
}

func TestTheNextRequestSeesWhatBecameOfTheCalls(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"b"},{"_tool":"fail","_instance":"①"},{"_tool":"work","_instance":"②","x":"†state.never"},{"_tool":"work","_instance":"*","_outputPath":"a"},{"_tool":"work","_instance":"①","n":"x"}],"output":null}`)
	b := s.asks()
	s.want("the Calls", plannedIn(b), "1.1 done 2; 1.2 failed 1; 1.3 blocked 1; 1.4 skipped 2; 1.5 failed 1")
	s.want("the troubles", troublesOf(b), `1.2 tool_failed: no luck in ①
1.3 blocked: †state.never is not there and no Call writes it in ②
1.5 bad_parameters: parameter "n": expected integer, but got string in ①`)
	s.want("the States", string(Encode(b.Covered[1].State)), `{"a":2,"b":2}`)
	s.want("number and turn", fmt.Sprint(b.Number, b.Turn), "2 2")
}

func TestATroubleOfManyInstancesIsToldOnce(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"fail","_instance":"*"},{"_tool":"fail","_instance":"*"}],"output":null}`)
	s.want("it is told", troublesOf(s.asks()), "1.1 tool_failed: no luck in ①, ②\n1.2 tool_failed: no luck in ①, ②")
}

func TestATroubleIsToldToTheNextRequestAlone(t *testing.T) {
	s := onStage(t, "")
	s.says(`{"calls":[{"_tool":"fail"}],"output":null}`)
	s.says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.want("it is not told again", troublesOf(s.asks()), "")
}

func TestCallsWithoutAnOutputPathStayInSightWithTheirResults(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a"},{"_tool":"work","_instance":"*","_outputPath":"b"},{"_tool":"log","_instance":"*"},{"_tool":"work","_instance":"*","output":"†state.c"},"nonsense"],"output":null}`)
	s.says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"d"}],"output":null}`)
	b := s.asks()
	s.want("kept", plannedIn(b), "1.1 done 2; 2.1 done 2")
	s.want("its results", string(Encode(b.Plan[0].Results)), `{"①":1,"②":2}`)
}

func TestARequestIsNotShownTheCallsOfSettledInstances(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a"},{"_tool":"work","_instance":"②"}],"output":null}`)
	s.says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"c"}],"output":null}`)
	b := s.asks()
	s.want("the Calls", plannedIn(b), "1.1 done 1; 2.1 done 1")
	s.want("the results", string(Encode(b.Plan[0].Results)), `{"①":1}`)
	s.want("the chain has them all", plannedIn(s.mind.Final()), "1.1 done 2; 1.2 done 1; 2.1 done 1")
}

func TestARequestThatBrokeOffIsNotSpokenTwice(t *testing.T) {
	s := onStage(t, "", twoInstances)
	c := s.breaksOff(Reply{End: fault(CodeTruncated, "the stream broke off")}, `{"_tool":"work","_instance":"①","_outputPath":"b"}`, `{"_tool":"work","_instance":"*","_outputPath":"c"}`)
	s.want("its solution is what was accepted", string(Encode(c.Calls)), `[{"_instance":"①","_outputPath":"b","_tool":"work"},{"_instance":"*","_outputPath":"c","_tool":"work"}]`)
	b := s.asks()
	s.want("the loop goes on", fmt.Sprint(b.Number, b.Turn), "2 2")
	s.want("with what was done", plannedIn(b), "1.1 done 1; 1.2 done 2")
	s.want("and told", troublesOf(b), "truncated: request 1 was cut off: the stream broke off; the 2 calls that had come were taken and are listed")
	s.want("everyone still works", fmt.Sprint(b.Tokens()), "[① ②]")
}

func TestARequestOfWhichNothingWasTakenIsAskedAfresh(t *testing.T) {
	s := onStage(t, "")
	s.breaksOff(Reply{End: fault(CodeNotJSON, "no JSON")})
	b := s.asks()
	s.want("under the next number, as another turn", fmt.Sprint(b.Number, b.Turn), "2 2")
	s.want("and told", troublesOf(b), "not_json: request 1 was cut off: no JSON; no call of it was taken")
}

func TestALostWorkerIsNoTurnWhereNothingWasTaken(t *testing.T) {
	s := onStage(t, "")
	s.breaksOff(Reply{Lost: true, End: fault(CodeLost, "gone")})
	b := s.asks()
	s.want("the same turn under the next number", fmt.Sprint(b.Number, b.Turn), "2 1")
	s.want("the LLM is told nothing", troublesOf(b), "")
}

func TestWhatALostWorkerHandedOnIsTheSolution(t *testing.T) {
	s := onStage(t, "", twoInstances)
	c := s.breaksOff(Reply{Lost: true, End: fault(CodeLost, "gone")}, `{"_tool":"work","_instance":"①","_outputPath":"b"}`)
	s.want("as the instances have it", string(Encode(c.Calls)), `[{"_instance":"①","_outputPath":"b","_tool":"work"}]`)
	b := s.asks()
	s.want("it is a turn", fmt.Sprint(b.Number, b.Turn), "2 2")
	s.want("the LLM is told", troublesOf(b), "worker_lost: request 1 was cut off: gone; the 1 calls that had come were taken and are listed")
}

func TestTroublesAreToldUntilARequestPlannedWithThem(t *testing.T) {
	for name, end := range map[string]Reply{
		"a lost worker": {Lost: true, End: fault(CodeLost, "gone")},
		"a bad reply":   {End: fault(CodeNotJSON, "no JSON")},
	} {
		s := onStage(t, "")
		s.says(`{"calls":[{"_tool":"fail"}],"output":null}`)
		s.breaksOff(end)
		if got := troublesOf(s.asks()); !strings.Contains(got, "1.1 tool_failed: no luck") {
			t.Errorf("after %s: %q", name, got)
		}
	}
}

func TestThePlanOfARequestStaysInSightWhenTheNextBringsNothing(t *testing.T) {
	s := onStage(t, "")
	s.says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.breaksOff(Reply{End: fault(CodeNotJSON, "no JSON")})
	s.want("the Calls", plannedIn(s.asks()), "1.1 done 1")
}

func TestThreeBadRepliesInARowPause(t *testing.T) {
	s := onStage(t, "")
	bad := Reply{End: fault(CodeNotJSON, "no JSON")}
	s.breaksOff(bad)
	s.breaksOff(bad)
	s.says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.breaksOff(bad)
	s.breaksOff(Reply{End: fault(CodeRefusal, "no")})
	s.breaksOff(Reply{End: fault(CodeEndless, "on and on")})
	s.expect(StepPaused)
	s.want("why", s.mind.Paused().Error(), "bad_replies: 3 bad replies in a row; the last one: on and on")
	s.mind.Resume(Limits{})
	s.want("it goes on", fmt.Sprint(s.asks().Number), "7")
	s.says(noCalls)
	s.expect(StepOver)
}

func TestALostWorkerIsNoBadReply(t *testing.T) {
	s := onStage(t, "")
	for range 5 {
		s.breaksOff(Reply{Lost: true, End: fault(CodeLost, "gone")})
	}
	s.want("it goes on", fmt.Sprint(s.asks().Number), "6")
}

func TestRequestsThatTakeTheirWorkersDownOneAfterTheOtherPauseTheProcess(t *testing.T) {
	s := onStage(t, "")
	for range 10 {
		s.breaksOff(Reply{Lost: true, End: fault(CodeLost, "gone")})
	}
	s.expect(StepPaused)
	s.mind.Resume(Limits{})
	s.want("it goes on", fmt.Sprint(s.asks().Number), "11")
}

func TestWhatAskingAgainDoesNotMendPausesAtOnce(t *testing.T) {
	s := onStage(t, "")
	s.breaksOff(Reply{Final: true, End: fault(CodeLLMRefused, "401 no such key")})
	s.expect(StepPaused)
	s.want("why", s.mind.Paused().Error(), "llm_error: 401 no such key")
	s.want("the result", s.mind.Result(StatusPaused, false).Error.Error(), "llm_error: 401 no such key")
	s.mind.Resume(Limits{})
	s.says(noCalls)
	s.expect(StepOver)
	if s.mind.Result(StatusCompleted, false).Error != nil {
		t.Error("what is over is forgotten")
	}
}

func TestAttemptsBeforeTheFirstByteAreTurns(t *testing.T) {
	s := onStage(t, "")
	s.asks()
	r := s.hear([]any{value(t, `{"_tool":"work"}`)})
	r.Whole, r.Attempts = true, 3
	s.concludes(r)
	s.want("number and turn", fmt.Sprint(s.asks().Number, s.brief.Turn), "2 4")
}

func TestALimitPausesAndAHigherOneLetsItGoOn(t *testing.T) {
	again := `{"calls":[{"_tool":"work"}],"output":null}`
	for _, c := range []struct {
		name, limits, why string
		higher            Limits
	}{
		{"Requests", `{"requests": 2}`, "limit_reached: 2 Requests were made, the limit", Limits{Requests: 3}},
		{"tokens", `{"tokens": 220}`, "limit_reached: 220 tokens were used; the limit is 220", Limits{Tokens: 221}},
		{"Calls", `{"calls": 2}`, "limit_reached: 2 Calls were made; the limit is 2", Limits{Calls: 3}},
		{"duration", `{"duration": "2m"}`, "limit_reached: the process has run for 2m0s, the limit", Limits{Duration: 3 * time.Minute}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := onStage(t, "", `"config": {"limits": `+c.limits+`}`)
			for range 2 {
				s.says(again)
				s.now = s.now.Add(time.Minute)
			}
			s.expect(StepPaused)
			s.want("why", s.mind.Paused().Error(), c.why)
			s.want("the result", s.mind.Result(StatusPaused, false).Error.Error(), c.why)
			s.mind.Resume(Limits{})
			s.expect(StepPaused)
			s.mind.Resume(c.higher)
			s.says(again)
			s.now = s.now.Add(time.Minute)
			s.expect(StepPaused)
		})
	}
}

func TestALimitDoesNotStopWhatIsOver(t *testing.T) {
	s := onStage(t, "", `"config": {"limits": {"requests": 1, "tokens": 1}}`)
	s.says(noCalls)
	s.expect(StepOver)
}

func TestLimitsThatAreNotSetAreNone(t *testing.T) {
	s := onStage(t, "")
	s.now = s.now.Add(1000 * time.Hour)
	for range 50 {
		s.says(`{"calls":[{"_tool":"work"}],"output":null}`)
	}
	s.asks()
}

func TestLatentResultsAreAskedForByThemselves(t *testing.T) {
	s := onStage(t, aSummary, twoInstances)
	s.says(`{"calls":[{"_tool":"think","_instance":"*","x":"†state.a","_outputPath":"mood"},{"_tool":"work","_instance":"①","x":"†state.mood","_outputPath":"b"},{"_tool":"fail","_instance":"②"}],"output":null}`)
	b := s.asks()
	s.want("asked for", string(Encode(Normal(b.Asking))), `[{"id":"1.1@①","params":{"x":1},"token":"①","tool":"think"},{"id":"1.1@②","params":{"x":2},"token":"②","tool":"think"}]`)
	if b.Closing {
		t.Error("it is no closing Request")
	}
	c := s.says(`{"calls":[{"_call":"1.1@①","_output":"good"},{"_call":"1.1@②","_output":"bad"}],"output":null}`)
	if len(s.ended) != 0 || len(c.Calls) != 0 {
		t.Errorf("it settles nobody and plans nothing: %+v", c)
	}
	s.want("nobody settles by it", s.statuses(), "① working, ② working")
	b = s.asks()
	s.want("the next plans again, and counts", fmt.Sprint(b.Number, b.Turn, len(b.Asking)), "3 3 0")
	s.want("what waited for the result has run", string(Encode(b.Covered[0].State)), `{"a":1,"b":"good","mood":"good"}`)
	s.want("the Plan is in sight", plannedIn(b), "1.1 done 2; 1.2 done 1; 1.3 failed 1")
	s.want("and what went wrong in it", troublesOf(b), "1.3 tool_failed: no luck in ②")
}

func TestARequestForResultsCoversOnlyThoseThatWait(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"think","_instance":"②"},{"_tool":"work","_instance":"①"}],"output":null}`)
	s.want("covered", fmt.Sprint(s.asks().Tokens()), "[②]")
}

func TestResultsThatStayAwayAreAskedForAgainAndTheThirdTimePauses(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"think","_instance":"*"}],"output":null}`)
	s.says(`{"calls":[{"_call":"1.1@①","_output":"good"}],"output":null}`)
	b := s.asks()
	s.want("asked again", fmt.Sprintf("%d: %s", len(b.Asking), b.Asking[0].ID), "1: 1.1@②")
	s.says(`{"calls":[{"_call":"1.1@②","_output":5}],"output":null}`)
	s.want("told", troublesOf(s.asks()), "3.1 bad_output: the result of 1.1@②: expected string, but got number")
	s.says(`{"calls":[{"_call":"9.9@②","_output":"good"},"x",{"_call":"1.1@②"}],"output":null}`)
	s.expect(StepPaused)
	s.want("why", s.mind.Paused().Error(), "bad_replies: 3 bad replies in a row; the last one: results that were asked for are missing")
	s.mind.Resume(Limits{})
	s.says(`{"calls":[{"_call":"1.1@②","_output":"good"}],"output":null}`)
	s.says(noCalls)
	s.expect(StepOver)
}

func TestALatentCallWithItsResultNeedsNoRequest(t *testing.T) {
	s := onStage(t, aSummary)
	s.says(`{"calls":[{"_tool":"think","_output":"good","_outputPath":"mood"},{"_tool":"work","x":"†state.mood","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.expect(StepOver)
	s.want("the output", s.output(), `{"summary":"good"}`)
}

func TestEveryCallIsCountedByItsEnd(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"b"},{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"fail","_instance":"*"},{"_tool":"work","_instance":"②","x":"†state.never"},{"_tool":"work","_instance":"③"},{"_tool":"odd","_instance":"①"}],"output":null}`)
	s.says(noCalls)
	s.expect(StepOver)
	r := s.mind.Result(s.mind.Outcome(), true)
	s.want("the result", string(Encode(Normal(r))), `{"calls":{"blocked":1,"done":2,"failed":4,"rejected":0,"skipped":1},"error":null,"ideas":0,`+
		`"instances":{"①":{"state":{"a":1,"b":"work done"},"status":"settled"},"②":{"state":{"a":2,"b":"work done"},"status":"settled"}},`+
		`"output":null,"process":"p","requests":2,"status":"completed","usage":{"completionTokens":20,"promptTokens":200}}`)
	if r := s.mind.Result(StatusCompleted, false); r.Instances["①"].State != nil {
		t.Error("States are left out where they were not asked for")
	}
}

func TestTheMindKeepsEveryStateAsItsInstanceDoes(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"log","_instance":"*"},{"_tool":"work","_instance":"*","x":{"c":1},"_outputPath":"b"},{"_tool":"log","_instance":"②"},{"_tool":"work","_instance":"①","x":{"d":2},"_outputPath":"†state"}],"output":null}`)
	for _, c := range s.mind.Final().Covered {
		s.want(c.Token, string(Encode(c.State)), string(Encode(s.runs[c.Token].State())))
	}
}

func TestALongProcessShowsTheLLMNoMoreThanAShortOne(t *testing.T) {
	s := onStage(t, "")
	sizes := map[int]int{}
	for n := 1; n <= 60; n++ {
		s.says(`{"calls":[{"_tool":"log"},{"_tool":"nonsense"},{"_tool":"work","_outputPath":"p"},7],"output":null}`)
		sizes[n] = len(s.asks().Plan)
	}
	if sizes[60] != sizes[2] {
		t.Errorf("%d Calls are shown after 2 Requests, %d after 60", sizes[2], sizes[60])
	}
}

func TestTheLastHundredRefusalsAreKeptAndAllAreCounted(t *testing.T) {
	var r Refusals
	for n := range 250 {
		r.Add(Refusal{Signal: "resume", Reason: fmt.Sprint(n)})
	}
	if r.Count != 250 || len(r.Last) != 100 || r.Last[0].Reason != "150" || r.Last[99].Reason != "249" {
		t.Errorf("%d, the last %d, from %s", r.Count, len(r.Last), r.Last[0].Reason)
	}
}
