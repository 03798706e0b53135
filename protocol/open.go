package protocol

import (
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
)

// IsOpen reports whether a workflow has not ended. One that somebody paused through Temporal itself (temporal workflow
// pause) has not: who took it for ended would end its instances, and collect its values.
func IsOpen(s enumspb.WorkflowExecutionStatus) bool {
	return s == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || s == enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED
}

// ProblemsAttribute is the search attribute by which Temporal tells of workflows whose tasks fail again and again.
const ProblemsAttribute = "TemporalReportedProblems"

// taskProblems are the entries of ProblemsAttribute that say so.
var taskProblems = []string{"category=WorkflowTaskFailed", "category=WorkflowTaskTimedOut"}

// QueryForTaskProblems finds the workflows whose tasks fail.
func QueryForTaskProblems() string {
	return ProblemsAttribute + " IN ('" + strings.Join(taskProblems, "', '") + "') AND ExecutionStatus = 'Running'"
}
