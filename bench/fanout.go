package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"time"

	"processidea/bench/internal/script"
)

// fanoutWork runs one Request with independent instant Calls, as activities, and measures from the end of the stream to the
// next Request, which comes when all are done. The more Calls there are, the more of them is done by the end of the stream: how
// their time grows is measured from the first token.
func fanoutWork(full int) func(context.Context, *bed, *record, size) error {
	return func(ctx context.Context, b *bed, r *record, s size) error {
		return b.measureFanout(ctx, r, s.of(full, 10), 1, "instant", "as activities", 400)
	}
}

// pureFanoutWork does the same with Calls of a pure function, on beds of its own: right after the other process, what that
// has left would be measured too. A Call takes so little that it is only seen in very many processes: each bed has several.
func pureFanoutWork(full int) func(context.Context, *bed, *record, size) error {
	return func(ctx context.Context, b *bed, r *record, s size) error {
		return b.measureFanout(ctx, r, s.of(full, 10), s.of(10, 1), "instantPure", "as pure functions", 60)
	}
}

// measureFanout runs processes one after the other, and counts the bytes of the first.
func (b *bed) measureFanout(ctx context.Context, r *record, n, processes int, tool, how string, limit float64) error {
	for nth := range processes {
		plain, err := b.plainFanout(ctx, n)
		if err != nil {
			return err
		}
		// The garbage of the server's start is not counted: collecting it takes as long as two hundred pure Calls.
		runtime.GC()
		processor := processorTime()
		took, err := b.fanout(ctx, fmt.Sprintf("fanout-%d", nth+1), tool, n)
		if err != nil {
			return err
		}
		r.of("time of the processor", "ms").on("calls", n).add((processorTime() - processor) * 1000)
		r.of("time from the first token", "ms").on("calls", n).add(ms(took.whole)).beside(ms(plain.whole))
		r.of("end of stream to all done, "+how, "ms").on("calls", n).add(ms(took.rest)).beside(ms(plain.rest)).atMost(limitOf(n == 200, limit))
		if nth > 0 {
			continue
		}
		if err := b.countBytes(ctx, r, "calls", n, kept{}); err != nil {
			return err
		}
	}
	return nil
}

// fanoutTimes are the times until all Calls are done: from the first token, and from the end of the stream.
type fanoutTimes struct{ whole, rest time.Duration }

func (b *bed) fanout(ctx context.Context, id, tool string, n int) (t fanoutTimes, err error) {
	llm, err := b.say(script.FanoutLines(tool, n))
	if err != nil {
		return t, err
	}
	result, err := b.run(ctx, process{id: id, tools: map[string]any{tool: goTool(tool)}, messages: []any{text("Go.")}})
	if err != nil {
		return t, err
	}
	if result.Calls.Done != n || llm.Requests() != 2 {
		return t, fmt.Errorf("%d of %d Calls were done in %d Requests", result.Calls.Done, n, llm.Requests())
	}
	return fanoutTimes{llm.Asked()[1].Sub(llm.FirstToken()), llm.Gaps()[0]}, nil
}

func (b *bed) plainFanout(ctx context.Context, n int) (t fanoutTimes, err error) {
	llm, err := b.say(script.FanoutLines("instant", n))
	if err != nil {
		return t, err
	}
	solution, err := b.askPlain(ctx, "Go.")
	if err != nil {
		return t, err
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
	return fanoutTimes{time.Since(llm.FirstToken()), time.Since(llm.FirstSaid())}, nil
}
