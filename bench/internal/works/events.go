package works

import (
	"context"
	"slices"
	"time"

	"go.temporal.io/api/workflow/v1"

	"processidea/protocol"
)

// countEvents records how long the histories are, and whether the last instances ended as fast as the first.
func (r Round) countEvents(ctx context.Context, n int) error {
	runs, err := r.Runs(ctx)
	if err != nil {
		return err
	}
	var longest, all int64
	for _, e := range runs {
		longest, all = max(longest, e.GetHistoryLength()), all+e.GetHistoryLength()
	}
	if n >= 2*thousand {
		r.Figure("last thousand against the first", "×").Add(slowdownAtEnd(runs)).WithLimit(maxSlowdown)
	}
	r.Figure("longest history", "events").Add(float64(longest)).WithLimit(maxEvents)
	r.Figure("all histories", "events").Add(float64(all))
	r.Figure("workflow runs", "").Add(float64(len(runs)))
	return nil
}

const (
	thousand    = 1000
	maxSlowdown = 1.3
)

// slowdownAtEnd returns how many times longer the last thousand instances took to end than the first thousand.
func slowdownAtEnd(runs []*workflow.WorkflowExecutionInfo) float64 {
	var begun time.Time
	var ends []time.Time
	for _, e := range runs {
		if e.GetType().GetName() == protocol.InstanceType {
			ends = append(ends, e.GetCloseTime().AsTime())
		} else if at := e.GetStartTime().AsTime(); begun.IsZero() || at.Before(begun) {
			begun = at
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	last := len(ends) - 1
	return ends[last].Sub(ends[last-thousand]).Seconds() / ends[thousand-1].Sub(begun).Seconds()
}
