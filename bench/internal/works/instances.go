package works

import (
	"context"
	"fmt"
	"sync"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/usage"
)

const (
	maxEvents   = 10_000 // of any workflow's history
	maxResident = 2048   // MB of memory for the whole program
)

// instancesWork runs instances with one instant Call each by a Plan, without an LLM.
func instancesWork(full int) func(context.Context, *bed.Bed, *report.Record, Size) error {
	return func(ctx context.Context, b *bed.Bed, r *report.Record, s Size) error {
		n := s.of(full, 20)
		usage.ForgetPeak()
		processor := usage.ProcessorTime()
		took, err := runInstances(ctx, b, n, bed.GoTool("instant"))
		if err != nil {
			return err
		}
		r.Figure("time", "s").On("instances", n).Add(seconds(took)).AddPlain(seconds(plainInstances(n)))
		r.Figure("a thousand of them", "s").On("instances", n).Add(seconds(took) / float64(n) * 1000)
		r.Figure("processor time", "s").On("instances", n).Add(usage.ProcessorTime() - processor)
		r.Figure("memory", "MB").On("instances", n).Add(usage.PeakResident()).AtMost(maxResident)
		if err := countEvents(ctx, b, r, n); err != nil {
			return err
		}
		return countBytes(ctx, b, r, "instances", n, limits{})
	}
}

func runInstances(ctx context.Context, b *bed.Bed, n int, tool map[string]any) (time.Duration, error) {
	p := bed.Process{ID: "instances", Tools: map[string]any{"instant": tool}}
	if err := addInstances(ctx, b, &p, n); err != nil {
		return 0, err
	}
	p.Messages = append(p.Messages, map[string]any{"type": "plan", "stage": "complete", "plan": []any{
		map[string]any{"_tool": "instant", "n": "†state.n", "_outputPath": "done"},
	}})
	begin := time.Now()
	result, err := b.Run(ctx, p)
	took := time.Since(begin)
	if err == nil && result.Calls.Done != n {
		err = fmt.Errorf("%d of %d Calls were done", result.Calls.Done, n)
	}
	return took, err
}

// addInstances adds instances whose State is a number.
func addInstances(ctx context.Context, b *bed.Bed, p *bed.Process, n int) error {
	for i := range n {
		m, err := b.StateMessage(ctx, fmt.Sprintf("i%05d", i+1), map[string]any{"n": i + 1})
		if err != nil {
			return err
		}
		p.Messages = append(p.Messages, m)
	}
	return nil
}

func plainInstances(n int) time.Duration {
	begin := time.Now()
	var all sync.WaitGroup
	states := make([]map[string]any, n)
	for i := range n {
		all.Go(func() {
			v, _ := bed.Instant(context.Background(), bed.ToolInput{N: i + 1})
			states[i] = map[string]any{"n": i + 1, "done": v}
		})
	}
	all.Wait()
	return time.Since(begin)
}
