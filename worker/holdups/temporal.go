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
	pauseAttribute       = "TemporalPauseInfo"
	pausedActivityPrefix = "property:activityType="
	// maxWorkflows bounds how many workflows are looked at.
	maxWorkflows = 1000
)

// HoldUpsInTemporal lists what only Temporal knows of that holds processes up, by the process that is informed. That is
// the process of a paused activity; for a workflow that is paused as a whole, or whose tasks fail, it is the process
// above the workflow. A process without one above cannot be informed: its HeldUp names it in Process. activities are
// the names of all activities: a query for any entry of the attribute could make a server read all running workflows.
func HoldUpsInTemporal(ctx context.Context, c client.Client, activities []string) (map[string][]turn.HoldUp, error) {
	holdUpsByProcess := map[string][]turn.HoldUp{}
	pauseValues := jsonval.Map(activities, func(name string) string { return pausedActivityPrefix + name })
	pausedQuery := pauseAttribute + " IN ('" + strings.Join(pauseValues, "', '") + "') AND ExecutionStatus = 'Running'"
	for query, describe := range map[string]func(e *workflowpb.WorkflowExecutionInfo) (process string, h turn.HoldUp){
		pausedQuery:                     pausedActivityHoldUp,
		"ExecutionStatus = 'Paused'":    pausedWorkflowHoldUp,
		protocol.QueryForTaskProblems(): failingTaskHoldUp,
	} {
		list, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: maxWorkflows,
			Query: fmt.Sprintf("%s AND WorkflowType IN ('%s', '%s')", query, protocol.ProcessType,
				protocol.InstanceType)})
		var unsupported *serviceerror.InvalidArgument
		switch {
		case errors.As(err, &unsupported):
			continue
		case err != nil:
			return nil, fmt.Errorf("holdups: list workflows where %s: %w", query, err)
		}
		for _, e := range list.GetExecutions() {
			process, h := describe(e)
			sameCause := func(existing turn.HoldUp) bool { return existing.Cause == h.Cause }
			if h.Cause != "" && !slices.ContainsFunc(holdUpsByProcess[process], sameCause) {
				holdUpsByProcess[process] = append(holdUpsByProcess[process], h)
			}
		}
	}
	return holdUpsByProcess, nil
}

// processID returns the id of a workflow's process: the workflow's own, or for an instance the id of its process.
func processID(e *workflowpb.WorkflowExecutionInfo) string {
	id := e.GetExecution().GetWorkflowId()
	if e.GetType().GetName() == protocol.InstanceType {
		id, _, _ = protocol.ParseInstanceID(id)
	}
	return id
}

// listAttribute reads a list attribute. The attribute stays, empty, when what it listed is over.
func listAttribute(e *workflowpb.WorkflowExecutionInfo, attribute string) (entries []string) {
	_ = converter.GetDefaultDataConverter().FromPayload(
		e.GetSearchAttributes().GetIndexedFields()[attribute], &entries)
	return entries
}

func pausedActivityHoldUp(e *workflowpb.WorkflowExecutionInfo) (process string, h turn.HoldUp) {
	for _, entry := range listAttribute(e, pauseAttribute) {
		if activity, isPaused := strings.CutPrefix(entry, pausedActivityPrefix); isPaused {
			h = turn.TemporalPauseHoldUp("the activity "+activity+" of "+e.GetExecution().GetWorkflowId(), "activity")
		}
	}
	return processID(e), h
}

func pausedWorkflowHoldUp(e *workflowpb.WorkflowExecutionInfo) (process string, h turn.HoldUp) {
	return holdUpForParent(e, func(subject string) turn.HoldUp { return turn.TemporalPauseHoldUp(subject, "workflow") })
}

func failingTaskHoldUp(e *workflowpb.WorkflowExecutionInfo) (process string, h turn.HoldUp) {
	if len(listAttribute(e, protocol.ProblemsAttribute)) == 0 {
		return "", turn.HoldUp{}
	}
	return holdUpForParent(e, func(subject string) turn.HoldUp { return turn.WorkerFailureHoldUp("continue " + subject) })
}

// holdUpForParent returns the HeldUp of a workflow that cannot handle signals, and the process above, which is told.
func holdUpForParent(e *workflowpb.WorkflowExecutionInfo, build func(what string) turn.HoldUp) (string, turn.HoldUp) {
	id, process := e.GetExecution().GetWorkflowId(), processID(e)
	if id == process {
		process, _, _ = strings.Cut(id, "/")
	}
	if id != process {
		return process, build(id)
	}
	h := build("the process")
	h.ProcessID = process
	return process, h
}
