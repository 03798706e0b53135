package loop_test

import (
	"testing"

	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func TestACarriedMindIsTheSameToWhoeverLooks(t *testing.T) {
	s := modeltest.NewScenario(t, "", modeltest.TwoInstances)
	s.ReplyWith(`{"calls": [{"_tool": "work", "_instance": "*", "x": 1, "_outputPath": "x"}, {"_tool": "log", "_instance": "①"}], "output": null}`)
	s.AddInstances(`[{"type": "state", "_instance": "③", "state": {"a": 3}}]`)
	s.Revise(`{"context": [{"type": "input", "rule": "be kind"}], "by": "ann", "limits": {"requests": 7}}`)
	m := modeltest.CarryLoop(t, s.Idea, s.Bindings, s.Loop)
	for what, look := range map[string]func(*loop.Loop) any{
		"the Idea":   func(m *loop.Loop) any { return m.Idea().Source },
		"the result": func(m *loop.Loop) any { return jsonval.Normal(m.Result(loop.StatusRunning, true)) },
		"the brief":  func(m *loop.Loop) any { return jsonval.Normal(m.FullInput()) },
		"the log":    func(m *loop.Loop) any { return turn.EncodeLog(m.TakeLog()) },
		"the limits": func(m *loop.Loop) any { return jsonval.Normal(m.Carry().Limits) },
		"who is new": func(m *loop.Loop) any { return jsonval.Normal(m.Tokens()) },
	} {
		before, after := look(s.Loop), look(m)
		if !jsonval.Equal(before, after) || jsonval.Equal(before, jsonval.Normal(nil)) {
			t.Errorf("%s was\n%s\nand is\n%s", what, jsonval.Encode(before), jsonval.Encode(after))
		}
	}
}
