// Package actions counts what a hosted Temporal server bills: its documentation calls these actions, and lists them at
// https://docs.temporal.io/cloud/actions. Most stand in histories; queries and heartbeats are counted where they leave for the server.
package actions

import (
	"context"
	"strings"
	"sync"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"google.golang.org/grpc"
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

// Counter counts the actions of histories. Local activities that one workflow task starts are one action.
type Counter struct {
	Counts Counts
	task   int64 // the event by which the workflow task was completed that started the last local activity
}

// NewCounter returns one that has counted nothing.
func NewCounter() *Counter { return &Counter{Counts: Counts{}} }

// Add counts an event. Those of a run come one after the other, from the first.
func (c *Counter) Add(e *history.HistoryEvent) {
	switch e.GetEventType() {
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
		c.Counts["starts"]++
		c.task = 0
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
		c.Counts["signals"]++
	case enums.EVENT_TYPE_TIMER_STARTED:
		c.Counts["timers"]++
	case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		c.Counts["activities"]++
	case enums.EVENT_TYPE_ACTIVITY_TASK_STARTED:
		c.Counts["retries"] += int(e.GetActivityTaskStartedEventAttributes().GetAttempt()) - 1
	case enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
		fields := e.GetUpsertWorkflowSearchAttributesEventAttributes().GetSearchAttributes().GetIndexedFields()
		if _, isVersion := fields["TemporalChangeVersion"]; !isVersion || len(fields) > 1 {
			c.Counts["upserts"]++
		}
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:
		c.Counts["updates"]++
	case enums.EVENT_TYPE_MARKER_RECORDED:
		c.addMarker(e.GetMarkerRecordedEventAttributes())
	}
}

func (c *Counter) addMarker(m *history.MarkerRecordedEventAttributes) {
	switch m.GetMarkerName() {
	case "LocalActivity":
		if task := m.GetWorkflowTaskCompletedEventId(); task != c.task {
			c.task = task
			c.Counts["local activities"]++
		}
	case "SideEffect", "MutableSideEffect":
		c.Counts["side effects"]++
	}
}

// Calls counts the actions that stand in no history, as a client's connection makes them. It is safe for concurrent use.
type Calls struct {
	mu     sync.Mutex
	counts Counts
}

// Interceptor is for the connection of a client or worker.
func (c *Calls) Interceptor() grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		switch name := method[strings.LastIndexByte(method, '/')+1:]; name {
		case "QueryWorkflow":
			c.add("queries")
		case "RecordActivityTaskHeartbeat", "RecordActivityTaskHeartbeatById":
			c.add("heartbeats")
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}
}

func (c *Calls) add(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = Counts{}
	}
	c.counts[kind]++
}

// Counts returns what was counted so far.
func (c *Calls) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := Counts{}
	for kind, n := range c.counts {
		all[kind] = n
	}
	return all
}
