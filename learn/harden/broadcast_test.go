package harden

import (
	"fmt"
	"strings"
	"testing"

	"processidea/learn/past"
	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

// A Call for "*" is one of the instances that its Request covered, and of no other: neither of one that waited for a
// person, nor of one that was added when the Request had been made.
func TestACallForAllIsOneOfTheInstancesThatItsRequestCovered(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenarioWithTools(t, `"ask": {"type": "object", "properties": {"x": {}}, "_approval": true}, "find": {"type": "object", "properties": {"x": {}}},
		"note": {"type": "object", "properties": {"x": {}}}`, "", `"context": [
		{"type": "state", "_instance": "a", "state": {"id": "A1"}}, {"type": "state", "_instance": "b", "state": {"id": "B1"}},
		{"type": "state", "_instance": "c", "state": {"id": "C1"}}]`)
	s.RunTool = func(tool string, params map[string]any) (any, *diag.Fault) {
		return tool + " " + jsonval.AsText(params["x"]), nil
	}
	run := past.RecordedProcess{ProcessID: "p"}
	seal := func(tokens string, calls ...string) {
		in := s.ExpectRequestFor(tokens)
		c := s.ReplyWith(`{"calls": [` + strings.Join(calls, ", ") + `], "output": null}`)
		idea := modeltest.SnapshotAndReparse(t, s.Idea, c.AllInstancesInput, c.Calls, c.Reply.Output).Source
		idea["meta"] = map[string]any{"request": jsonval.ToJSONValue(in.RequestNumber)}
		run.Ideas, run.Log = append(run.Ideas, idea), append(run.Log, c.LogBeforeRequest...)
	}
	find := func(token string) string {
		return `{"_tool": "find", "_instance": "` + token + `", "x": "†state.id", "_outputPath": "found"}`
	}
	const note = `{"_tool": "note", "_instance": "*", "x": "†state.found", "_outputPath": "noted"}`
	const effect = `{"_tool": "note", "_instance": "*", "x": "for its effect"}`
	seal("a b c", find("a"), find("b"), `{"_tool": "ask", "_instance": "c", "x": "†state.id", "_outputPath": "asked"}`)
	seal("a b", note, effect)
	s.AddInstances(`[{"type": "state", "_instance": "d", "state": {"id": "D1"}}]`)
	s.Decide("approve", "1.3@c")
	seal("a b c d", find("c"), find("d"))
	seal("c d", note)
	seal("c d")
	if step, _ := s.Loop.Advance(s.Now); step != loop.StepFinished {
		t.Fatalf("the next step is %s", step)
	}
	run.Log = append(run.Log, s.Loop.TakeUnsealedLog()...)
	run.Ideas = append(run.Ideas, modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil).Source)

	for _, logged := range []bool{true, false} {
		if !logged {
			run.Log = nil // what a chain without a log tells is in its records alone
		}
		h := &hardener{bindingByTool: s.Bindings, isPresentAtStartByRef: map[string]bool{}}
		if err := h.readRun(run); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, r := range h.instances {
			for _, c := range r.recordedCalls {
				got[r.instanceToken] += fmt.Sprintf("%s %s; ", c.parsedCall.ID, c.Status)
			}
		}
		for token, want := range map[string]string{
			"a": "1.1@a done; 2.1@a done; 2.2@a done; ", "b": "1.2@b done; 2.1@b done; 2.2@b done; ",
			"c": "1.3@c done; 3.1@c done; 4.1@c done; ", "d": "3.2@d done; 4.1@d done; ",
		} {
			if got[token] != want {
				t.Errorf("with a log: %v: %s had %s, want %s", logged, token, got[token], want)
			}
		}
	}
}
