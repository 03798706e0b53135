package loop_test

import (
	"testing"

	"processidea/model/diag"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// A reply that broke off may have had more to say about any instance: none settles by it, and of the instances that got no Call the LLM is shown all
// again.
func TestWhatAReplyThatBrokeOffHasNotAnsweredIsShownAgain(t *testing.T) {
	const goals = `"context": [{"type": "state", "state": {}, ` + modeltest.StateSchemaRequiringMood + `},
		{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}}, {"type": "state", "_instance": "③", "state": {}}]`
	for name, end := range map[string]turn.LLMReply{
		"the stream broke":    {Fault: diag.Faultf(turn.CodeTruncated, "cut")},
		"the worker was lost": {WorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")},
	} {
		s := modeltest.NewScenario(t, "", goals)
		s.ReplyWith(`{"calls":[{"_tool":"work","_instance":["①","③"],"_outputPath":"b"},{"_tool":"fail","_instance":"②","_outputPath":"b"},
			{"_tool":"work","_instance":"②","x":"†state.b","_outputPath":"c"}]}`)
		const open = "1.2 tool_failed: no luck in ②\n1.3 blocked: †state.b would come from 1.2@② (failed) in ②"
		s.WantEqual(name+": the LLM is told", modeltest.DescribeErrors(s.ExpectRequestFor("① ② ③")), open)
		s.InterruptRequest(end, `{"_tool":"work","_instance":"①","x":"good","_outputPath":"mood"}`)
		again := s.ExpectRequestFor("① ② ③")
		s.WantEqual(name+": it is told again", modeltest.DescribeErrors(again),
			end.Fault.Code+": request 2 was cut off: "+end.Fault.Message+"; the Call that had come was taken\n"+open)
		s.WantEqual(name+": it is shown the Calls", modeltest.DescribePlan(again), "1.1 done 1; 1.2 failed 1; 1.3 blocked 1; 2.1 done 1")
		s.ReplyWith(`{"calls":[{"_tool":"work","_instance":["②","③"],"x":"good","_outputPath":"mood"}]}`)
		s.ExpectStep("finished")
	}
}
