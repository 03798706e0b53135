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
// above the workflow. A process without one above cannot be informed: its HoldUp names it in ProcessID. activities are
// the names of all activities: a query for any entry of the attribute could make a server read all running workflows.
func HoldUpsInTemporal(ctx context.Context, c client.Client, activityNames []string) (map[string][]turn.HoldUp, error) {
	holdUpsByProcess := map[string][]turn.HoldUp{}
	pauseValues := jsonval.Map(activityNames, func(name string) string { return pausedActivityPrefix + name })
	pausedQuery := pauseAttribute + " IN ('" + strings.Join(pauseValues, "', '") + "') AND ExecutionStatus = 'Running'"
	for query, describe := range map[string]func(e *workflowpb.WorkflowExecutionInfo) (processID string, h turn.HoldUp){
		pausedQuery:                     pausedActivityHoldUp,
		"ExecutionStatus = 'Paused'":    pausedWorkflowHoldUp,
		protocol.QueryForTaskProblems(): failingTaskHoldUp,
	} {
		response, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: maxWorkflows,
			Query: fmt.Sprintf("%s AND WorkflowType IN ('%s', '%s')", query, protocol.ProcessType,
				protocol.InstanceType)})
		var unsupported *serviceerror.InvalidArgument
		switch {
		case errors.As(err, &unsupported):
			continue
		case err != nil:
			return nil, fmt.Errorf("holdups: list workflows where %s: %w", query, err)
		}
		for _, e := range response.GetExecutions() {
			processID, h := describe(e)
			hasSameCause := func(existing turn.HoldUp) bool { return existing.CauseCode == h.CauseCode }
			if h.CauseCode != "" && !slices.ContainsFunc(holdUpsByProcess[processID], hasSameCause) {
				holdUpsByProcess[processID] = append(holdUpsByProcess[processID], h)
			}
		}
	}
	return holdUpsByProcess, nil
}

// maxIDsInQuery bounds the ids in a list query.
const maxIDsInQuery = 100

// RunningProcesses returns which of the processes run. One that is paused in Temporal does not.
func RunningProcesses(ctx context.Context, c client.Client, processIDs []string) (map[string]bool, error) {
	isRunning := map[string]bool{}
	for ids := range slices.Chunk(processIDs, maxIDsInQuery) {
		response, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: maxIDsInQuery,
			Query: fmt.Sprintf("WorkflowId IN (%s) AND ExecutionStatus = 'Running'",
				strings.Join(jsonval.Map(ids, protocol.QuoteForQuery), ", "))})
		if err != nil {
			return nil, fmt.Errorf("holdups: list which processes run: %w", err)
		}
		for _, e := range response.GetExecutions() {
			isRunning[e.GetExecution().GetWorkflowId()] = true
		}
	}
	return isRunning, nil
}

// processIDOf returns the id of a workflow's process: the workflow's own, or for an instance the id of its process.
func processIDOf(e *workflowpb.WorkflowExecutionInfo) string {
	workflowID := e.GetExecution().GetWorkflowId()
	if e.GetType().GetName() == protocol.InstanceType {
		workflowID, _, _ = protocol.ParseInstanceID(workflowID)
	}
	return workflowID
}

// readListAttribute reads a list attribute. The attribute stays, empty, when what it listed is over.
func readListAttribute(e *workflowpb.WorkflowExecutionInfo, attribute string) (entries []string) {
	_ = converter.GetDefaultDataConverter().FromPayload(
		e.GetSearchAttributes().GetIndexedFields()[attribute], &entries)
	return entries
}

func pausedActivityHoldUp(e *workflowpb.WorkflowExecutionInfo) (processID string, h turn.HoldUp) {
	for _, entry := range readListAttribute(e, pauseAttribute) {
		if activityType, isPaused := strings.CutPrefix(entry, pausedActivityPrefix); isPaused {
			h = turn.TemporalPauseHoldUp("the activity "+activityType+" of "+e.GetExecution().GetWorkflowId(),
				"activity")
		}
	}
	return processIDOf(e), h
}

func pausedWorkflowHoldUp(e *workflowpb.WorkflowExecutionInfo) (processID string, h turn.HoldUp) {
	return holdUpForParent(e, func(subject string) turn.HoldUp { return turn.TemporalPauseHoldUp(subject, "workflow") })
}

func failingTaskHoldUp(e *workflowpb.WorkflowExecutionInfo) (processID string, h turn.HoldUp) {
	if len(readListAttribute(e, protocol.ProblemsAttribute)) == 0 {
		return "", turn.HoldUp{}
	}
	return holdUpForParent(e, func(subject string) turn.HoldUp {
		return turn.WorkerFailureHoldUp("continue " +
			subject)
	})
}

// holdUpForParent returns the HoldUp of a workflow that cannot handle signals, and the process above, which is told.
func holdUpForParent(e *workflowpb.WorkflowExecutionInfo,
	newHoldUp func(subject string) turn.HoldUp) (string, turn.HoldUp) {
	workflowID, processID := e.GetExecution().GetWorkflowId(), processIDOf(e)
	if workflowID == processID {
		processID, _, _ = strings.Cut(workflowID, "/")
	}
	if workflowID != processID {
		return processID, newHoldUp(workflowID)
	}
	h := newHoldUp("the process")
	h.ProcessID = processID
	return processID, h
}
