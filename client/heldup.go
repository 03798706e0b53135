package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"

	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// This file says why a process does not answer, which only Temporal knows.

// pollGrace is how long ago a worker may have asked for work that counts as there.
const pollGrace = 90 * time.Second

// served reports whether a worker serves the task queue; true where that is not known.
func (c *Client) served(ctx context.Context) bool {
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

func noWorker(queue string) turn.HeldUp {
	return turn.HeldUp{Cause: turn.CodeNoWorker, Message: "no worker serves the task queue " + queue,
		Mend: "start a worker; then it goes on by itself"}
}

// refusal is how a worker begins that says why it does not take a process.
const refusal = "the worker: "

// whyUnseen says what holds up a process that did not answer a query, as far as that can be told; nil: it may only be
// slow.
func (c *Client) whyUnseen(ctx context.Context, workflow string, unanswered error) *turn.HeldUp {
	var failed *serviceerror.QueryFailed
	if errors.As(unanswered, &failed) {
		if why, said := strings.CutPrefix(failed.Error(), refusal); said {
			return &turn.HeldUp{Cause: turn.CodeKeysMissing,
				Message: "the worker cannot open what the process keeps: " + why,
				Mend:    "give the worker the key (PROCESSIDEA_KEYS); then it goes on by itself"}
		}
	}
	if !c.served(ctx) {
		h := noWorker(protocol.TaskQueue)
		return &h
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	d, err := c.temporal.DescribeWorkflowExecution(ctx, workflow, "")
	task := d.GetPendingWorkflowTask()
	if err != nil || task.GetAttempt() <= 1 {
		return nil
	}
	return &turn.HeldUp{Cause: turn.CodeWorkerFails, Since: task.GetOriginalScheduledTime().AsTime(),
		Message: fmt.Sprintf("a worker is there and cannot go on with the process (attempt %d)", task.GetAttempt()),
		Mend:    "the worker's log says why; then it goes on by itself"}
}

// addUnseen says in a Summary what holds up a process that did not answer.
func (s *Summary) addUnseen(h *turn.HeldUp) {
	if h == nil || s.Status != loop.StatusRunning {
		return
	}
	s.HeldUp = []turn.HeldUp{*h}
	s.Waiting = []string{h.String()}
}

// HeldUp counts the processes that are held up, as far as the search attributes tell, up to a bound. Where no worker
// serves the task queue, all that run are.
func (c *Client) HeldUp(ctx context.Context, most int) (n int, err error) {
	seen := map[string]bool{}
	query := processQuery + " AND ExecutionStatus = 'Running'"
	if c.served(ctx) {
		query += " AND " + protocol.AttributeStatus + " = '" + protocol.StatusHeldUp + "'"
	}
	err = c.executions(ctx, query, func(info *workflowpb.WorkflowExecutionInfo) bool {
		root, _, _ := strings.Cut(info.GetExecution().GetWorkflowId(), "/")
		seen[root] = true
		return len(seen) < most
	})
	if err != nil {
		return 0, fmt.Errorf("count what is held up: %w", err)
	}
	return len(seen), nil
}
