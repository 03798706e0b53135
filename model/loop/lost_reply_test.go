package loop_test

import (
	"testing"

	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// The process has no reply, and an instance that had the whole of it tells what became of the Calls, but not what they
// are.
func TestWhatALostWorkerHandedOnIsTheSolutionThoughSomeInstancesHadHeardItsEnd(t *testing.T) {
	t.Parallel()
	const call = `{"_instance":"*","_outputPath":"b","_tool":"work","x":"†state.a"}`
	for name, whole := range map[string][]string{"the first": {"①"}, "both": {"①", "②"}} {
		s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
		s.FullyDeliveredInstanceTokens = whole
		if len(whole) == 1 {
			s.UnreachedInstanceTokens = []string{"②"}
		}
		c := s.InterruptRequest(turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")},
			call)
		s.FullyDeliveredInstanceTokens, s.UnreachedInstanceTokens = nil, nil
		s.WantEqual("as the instances have it: "+name, string(jsonval.Encode(c.Calls)), "["+call+"]")
		s.WantEqual("the next Request: "+name, describePlan(s.ExpectRequestFor("① ②")), "1.1 done 2")
	}
}

func TestALostReplyIsConcludedOnceEveryInstanceHasToldItsCalls(t *testing.T) {
	t.Parallel()
	for _, began := range []string{"now", "before"} {
		s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
		s.Loop.IsPatched = func(change string) bool { return began == "now" || change != loop.ReportLostCallsChangeID }
		s.ExpectRequest()
		s.DeliverCalls([]any{modeltest.DecodeJSON(t, `{"_tool":"work","_instance":"*","_outputPath":"b"}`)})
		told := func(token string, through int) {
			s.RunToIdle(token, 1)
			r := s.TakeReport(token, 1)
			r.ReportedThroughRequest = through
			s.DeliverReport(r)
		}
		told("①", 0)
		told("②", 1)
		s.Loop.ApplyReply(turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")})
		isWaiting := s.Loop.ConcludeRequest() == nil
		if isWaiting != (began == "now") {
			t.Errorf("of a process that began %s it waits: %v", began, isWaiting)
		}
		told("①", 1)
		if isWaiting && s.Loop.ConcludeRequest() == nil {
			t.Error("it waits although all have told")
		}
	}
}

// An instance that had the whole reply, of a process that began before, does not tell its Calls again: another one may.
func TestWhatOneInstanceHasNotToldOfALostReplyAnotherTells(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.Loop.IsPatched = func(change string) bool { return change != loop.ReportLostCallsChangeID }
	s.FullyDeliveredInstanceTokens = []string{"①"}
	c := s.InterruptRequest(turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")},
		`{"_instance":"*","_outputPath":"b","_tool":"work"}`)
	s.WantEqual("the solution", string(jsonval.Encode(c.Calls)), `[{"_instance":"*","_outputPath":"b","_tool":"work"}]`)
}
