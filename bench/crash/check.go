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

// check compares a process with the rules.
func (r *trial) check(ctx context.Context, p *startedProcess) {
	r.figures.Processes++
	if p.err != nil {
		r.figures.addViolation("every process ends", p.id, "%s", p.err)
		return
	}
	calm := r.reference[p.testCase.name]
	if got, want := resultWithoutID(p), resultWithoutID(calm); got != want {
		r.figures.addViolation("the result is that of an undisturbed process", p.id, "%s, not %s",
			jsonval.Clip(got, 2000),
			jsonval.Clip(want, 2000))
	}
	done := map[string]time.Time{}
	for token := range p.result.Instances {
		r.checkHistory(ctx, protocol.InstanceID(p.id, token), done)
	}
	r.checkHistory(ctx, p.id, done)
	r.checkEffects(p, calm, done)
}

// resultWithoutID returns a process's result without its id, for comparison.
func resultWithoutID(p *startedProcess) string {
	text := jsonval.EncodeToString(jsonval.ToJSONValue([]any{p.result.Status, p.result.Output, p.result.Instances}))
	return strings.ReplaceAll(text, p.id, "ID")
}

// checkHistory checks the history of one workflow: it must have ended, and no Call may have run again after its
// completion. It adds to done when each Call was completed, by Idempotency-Key.
func (r *trial) checkHistory(ctx context.Context, id string, done map[string]time.Time) {
	events := r.client.Temporal().GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	scheduled := map[int64]string{}
	ended := false
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			r.figures.addViolation("every history can be read", id, "%s", err)
			return
		}
		ended = r.checkEvent(id, e, scheduled, done)
	}
	if !ended {
		r.figures.addViolation("every workflow ends", id, "it is open")
	}
}

// checkEvent checks one event of a history, and reports whether it is the workflow's end.
func (r *trial) checkEvent(id string, e *historypb.HistoryEvent, scheduled map[int64]string,
	done map[string]time.Time) (ended bool) {
	r.figures.Events++
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		a := e.GetActivityTaskScheduledEventAttributes()
		if key := keyOf(a.GetActivityType().GetName(), a.GetInput()); key != "" {
			scheduled[e.GetEventId()] = key
			if _, again := done[key]; again {
				r.figures.addViolation("no Call runs again whose completion is in history", id,
					"%s is scheduled again by event %d", key, e.GetEventId())
			}
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		if key := scheduled[e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()]; key != "" {
			done[key] = e.GetEventTime().AsTime()
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		if key := scheduled[e.GetActivityTaskFailedEventAttributes().GetScheduledEventId()]; key != "" {
			r.failed[key] = true
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

// keyOf returns the Idempotency-Key of the Call that an activity runs, or "" if it runs no Call.
func keyOf(activity string, input *commonpb.Payloads) string {
	var in protocol.ExecuteInput
	if activity != protocol.ActivityExecute || connect.DataConverter(nil).FromPayloads(input, &in) != nil {
		return ""
	}
	return in.IdempotencyKey()
}

// checkEffects checks the requests to the tools. Everything that the undisturbed process requested must be there, each
// under one key, and nothing may be requested again after it was done.
func (r *trial) checkEffects(p, calm *startedProcess, done map[string]time.Time) {
	keys := map[string]string{}
	for _, e := range r.tools.effectsOf(p.id) {
		r.figures.Effects++
		r.figures.Repeated += len(e.times) - 1
		asked := strings.ReplaceAll(e.asked, p.id, "ID")
		if other, twice := keys[asked]; twice && !r.failed[other] {
			r.figures.addViolation("a repetition has the same Idempotency-Key", p.id, "%s came as %s and as %s", asked,
				other, e.key)
		}
		keys[asked] = e.key
		if at, ok := done[e.key]; ok && slices.ContainsFunc(e.times, func(t time.Time) bool { return t.After(at) }) {
			r.figures.addViolation("no Call runs again whose completion is in history", p.id,
				"%s came again after it was done", e.key)
		}
		if len(e.times) > 1 && strings.Contains(e.asked, "/once ") {
			r.figures.addViolation("what must not run twice does not", p.id, "%s came %d times", e.key, len(e.times))
		}
	}
	for _, e := range r.tools.effectsOf(calm.id) {
		if asked := strings.ReplaceAll(e.asked, calm.id, "ID"); keys[asked] == "" {
			r.figures.addViolation("no effect is lost", p.id, "%s", fmt.Sprintf("nobody asked %s", asked))
		}
	}
}
