package works

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/script"
	"processidea/bench/internal/usage"
)

// fanouts says how independent Calls of a tool are measured: on each bed in several turns, each of which goes through
// the sizes, so that sizes that are compared meet the machine in the same state.
type fanouts struct {
	tool, how string
	limit     float64 // for two hundred Calls, in ms
	turns     int
	sizes     []fanoutSize
}

// fanoutSize is a number of Calls that is measured every so many turns: what costs little is seen only in many
// processes.
type fanoutSize struct{ calls, every int }

// asActivities are instant Calls, each an activity.
var asActivities = fanouts{
	tool: "instant", how: "as activities", limit: 400, turns: 4,
	sizes: []fanoutSize{{1, 2}, {5, 1}, {50, 1}, {200, 1}, {500, 1}},
}

// asPure are Calls of a pure function. One takes a tenth of a millisecond, and a process without any takes some
// fifteen.
var asPure = fanouts{
	tool: "instantPure", how: "as pure functions", limit: 60, turns: 25,
	sizes: []fanoutSize{{1, 5}, {5, 1}, {50, 1}, {200, 5}, {500, 5}},
}

// work runs processes with one Request each, one after the other, and measures the time from the end of the stream to
// the next Request, which comes when all Calls are done. The more Calls there are, the more of them are done by the end
// of the stream; so how their time grows is measured from the first token. The bytes are those of the first process of
// each size.
func (f fanouts) work(ctx context.Context, b *bed.Bed, r *report.Record, s Size) error {
	for turn := range s.of(f.turns, 1) {
		for _, size := range f.sizes {
			if turn%size.every != 0 {
				continue
			}
			at, n := r, s.of(size.calls, min(size.calls, 10))
			if size.calls != 200 {
				at = r.Sized(size.calls)
			}
			if err := f.measure(ctx, b, at, n, turn); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainEvery is the number of turns after which plain Go does the same again.
const plainEvery = 5

func (f fanouts) measure(ctx context.Context, b *bed.Bed, r *report.Record, n, turn int) error {
	// To collect the garbage of earlier processes takes as long as two hundred pure Calls, and must not be counted.
	runtime.GC()
	processor := usage.ProcessorTime()
	took, err := runFanout(ctx, b, fmt.Sprintf("%s-%d", r.Work, turn+1), f.tool, n)
	if err != nil {
		return err
	}
	r.Figure("time of the processor", "ms").On("calls", n).Add((usage.ProcessorTime() - processor) * 1000)
	r.Figure("time from the first token", "ms").On("calls", n).Add(ms(took.whole))
	r.Figure("end of stream to all done, "+f.how, "ms").On("calls",
		n).Add(ms(took.rest)).AtMost(limitIf(n == 200, f.limit))
	if turn%plainEvery == 0 {
		plain, err := plainFanout(ctx, b, n)
		if err != nil {
			return err
		}
		r.Figure("time from the first token", "ms").AddPlain(ms(plain.whole))
		r.Figure("end of stream to all done, "+f.how, "ms").AddPlain(ms(plain.rest))
	}
	if turn > 0 {
		return nil
	}
	return countKept(ctx, b, r, "calls", n, limits{})
}

// fanoutTimes are the times until all Calls are done: from the first token, and from the end of the stream.
type fanoutTimes struct{ whole, rest time.Duration }

func runFanout(ctx context.Context, b *bed.Bed, id, tool string, n int) (t fanoutTimes, err error) {
	llm, err := b.Script(script.FanoutLines(tool, n))
	if err != nil {
		return t, err
	}
	result, err := b.Run(ctx, bed.Process{ID: id, Tools: map[string]any{tool: bed.GoTool(tool)},
		Messages: []any{bed.TextMessage("Go.")}})
	if err != nil {
		return t, err
	}
	if result.Calls.Done != n || llm.Requests() != 2 {
		return t, fmt.Errorf("%d of %d Calls were done in %d Requests", result.Calls.Done, n, llm.Requests())
	}
	return fanoutTimes{llm.Asked()[1].Sub(llm.FirstToken()), llm.Gaps()[0]}, nil
}

func plainFanout(ctx context.Context, b *bed.Bed, n int) (t fanoutTimes, err error) {
	llm, err := b.Script(script.FanoutLines("instant", n))
	if err != nil {
		return t, err
	}
	solution, err := askPlain(ctx, b, "Go.")
	if err != nil {
		return t, err
	}
	results := make([]int, n)
	var all sync.WaitGroup
	for i, c := range solution.Calls {
		all.Go(func() {
			var params bed.ToolInput
			data, _ := json.Marshal(c)
			_ = json.Unmarshal(data, &params)
			results[i], _ = bed.Instant(ctx, params)
		})
	}
	all.Wait()
	return fanoutTimes{time.Since(llm.FirstToken()), time.Since(llm.FirstSaid())}, nil
}
