package actions

import (
	"context"
	"maps"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/query/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

func event(kind enums.EventType) *history.HistoryEvent { return &history.HistoryEvent{EventType: kind} }

func marker(name string, task int64) *history.HistoryEvent {
	return &history.HistoryEvent{EventType: enums.EVENT_TYPE_MARKER_RECORDED,
		Attributes: &history.HistoryEvent_MarkerRecordedEventAttributes{
			MarkerRecordedEventAttributes: &history.MarkerRecordedEventAttributes{MarkerName: name,
				WorkflowTaskCompletedEventId: task}}}
}

func upsert(names ...string) *history.HistoryEvent {
	fields := map[string]*commonpb.Payload{}
	for _, name := range names {
		fields[name] = nil
	}
	return &history.HistoryEvent{EventType: enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
		Attributes: &history.HistoryEvent_UpsertWorkflowSearchAttributesEventAttributes{
			UpsertWorkflowSearchAttributesEventAttributes: &history.UpsertWorkflowSearchAttributesEventAttributes{
				SearchAttributes: &commonpb.SearchAttributes{IndexedFields: fields}}}}
}

func TestActionsAreCountedAsTheyAreBilled(t *testing.T) {
	t.Parallel()
	c := NewCounter()
	started := event(enums.EVENT_TYPE_ACTIVITY_TASK_STARTED)
	started.Attributes = &history.HistoryEvent_ActivityTaskStartedEventAttributes{ActivityTaskStartedEventAttributes: &history.ActivityTaskStartedEventAttributes{Attempt: 3}}
	for _, e := range []*history.HistoryEvent{
		event(enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED), event(enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED),
		event(enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED),
		event(enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED),
		event(enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED), started, event(enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED),
		marker("LocalActivity", 4), marker("LocalActivity", 4), marker("LocalActivity", 9), marker("Version", 9),
		marker("SideEffect", 9),
		upsert("TemporalChangeVersion"), upsert("IdeaStatus", "IdeaAwaiting"),
		event(enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED), event(enums.EVENT_TYPE_TIMER_STARTED),
		event(enums.EVENT_TYPE_TIMER_FIRED),
		// another run, of the same event ids
		event(enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED), marker("LocalActivity", 9),
	} {
		c.Add(e)
	}
	want := Counts{KindStarts: 2, KindChildren: 1, KindActivities: 1, KindRetries: 2,
		KindMarkers: 3, KindUpserts: 1, KindSignals: 1, KindTimers: 1}
	if !maps.Equal(c.Counts, want) || c.Counts.Total() != 12 {
		t.Errorf("counted %v, want %v", c.Counts, want)
	}
	const list = "3 markers, 2 retries, 2 starts, 1 activities, 1 children, 1 signals, 1 timers, 1 upserts"
	if c.Counts.String() != list {
		t.Errorf("they read %q", c.Counts)
	}
	grown := c.Counts.IncreaseSince(Counts{KindStarts: 1, KindSignals: 1})
	if grown[KindStarts] != 1 || grown.Total() != 10 {
		t.Errorf("since then there were %v", grown)
	}
}

func TestWhatStandsInNoHistoryIsCountedWhereItLeaves(t *testing.T) {
	t.Parallel()
	var b RequestCounter
	asks := func(kind string) *workflowservice.QueryWorkflowRequest {
		return &workflowservice.QueryWorkflowRequest{Query: &query.WorkflowQuery{QueryType: kind}}
	}
	for _, call := range []struct {
		method string
		req    any
	}{
		{"QueryWorkflow", asks("status")}, {"QueryWorkflow", asks("__temporal_workflow_metadata")},
		{"RecordActivityTaskHeartbeat", nil},
		{"DescribeWorkflowExecution", nil}, {"ListWorkflowExecutions", nil}, {"PollWorkflowTaskQueue", nil},
		{"PollActivityTaskQueue", nil},
	} {
		invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }
		if err := b.Interceptor()(t.Context(), "/temporal.api.workflowservice.v1.WorkflowService/"+call.method,
			call.req, nil, nil, invoke); err != nil {
			t.Fatal(err)
		}
	}
	if want := (Counts{KindQueries: 1, KindHeartbeats: 1}); !maps.Equal(b.BilledCounts(), want) || b.PollCount() != 2 {
		t.Errorf("counted %v and %d polls", b.BilledCounts(), b.PollCount())
	}
}
