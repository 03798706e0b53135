package works

import (
	"context"
	"slices"
	"time"

	"go.temporal.io/api/workflow/v1"

	"processidea/protocol"
)

// recordHistoryLengths records how long the histories are, and whether the last instances ended as fast as the first.
func (r Round) recordHistoryLengths(ctx context.Context, instanceCount int) error {
	runs, err := r.AwaitClosedRuns(ctx)
	if err != nil {
		return err
	}
	var longestHistory, totalEvents int64
	for _, e := range runs {
		longestHistory, totalEvents = max(longestHistory, e.GetHistoryLength()), totalEvents+e.GetHistoryLength()
	}
	if instanceCount >= 2*slowdownInstanceCount {
		r.FindOrAddFigure("last thousand against the first", "×").Add(slowdownAtEnd(runs)).WithLimit(maxEndSlowdown)
	}
	r.FindOrAddFigure("longest history", "events").Add(float64(longestHistory)).WithLimit(maxHistoryEvents)
	r.FindOrAddFigure("all histories", "events").Add(float64(totalEvents))
	r.FindOrAddFigure("workflow runs", "").Add(float64(len(runs)))
	return nil
}

const (
	slowdownInstanceCount = 1000
	maxEndSlowdown        = 1.3
)

// slowdownAtEnd returns how many times longer the last thousand instances took to end than the first thousand.
func slowdownAtEnd(runs []*workflow.WorkflowExecutionInfo) float64 {
	var firstStart time.Time
	var endTimes []time.Time
	for _, e := range runs {
		if e.GetType().GetName() == protocol.InstanceType {
			endTimes = append(endTimes, e.GetCloseTime().AsTime())
		} else if startedAt := e.GetStartTime().AsTime(); firstStart.IsZero() || startedAt.Before(firstStart) {
			firstStart = startedAt
		}
	}
	slices.SortFunc(endTimes, time.Time.Compare)
	lastIndex := len(endTimes) - 1
	lastThousandDuration := endTimes[lastIndex].Sub(endTimes[lastIndex-slowdownInstanceCount])
	return lastThousandDuration.Seconds() / endTimes[slowdownInstanceCount-1].Sub(firstStart).Seconds()
}
