package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"processidea/bench/internal/script"
)

// fanoutWork runs one Request with independent instant Calls, as activities, and measures from the end of the stream to the
// next Request, which comes when all are done. A few of them run beside what a Request costs anyway: what each takes is told
// by the time on a processor, which is that of the whole process.
func fanoutWork(full int) func(context.Context, *bed, *record, size) error {
	return func(ctx context.Context, b *bed, r *record, s size) error {
		return b.measureFanout(ctx, r, s.of(full, 10), "instant", "time, as activities", 400)
	}
}

// pureFanoutWork does the same with Calls of a pure function, on beds of its own: right after the other process, what that
// has left would be measured too.
func pureFanoutWork(full int) func(context.Context, *bed, *record, size) error {
	return func(ctx context.Context, b *bed, r *record, s size) error {
		return b.measureFanout(ctx, r, s.of(full, 10), "instantPure", "time, as pure functions", 60)
	}
}

func (b *bed) measureFanout(ctx context.Context, r *record, n int, tool, name string, limit float64) error {
	plain, err := b.plainFanout(ctx, n)
	if err != nil {
		return err
	}
	processor := processorTime()
	took, err := b.fanout(ctx, tool, n)
	if err != nil {
		return err
	}
	r.of("time of the processor", "ms").on("calls", n).add((processorTime() - processor) * 1000)
	r.of(name, "ms").on("calls", n).add(ms(took)).beside(ms(plain)).atMost(limitOf(n == 200, limit))
	return b.countBytes(ctx, r, "calls", n, kept{})
}

func (b *bed) fanout(ctx context.Context, tool string, n int) (time.Duration, error) {
	llm, err := b.say(script.FanoutLines(tool, n))
	if err != nil {
		return 0, err
	}
	result, err := b.run(ctx, process{id: "fanout-" + tool, tools: map[string]any{tool: goTool(tool)}, messages: []any{text("Go.")}})
	if err != nil {
		return 0, err
	}
	if result.Calls.Done != n || llm.Requests() != 2 {
		return 0, fmt.Errorf("%d of %d Calls were done in %d Requests", result.Calls.Done, n, llm.Requests())
	}
	return llm.Gaps()[0], nil
}

func (b *bed) plainFanout(ctx context.Context, n int) (time.Duration, error) {
	llm, err := b.say(script.FanoutLines("instant", n))
	if err != nil {
		return 0, err
	}
	solution, err := b.askPlain(ctx, "Go.")
	if err != nil {
		return 0, err
	}
	results := make([]int, n)
	var all sync.WaitGroup
	for i, c := range solution.Calls {
		all.Go(func() {
			var params in
			data, _ := json.Marshal(c)
			_ = json.Unmarshal(data, &params)
			results[i], _ = instant(ctx, params)
		})
	}
	all.Wait()
	return time.Since(llm.FirstSaid()), nil
}
