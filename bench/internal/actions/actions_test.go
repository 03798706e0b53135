package actions

import (
	"maps"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
)

func event(kind enums.EventType) *history.HistoryEvent { return &history.HistoryEvent{EventType: kind} }

func marker(name string, task int64) *history.HistoryEvent {
	return &history.HistoryEvent{EventType: enums.EVENT_TYPE_MARKER_RECORDED, Attributes: &history.HistoryEvent_MarkerRecordedEventAttributes{
		MarkerRecordedEventAttributes: &history.MarkerRecordedEventAttributes{MarkerName: name, WorkflowTaskCompletedEventId: task}}}
}

func upsert(names ...string) *history.HistoryEvent {
	fields := map[string]*commonpb.Payload{}
	for _, name := range names {
		fields[name] = nil
	}
	return &history.HistoryEvent{EventType: enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES, Attributes: &history.HistoryEvent_UpsertWorkflowSearchAttributesEventAttributes{
		UpsertWorkflowSearchAttributesEventAttributes: &history.UpsertWorkflowSearchAttributesEventAttributes{
			SearchAttributes: &commonpb.SearchAttributes{IndexedFields: fields}}}}
}

func TestActionsAreCountedAsTheyAreBilled(t *testing.T) {
	c := NewCounter()
	started := event(enums.EVENT_TYPE_ACTIVITY_TASK_STARTED)
	started.Attributes = &history.HistoryEvent_ActivityTaskStartedEventAttributes{ActivityTaskStartedEventAttributes: &history.ActivityTaskStartedEventAttributes{Attempt: 3}}
	for _, e := range []*history.HistoryEvent{
		event(enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED), event(enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED),
		event(enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED), started, event(enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED),
		marker("LocalActivity", 4), marker("LocalActivity", 4), marker("LocalActivity", 9), marker("Version", 9), marker("SideEffect", 9),
		upsert("TemporalChangeVersion"), upsert("IdeaStatus", "IdeaAwaiting"),
		event(enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED), event(enums.EVENT_TYPE_TIMER_STARTED), event(enums.EVENT_TYPE_TIMER_FIRED),
		event(enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED), marker("LocalActivity", 9), // another run, of the same event ids
	} {
		c.Add(e)
	}
	want := Counts{"starts": 2, "activities": 1, "retries": 2, "local activities": 3, "side effects": 1, "upserts": 1, "signals": 1, "timers": 1}
	if !maps.Equal(c.Counts, want) || c.Counts.Total() != 12 {
		t.Errorf("counted %v, want %v", c.Counts, want)
	}
}
