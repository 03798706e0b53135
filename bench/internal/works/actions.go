package works

import (
	"context"
	"fmt"
	"slices"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/script"
)

// actionsWork counts what a hosted Temporal server bills for the batch, the chain and the diamond.
func actionsWork(ctx context.Context, b *bed.Bed, r *report.Record, s Size) error {
	batch, chain := s.of(100, 5), s.of(200, 6)
	for _, w := range []struct {
		name string
		n    int // instances, Requests or Calls
		axis string
		most float64 // for each of them
		run  func() error
	}{
		{"batch", batch, "instances", 7, func() error {
			one := []string{`{"_instance":"*","_tool":"instant","n":"†state.n","_outputPath":"done"}`}
			_, _, err := runBatch(ctx, b, batch, []string{script.Reply(one, `{"all":"†state.done"}`, "")})
			return err
		}},
		// Each step is a Request, at most 5, and a Call, at most 3.
		{"chain", chain, "requests", 8, func() error { _, err := runChain(ctx, b, "chain", "instant", chain); return err }},
		// Eight Calls in two Requests.
		{"diamond", len(script.Diamond), "calls", (3*8 + 5*2) / 8., func() error { _, err := runDiamond(ctx, b, script.DiamondLines(false, "")); return err }},
	} {
		before, err := b.Actions(ctx)
		if err != nil {
			return err
		}
		if err := w.run(); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		after, err := b.Actions(ctx)
		if err != nil {
			return err
		}
		r.Figure("actions of the "+w.name+", each", "").On(w.axis, w.n).Add(float64(after.Total()-before.Total()) / float64(w.n)).AtMost(limitIf(!s.Quick, w.most))
		var kinds []string
		for kind := range after {
			kinds = append(kinds, kind)
		}
		slices.Sort(kinds)
		for _, kind := range kinds {
			r.Figure(w.name+": "+kind, "").On(w.axis, w.n).Add(float64(after[kind] - before[kind]))
		}
	}
	return nil
}
