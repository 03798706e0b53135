package activities

import (
	"context"

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
	firstRunID := info.GetFirstRunId()
	return !protocol.IsOpen(info.GetStatus()) || (firstRunID != "" && firstRunID != p.FirstRunID), nil
}
