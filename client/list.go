package client

import (
	"context"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"

	"processidea/model/loop"
	"processidea/protocol"
	"processidea/worker/engine"
)

// Summary is a process as List shows it. Path and Version are those of its Idea's meta; Ended is nil while it is open.
type Summary struct {
	Process string             `json:"process"`
	Status  loop.ProcessStatus `json:"status"`
	Path    string             `json:"path"`
	Version string             `json:"version"`
	Started time.Time          `json:"started"`
	Ended   *time.Time         `json:"ended"`
}

// ListOptions say which processes to list.
type ListOptions struct {
	Limit int // the most that are listed; 0: no limit
}

// List gives the processes that somebody started, the latest first, and none that a process started.
func (c *Client) List(ctx context.Context, o ListOptions) ([]Summary, error) {
	found := []Summary{}
	err := c.executions(ctx, processQuery, func(info *workflowpb.WorkflowExecutionInfo) bool {
		if !strings.Contains(info.GetExecution().GetWorkflowId(), "/") {
			found = append(found, c.summary(info))
		}
		return o.Limit <= 0 || len(found) < o.Limit
	})
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return found, nil
}

// summary leaves out a memo that does not open with the keys at hand.
func (c *Client) summary(info *workflowpb.WorkflowExecutionInfo) Summary {
	s := Summary{Process: info.GetExecution().GetWorkflowId(), Status: statusOf(info), Started: info.GetStartTime().AsTime()}
	memo, values := info.GetMemo().GetFields(), engine.DataConverter(c.archive.values.Keys())
	_ = values.FromPayload(memo[protocol.MemoPath], &s.Path)
	_ = values.FromPayload(memo[protocol.MemoVersion], &s.Version)
	if end := info.GetCloseTime(); end != nil {
		t := end.AsTime()
		s.Ended = &t
	}
	return s
}

// statusOf is a process's status as far as Temporal knows it. That it is paused is a search attribute, where those are
// registered.
func statusOf(info *workflowpb.WorkflowExecutionInfo) loop.ProcessStatus {
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return loop.StatusCompleted
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return loop.StatusFailed
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return loop.StatusCancelled
	}
	var status string
	attribute := info.GetSearchAttributes().GetIndexedFields()[protocol.AttributeStatus]
	err := converter.GetDefaultDataConverter().FromPayload(attribute, &status)
	if err == nil && status == string(loop.StatusPaused) {
		return loop.StatusPaused
	}
	return loop.StatusRunning
}
