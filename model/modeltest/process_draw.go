package modeltest

import (
	"pgregory.net/rapid"

	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// drawReply draws a solution, good or bad, that an LLM might write for a Request.
func drawReply(t *rapid.T, in *turn.RequestInput) string {
	calls, output := []any{}, any(nil)
	if len(in.Questions) > 0 {
		for _, a := range in.Questions {
			if rapid.IntRange(0, 4).Draw(t, "answered") > 0 {
				calls = append(calls, jsonval.Object{"_call": a.CallID,
					"_output": rapid.SampledFrom([]any{"good", "", nil}).Draw(t, "result")})
			}
		}
		return string(jsonval.Encode(jsonval.Object{"calls": calls, "output": nil}))
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 2, 3}).Draw(t, "calls") {
		call := jsonval.Object{
			"_tool": rapid.SampledFrom([]string{"work", "work", "fail", "think", "log", "odd"}).Draw(t, "tool")}
		if token := rapid.SampledFrom([]string{"*", "①", "②", "③", ""}).Draw(t, "token"); token != "" {
			call["_instance"] = token
		}
		if path := rapid.SampledFrom([]string{"", "b", "c", "b.d", "†state"}).Draw(t, "path"); path != "" &&
			call["_tool"] != "log" {
			call["_outputPath"] = path
		}
		if read := rapid.SampledFrom([]string{"", "†state.a", "†state.b", "†state.never", "†"}).Draw(t,
			"read"); read != "" {
			call["x"] = read
		}
		calls = append(calls, call)
	}
	output = rapid.SampledFrom([]any{nil, nil, jsonval.Object{"summary": "text"}, jsonval.Object{"summary": "†state.b"},
		jsonval.Object{"summary": true}}).Draw(t, "output")
	finished := rapid.Bool().Draw(t, "finished")
	return string(jsonval.Encode(jsonval.Object{"calls": calls, "output": output, "finished": finished}))
}

// RunDrawnProcess plays a process of two instances with random replies until it is over or paused, or for twelve
// Requests. after is called when a Request is concluded.
func RunDrawnProcess(t *rapid.T, after func(*Scenario, *loop.RequestConclusion)) *Scenario {
	s := NewScenario(t, rapid.SampledFrom([]string{"", `{"type": "object"}`}).Draw(t, "form"),
		rapid.SampledFrom([]string{TwoInstances,
			`"context": [{"type": "state", "_instance": "①", "state": {"a": 1}, "schema": {"type": "object", "required": ["b"]}},
			{"type": "state", "_instance": "②", "state": {}}]`,
			`"context": [{"type": "state", "_instance": "①", "state": {"a": 1}}, {"type": "state", "_instance": "②", "state": {"a": null}},
			{"type": "plan", "stage": "optimal", "plan": [{"_tool": "think", "x": "†state.a", "_outputPath": "b"},
				{"_tool": "work", "n": "†state.a", "_outputPath": "c"}, {"_tool": "log"}],
				"output": {"all": "†state.c"}},
			{"type": "plan", "_instance": "②", "stage": "optimal", "when": {"properties": {"state": {"required": ["odd"]}}}, "plan": []}]`,
		}).Draw(t, "context"), rapid.SampledFrom([]string{`"config": {}`, `"config": {"settle": "together"}`}).Draw(t,
			"config"))
	s.RunDirectPlans()
	for range 12 {
		step, in := s.nextStep()
		if step != loop.StepRequest {
			return s
		}
		var c *loop.RequestConclusion
		switch rapid.IntRange(0, 9).Draw(t, "fate") {
		case 0:
			c = s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeTruncated, "cut")})
		case 1:
			c = s.InterruptRequest(turn.LLMReply{WorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")})
		case 2:
			if len(in.Questions) > 0 || in.OutputOnly {
				continue
			}
			lost := turn.LLMReply{WorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")}
			c = s.InterruptRequest(lost, `{"_tool":"work","_instance":"*","_outputPath":"e"}`)
		default:
			c = s.ReplyWith(drawReply(t, in))
		}
		after(s, c)
	}
	return s
}
