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
	first := info.GetFirstRunId()
	return !protocol.IsOpen(info.GetStatus()) || (first != "" && first != p.FirstRunID), nil
}
