package works

import (
	"context"
	"slices"
	"time"

	"go.temporal.io/api/workflow/v1"

	"processidea/protocol"
)

// recordHistoryLengths records how long the histories are, and whether the last instances ended as fast as the first.
func (r Round) recordHistoryLengths(ctx context.Context, n int) error {
	runs, err := r.Runs(ctx)
	if err != nil {
		return err
	}
	var longestHistory, totalEvents int64
	for _, e := range runs {
		longestHistory, totalEvents = max(longestHistory, e.GetHistoryLength()), totalEvents+e.GetHistoryLength()
	}
	if n >= 2*slowdownSpan {
		r.Figure("last thousand against the first", "×").Add(slowdownAtEnd(runs)).WithLimit(maxSlowdown)
	}
	r.Figure("longest history", "events").Add(float64(longestHistory)).WithLimit(maxHistoryEvents)
	r.Figure("all histories", "events").Add(float64(totalEvents))
	r.Figure("workflow runs", "").Add(float64(len(runs)))
	return nil
}

const (
	slowdownSpan = 1000
	maxSlowdown  = 1.3
)

// slowdownAtEnd returns how many times longer the last thousand instances took to end than the first thousand.
func slowdownAtEnd(runs []*workflow.WorkflowExecutionInfo) float64 {
	var firstStart time.Time
	var ends []time.Time
	for _, e := range runs {
		if e.GetType().GetName() == protocol.InstanceType {
			ends = append(ends, e.GetCloseTime().AsTime())
		} else if startedAt := e.GetStartTime().AsTime(); firstStart.IsZero() || startedAt.Before(firstStart) {
			firstStart = startedAt
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	last := len(ends) - 1
	return ends[last].Sub(ends[last-slowdownSpan]).Seconds() / ends[slowdownSpan-1].Sub(firstStart).Seconds()
}
