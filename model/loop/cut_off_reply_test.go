package loop_test

import (
	"testing"

	"processidea/model/diag"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// A reply that broke off may have had more to say about any instance: none settles by it, and of the instances that got
// no Call the LLM is shown all again.
func TestWhatAReplyThatBrokeOffHasNotAnsweredIsShownAgain(t *testing.T) {
	t.Parallel()
	const (
		goals = `"context": [{"type": "state", "state": {}, ` + stateSchemaRequiringMood + `},
			{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}}, {"type": "state", "_instance": "③", "state": {}}]`
		unanswered = "1.2 tool_failed: no luck in ②\n1.3 blocked: †state.b would come from 1.2@② (failed) in ②"
		reachGoal  = `{"_tool":"work","_instance":["②","③"],"x":"good","_outputPath":"mood"}`
	)
	for name, end := range map[string]turn.LLMReply{
		"the stream broke":    {Fault: diag.Faultf(turn.CodeTruncated, "cut")},
		"the worker was lost": {IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")},
	} {
		for _, isPart := range []bool{false, true} {
			s := modeltest.NewScenarioFromIdea(t,
				modeltest.IdeaFrom(t, `{"schema": {"tools": {`+modeltest.ScenarioToolsJSON+`}}, `+goals+`}`), isPart)
			s.ReplyWith(`{"calls":[{"_tool":"work","_instance":["①","③"],"_outputPath":"b"},{"_tool":"fail","_instance":"②","_outputPath":"b"},
				{"_tool":"work","_instance":"②","x":"†state.b","_outputPath":"c"}]}`)
			s.WantEqual(name+": the LLM is told", describeErrors(s.ExpectRequestFor("① ② ③")), unanswered)
			second := sealed(s, s.InterruptRequest(end,
				`{"_tool":"work","_instance":"①","x":"good","_outputPath":"mood"}`))
			told := end.Fault.Code + ": request 2 was cut off: " + end.Fault.Message +
				"; the Call that had come was taken\n" + unanswered
			third := s.ExpectRequestFor("① ② ③")
			s.WantEqual(name+": it is told again", describeErrors(third), told)
			s.WantEqual(name+": it is shown the Calls", describePlan(third),
				"1.1 done 1; 1.2 failed 1; 1.3 blocked 1; 2.1 done 1")
			afterThird := sealed(s, s.ReplyWith(`{"calls":[`+reachGoal+`]}`))
			s.ExpectStep(loop.StepFinished)

			fork := again(s, second, true)
			s.WantEqual(name+": a fork from it is told", describeErrors(fork.ExpectRequest()), unanswered)
			fork = again(s, afterThird, false)
			s.WantEqual(name+": a fork from the next is told", describeErrors(fork.ExpectRequestFor("① ② ③")),
				told)
		}
	}
}

func TestAReplyThatBrokeOffHidesNoFailureOfADirectPlan(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", directContext("optimal", `{"_tool":"fail","_outputPath":"b"}`, "", `{}`, `{}`))
	s.ExpectStep(loop.StepWait)
	s.RunDirectPlans()
	s.WantEqual("the LLM is told", describeErrors(s.ExpectRequestFor("① ②")),
		"0.1 tool_failed: no luck in ①, ②")
	s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeTruncated, "cut")},
		`{"_tool":"work","_instance":"①","_outputPath":"b"}`)
	again := s.ExpectRequestFor("① ②")
	s.WantEqual("it is told again", describeErrors(again),
		"truncated: request 1 was cut off: cut; the Call that had come was taken\n0.1 tool_failed: no luck in ②")
	s.WantEqual("it is shown the Calls", describePlan(again), "0.1 failed 1; 1.1 done 1")
}
