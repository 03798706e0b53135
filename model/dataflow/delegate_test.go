package dataflow_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/check"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// A Call that reads what a delegate may hand back waits for it, whoever it was that was to write it.
func TestAReaderWaitsForWhatADelegateMayHandBack(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenarioWithTools(t,
		modeltest.ScenarioToolsJSON+
			`, "slow": {"type": "object", "_delegate": "a.json", "_writes": ["state.note"], "_output": {"type": "string"}}`, "")
	s.ReplyWith(
		`{"calls":[{"_tool":"slow","_outputPath":"b"},{"_tool":"work","x":"†state.note","_outputPath":"c"}],"output":null}`)
	run := s.InstanceByToken[""]
	s.WantEqual("the reader", string(run.FindCall("1.2").Status), "waiting")
	run.ApplyDelegateResult("1.1", s.Idea.Tool("slow"), "fine", map[string]any{"note": "mind", "other": "not mine"})
	s.InstanceByToken[""] = modeltest.ContinueInstanceAsNew(t, run)
	s.AdvanceInstance("")
	s.WantEqual("the State", string(jsonval.Encode(s.InstanceByToken[""].State())),
		`{"b":"fine","c":"mind","note":"mind"}`)
	s.WantEqual("who wrote it",
		fmt.Sprint(s.InstanceByToken[""].StateWrites()[0].Author, s.InstanceByToken[""].StateWrites()[1].Author),
		"1.11.1")
}

func TestWhatADelegateHandsBackIsWrittenOnce(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenarioWithTools(t,
		modeltest.ScenarioToolsJSON+`, "slow": {"type": "object", "_delegate": "a.json", "_writes": ["state.a"]}`, "",
		`"context": [{"type": "state", "state": {"a": 1}}]`)
	s.ReplyWith(`{"calls":[{"_tool":"slow"}],"output":null}`)
	s.InstanceByToken[""].ApplyDelegateResult("1.1", s.Idea.Tool("slow"), nil, map[string]any{"a": "2"})
	s.WantEqual("the State", string(jsonval.Encode(s.InstanceByToken[""].State())), `{"a":1}`)
	s.WantEqual("the Call", string(s.InstanceByToken[""].FindCall("1.1").Status), "done")
}

func TestWhatADelegateHandsBackMustFitTheStateSchema(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenarioWithTools(t,
		modeltest.ScenarioToolsJSON+`, "slow": {"type": "object", "_delegate": "a.json", "_writes": ["state.n"]}`, "",
		`"context": [{"type": "state", "state": {}, "schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}]`)
	s.ReplyWith(`{"calls":[{"_tool":"slow"}],"output":null}`)
	s.InstanceByToken[""].ApplyDelegateResult("1.1", s.Idea.Tool("slow"), nil, map[string]any{"n": "two"})
	s.WantEqual("the Call", string(s.InstanceByToken[""].FindCall("1.1").Status), "failed")
}

func TestCheckKnowsWhatADelegateMayHandBack(t *testing.T) {
	t.Parallel()
	idea := modeltest.IdeaFrom(t, `{"schema": {"tools": {`+modeltest.ScenarioToolsJSON+`, "slow": {"type": "object", "_delegate": "a.json", "_writes": ["state.note"], "_output": {"type": "string"}}}},
		"context": [{"type": "plan", "plan": [{"_tool": "slow", "_outputPath": "b"}, {"_tool": "work", "n": "†state.note"}, {"_tool": "work", "x": "†state.other"}]}]}`)
	got := check.Check(idea, nil).Errors()
	if len(got) != 1 || !strings.Contains(got.Error(), "no Call writes †state.other") {
		t.Error(got)
	}
}
