package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func TestARequestCoversEveryInstanceAndTellsWhereItStands(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	b := s.ExpectRequest()
	s.WantEqual("the process", b.ProcessID, "p")
	s.WantEqual("number and turn", fmt.Sprint(b.RequestNumber, b.TurnNumber), "1 1")
	s.WantEqual("covered", string(jsonval.Encode(jsonval.ToJSONValue(b.Instances))),
		`[{"state":{"a":1},"token":"①"},{"state":{"a":2},"token":"②"}]`)
	if b.IsOutputOnly || b.Questions != nil || b.PlanEntries != nil || b.Errors != nil {
		t.Errorf("the first Request has no past: %+v", b)
	}
	if s.Loop.RequestInFlight() != b {
		t.Error("it is the Request under way")
	}
}

func TestOneRequestIsInFlightAtMost(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ExpectRequest()
	s.ExpectStep(loop.StepWait)
	s.DeliverReport(turn.InstanceReport{InstanceToken: "①", ClosedThroughRequest: 1,
		InstanceStatusDetails: turn.InstanceStatusDetails{IsIdle: true}})
	s.ExpectStep(loop.StepWait)
	s.Loop.ApplyReply(turn.LLMReply{IsComplete: true})
	s.ExpectStep(loop.StepWait)
	if c := s.Loop.ConcludeRequest(); c == nil || s.Loop.RequestInFlight() != nil {
		t.Error("it has ended with its reply")
	}
	if s.Loop.ConcludeRequest() != nil {
		t.Error("it ends once")
	}
}

func TestARequestThatBrokeOffEndsWhenEveryInstanceHasClosedIt(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ExpectRequest()
	s.Loop.ApplyReply(turn.LLMReply{Fault: diag.Faultf(turn.CodeTruncated, "cut")})
	s.DeliverReport(turn.InstanceReport{InstanceToken: "①", ClosedThroughRequest: 1,
		InstanceStatusDetails: turn.InstanceStatusDetails{IsIdle: true}})
	if s.Loop.ConcludeRequest() != nil {
		t.Error("what ② has accepted is not known")
	}
	s.DeliverReport(turn.InstanceReport{InstanceToken: "②", ClosedThroughRequest: 1,
		InstanceStatusDetails: turn.InstanceStatusDetails{IsIdle: false}})
	if s.Loop.ConcludeRequest() == nil {
		t.Error("its Calls may go on running")
	}
}

func TestAReplyAndTheReportsMayComeInAnyOrder(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	s.ExpectRequest()
	s.DeliverReport(turn.InstanceReport{InstanceToken: "", ClosedThroughRequest: 1,
		InstanceStatusDetails: turn.InstanceStatusDetails{IsIdle: true}})
	if s.Loop.ConcludeRequest() != nil {
		t.Error("it is over before the reply")
	}
	s.Loop.ApplyReply(turn.LLMReply{IsComplete: true, InstanceTokensWithoutCalls: []string{""}})
	if s.Loop.ConcludeRequest() == nil {
		t.Error("it is over")
	}
	s.WantEqual("it", s.DescribeInstances(), "settled")
}

func TestWhatTheMindDidNotAskForChangesNothing(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	s.Loop.ApplyReply(turn.LLMReply{IsComplete: true})
	s.DeliverReport(turn.InstanceReport{InstanceToken: "③", ClosedThroughRequest: 1,
		InstanceStatusDetails: turn.InstanceStatusDetails{IsIdle: true}})
	s.ExpectRequest()
	s.Loop.ApplyReply(turn.LLMReply{IsComplete: true, Calls: []ideafile.WrittenCall{},
		Usage: turn.TokenUsage{PromptTokens: 1}})
	s.Loop.ApplyReply(turn.LLMReply{IsComplete: true, Calls: ideafile.ParseWrittenCalls([]any{"twice"}),
		Usage: turn.TokenUsage{PromptTokens: 1}})
	s.DeliverReport(turn.InstanceReport{ClosedThroughRequest: 1,
		InstanceStatusDetails: turn.InstanceStatusDetails{IsIdle: true}})
	s.Loop.ConcludeRequest()
	r := s.Loop.Result(loop.StatusRunning, false)
	s.WantEqual("it counts once", fmt.Sprint(r.RequestCount, r.Usage.PromptTokens), "1 1")
}

func TestTheNextRequestSeesWhatBecameOfTheCalls(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"b"},{"_tool":"fail","_instance":"①"},{"_tool":"work","_instance":"②","x":"†state.never"},{"_tool":"work","_instance":"*","_outputPath":"a"},{"_tool":"work","_instance":"①","n":"x"}],"output":null}`)
	b := s.ExpectRequest()
	s.WantEqual("the Calls", describePlan(b),
		"1.1 done 2; 1.2 failed 1; 1.3 blocked 1; 1.4 skipped 2; 1.5 failed 1")
	s.WantEqual("the troubles", describeErrors(b), `1.2 tool_failed: no luck in ①
1.3 blocked: †state.never is not there and no Call writes it in ②
1.5 bad_parameters: parameter "n": expected integer, but got string in ①`)
	s.WantEqual("the States", string(jsonval.Encode(b.Instances[1].State)), `{"a":2,"b":2}`)
	s.WantEqual("number and turn", fmt.Sprint(b.RequestNumber, b.TurnNumber), "2 2")
}

func TestATroubleOfManyInstancesIsToldOnce(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"fail","_instance":"*"},{"_tool":"fail","_instance":"*"}],"output":null}`)
	s.WantEqual("it is told", describeErrors(s.ExpectRequest()),
		"1.1 tool_failed: no luck in ①, ②\n1.2 tool_failed: no luck in ①, ②")
}

func TestATroubleIsToldToTheNextRequestAlone(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	s.ReplyWith(`{"calls":[{"_tool":"fail"}],"output":null}`)
	s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.WantEqual("it is not told again", describeErrors(s.ExpectRequest()), "")
}

func TestCallsWithoutAnOutputPathStayInSightWithTheirResults(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a"},{"_tool":"work","_instance":"*","_outputPath":"b"},{"_tool":"log","_instance":"*"},{"_tool":"work","_instance":"*","output":"†state.c"},"nonsense"],"output":null}`)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"d"}],"output":null}`)
	b := s.ExpectRequest()
	s.WantEqual("kept", describePlan(b), "1.1 done 2; 2.1 done 2")
	s.WantEqual("its results", string(jsonval.Encode(b.PlanEntries[0].ResultByInstance)), `{"①":1,"②":2}`)
}

func TestARequestIsNotShownTheCallsOfSettledInstances(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a"},{"_tool":"work","_instance":"②"}],"output":null}`)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"c"}],"output":null}`)
	b := s.ExpectRequest()
	s.WantEqual("the Calls", describePlan(b), "1.1 done 1; 2.1 done 1")
	s.WantEqual("the results", string(jsonval.Encode(b.PlanEntries[0].ResultByInstance)), `{"①":1}`)
	s.WantEqual("the chain has them all", describePlan(s.Loop.AllInstancesInput()),
		"1.1 done 2; 1.2 done 1; 2.1 done 1")
}

func TestARequestThatBrokeOffIsNotSpokenTwice(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	c := s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeTruncated, "the stream broke off")},
		`{"_tool":"work","_instance":"①","_outputPath":"b"}`, `{"_tool":"work","_instance":"*","_outputPath":"c"}`)
	s.WantEqual("its solution is what was accepted", string(jsonval.Encode(c.Calls)),
		`[{"_instance":"①","_outputPath":"b","_tool":"work"},{"_instance":"*","_outputPath":"c","_tool":"work"}]`)
	b := s.ExpectRequest()
	s.WantEqual("the loop goes on", fmt.Sprint(b.RequestNumber, b.TurnNumber), "2 2")
	s.WantEqual("with what was done", describePlan(b), "1.1 done 1; 1.2 done 2")
	s.WantEqual("and told", describeErrors(b),
		"truncated: request 1 was cut off: the stream broke off; the 2 Calls that had come were taken")
	s.WantEqual("everyone still works", fmt.Sprint(b.InstanceTokens()), "[① ②]")
}

func TestARequestOfWhichNothingWasTakenIsAskedAfresh(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeNotJSON, "no JSON")})
	b := s.ExpectRequest()
	s.WantEqual("under the next number, as another turn", fmt.Sprint(b.RequestNumber, b.TurnNumber), "2 2")
	s.WantEqual("and told", describeErrors(b),
		"not_json: request 1 was cut off: no JSON; no Call of it was taken")
}

func TestALostWorkerIsNoTurnWhereNothingWasTaken(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	s.InterruptRequest(turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")})
	b := s.ExpectRequest()
	s.WantEqual("the same turn under the next number", fmt.Sprint(b.RequestNumber, b.TurnNumber), "2 1")
	s.WantEqual("the LLM is told nothing", describeErrors(b), "")
}

func TestWhatALostWorkerHandedOnIsTheSolution(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	c := s.InterruptRequest(turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")},
		`{"_tool":"work","_instance":"①","_outputPath":"b"}`)
	s.WantEqual("as the instances have it", string(jsonval.Encode(c.Calls)),
		`[{"_instance":"①","_outputPath":"b","_tool":"work"}]`)
	b := s.ExpectRequest()
	s.WantEqual("it is a turn", fmt.Sprint(b.RequestNumber, b.TurnNumber), "2 2")
	s.WantEqual("the LLM is told", describeErrors(b),
		"worker_lost: request 1 was cut off: gone; the Call that had come was taken")
}

// A crash in the middle of a hand-out changes nothing in the outcome.
func TestABroadcastThatReachedOneInstanceIsHandedToAllThatTheRequestCovered(t *testing.T) {
	t.Parallel()
	for _, lost := range []turn.LLMReply{{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")},
		{HasUndeliveredCalls: true, Fault: diag.Faultf(turn.CodeTruncated, "not handed on")}} {
		s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
		s.UnreachedInstanceTokens = []string{"②"}
		s.InterruptRequest(lost, `{"_tool":"work","_instance":"*","x":"†state.c","_outputPath":"b"}`,
			`{"_tool":"work","_instance":"①","_outputPath":"d"}`,
			`{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"c"}`)
		s.UnreachedInstanceTokens = nil
		s.WantEqual("①", string(jsonval.Encode(s.InstanceByToken["①"].State())), `{"a":1,"b":1,"c":1,"d":"work done"}`)
		s.WantEqual("②", string(jsonval.Encode(s.InstanceByToken["②"].State())), `{"a":2,"b":2,"c":2}`)
		b := s.ExpectRequestFor("① ②")
		s.WantEqual("the next Request is told", describePlan(b), "1.1 done 2; 1.2 done 1; 1.3 done 2")
		s.ReplyWith(modeltest.EmptyReply)
		s.ExpectStep(loop.StepFinished)
	}
}

func TestABroadcastThatReachedNobodyIsAskedForAgain(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.UnreachedInstanceTokens = []string{"①", "②"}
	s.InterruptRequest(turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")},
		`{"_tool":"work","_instance":"*","_outputPath":"b"}`)
	s.WantEqual("the next Request", describePlan(s.ExpectRequestFor("① ②")), "")
}

func TestTroublesAreToldUntilARequestPlannedWithThem(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]turn.LLMReply{
		"a lost worker": {IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")},
		"a bad reply":   {Fault: diag.Faultf(turn.CodeNotJSON, "no JSON")},
	} {
		s := modeltest.NewScenario(t, "")
		s.ReplyWith(`{"calls":[{"_tool":"fail"}],"output":null}`)
		s.InterruptRequest(end)
		if got := describeErrors(s.ExpectRequest()); !strings.Contains(got, "1.1 tool_failed: no luck") {
			t.Errorf("after %s: %q", name, got)
		}
	}
}

func TestThePlanOfARequestStaysInSightWhenTheNextBringsNothing(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeNotJSON, "no JSON")})
	s.WantEqual("the Calls", describePlan(s.ExpectRequest()), "1.1 done 1")
}

func TestThreeBadRepliesInARowPause(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	bad := turn.LLMReply{Fault: diag.Faultf(turn.CodeNotJSON, "no JSON")}
	s.InterruptRequest(bad)
	s.InterruptRequest(bad)
	s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.InterruptRequest(bad)
	s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeRefusal, "no")})
	s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeEndlessReply, "on and on")})
	s.ExpectStep(loop.StepPaused)
	s.WantEqual("why", s.Loop.PauseReason.Error(), "bad_replies: 3 bad replies in a row; the last one: on and on")
	s.Loop.Resume(ideafile.Limits{})
	s.WantEqual("it goes on", fmt.Sprint(s.ExpectRequest().RequestNumber), "7")
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectStep(loop.StepFinished)
}

func TestALostWorkerIsNoBadReply(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	for range 5 {
		s.InterruptRequest(turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")})
	}
	s.WantEqual("it goes on", fmt.Sprint(s.ExpectRequest().RequestNumber), "6")
}

func TestRequestsThatTakeTheirWorkersDownOneAfterTheOtherPauseTheProcess(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	for range 10 {
		s.InterruptRequest(turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")})
	}
	s.ExpectStep(loop.StepPaused)
	s.Loop.Resume(ideafile.Limits{})
	s.WantEqual("it goes on", fmt.Sprint(s.ExpectRequest().RequestNumber), "11")
}

func TestWhatAskingAgainDoesNotMendPausesAtOnce(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	s.InterruptRequest(turn.LLMReply{IsNotRetryable: true, Fault: diag.Faultf(turn.CodeLLMError, "401 no such key")})
	s.ExpectStep(loop.StepPaused)
	s.WantEqual("why", s.Loop.PauseReason.Error(), "llm_error: 401 no such key")
	s.WantEqual("the result", s.Loop.Result(loop.StatusPaused, false).Error.Error(), "llm_error: 401 no such key")
	s.Loop.Resume(ideafile.Limits{})
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectStep(loop.StepFinished)
	if s.Loop.Result(loop.StatusCompleted, false).Error != nil {
		t.Error("what is over is forgotten")
	}
}

func TestAttemptsBeforeTheFirstByteAreTurns(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	s.ExpectRequest()
	r := s.DeliverCalls([]any{modeltest.DecodeJSON(t, `{"_tool":"work"}`)})
	r.IsComplete, r.HTTPAttemptCount = true, 3
	s.Conclude(r)
	s.WantEqual("number and turn", fmt.Sprint(s.ExpectRequest().RequestNumber, s.RequestInput.TurnNumber), "2 4")
}

func TestLatentResultsAreAskedForByThemselves(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"think","_instance":"*","x":"†state.a","_outputPath":"mood"},{"_tool":"work","_instance":"①","x":"†state.mood","_outputPath":"b"},{"_tool":"fail","_instance":"②"}],"output":null}`)
	b := s.ExpectRequest()
	s.WantEqual("asked for", string(jsonval.Encode(jsonval.ToJSONValue(b.Questions))),
		`[{"id":"1.1@①","params":{"x":1},"token":"①","tool":"think"},{"id":"1.1@②","params":{"x":2},"token":"②","tool":"think"}]`)
	if b.IsOutputOnly {
		t.Error("it is no closing Request")
	}
	c := s.ReplyWith(`{"calls":[{"_call":"1.1@①","_output":"good"},{"_call":"1.1@②","_output":"bad"}],"output":null}`)
	if len(s.EndedInstances) != 0 || len(c.Calls) != 0 {
		t.Errorf("it settles nobody and plans nothing: %+v", c)
	}
	s.WantEqual("nobody settles by it", s.DescribeInstances(), "① working, ② working")
	b = s.ExpectRequest()
	s.WantEqual("the next plans again, and counts", fmt.Sprint(b.RequestNumber, b.TurnNumber, len(b.Questions)),
		"3 3 0")
	s.WantEqual("what waited for the result has run", string(jsonval.Encode(b.Instances[0].State)),
		`{"a":1,"b":"good","mood":"good"}`)
	s.WantEqual("the Plan is in sight", describePlan(b), "1.1 done 2; 1.2 done 1; 1.3 failed 1")
	s.WantEqual("and what went wrong in it", describeErrors(b), "1.3 tool_failed: no luck in ②")
}

func TestARequestForResultsCoversOnlyThoseThatWait(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"think","_instance":"②"},{"_tool":"work","_instance":"①"}],"output":null}`)
	s.WantEqual("covered", fmt.Sprint(s.ExpectRequest().InstanceTokens()), "[②]")
}

func TestResultsThatStayAwayAreAskedForAgainAndTheThirdTimePauses(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"think","_instance":"*"}],"output":null}`)
	s.ReplyWith(`{"calls":[{"_call":"1.1@①","_output":"good"}],"output":null}`)
	b := s.ExpectRequest()
	s.WantEqual("asked again", fmt.Sprintf("%d: %s", len(b.Questions), b.Questions[0].CallID), "1: 1.1@②")
	s.ReplyWith(`{"calls":[{"_call":"1.1@②","_output":5}],"output":null}`)
	s.WantEqual("told", describeErrors(s.ExpectRequest()),
		"3.1 bad_output: the result of 1.1@②: expected string, but got number")
	s.ReplyWith(`{"calls":[{"_call":"9.9@②","_output":"good"},"x",{"_call":"1.1@②"}],"output":null}`)
	s.ExpectStep(loop.StepPaused)
	s.WantEqual("why", s.Loop.PauseReason.Error(),
		"bad_replies: 3 bad replies in a row; the last one: results that were asked for are missing")
	s.Loop.Resume(ideafile.Limits{})
	s.ReplyWith(`{"calls":[{"_call":"1.1@②","_output":"good"}],"output":null}`)
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectStep(loop.StepFinished)
}

func TestALatentCallWithItsResultNeedsNoRequest(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema)
	s.ReplyWith(
		`{"calls":[{"_tool":"think","_output":"good","_outputPath":"mood"},{"_tool":"work","x":"†state.mood","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"summary":"good"}`)
}

func TestEveryCallIsCountedByItsEnd(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"b"},{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"fail","_instance":"*"},{"_tool":"work","_instance":"②","x":"†state.never"},{"_tool":"work","_instance":"③"},{"_tool":"odd","_instance":"①"}],"output":null}`)
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectStep(loop.StepFinished)
	r := s.Loop.Result(s.Loop.FinalStatus(), true)
	s.WantEqual("the result", string(jsonval.Encode(jsonval.ToJSONValue(r))),
		`{"calls":{"blocked":1,"done":2,"failed":4,"rejected":0,"skipped":1},"error":null,"failures":[`+
			`{"calls":["1.5"],"code":"bad_instance","count":1,"message":"the Request covers no instance \"③\"","status":"failed","tool":"work"},`+
			`{"calls":["1.3@①","1.3@②"],"code":"tool_failed","count":2,"message":"no luck","status":"failed","tool":"fail"},`+
			`{"calls":["1.6@①"],"code":"unknown_tool","count":1,"message":"unknown tool \"odd\"","status":"failed","tool":"odd"},`+
			`{"calls":["1.4@②"],"code":"blocked","count":1,"message":"†state.never is not there and no Call writes it","status":"blocked","tool":"work"}],"ideas":0,`+
			`"instances":{"①":{"failedCalls":2,"state":{"a":1,"b":"work done"},"status":"settled"},`+
			`"②":{"failedCalls":2,"state":{"a":2,"b":"work done"},"status":"settled"}},`+
			`"output":null,"process":"p","quality":null,"requests":2,"status":"completed","usage":{"completionTokens":20,"promptTokens":200}}`)
	if r := s.Loop.Result(loop.StatusCompleted, false); r.Instances["①"].State != nil {
		t.Error("States are left out where they were not asked for")
	}
}

func TestTheMindKeepsEveryStateAsItsInstanceDoes(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"log","_instance":"*"},{"_tool":"work","_instance":"*","x":{"c":1},"_outputPath":"b"},{"_tool":"log","_instance":"②"},{"_tool":"work","_instance":"①","x":{"d":2},"_outputPath":"†state"}],"output":null}`)
	for _, c := range s.Loop.AllInstancesInput().Instances {
		s.WantEqual(c.Token, string(jsonval.Encode(c.State)),
			string(jsonval.Encode(s.InstanceByToken[c.Token].State())))
	}
}

func TestALongProcessShowsTheLLMNoMoreThanAShortOne(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	sizes := map[int]int{}
	for n := 1; n <= 60; n++ {
		s.ReplyWith(
			`{"calls":[{"_tool":"log"},{"_tool":"nonsense"},{"_tool":"work","_outputPath":"p"},7],"output":null}`)
		sizes[n] = len(s.ExpectRequest().PlanEntries)
	}
	if sizes[60] != sizes[2] {
		t.Errorf("%d Calls are shown after 2 Requests, %d after 60", sizes[2], sizes[60])
	}
}

func TestACarriedMindIsTheSameToWhoeverLooks(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls": [{"_tool": "work", "_instance": "*", "x": 1, "_outputPath": "x"}, {"_tool": "log", "_instance": "①"}], "output": null}`)
	s.AddInstances(`[{"type": "state", "_instance": "③", "state": {"a": 3}}]`)
	s.Revise(`{"context": [{"type": "input", "rule": "be kind"}], "by": "ann", "limits": {"requests": 7}}`)
	m := modeltest.ContinueLoopAsNew(t, s.Idea, s.Bindings, s.Loop)
	for what, look := range map[string]func(*loop.Loop) any{
		"the Idea":   func(m *loop.Loop) any { return m.Idea.Source },
		"the result": func(m *loop.Loop) any { return jsonval.ToJSONValue(m.Result(loop.StatusRunning, true)) },
		"the brief":  func(m *loop.Loop) any { return jsonval.ToJSONValue(m.AllInstancesInput()) },
		"the log":    func(m *loop.Loop) any { return turn.EncodeLog(m.TakeUnsealedLog()) },
		"the limits": func(m *loop.Loop) any { return jsonval.ToJSONValue(m.CarryIntoNextRun().Limits) },
		"who is new": func(m *loop.Loop) any { return jsonval.ToJSONValue(m.InstanceTokens()) },
	} {
		before, after := look(s.Loop), look(m)
		if !jsonval.Equal(before, after) || jsonval.Equal(before, jsonval.ToJSONValue(nil)) {
			t.Errorf("%s was\n%s\nand is\n%s", what, jsonval.Encode(before), jsonval.Encode(after))
		}
	}
}

func TestWhatHasNoPlaceInStateIsSaid(t *testing.T) {
	t.Parallel()
	tools := modeltest.ScenarioToolsJSON + `, "load": {"type": "object", "properties": {"x": {}}, "_outputPath": "†state"},
		"exact": {"type": "object", "properties": {}, "_outputPath": "†state", "_output": {"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": false}}`
	s := modeltest.NewScenarioWithTools(t, tools, "", modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"load","_instance":"*","x":{"a":1,"b":2}}],"output":null}`)
	s.ReplyWith(
		`{"calls":[{"_tool":"load","_instance":"*","x":{"a":7,"b":8,"c":3}},{"_tool":"exact","_instance":"①"},{"_tool":"work","_instance":"②","x":5,"_outputPath":"†state.a && †state.d"}],"output":null}`)
	b := s.ExpectRequest()
	before :=
		" was not written: 1.1 had written there before, and a value that a call or a person wrote is never replaced"
	s.WantEqual("the LLM is told", describeErrors(b), "2.1 not_written: what it gave for †state.a"+
		before+" in ①, ②\n"+
		"2.1 not_written: what it gave for †state.b"+before+" in ①, ②\n2.3 not_written: what it gave for †state.a"+
		before+" in ②")
	s.WantEqual("of the results", string(jsonval.Encode(jsonval.ToJSONValue(b.PlanEntries[0].ResultByInstance))),
		`{"①":{"a":7,"b":8},"②":{"a":7,"b":8}}`)
	s.WantEqual("a Call without any place has not run", string(s.InstanceByToken["①"].FindCall("2.2@①").Status)+" by "+
		s.InstanceByToken["①"].FindCall("2.2@①").SkippedBecauseOf, "skipped by 1.1@①")
	r := s.Loop.Result(loop.StatusRunning, false)
	s.WantEqual("the result", string(jsonval.Encode(jsonval.ToJSONValue(r.UnwrittenResults))),
		`[{"by":"1.1","call":"2.1","instances":["①","②"],"path":"†state.a"},`+
			`{"by":"1.1","call":"2.1","instances":["①","②"],"path":"†state.b"},{"by":"1.1","call":"2.3","instances":["②"],"path":"†state.a"}]`)
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectStep(loop.StepFinished)
}

func TestAnUpdateBelowWhatIsNoObjectAnyMoreFailsAndKeepsItsResult(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenarioWithTools(t, `"slow": {"type": "object", "properties": {}, "_outputMethod": "push"}`, "",
		`"context": [{"type": "state", "state": {}}]`)
	s.ReplyWith(`{"calls":[{"_tool":"slow","_outputPath":"a.list"}],"output":null}`)
	s.Revise(`{"context": [{"type":"state","state":{"a":5}}]}`)
	s.ApplyCorrections("", "ann")
	completeSlow(s, "1.1")
	rec := s.InstanceByToken[""].FindCall("1.1")
	s.WantEqual("it", fmt.Sprint(rec.Status, " ", rec.Fault, " ", rec.Result),
		"failed bad_path: †state.a.list: something other than an object stands above it done at last")
}
