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
// begins no more, and a workflow that is paused there, or whose tasks fail, tells nobody.

const (
	// The search attribute of activities that are paused. Servers that lack one refuse a query for it.
	pauseAttribute = "TemporalPauseInfo"
	pausedActivity = "property:activityType="
	// maxInTemporal bounds how many workflows are looked at.
	maxInTemporal = 1000
)

// InTemporal lists what Temporal knows of that holds processes up, by the process that hears of it: the one of the
// activity, or the one above a workflow that is paused whole, or whose tasks fail. A process with none above it hears
// nothing: what is listed of it names it. activities are their names: asked for all that stands in the attribute, a
// server may have to read all that runs.
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

func pausedActivityIn(e *workflowpb.WorkflowExecutionInfo) (process string, h turn.HeldUp) {
	for _, entry := range entriesOf(e, pauseAttribute) {
		if activity, is := strings.CutPrefix(entry, pausedActivity); is {
			h = turn.PausedInTemporal("the activity "+activity+" of "+e.GetExecution().GetWorkflowId(), "activity")
		}
	}
	return processOf(e), h
}

func pausedWhole(e *workflowpb.WorkflowExecutionInfo) (process string, h turn.HeldUp) {
	return toldAbove(e, func(what string) turn.HeldUp { return turn.PausedInTemporal(what, "workflow") })
}

func failingTasks(e *workflowpb.WorkflowExecutionInfo) (process string, h turn.HeldUp) {
	if len(entriesOf(e, protocol.ProblemsAttribute)) == 0 {
		return "", turn.HeldUp{}
	}
	return toldAbove(e, func(what string) turn.HeldUp { return turn.WorkerFails("continue " + what) })
}

// toldAbove gives what is to be told of a workflow that hears nothing, and the process above it.
func toldAbove(e *workflowpb.WorkflowExecutionInfo, tell func(what string) turn.HeldUp) (string, turn.HeldUp) {
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
