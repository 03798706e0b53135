package works

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/script"
	"processidea/bench/internal/usage"
)

// fanoutBench describes how independent Calls of a tool are measured. Each bed measures in several turns. Each turn
// goes through all sizes, so that compared sizes meet the machine in the same state.
type fanoutBench struct {
	tool, label string
	limitMillis float64 // for two hundred Calls, in ms
	sweepCount  int
	sizes       []fanoutSize
}

// fanoutSize is a number of Calls, measured in one of every so many turns. Small costs show only in many processes.
type fanoutSize struct{ callCount, everyNthSweep int }

// activityFanouts are instant Calls, each an activity.
var activityFanouts = fanoutBench{
	tool: "instant", label: "as activities", limitMillis: 400, sweepCount: 4,
	sizes: []fanoutSize{{1, 2}, {5, 1}, {50, 1}, {200, 1}, {500, 1}},
}

// pureFanouts are Calls of a pure function. A Call takes a tenth of a millisecond; a process without any takes about
// fifteen milliseconds.
var pureFanouts = fanoutBench{
	tool: "instantPure", label: "as pure functions", limitMillis: 60, sweepCount: 25,
	sizes: []fanoutSize{{1, 5}, {5, 1}, {50, 1}, {200, 5}, {500, 5}},
}

// run runs processes with one Request each, one after the other. It measures the time from the end of the stream to
// the next Request, which comes when all Calls are done. With more Calls, more of them are done before the end of the
// stream, so the growth is measured from the first token. The bytes are measured in the first process of each size.
func (f fanoutBench) run(ctx context.Context, r Round) error {
	for sweep := range r.pickSize(f.sweepCount, 1) {
		for _, size := range f.sizes {
			if sweep%size.everyNthSweep != 0 {
				continue
			}
			callCount := r.pickSize(size.callCount, min(size.callCount, 10))
			sizedRound := r.withAxis("calls", callCount)
			if size.callCount != 200 {
				sizedRound.Recorder = sizedRound.WithSize(size.callCount)
			}
			if err := f.measure(ctx, sizedRound, fmt.Sprintf("fanout-%d-%d", size.callCount, sweep+1), callCount,
				sweep); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainSweepInterval is the interval, in turns, at which plain Go does the same.
const plainSweepInterval = 5

func (f fanoutBench) measure(ctx context.Context, r Round, processID string, callCount, sweep int) error {
	// Collecting the garbage of earlier processes takes as long as two hundred pure Calls, and must not be counted.
	runtime.GC()
	processorSecondsBefore := usage.ProcessorSeconds()
	times, err := r.runFanout(ctx, processID, f.tool, callCount)
	if err != nil {
		return err
	}
	r.FindOrAddFigure("time of the processor", "ms").Add((usage.ProcessorSeconds() - processorSecondsBefore) * 1000)
	firstTokenFigure := r.FindOrAddFigure("time from the first token", "ms").Add(milliseconds(times.fromFirstToken))
	afterStreamFigure := r.FindOrAddFigure("end of stream to all done, "+f.label,
		"ms").Add(milliseconds(times.fromStreamEnd)).
		WithLimit(limitIf(callCount == 200, f.limitMillis))
	if sweep%plainSweepInterval == 0 {
		plainTimes, err := r.runFanoutWithoutEngine(ctx, callCount)
		if err != nil {
			return err
		}
		firstTokenFigure.AddPlainGo(milliseconds(plainTimes.fromFirstToken))
		afterStreamFigure.AddPlainGo(milliseconds(plainTimes.fromStreamEnd))
	}
	if sweep > 0 {
		return nil
	}
	return r.recordStorageGrowth(ctx, storageLimits{})
}

// fanoutTimes are the times until all Calls are done: from the first token, and from the end of the stream.
type fanoutTimes struct{ fromFirstToken, fromStreamEnd time.Duration }

func (r Round) runFanout(ctx context.Context, processID, tool string, callCount int) (t fanoutTimes, err error) {
	llm, err := r.UseScript(script.FanoutReplyLines(tool, callCount))
	if err != nil {
		return t, err
	}
	result, err := r.Run(ctx, bed.ProcessSpec{ID: processID, ToolJSON: bed.GoToolJSON(tool),
		MessagesJSON: bed.TextMessage("Go.")})
	if err != nil {
		return t, err
	}
	requests := llm.Requests()
	if result.Calls.Done != callCount || len(requests) != 2 {
		return t, fmt.Errorf("%d of %d Calls were done in %d Requests", result.Calls.Done, callCount, len(requests))
	}
	return fanoutTimes{requests[1].ArrivedAt.Sub(requests[0].FirstTokenAt), llm.RequestGaps()[0]}, nil
}

func (r Round) runFanoutWithoutEngine(ctx context.Context, callCount int) (t fanoutTimes, err error) {
	llm, err := r.UseScript(script.FanoutReplyLines("instant", callCount))
	if err != nil {
		return t, err
	}
	calls, err := askLLMWithoutEngine(ctx, r.TestBed, "Go.")
	if err != nil {
		return t, err
	}
	results := make([]int, callCount)
	var group sync.WaitGroup
	for i, c := range calls {
		group.Go(func() { results[i], _ = bed.Instant(ctx, c.ToolInput) })
	}
	group.Wait()
	request := llm.Requests()[0]
	return fanoutTimes{time.Since(request.FirstTokenAt), time.Since(request.LastTokenAt)}, nil
}
