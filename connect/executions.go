package connect

import (
	"context"
	"iter"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// ListExecutionsFunc lists a page of workflows, as client.Client's ListWorkflow does.
type ListExecutionsFunc func(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (
	*workflowservice.ListWorkflowExecutionsResponse, error)

// Executions yields every workflow that a request finds, page by page, the latest first. An error comes last.
func Executions(ctx context.Context, list ListExecutionsFunc,
	r *workflowservice.ListWorkflowExecutionsRequest) iter.Seq2[*workflowpb.WorkflowExecutionInfo, error] {
	return func(yield func(*workflowpb.WorkflowExecutionInfo, error) bool) {
		for {
			page, err := list(ctx, r)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, info := range page.GetExecutions() {
				if !yield(info, nil) {
					return
				}
			}
			if r.NextPageToken = page.GetNextPageToken(); len(r.NextPageToken) == 0 {
				return
			}
		}
	}
}
