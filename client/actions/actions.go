// Package actions counts what a hosted Temporal server bills. Its documentation calls these actions, and lists them at
// https://docs.temporal.io/cloud/actions. The open-source server counts the same actions for its metric "action".
// Histories show most of them. Queries and heartbeats are in no history, and are counted when they are sent to the
// server.
package actions

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
)

// Counts holds how many actions there were of each kind.
type Counts map[string]int

// Total is the sum over all kinds.
func (c Counts) Total() (n int) {
	for _, one := range c {
		n += one
	}
	return n
}

// IncreaseSince returns by how much each kind has grown since earlier counts.
func (c Counts) IncreaseSince(earlier Counts) Counts {
	increases := Counts{}
	for kind, n := range c {
		if n != earlier[kind] {
			increases[kind] = n - earlier[kind]
		}
	}
	return increases
}

// String lists the kinds, the most frequent first.
func (c Counts) String() string {
	kinds := slices.Collect(maps.Keys(c))
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Or(c[b]-c[a], strings.Compare(a, b)) })
	var list []string
	for _, kind := range kinds {
		list = append(list, fmt.Sprintf("%d %s", c[kind], kind))
	}
	return strings.Join(list, ", ")
}

// The kinds of actions.
const (
	KindStarts     = "starts"     // of workflows, and of runs that continue others
	KindChildren   = "children"   // what starting a child costs beside its start
	KindSignals    = "signals"    // received, from any sender
	KindTimers     = "timers"     // that were set
	KindActivities = "activities" // that were scheduled
	KindRetries    = "retries"    // of activities, and of local ones
	KindMarkers    = "markers"    // workflow tasks with local activities, side effects or versions
	KindUpserts    = "upserts"    // of search attributes, and of memos
	KindUpdates    = "updates"    // that were accepted
	KindQueries    = "queries"    // in no history
	KindHeartbeats = "heartbeats" // in no history
)

// Counter counts the actions of histories.
type Counter struct {
	Counts                Counts
	lastMarkerTaskEventID int64 // the completed event of the workflow task that left the last marker
}

// NewCounter returns a Counter that has counted nothing.
func NewCounter() *Counter { return &Counter{Counts: Counts{}} }

// kindByEventType maps each type of event that is billed as one action to its kind.
var kindByEventType = map[enums.EventType]string{
	enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:               KindStarts,
	enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED: KindChildren,
	enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:              KindSignals,
	// A failed start or signal of another workflow counts as an attempt.
	enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED:     KindStarts,
	enums.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED: KindSignals,
	enums.EVENT_TYPE_TIMER_STARTED:                             KindTimers,
	enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:                   KindActivities,
	enums.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED:              KindUpserts,
	enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:        KindUpdates,
}

// Add counts an event. The events of a run must be added in order, from the first.
func (c *Counter) Add(e *history.HistoryEvent) {
	if kind, ok := kindByEventType[e.GetEventType()]; ok {
		c.Counts[kind]++
	}
	switch e.GetEventType() {
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
		c.lastMarkerTaskEventID = 0
	case enums.EVENT_TYPE_ACTIVITY_TASK_STARTED:
		c.addRetries(int(e.GetActivityTaskStartedEventAttributes().GetAttempt()) - 1)
	case enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
		metering := e.GetWorkflowTaskCompletedEventAttributes().GetMeteringMetadata()
		c.addRetries(int(metering.GetNonfirstLocalActivityExecutionAttempts()))
	case enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
		fields := e.GetUpsertWorkflowSearchAttributesEventAttributes().GetSearchAttributes().GetIndexedFields()
		if _, hasChangeVersion := fields["TemporalChangeVersion"]; !hasChangeVersion || len(fields) > 1 {
			c.Counts[KindUpserts]++
		}
	case enums.EVENT_TYPE_MARKER_RECORDED:
		// All markers of one workflow task are one action.
		taskEventID := e.GetMarkerRecordedEventAttributes().GetWorkflowTaskCompletedEventId()
		if taskEventID != c.lastMarkerTaskEventID {
			c.lastMarkerTaskEventID = taskEventID
			c.Counts[KindMarkers]++
		}
	}
}

// AddRun counts the actions in the history of one run of a workflow.
func (c *Counter) AddRun(ctx context.Context, server client.Client, workflowID, runID string) error {
	events := server.GetWorkflowHistory(ctx, workflowID, runID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return fmt.Errorf("actions: read history of %s: %w", workflowID, err)
		}
		c.Add(event)
	}
	return nil
}

func (c *Counter) addRetries(n int) {
	if n > 0 {
		c.Counts[KindRetries] += n
	}
}
