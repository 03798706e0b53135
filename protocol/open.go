package protocol

import (
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
)

// IsOpen reports whether a workflow has not ended. A workflow that somebody paused through Temporal itself (temporal
// workflow pause) is open: otherwise its instances would be ended, and its values collected.
func IsOpen(s enumspb.WorkflowExecutionStatus) bool {
	return s == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || s == enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED
}

// ProblemsAttribute is the search attribute with which Temporal marks workflows whose tasks fail again and again.
const ProblemsAttribute = "TemporalReportedProblems"

// taskProblems are the values of ProblemsAttribute for failing workflow tasks.
var taskProblems = []string{"category=WorkflowTaskFailed", "category=WorkflowTaskTimedOut"}

// QueryForTaskProblems returns a list query for the workflows whose tasks fail.
func QueryForTaskProblems() string {
	return ProblemsAttribute + " IN ('" + strings.Join(taskProblems, "', '") + "') AND ExecutionStatus = 'Running'"
}
