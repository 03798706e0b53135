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
	// maxMultipleOfFloor bounds the time of an instance with one Call, as a multiple of a plain workflow with one
	// activity.
	maxMultipleOfFloor = 2
)

// instancesWork runs instances with one instant Call each by a Plan, without an LLM.
func instancesWork(fullInstanceCount int) func(context.Context, Round) error {
	return func(ctx context.Context, r Round) error {
		n := r.pickSize(fullInstanceCount, 20)
		r = r.withAxis("instances", n)
		usage.ResetPeakMemory()
		processorSecondsBefore := usage.ProcessorSeconds()
		took, err := r.runInstances(ctx, n, bed.GoToolJSON("instant"))
		if err != nil {
			return err
		}
		r.FindOrAddFigure("time", "s").Add(took.Seconds()).AddPlainGo(runInstancesWithoutEngine(n).Seconds())
		r.FindOrAddFigure("a thousand of them", "s").Add(took.Seconds() / float64(n) * 1000)
		r.FindOrAddFigure("processor time", "s").Add(usage.ProcessorSeconds() - processorSecondsBefore)
		r.FindOrAddFigure("memory", "MB").Add(usage.PeakResidentMB()).WithLimit(maxResidentMB)
		if err := r.recordHistoryLengths(ctx, n); err != nil {
			return err
		}
		if err := r.recordStorage(ctx, storageLimits{}); err != nil {
			return err
		}
		// last, so that it does not count in the figures above
		floorDuration, err := r.MeasurePlainWorkflows(ctx, min(n, 1000))
		if err != nil {
			return err
		}
		r.FindOrAddFigure("an instance, against a plain workflow", "×").
			Add(took.Seconds() / float64(n) / floorDuration.Seconds() * float64(min(n,
				1000))).WithLimit(maxMultipleOfFloor)
		return nil
	}
}

func (r Round) runInstances(ctx context.Context, instanceCount int, toolJSON string) (time.Duration, error) {
	begin := time.Now()
	result, err := r.Run(ctx, bed.ProcessSpec{ID: "instances", ToolJSON: toolJSON,
		StateMessages: bed.NewStateMessages(instanceCount, 1),
		MessagesJSON:  bed.PlanMessage("complete", `{"_tool": "instant", "n": "†state.n", "_outputPath": "done"}`)})
	took := time.Since(begin)
	if err == nil && result.Calls.Done != instanceCount {
		err = fmt.Errorf("%d of %d Calls were done", result.Calls.Done, instanceCount)
	}
	return took, err
}

func runInstancesWithoutEngine(instanceCount int) time.Duration {
	begin := time.Now()
	var group sync.WaitGroup
	states := make([]map[string]any, instanceCount)
	for i := range instanceCount {
		group.Go(func() {
			v, _ := bed.Instant(context.Background(), bed.ToolInput{N: i + 1})
			states[i] = map[string]any{"n": i + 1, "done": v}
		})
	}
	group.Wait()
	return time.Since(begin)
}
