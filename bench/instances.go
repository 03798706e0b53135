package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// maxEvents is what no workflow's history may be longer than, and maxResident the memory of the whole program in MB.
const (
	maxEvents   = 10_000
	maxResident = 2048
)

// instancesWork runs instances with one instant Call each, by a Plan that asks no LLM.
func instancesWork(full int) func(context.Context, *bed, *record, size) error {
	return func(ctx context.Context, b *bed, r *record, s size) error {
		n := s.of(full, 20)
		forgetPeak()
		processor := processorTime()
		took, err := b.instances(ctx, n)
		if err != nil {
			return err
		}
		r.of("time", "s").on("instances", n).add(seconds(took)).beside(seconds(plainInstances(n)))
		r.of("a thousand of them", "s").on("instances", n).add(seconds(took) / float64(n) * 1000)
		r.of("processor time", "s").on("instances", n).add(processorTime() - processor)
		r.of("memory", "MB").on("instances", n).add(peakResident()).atMost(maxResident)
		if err := b.countEvents(ctx, r, n); err != nil {
			return err
		}
		return b.countBytes(ctx, r, "instances", n, kept{})
	}
}

func (b *bed) instances(ctx context.Context, n int) (time.Duration, error) {
	p := process{id: "instances", tools: map[string]any{"instant": goTool("instant")}}
	if err := b.addInstances(ctx, &p, n); err != nil {
		return 0, err
	}
	p.messages = append(p.messages, map[string]any{"type": "plan", "stage": "complete", "plan": []any{
		map[string]any{"_tool": "instant", "n": "†state.n", "_outputPath": "done"},
	}})
	begin := time.Now()
	result, err := b.run(ctx, p)
	took := time.Since(begin)
	if err == nil && result.Calls.Done != n {
		err = fmt.Errorf("%d of %d Calls were done", result.Calls.Done, n)
	}
	return took, err
}

// addInstances adds instances whose State is a number.
func (b *bed) addInstances(ctx context.Context, p *process, n int) error {
	for i := range n {
		m, err := b.state(ctx, fmt.Sprintf("i%05d", i+1), map[string]any{"n": i + 1})
		if err != nil {
			return err
		}
		p.messages = append(p.messages, m)
	}
	return nil
}

func plainInstances(n int) time.Duration {
	begin := time.Now()
	var all sync.WaitGroup
	states := make([]map[string]any, n)
	for i := range n {
		all.Go(func() {
			v, _ := instant(context.Background(), in{N: i + 1})
			states[i] = map[string]any{"n": i + 1, "done": v}
		})
	}
	all.Wait()
	return time.Since(begin)
}
