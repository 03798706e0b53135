package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"processidea/connect"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// This file explains why a process does not answer, as far as Temporal knows.

// maxPollAge is how recently a worker must have polled to count as running.
const maxPollAge = 90 * time.Second

// hasWorker reports whether a worker serves the task queue; true if that is unknown.
func (c *Client) hasWorker(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	d, err := c.temporal.DescribeTaskQueue(ctx, protocol.TaskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return true
	}
	for _, p := range d.GetPollers() {
		if last := p.GetLastAccessTime(); last == nil || time.Since(last.AsTime()) < maxPollAge {
			return true
		}
	}
	return false
}

// unresponsiveCause returns why a process handles no signals or queries, as far as a list shows it; nil if it shows
// nothing.
func unresponsiveCause(info *workflowpb.WorkflowExecutionInfo) *turn.HoldUp {
	switch {
	case info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED:
		holdUp := turn.TemporalPauseHoldUp("the process", "workflow")
		return &holdUp
	case info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING &&
		len(searchAttribute[[]string](info, protocol.ProblemsAttribute)) > 0:
		return workerFailureHoldUp("continue the process")
	}
	return nil
}

func noWorkerHoldUp(queue string) *turn.HoldUp {
	return &turn.HoldUp{CauseCode: turn.CodeNoWorker, Message: "no worker serves the task queue " + queue,
		Remedy: "start a worker; then it goes on by itself"}
}

// workerRefusalPrefix begins the error with which a worker refuses a process.
const workerRefusalPrefix = "the worker: "

// explainNoAnswer returns what holds up a process that did not answer a query; nil if nothing is found: it may only be
// slow.
func (c *Client) explainNoAnswer(ctx context.Context, workflowID string, queryErr error) *turn.HoldUp {
	if queryFailed, isQueryFailed := errors.AsType[*serviceerror.QueryFailed](queryErr); isQueryFailed {
		if message, isRefusal := strings.CutPrefix(queryFailed.Error(), workerRefusalPrefix); isRefusal {
			return missingKeysHoldUp(message)
		}
		if !strings.HasPrefix(queryFailed.Error(), "unknown queryType") { // an older worker's answer
			return workerFailureHoldUp("read the process: " + jsonval.Clip(queryFailed.Error(), maxQueryErrorChars))
		}
	}
	if !c.hasWorker(ctx) {
		return noWorkerHoldUp(protocol.TaskQueue)
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	d, err := c.temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	if d.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED {
		holdUp := turn.TemporalPauseHoldUp("the process", "workflow")
		if since := d.GetWorkflowExtendedInfo().GetPauseInfo().GetPausedTime(); since != nil {
			holdUp.Since = since.AsTime()
		}
		return &holdUp
	}
	task := d.GetPendingWorkflowTask()
	if err != nil || task.GetAttempt() <= 1 {
		return nil
	}
	if message := c.taskRefusalMessage(ctx, workflowID); message != "" {
		return missingKeysHoldUp(message)
	}
	holdUp := workerFailureHoldUp(fmt.Sprintf("continue the process (attempt %d)", task.GetAttempt()))
	holdUp.Since = task.GetOriginalScheduledTime().AsTime()
	return holdUp
}

// maxQueryErrorChars bounds the part of a query's error that is shown, in characters.
const maxQueryErrorChars = 300

func workerFailureHoldUp(action string) *turn.HoldUp {
	h := turn.WorkerFailureHoldUp(action)
	return &h
}

// missingKeysHoldUp leaves out the package names before the error's text: a table shows only the beginning of a text.
func missingKeysHoldUp(message string) *turn.HoldUp {
	return &turn.HoldUp{CauseCode: turn.CodeKeysMissing,
		Message: "the worker cannot decrypt it: " + strings.TrimSpace(message[strings.LastIndex(message, ":")+1:]),
		Remedy:  "give the worker the key (PROCESSIDEA_KEYS); then it goes on by itself"}
}

// taskRefusalMessage returns why a worker refused the failing workflow task for want of a key; empty if that is not
// why. While a task fails, Temporal passes on no query. The history has only the task's first attempt.
func (c *Client) taskRefusalMessage(ctx context.Context, workflowID string) string {
	r, err := c.temporal.WorkflowService().GetWorkflowExecutionHistoryReverse(ctx,
		&workflowservice.GetWorkflowExecutionHistoryReverseRequest{Namespace: c.namespace, MaximumPageSize: 100,
			Execution: &commonpb.WorkflowExecution{WorkflowId: workflowID}})
	if err != nil {
		return ""
	}
	for _, e := range r.GetHistory().GetEvents() {
		if f := e.GetWorkflowTaskFailedEventAttributes().GetFailure(); f != nil {
			if f.GetSource() != connect.RefusalSource {
				break
			}
			return f.GetMessage()
		}
	}
	return ""
}

// addHoldUp adds to a Summary what holds up a process that did not answer.
func (s *ProcessSummary) addHoldUp(h *turn.HoldUp) {
	if h == nil || s.Status != loop.StatusRunning {
		return
	}
	s.HoldUps = []turn.HoldUp{*h}
	s.WaitingTexts = []string{h.String()}
}

// CountHeldUpProcesses counts the processes that are held up, by the search attributes, up to a limit. If no worker
// serves the task queue, all running processes are held up.
func (c *Client) CountHeldUpProcesses(ctx context.Context, limit int) (int, error) {
	queries := []string{openQuery}
	if c.hasWorker(ctx) {
		queries = []string{runningQuery + " AND " + protocol.AttributeStatus + " = '" + protocol.StatusHeldUp + "'",
			"ExecutionStatus = 'Paused'", protocol.QueryForTaskProblems()} // these set no attribute
	}
	heldUpProcessIDs := map[string]bool{}
	for n, query := range queries {
		for info, err := range c.Executions(ctx, processQuery+" AND "+query) {
			switch {
			case n > 0 && isInvalidArgument(err): // an older server does not support the query
				continue
			case err != nil:
				return 0, fmt.Errorf("count what is held up: %w", err)
			}
			rootID, _, _ := strings.Cut(info.GetExecution().GetWorkflowId(), "/")
			if heldUpProcessIDs[rootID] = true; len(heldUpProcessIDs) >= limit {
				return len(heldUpProcessIDs), nil
			}
		}
	}
	return len(heldUpProcessIDs), nil
}
