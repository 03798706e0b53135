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

// Since returns by how much each kind has grown since earlier counts.
func (c Counts) Since(before Counts) Counts {
	grown := Counts{}
	for kind, n := range c {
		if n != before[kind] {
			grown[kind] = n - before[kind]
		}
	}
	return grown
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
	Starts     = "starts"     // of workflows, and of runs that continue others
	Children   = "children"   // what starting a child costs beside its start
	Signals    = "signals"    // received, from any sender
	Timers     = "timers"     // that were set
	Activities = "activities" // that were scheduled
	Retries    = "retries"    // of activities, and of local ones
	Markers    = "markers"    // workflow tasks with local activities, side effects or versions
	Upserts    = "upserts"    // of search attributes, and of memos
	Updates    = "updates"    // that were accepted
	Queries    = "queries"    // in no history
	Heartbeats = "heartbeats" // in no history
)

// Counter counts the actions of histories.
type Counter struct {
	Counts Counts
	task   int64 // the completed event of the workflow task that left the last marker
}

// NewCounter returns a Counter that has counted nothing.
func NewCounter() *Counter { return &Counter{Counts: Counts{}} }

// ofEvents maps each type of event that is billed as one action to its kind.
var ofEvents = map[enums.EventType]string{
	enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:               Starts,
	enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED: Children,
	enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:              Signals,
	// A failed start or signal of another workflow counts as an attempt.
	enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED:     Starts,
	enums.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED: Signals,
	enums.EVENT_TYPE_TIMER_STARTED:                             Timers,
	enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:                   Activities,
	enums.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED:              Upserts,
	enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:        Updates,
}

// Add counts an event. The events of a run must be added in order, from the first.
func (c *Counter) Add(e *history.HistoryEvent) {
	if kind, ok := ofEvents[e.GetEventType()]; ok {
		c.Counts[kind]++
	}
	switch e.GetEventType() {
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
		c.task = 0
	case enums.EVENT_TYPE_ACTIVITY_TASK_STARTED:
		c.addRetries(int(e.GetActivityTaskStartedEventAttributes().GetAttempt()) - 1)
	case enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
		metering := e.GetWorkflowTaskCompletedEventAttributes().GetMeteringMetadata()
		c.addRetries(int(metering.GetNonfirstLocalActivityExecutionAttempts()))
	case enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
		fields := e.GetUpsertWorkflowSearchAttributesEventAttributes().GetSearchAttributes().GetIndexedFields()
		if _, isVersion := fields["TemporalChangeVersion"]; !isVersion || len(fields) > 1 {
			c.Counts[Upserts]++
		}
	case enums.EVENT_TYPE_MARKER_RECORDED:
		// All markers of one workflow task are one action.
		if task := e.GetMarkerRecordedEventAttributes().GetWorkflowTaskCompletedEventId(); task != c.task {
			c.task = task
			c.Counts[Markers]++
		}
	}
}

// AddRun counts the actions in the history of one run of a workflow.
func (c *Counter) AddRun(ctx context.Context, server client.Client, id, run string) error {
	events := server.GetWorkflowHistory(ctx, id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return fmt.Errorf("actions: read history of %s: %w", id, err)
		}
		c.Add(event)
	}
	return nil
}

func (c *Counter) addRetries(n int) {
	if n > 0 {
		c.Counts[Retries] += n
	}
}
