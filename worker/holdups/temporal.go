package holdups

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
)

// This file finds what Temporal alone knows: an activity that somebody paused there (temporal activity pause) simply
// begins no more, and a workflow whose tasks fail tells nobody.

// Search attributes of Temporal's own. Servers that lack one refuse a query for it.
const (
	pauseAttribute    = "TemporalPauseInfo"
	problemsAttribute = "TemporalReportedProblems"
	pausedActivity    = "property:activityType="
	// maxInTemporal bounds how many workflows are looked at.
	maxInTemporal = 1000
)

// problems are the entries of problemsAttribute that say that tasks fail.
var problems = []string{"category=WorkflowTaskFailed", "category=WorkflowTaskTimedOut"}

// InTemporal lists what Temporal knows of that holds processes up, by the process that hears of it: the one of the
// activity, or the one above the workflow whose tasks fail. Of a process that hears no signal package client tells.
// activities are their names: asked for all that stands in the attribute, a server may have to read all that runs.
func InTemporal(ctx context.Context, c client.Client, activities []string) (map[string][]turn.HeldUp, error) {
	found := map[string][]turn.HeldUp{}
	pauses := jsonval.Map(activities, func(name string) string { return pausedActivity + name })
	for attribute, look := range map[string]struct {
		entries []string
		read    func(id, process string, entries []string) (string, turn.HeldUp)
	}{pauseAttribute: {pauses, pauseIn}, problemsAttribute: {problems, problemIn}} {
		list, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: maxInTemporal,
			Query: fmt.Sprintf("%s IN ('%s') AND WorkflowType IN ('%s', '%s') AND ExecutionStatus = 'Running'",
				attribute, strings.Join(look.entries, "', '"), protocol.ProcessType, protocol.InstanceType)})
		var unknown *serviceerror.InvalidArgument
		switch {
		case errors.As(err, &unknown):
			continue
		case err != nil:
			return nil, fmt.Errorf("holdups: list workflows by %s: %w", attribute, err)
		}
		for _, e := range list.GetExecutions() {
			process, h := look.read(e.GetExecution().GetWorkflowId(), processOf(e), entriesOf(e, attribute))
			alike := func(known turn.HeldUp) bool { return known.Cause == h.Cause }
			if process != "" && !slices.ContainsFunc(found[process], alike) {
				found[process] = append(found[process], h)
			}
		}
	}
	return found, nil
}

// processOf is the process of a workflow: its own, or the one of an instance.
func processOf(e *workflowpb.WorkflowExecutionInfo) string {
	id := e.GetExecution().GetWorkflowId()
	if e.GetType().GetName() == protocol.InstanceType {
		id, _, _ = protocol.ParseInstanceID(id)
	}
	return id
}

// entriesOf reads an attribute. It stays, empty, when what it told of is over.
func entriesOf(e *workflowpb.WorkflowExecutionInfo, attribute string) (entries []string) {
	_ = converter.GetDefaultDataConverter().FromPayload(
		e.GetSearchAttributes().GetIndexedFields()[attribute], &entries)
	return entries
}

// pauseIn reads which activity is paused. A workflow that is paused whole hears no signal.
func pauseIn(id, process string, entries []string) (string, turn.HeldUp) {
	for _, entry := range entries {
		if activity, is := strings.CutPrefix(entry, pausedActivity); is {
			return process, turn.PausedInTemporal("the activity "+activity+" of "+id, "activity")
		}
	}
	return "", turn.HeldUp{}
}

// problemIn tells that a workflow's tasks fail to the process above it, which hears of it.
func problemIn(id, process string, entries []string) (string, turn.HeldUp) {
	if id == process {
		process, _, _ = strings.Cut(id, "/")
	}
	if len(entries) == 0 || id == process {
		return "", turn.HeldUp{}
	}
	return process, turn.WorkerFails("continue " + id)
}
