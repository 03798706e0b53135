package activities

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"

	"processidea/protocol"
)

// IsProcessGone reports whether a process has ended, or its id belongs to another one now.
func (a *Activities) IsProcessGone(ctx context.Context, p protocol.ProcessRef) (bool, error) {
	d, err := a.Client.DescribeWorkflowExecution(ctx, p.ID, "")
	if isNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	info := d.GetWorkflowExecutionInfo()
	first := info.GetFirstRunId()
	return info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || (first != "" && first != p.FirstRunID), nil
}
