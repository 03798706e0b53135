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

// This file finds what only Temporal knows: an activity that somebody paused there (temporal activity pause) simply
// does not begin any more, and a workflow that is paused there, or whose tasks fail, can report nothing.

const (
	// The search attribute of paused activities. Servers without this attribute refuse a query for it.
	pauseAttribute = "TemporalPauseInfo"
	pausedActivity = "property:activityType="
	// maxInTemporal bounds how many workflows are looked at.
	maxInTemporal = 1000
)

// InTemporal lists what only Temporal knows of that holds processes up, by the process that is informed. That is the
// process of a paused activity; for a workflow that is paused as a whole, or whose tasks fail, it is the process above
// the workflow. A process without one above cannot be informed: its HeldUp names it in Process. activities are the
// names of all activities: a query for any entry of the attribute could make a server read all running workflows.
func InTemporal(ctx context.Context, c client.Client, activities []string) (map[string][]turn.HeldUp, error) {
	found := map[string][]turn.HeldUp{}
	pauses := jsonval.Map(activities, func(name string) string { return pausedActivity + name })
	inAttribute := pauseAttribute + " IN ('" + strings.Join(pauses, "', '") + "') AND ExecutionStatus = 'Running'"
	for query, read := range map[string]func(e *workflowpb.WorkflowExecutionInfo) (process string, h turn.HeldUp){
		inAttribute:                     pausedActivityIn,
		"ExecutionStatus = 'Paused'":    pausedWhole,
		protocol.QueryForTaskProblems(): failingTasks,
	} {
		list, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: maxInTemporal,
			Query: fmt.Sprintf("%s AND WorkflowType IN ('%s', '%s')", query, protocol.ProcessType,
				protocol.InstanceType)})
		var unknown *serviceerror.InvalidArgument
		switch {
		case errors.As(err, &unknown):
			continue
		case err != nil:
			return nil, fmt.Errorf("holdups: list workflows where %s: %w", query, err)
		}
		for _, e := range list.GetExecutions() {
			process, h := read(e)
			alike := func(known turn.HeldUp) bool { return known.Cause == h.Cause }
			if h.Cause != "" && !slices.ContainsFunc(found[process], alike) {
				found[process] = append(found[process], h)
			}
		}
	}
	return found, nil
}

// processOf returns the id of a workflow's process: the workflow's own, or for an instance the id of its process.
func processOf(e *workflowpb.WorkflowExecutionInfo) string {
	id := e.GetExecution().GetWorkflowId()
	if e.GetType().GetName() == protocol.InstanceType {
		id, _, _ = protocol.ParseInstanceID(id)
	}
	return id
}

// entriesOf reads a list attribute. The attribute stays, empty, when what it listed is over.
func entriesOf(e *workflowpb.WorkflowExecutionInfo, attribute string) (entries []string) {
	_ = converter.GetDefaultDataConverter().FromPayload(
		e.GetSearchAttributes().GetIndexedFields()[attribute], &entries)
	return entries
}

func pausedActivityIn(e *workflowpb.WorkflowExecutionInfo) (process string, h turn.HeldUp) {
	for _, entry := range entriesOf(e, pauseAttribute) {
		if activity, is := strings.CutPrefix(entry, pausedActivity); is {
			h = turn.PausedInTemporal("the activity "+activity+" of "+e.GetExecution().GetWorkflowId(), "activity")
		}
	}
	return processOf(e), h
}

func pausedWhole(e *workflowpb.WorkflowExecutionInfo) (process string, h turn.HeldUp) {
	return holdUpForParent(e, func(what string) turn.HeldUp { return turn.PausedInTemporal(what, "workflow") })
}

func failingTasks(e *workflowpb.WorkflowExecutionInfo) (process string, h turn.HeldUp) {
	if len(entriesOf(e, protocol.ProblemsAttribute)) == 0 {
		return "", turn.HeldUp{}
	}
	return holdUpForParent(e, func(what string) turn.HeldUp { return turn.WorkerFails("continue " + what) })
}

// holdUpForParent returns the HeldUp of a workflow that cannot handle signals, and the process above, which is told.
func holdUpForParent(e *workflowpb.WorkflowExecutionInfo, tell func(what string) turn.HeldUp) (string, turn.HeldUp) {
	id, process := e.GetExecution().GetWorkflowId(), processOf(e)
	if id == process {
		process, _, _ = strings.Cut(id, "/")
	}
	if id != process {
		return process, tell(id)
	}
	h := tell("the process")
	h.Process = process
	return process, h
}
