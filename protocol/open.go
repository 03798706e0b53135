package protocol

import enumspb "go.temporal.io/api/enums/v1"

// IsOpen reports whether a workflow has not ended. One that somebody paused through Temporal itself (temporal workflow
// pause) has not: who took it for ended would end its instances, and collect its values.
func IsOpen(s enumspb.WorkflowExecutionStatus) bool {
	return s == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || s == enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED
}
