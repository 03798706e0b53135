package works

import (
	"context"
	"fmt"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/script"
	"processidea/model/jsonval"
)

// variants are what an LLM may say to the same words: the same Plan in another order or with other names, a step left
// out, a value of its own. The first one is the Plan that is hardened.
var variants = [][]string{
	{`{"_tool":"instant","n":"†state.n","_outputPath":"rated"}`,
		`{"_tool":"instant","n":"†state.rated","_outputPath":"paid"}`},
	{`{"_tool":"instant","n":"†state.rated","_outputPath":"paid"}`,
		`{"_tool":"instant","n":"†state.n","_outputPath":"rated"}`},
	{`{"_tool":"instant","n":"†state.n","_outputPath":"paid"}`},
	{`{"_tool":"instant","n":8,"_outputPath":"rated"}`, `{"_tool":"instant","n":"†state.rated","_outputPath":"paid"}`},
	{`{"_tool":"instant","n":"†state.n","_outputPath":"rating"}`,
		`{"_tool":"instant","n":"†state.rating","_outputPath":"paid"}`},
}

// repeatWork runs one process many times: as an LLM plans it that does not always say the same, and by the Plan of its
// first run. It counts how many different ends the runs come to: what matters is that the Plan comes to one.
func repeatWork(ctx context.Context, b *bed.Bed, r *report.Record, s Size) error {
	n := s.of(2*len(variants), len(variants))
	byLLM, byPlan := map[string]bool{}, map[string]bool{}
	requests := 0
	for i := range n {
		llm, err := b.Script([]string{script.Reply(variants[i%len(variants)], "null", ""),
			script.Reply(nil, "null", "")})
		if err != nil {
			return err
		}
		id := fmt.Sprintf("repeat-%d-%d", s.Round, i)
		if err := runRepeated(ctx, b, id+"-llm", bed.TextMessage("Rate it and pay it."), byLLM); err != nil {
			return err
		}
		before := llm.Requests()
		var calls []any
		for _, call := range variants[0] {
			v, err := jsonval.Decode([]byte(call))
			if err != nil {
				return err
			}
			calls = append(calls, v)
		}
		if err := runRepeated(ctx, b, id+"-plan", map[string]any{"type": "plan", "stage": "optimal", "plan": calls},
			byPlan); err != nil {
			return err
		}
		requests += llm.Requests() - before
	}
	r.Figure("different ends, by the Plan", "").On("runs", n).Add(float64(len(byPlan))).AtMost(1)
	r.Figure("different ends, by the LLM", "").On("runs", n).Add(float64(len(byLLM)))
	r.Figure("Requests of the Plan", "").On("runs", n).Add(float64(requests))
	return nil
}

// runRepeated runs the process once and notes its end.
func runRepeated(ctx context.Context, b *bed.Bed, id string, how any, ends map[string]bool) error {
	state, err := b.StateMessage(ctx, "", map[string]any{"n": 7})
	if err != nil {
		return err
	}
	result, err := b.Run(ctx, bed.Process{ID: id, Tools: map[string]any{"instant": bed.GoTool("instant")},
		Messages: []any{state, how}})
	if err != nil {
		return err
	}
	ends[string(jsonval.Encode(jsonval.ToJSONValue(result.Instances)))] = true
	return nil
}
