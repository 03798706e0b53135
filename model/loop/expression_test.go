package loop_test

import (
	"testing"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

// Each instance's value is found by itself: one may have taken the one branch, one the other.
func TestAWiredOutputTakesEachInstancesBranch(t *testing.T) {
	s := modeltest.OnStage(t, `{"type": "object"}`, modeltest.TwoInstances)
	s.Work = func(_ string, params map[string]any) (any, *diag.Fault) {
		if string(jsonval.Encode(params["x"])) == "2" {
			return nil, diag.Faultf(ideafile.CodeToolFailed, "no luck")
		}
		return "fine", nil
	}
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"†state.ok || †state.failed"},
		{"_tool":"think","_instance":"*","x":"†state.ok","_outputPath":"said"}],
		"output":{"all":"†state.ok || †state.failed.message"}}`)
	s.Says(`{"calls":[{"_call":"1.2@①","_output":"good"}],"output":null}`)
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"all":{"①":"fine","②":"no luck"}}`)
	s.Want("they", s.Statuses(), "① settled, ② settled")
}
