package backtest_test

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/learn/backtest"
	"processidea/learn/past"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// drawnTools is the palette of random processes: what each gives depends on what it was given alone, or on how often it
// was asked (odd).
const drawnTools = `"work": {"type": "object", "properties": {"x": {}}}, "odd": {"type": "object", "properties": {"x": {}}},
	"look": {"type": "object", "properties": {"x": {}}, "_outputPath": "†state.good || †state.bad"},
	"ask": {"type": "object", "properties": {"x": {}}, "_approval": true},
	"log": {"type": "object", "properties": {"x": {}}, "_outputPath": "†state.log", "_outputMethod": "push"}`

// drawnResult is what a Tool gives: a failure, a value, or one that chooses a branch.
func drawnResult(times int, tool string, params map[string]any) (any, *diag.Fault) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(tool + string(jsonval.Encode(params))))
	n := h.Sum32()
	if tool == "odd" {
		n += uint32(times)
	}
	switch text := fmt.Sprintf("%s %d", tool, n%50); {
	case n%4 == 0 && tool != "log":
		return nil, diag.Faultf(ideafile.CodeToolFailed, "%s", text)
	case tool == "look" && n%2 == 0:
		return map[string]any{"_outputPath": "†state.bad", "_result": text}, nil
	case n%3 == 0:
		return map[string]any{"sku": text}, nil
	default:
		return text, nil
	}
}

func drawCalls(t *rapid.T, tokens []string) string {
	calls := []string{}
	for range rapid.IntRange(0, 3).Draw(t, "calls") {
		call := fmt.Sprintf(`{"_tool": %q, "x": %s`,
			rapid.SampledFrom([]string{"work", "odd", "look", "log", "ask", "none"}).Draw(t, "tool"),
			rapid.SampledFrom([]string{`"†state.id"`, `"†state.a"`, `"†state.b || †state.id"`, `"†state.good"`,
				`1`}).Draw(t, "x"))
		if path := rapid.SampledFrom([]string{"", "a", "b", "b.c"}).Draw(t, "path"); path != "" &&
			!strings.Contains(call, "lo") {
			call += fmt.Sprintf(`, "_outputPath": %q`, path)
		}
		calls = append(calls, call+fmt.Sprintf(`, "_instance": %q}`,
			rapid.SampledFrom(append(tokens, "*")).Draw(t, "token")))
	}
	return `{"calls": [` + strings.Join(calls, ", ") + `], "output": null}`
}

// drawPast runs a random process to its end, with a person who decides as it comes; ok is false for one that came to
// none.
func drawPast(t *rapid.T) (run past.RecordedProcess, idea *ideafile.Idea, ok bool) {
	plan := ""
	if rapid.IntRange(0, 2).Draw(t, "direct") == 0 {
		m, _ := jsonval.DecodeObject([]byte(drawCalls(t, []string{"*"})))
		plan = `, {"type": "plan", "stage": "optimal", "plan": ` + string(jsonval.Encode(m["calls"])) + `}`
	}
	s := modeltest.NewScenarioWithTools(t, drawnTools, "", `"context": [{"type": "state", "_instance": "①", "state": {"id": 1}},
		{"type": "state", "_instance": "②", "state": {"id": 2, "b": {}}}`+plan+`]`)
	times := 0
	s.RunTool = func(tool string, params map[string]any) (any, *diag.Fault) {
		times++
		return drawnResult(times, tool, params)
	}
	seal := func(in *turn.RequestInput, calls []ideafile.WrittenCall, request int, log []turn.LogEntry) {
		source := modeltest.SnapshotAndReparse(t, s.Idea, in, calls, nil).Source
		if request > 0 {
			source["meta"] = map[string]any{"request": jsonval.ToJSONValue(request)}
		}
		run.Ideas, run.Log = append(run.Ideas, source), append(run.Log, log...)
	}
	run.ProcessID = "p"
	s.RunDirectPlans()
	for range 20 {
		step, in := s.Loop.Advance(s.Now)
		switch step {
		case loop.StepWait:
			decideAll(t, s)
			if wake := s.Loop.NextWakeTime(); wake.After(s.Now) {
				s.Now = wake
			}
		case loop.StepRequest:
			reply := modeltest.EmptyReply
			if in.RequestNumber <= 3 {
				reply = drawCalls(t, append(in.InstanceTokens(), in.ReopenableTokens...))
			}
			c := s.ReplyWith(reply)
			seal(c.AllInstancesInput, c.Calls, c.RequestInput.RequestNumber, c.LogBeforeRequest)
		default:
			seal(s.Loop.AllInstancesInput(), nil, 0, s.Loop.TakeUnsealedLog())
			return run, s.Idea, step == loop.StepFinished
		}
	}
	return run, s.Idea, false
}

func decideAll(t *rapid.T, s *modeltest.Scenario) {
	for _, token := range s.Loop.InstanceTokens() {
		for _, p := range s.InstanceByToken[token].PendingApprovals() {
			switch kind := rapid.SampledFrom([]string{"approve", "reject", "answer"}).Draw(t, "decision"); kind {
			case "reject":
				s.Decide(kind, p.CallID, `{"reason": "no"}`)
			case "answer":
				s.Decide(kind, p.CallID, `{"output": "by hand"}`)
			default:
				s.Decide(kind, p.CallID)
			}
		}
	}
}

func TestWhateverHappenedTheSameIdeaDiffersInNothing(t *testing.T) {
	t.Parallel()
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		run, idea, ok := drawPast(t)
		if !ok {
			return
		}
		past, err := backtest.Read(run)
		if err != nil {
			t.Fatal(err)
		}
		r, err := backtest.Compare(idea, bind, nil, past)
		if err != nil {
			t.Fatal(err)
		}
		compared += r.SameCount
		if len(r.SkippedInstances) > 0 || r.DifferentCount+r.UnknownCount > 0 {
			t.Fatalf("left out %v\n%s", r.SkippedInstances, describe(r))
		}
	})
	if compared == 0 {
		t.Error("nothing was compared")
	}
}
