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

// fanouts is how independent Calls of a tool are measured: on each bed in several turns, each of which goes through the
// sizes, so that sizes that are compared meet the same machine, warm alike.
type fanouts struct {
	tool, how string
	limit     float64 // of two hundred Calls, in ms
	turns     int
	sizes     []fanoutSize
}

// fanoutSize is a number of Calls, and after how many turns it comes again: what costs little is seen only in many processes.
type fanoutSize struct{ calls, every int }

// asActivities are instant Calls that each are an activity.
var asActivities = fanouts{
	tool: "instant", how: "as activities", limit: 400, turns: 4, sizes: []fanoutSize{{1, 2}, {5, 1}, {50, 1}, {200, 1}, {500, 1}},
}

// asPure are Calls of a pure function: a tenth of a millisecond each, beside some fifteen that a process takes without any.
var asPure = fanouts{
	tool: "instantPure", how: "as pure functions", limit: 60, turns: 25, sizes: []fanoutSize{{1, 5}, {5, 1}, {50, 1}, {200, 5}, {500, 5}},
}

// work runs processes with one Request each, one after the other, and measures from the end of the stream to the next
// Request, which comes when all Calls are done. The more Calls there are, the more of them is done by the end of the stream:
// how their time grows is measured from the first token. The bytes are those of the first process of each size.
func (f fanouts) work(ctx context.Context, b *bed, r *record, s size) error {
	for turn := range s.of(f.turns, 1) {
		for _, size := range f.sizes {
			if turn%size.every != 0 {
				continue
			}
			at, n := r, s.of(size.calls, min(size.calls, 10))
			if size.calls != 200 {
				at = r.sized(size.calls)
			}
			if err := f.measure(ctx, b, at, n, turn); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainEvery is after how many turns plain Go does the same again.
const plainEvery = 5

func (f fanouts) measure(ctx context.Context, b *bed, r *record, n, turn int) error {
	// The garbage of what was before is not counted: to collect it takes as long as two hundred pure Calls.
	runtime.GC()
	processor := processorTime()
	took, err := b.fanout(ctx, fmt.Sprintf("%s-%d", r.work, turn+1), f.tool, n)
	if err != nil {
		return err
	}
	r.of("time of the processor", "ms").on("calls", n).add((processorTime() - processor) * 1000)
	r.of("time from the first token", "ms").on("calls", n).add(ms(took.whole))
	r.of("end of stream to all done, "+f.how, "ms").on("calls", n).add(ms(took.rest)).atMost(limitOf(n == 200, f.limit))
	if turn%plainEvery == 0 {
		plain, err := b.plainFanout(ctx, n)
		if err != nil {
			return err
		}
		r.of("time from the first token", "ms").beside(ms(plain.whole))
		r.of("end of stream to all done, "+f.how, "ms").beside(ms(plain.rest))
	}
	if turn > 0 {
		return nil
	}
	return b.countKept(ctx, r, "calls", n, kept{})
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
