package workflows_test

import (
	"fmt"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
)

// steering is what people bring while a process runs, most of which is refused.
var steering = []struct{ kind, message string }{
	{approval.SteerRevise, `{"type": "state", "_instance": "5", "note": "mind"}`},
	{approval.SteerRevise, `{"type": "state", "_instance": "1", "note": "it has settled"}`},
	{approval.SteerRevise, `{"type": "state", "_instance": "17", "note": "nobody"}`},
	{approval.SteerRevise, `{"type": "state", "note": "all"}`},
	{approval.SteerRevise, `{"type": "state", "_instance": "6", "n": {"m": 1}}`},
	{approval.SteerRevise,
		`{"type": "state", "_instance": "6", "state": {"n": 60}, "schema": {"type": "object", "properties": {"n": {"type": "string"}}}}`},
	{approval.SteerRevise, `{"type": "text", "text": "hello"}`},
	{approval.SteerRevise,
		`{"type": "plan", "_instance": "1", "stage": "complete", "plan": [{"_tool": "whisper", "text": "One", "_outputPath": "loud"}], "output": {"all": "†state.loud"}}`},
	{approval.SteerAddInstances, `{"type": "state", "_instance": "7", "n": 3}`},
	{approval.SteerAddInstances, `{"type": "state", "_instance": "8", "n": 8}`},
	{approval.SteerAddInstances, `{"type": "state", "_instance": "3", "n": 3}`},
	{approval.SteerAddInstances, `{"type": "state", "n": 3}`},
	{approval.SteerAddInstances,
		`{"type": "plan", "_instance": "9", "stage": "complete", "plan": [{"_tool": "whisper", "text": "Nine", "_outputPath": "loud"}], "output": {"all": "†state.loud"}}`},
}

// A process in parts refuses what its parts would refuse.
func TestWhatPeopleReviseAndAddComesToTheSameInParts(t *testing.T) {
	t.Parallel()
	asOneAndInParts(t, func(t *testing.T, config string) (*scenario, map[string]string) {
		pay := newTill(t).pay(`{"when": {"properties": {"n": {"minimum": 4}}}}`)
		s := newScenario(t, `{"config": {`+config+`}, "schema": {"tools": {`+alikeTools+`, "pay": `+pay+`}}, "context": [`+rowsOf(6)+`
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "pay", "n": "†state.n", "_outputPath": "paid"},
				{"_tool": "shout", "text": "†state.note || †state.paid", "_outputPath": "loud"}], "output": {"all": "†state.loud"}}]}`)
		s.start()
		facts := s.midway(3)
		for n, c := range steering {
			message, err := jsonval.Decode([]byte(c.message))
			if err != nil {
				t.Fatal(err)
			}
			s.signal(s.id, c.kind, map[string]any{"by": "hal", "reason": "so", "id": fmt.Sprint(n + 1),
				"context": []any{message}})
			s.became(s.id, fmt.Sprint(n+1))
		}
		for _, r := range s.processStatus().Refusals {
			facts["refusal "+r.ID] = r.Signal + " " + r.RefusalReason
		}
		for name, fact := range s.midway(4) {
			facts["then, "+name] = fact
		}
		for _, a := range s.waitsFor(4) {
			s.decide(policy.Approve, a.CallID, "")
		}
		return s, facts
	})
}
