package loop_test

import (
	"testing"

	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func TestACallForSomeIsHandedToThoseThatItNamesAlone(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", threeInstances)
	s.UnreachedInstanceTokens = []string{"③"}
	s.InterruptRequest(turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")},
		`{"_tool":"work","_instance":["①","③"],"_outputPath":"b"}`)
	s.UnreachedInstanceTokens = nil
	for token, want := range map[string]string{"①": `{"b":"work done"}`, "②": `{}`, "③": `{"b":"work done"}`} {
		s.WantEqual(token, string(jsonval.Encode(s.InstanceByToken[token].State())), want)
	}
	s.WantEqual("the next Request is told", describePlan(s.ExpectRequestFor("① ② ③")), "1.1 done 2")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":["②","④"],"_outputPath":"c"}],"output":null}`)
	s.WantEqual("and of a name that is none", describeErrors(s.ExpectRequest()),
		`2.1 bad_instance: the Request covers no instance "④"`)
	s.WantEqual("② in the end", string(jsonval.Encode(s.InstanceByToken["②"].State())), `{"c":"work done"}`)
}
