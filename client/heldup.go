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

// pollGrace is how recently a worker must have polled to count as running.
const pollGrace = 90 * time.Second

// hasWorker reports whether a worker serves the task queue; true if that is unknown.
func (c *Client) hasWorker(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	d, err := c.temporal.DescribeTaskQueue(ctx, protocol.TaskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return true
	}
	for _, p := range d.GetPollers() {
		if last := p.GetLastAccessTime(); last == nil || time.Since(last.AsTime()) < pollGrace {
			return true
		}
	}
	return false
}

// deafness is what keeps a process from hearing anything, as far as a list tells it; nil: nothing.
func deafness(info *workflowpb.WorkflowExecutionInfo) *turn.HeldUp {
	switch {
	case info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED:
		held := turn.PausedInTemporal("the process", "workflow")
		return &held
	case info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING &&
		len(attribute[[]string](info, protocol.ProblemsAttribute)) > 0:
		return workerFails("continue the process")
	}
	return nil
}

func noWorker(queue string) *turn.HeldUp {
	return &turn.HeldUp{Cause: turn.CodeNoWorker, Message: "no worker serves the task queue " + queue,
		Remedy: "start a worker; then it goes on by itself"}
}

// refusal begins the error with which a worker refuses a process.
const refusal = "the worker: "

// explainNoAnswer returns what holds up a process that did not answer a query, as far as can be told; nil if it may
// only be slow.
func (c *Client) explainNoAnswer(ctx context.Context, workflow string, unanswered error) *turn.HeldUp {
	if failed, is := errors.AsType[*serviceerror.QueryFailed](unanswered); is {
		if why, isRefusal := strings.CutPrefix(failed.Error(), refusal); isRefusal {
			return keysMissing(why)
		}
		if !strings.HasPrefix(failed.Error(), "unknown queryType") { // an older worker's answer
			return workerFails("read the process: " + jsonval.Clip(failed.Error(), maxQueryError))
		}
	}
	if !c.hasWorker(ctx) {
		return noWorker(protocol.TaskQueue)
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	d, err := c.temporal.DescribeWorkflowExecution(ctx, workflow, "")
	if d.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED {
		held := turn.PausedInTemporal("the process", "workflow")
		if since := d.GetWorkflowExtendedInfo().GetPauseInfo().GetPausedTime(); since != nil {
			held.Since = since.AsTime()
		}
		return &held
	}
	task := d.GetPendingWorkflowTask()
	if err != nil || task.GetAttempt() <= 1 {
		return nil
	}
	if why := c.refusedTask(ctx, workflow); why != "" {
		return keysMissing(why)
	}
	held := workerFails(fmt.Sprintf("continue the process (attempt %d)", task.GetAttempt()))
	held.Since = task.GetOriginalScheduledTime().AsTime()
	return held
}

// maxQueryError bounds what is shown of a query's error, in characters.
const maxQueryError = 300

func workerFails(atWhat string) *turn.HeldUp {
	h := turn.WorkerFails(atWhat)
	return &h
}

// keysMissing leaves out the packages in which an error came up: a table shows its beginning alone.
func keysMissing(why string) *turn.HeldUp {
	return &turn.HeldUp{Cause: turn.CodeKeysMissing,
		Message: "the worker cannot decrypt it: " + strings.TrimSpace(why[strings.LastIndex(why, ":")+1:]),
		Remedy:  "give the worker the key (PROCESSIDEA_KEYS); then it goes on by itself"}
}

// refusedTask returns why a worker refused the workflow task that fails, for want of a key; empty: that is not why.
// While a task fails, Temporal passes no query on. Only its first attempt stands in the history.
func (c *Client) refusedTask(ctx context.Context, workflow string) string {
	r, err := c.temporal.WorkflowService().GetWorkflowExecutionHistoryReverse(ctx,
		&workflowservice.GetWorkflowExecutionHistoryReverseRequest{Namespace: c.namespace, MaximumPageSize: 100,
			Execution: &commonpb.WorkflowExecution{WorkflowId: workflow}})
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
func (s *Summary) addHoldUp(h *turn.HeldUp) {
	if h == nil || s.Status != loop.StatusRunning {
		return
	}
	s.HeldUp = []turn.HeldUp{*h}
	s.Waiting = []string{h.String()}
}

// HeldUp counts the processes that are held up, as far as the search attributes tell, up to a bound. Where no worker
// serves the task queue, all that run are.
func (c *Client) HeldUp(ctx context.Context, limit int) (int, error) {
	queries := []string{isOpen}
	if c.hasWorker(ctx) {
		queries = []string{olderIsOpen + " AND " + protocol.AttributeStatus + " = '" + protocol.StatusHeldUp + "'",
			"ExecutionStatus = 'Paused'", protocol.QueryForTaskProblems()} // the others say nothing of themselves
	}
	seen := map[string]bool{}
	for n, query := range queries {
		for info, err := range c.Executions(ctx, processQuery+" AND "+query) {
			switch {
			case n > 0 && isRefused(err): // an older server knows of no such thing
				continue
			case err != nil:
				return 0, fmt.Errorf("count what is held up: %w", err)
			}
			root, _, _ := strings.Cut(info.GetExecution().GetWorkflowId(), "/")
			if seen[root] = true; len(seen) >= limit {
				return len(seen), nil
			}
		}
	}
	return len(seen), nil
}
