package works

import (
	"context"
	"fmt"
	"sync"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/usage"
)

const (
	maxHistoryEvents = 10_000 // in any workflow run's history
	maxResidentMB    = 2048   // MB of memory for the whole program
	// maxOverFloor bounds the time of an instance with one Call, as a multiple of a plain workflow with one activity.
	maxOverFloor = 2
)

// instancesWork runs instances with one instant Call each by a Plan, without an LLM.
func instancesWork(fullInstanceCount int) func(context.Context, Round) error {
	return func(ctx context.Context, r Round) error {
		n := r.size(fullInstanceCount, 20)
		r = r.withAxis("instances", n)
		usage.ResetPeakMemory()
		secondsBefore := usage.ProcessorSeconds()
		took, err := r.runInstances(ctx, n, bed.GoToolJSON("instant"))
		if err != nil {
			return err
		}
		r.Figure("time", "s").Add(took.Seconds()).AddPlain(runPlainInstances(n).Seconds())
		r.Figure("a thousand of them", "s").Add(took.Seconds() / float64(n) * 1000)
		r.Figure("processor time", "s").Add(usage.ProcessorSeconds() - secondsBefore)
		r.Figure("memory", "MB").Add(usage.PeakResidentMB()).WithLimit(maxResidentMB)
		if err := r.recordHistoryLengths(ctx, n); err != nil {
			return err
		}
		if err := r.recordStorage(ctx, storageLimits{}); err != nil {
			return err
		}
		floor, err := r.MeasureFloor(ctx, min(n, 1000)) // last, so that it does not count in the figures above
		if err != nil {
			return err
		}
		r.Figure("an instance, against a plain workflow", "×").
			Add(took.Seconds() / float64(n) / floor.Seconds() * float64(min(n, 1000))).WithLimit(maxOverFloor)
		return nil
	}
}

func (r Round) runInstances(ctx context.Context, n int, tool string) (time.Duration, error) {
	begin := time.Now()
	result, err := r.Run(ctx, bed.ProcessSpec{ID: "instances", Tool: tool, StateMessages: bed.NewStateMessages(n, 1),
		MessagesJSON: bed.PlanMessage("complete", `{"_tool": "instant", "n": "†state.n", "_outputPath": "done"}`)})
	took := time.Since(begin)
	if err == nil && result.Calls.Done != n {
		err = fmt.Errorf("%d of %d Calls were done", result.Calls.Done, n)
	}
	return took, err
}

func runPlainInstances(n int) time.Duration {
	begin := time.Now()
	var group sync.WaitGroup
	states := make([]map[string]any, n)
	for i := range n {
		group.Go(func() {
			v, _ := bed.Instant(context.Background(), bed.ToolInput{N: i + 1})
			states[i] = map[string]any{"n": i + 1, "done": v}
		})
	}
	group.Wait()
	return time.Since(begin)
}
