package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"processidea/connect"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// checkProcess compares a process with the rules.
func (r *trial) checkProcess(ctx context.Context, p *startedProcess) {
	r.figures.Processes++
	if p.err != nil {
		r.figures.addViolation("every process ends", p.id, "%s", p.err)
		return
	}
	reference := r.referenceByCase[p.testCase.name]
	if got, want := resultWithoutID(p), resultWithoutID(reference); got != want {
		r.figures.addViolation("the result is that of an undisturbed process", p.id, "%s, not %s",
			jsonval.Clip(got, 2000),
			jsonval.Clip(want, 2000))
	}
	completedAt := map[string]time.Time{}
	for token := range p.result.Instances {
		r.checkHistory(ctx, protocol.InstanceID(p.id, token), completedAt)
	}
	r.checkHistory(ctx, p.id, completedAt)
	r.checkEffects(p, reference, completedAt)
}

// resultWithoutID returns a process's result without its id, for comparison.
func resultWithoutID(p *startedProcess) string {
	text := jsonval.EncodeToString(jsonval.ToJSONValue([]any{p.result.Status, p.result.Output, p.result.Instances}))
	return strings.ReplaceAll(text, p.id, "ID")
}

// checkHistory checks the history of one workflow: it must have ended, and no Call may have run again after its
// completion. It adds to done when each Call was completed, by Idempotency-Key.
func (r *trial) checkHistory(ctx context.Context, id string, completedAt map[string]time.Time) {
	events := r.client.Temporal().GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	keyByScheduledEvent := map[int64]string{}
	ended := false
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			r.figures.addViolation("every history can be read", id, "%s", err)
			return
		}
		ended = r.checkEvent(id, e, keyByScheduledEvent, completedAt)
	}
	if !ended {
		r.figures.addViolation("every workflow ends", id, "it is open")
	}
}

// checkEvent checks one event of a history, and reports whether it is the workflow's end.
func (r *trial) checkEvent(id string, e *historypb.HistoryEvent, keyByScheduledEvent map[int64]string,
	completedAt map[string]time.Time) (ended bool) {
	r.figures.Events++
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		a := e.GetActivityTaskScheduledEventAttributes()
		if key := idempotencyKey(a.GetActivityType().GetName(), a.GetInput()); key != "" {
			keyByScheduledEvent[e.GetEventId()] = key
			if _, wasCompleted := completedAt[key]; wasCompleted {
				r.figures.addViolation("no Call runs again whose completion is in history", id,
					"%s is scheduled again by event %d", key, e.GetEventId())
			}
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		if key := keyByScheduledEvent[e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()]; key != "" {
			completedAt[key] = e.GetEventTime().AsTime()
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		if key := keyByScheduledEvent[e.GetActivityTaskFailedEventAttributes().GetScheduledEventId()]; key != "" {
			r.failedKeys[key] = true
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
		r.figures.LostActivities++
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
		r.figures.LostTasks++
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED:
		a := e.GetWorkflowTaskFailedEventAttributes()
		r.figures.FailedTasks++
		switch a.GetCause() {
		case enumspb.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR,
			enumspb.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE:
			r.figures.addViolation("no workflow task fails for good", id, "event %d: %s: %s", e.GetEventId(),
				a.GetCause(),
				a.GetFailure().GetMessage())
		}
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:
		return true
	}
	return false
}

// idempotencyKey returns the Idempotency-Key of the Call that an activity runs, or "" if it runs no Call.
func idempotencyKey(activity string, input *commonpb.Payloads) string {
	var in protocol.ExecuteInput
	if activity != protocol.ActivityExecute || connect.DataConverter(nil).FromPayloads(input, &in) != nil {
		return ""
	}
	return in.IdempotencyKey()
}

// checkEffects checks the requests to the tools. Everything that the undisturbed process requested must be there, each
// under one key, and nothing may be requested again after it was done.
func (r *trial) checkEffects(p, reference *startedProcess, completedAt map[string]time.Time) {
	keyByRequest := map[string]string{}
	for _, e := range r.tools.effectsOf(p.id) {
		r.figures.Effects++
		r.figures.RepeatedRequests += len(e.times) - 1
		request := strings.ReplaceAll(e.request, p.id, "ID")
		if otherKey, isDuplicate := keyByRequest[request]; isDuplicate && !r.failedKeys[otherKey] {
			r.figures.addViolation("a repetition has the same Idempotency-Key", p.id, "%s came as %s and as %s",
				request, otherKey, e.key)
		}
		keyByRequest[request] = e.key
		if at, ok := completedAt[e.key]; ok && slices.ContainsFunc(e.times, func(t time.Time) bool {
			return t.After(at)
		}) {
			r.figures.addViolation("no Call runs again whose completion is in history", p.id,
				"%s came again after it was done", e.key)
		}
		if len(e.times) > 1 && strings.Contains(e.request, "/once ") {
			r.figures.addViolation("what must not run twice does not", p.id, "%s came %d times", e.key, len(e.times))
		}
	}
	for _, e := range r.tools.effectsOf(reference.id) {
		if request := strings.ReplaceAll(e.request, reference.id, "ID"); keyByRequest[request] == "" {
			r.figures.addViolation("no effect is lost", p.id, "%s", fmt.Sprintf("nobody asked %s", request))
		}
	}
}
