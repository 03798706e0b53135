package modeltest

import (
	"pgregory.net/rapid"

	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// generateReply draws a solution, good or bad, that an LLM might write for a Request.
func generateReply(t *rapid.T, in *turn.RequestInput) string {
	calls, output := []any{}, any(nil)
	if len(in.Questions) > 0 {
		for _, a := range in.Questions {
			if drawInt(t, "answered", 0, 4) > 0 {
				calls = append(calls, jsonval.Object{"_call": a.CallID,
					"_output": drawOneOf[any](t, "result", "good", "", nil)})
			}
		}
		return jsonval.EncodeToString(jsonval.Object{"calls": calls, "output": nil})
	}
	for range drawOneOf(t, "calls", 0, 0, 1, 2, 3) {
		call := jsonval.Object{
			"_tool": drawOneOf(t, "tool", "work", "work", "fail", "think", "log", "odd")}
		if token := drawOneOf(t, "token", "*", "①", "②", "③", ""); token != "" {
			call["_instance"] = token
		}
		if path := drawOneOf(t, "path", "", "b", "c", "b.d", "†state"); path != "" && call["_tool"] != "log" {
			call["_outputPath"] = path
		}
		if reference := drawOneOf(t, "read", "", "†state.a", "†state.b", "†state.never", "†"); reference != "" {
			call["x"] = reference
		}
		calls = append(calls, call)
	}
	output = drawOneOf[any](t, "output", nil, nil, jsonval.Object{"summary": "text"},
		jsonval.Object{"summary": "†state.b"}, jsonval.Object{"summary": true})
	isFinished := rapid.Bool().Draw(t, "finished")
	return jsonval.EncodeToString(jsonval.Object{"calls": calls, "output": output, "finished": isFinished})
}

// RunRandomProcess plays a process of two instances with random replies until it has ended or paused, or for twelve
// Requests. onRequestConcluded is called when a Request is concluded.
func RunRandomProcess(t *rapid.T, onRequestConcluded func(*Scenario, *loop.RequestConclusion)) *Scenario {
	s := NewScenario(t, drawOneOf(t, "form", "", `{"type": "object"}`),
		drawOneOf(t, "context", TwoInstancesContext,
			`"context": [{"type": "state", "_instance": "①", "state": {"a": 1}, "schema": {"type": "object", "required": ["b"]}},
			{"type": "state", "_instance": "②", "state": {}}]`,
			`"context": [{"type": "state", "_instance": "①", "state": {"a": 1}}, {"type": "state", "_instance": "②", "state": {"a": null}},
			{"type": "plan", "stage": "optimal", "plan": [{"_tool": "think", "x": "†state.a", "_outputPath": "b"},
				{"_tool": "work", "n": "†state.a", "_outputPath": "c"}, {"_tool": "log"}],
				"output": {"all": "†state.c"}},
			{"type": "plan", "_instance": "②", "stage": "optimal", "when": {"properties": {"state": {"required": ["odd"]}}}, "plan": []}]`),
		drawOneOf(t, "config", `"config": {}`, `"config": {"settle": "together"}`))
	s.RunDirectPlans()
	for range 12 {
		step, in := s.nextStep()
		if step != loop.StepRequest {
			return s
		}
		var c *loop.RequestConclusion
		switch drawInt(t, "fate", 0, 9) {
		case 0:
			c = s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeTruncated, "cut")})
		case 1:
			c = s.InterruptRequest(turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")})
		case 2:
			if len(in.Questions) > 0 || in.IsOutputOnly {
				continue
			}
			lostReply := turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")}
			c = s.InterruptRequest(lostReply, `{"_tool":"work","_instance":"*","_outputPath":"e"}`)
		default:
			c = s.ReplyWith(generateReply(t, in))
		}
		onRequestConcluded(s, c)
	}
	return s
}
