package forget

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"processidea/client"
	"processidea/client/internal/kind"
	"processidea/protocol"
	"processidea/store/blobs"
)

// executions are the workflows of a process, its instances, parts and delegates, each with all its runs.
type executions struct {
	*client.Client
	processID        string
	includesWorkflow func(workflow string) bool // filters workflows by id
}

func executionsOf(c *client.Client, processID string) *executions {
	return &executions{c, processID, func(id string) bool { return blobs.RootProcessID(id) == processID }}
}

const (
	pollInterval = 200 * time.Millisecond
	// maxListLag bounds how long Temporal's list may still show deleted runs.
	maxListLag = time.Minute
)

// terminateOpenRuns ends workflows of an ended process that are still open: instances and delegates that have not
// noticed yet.
func (x *executions) terminateOpenRuns(ctx context.Context) error {
	for {
		runs, _, err := x.runs(ctx)
		openCount := 0
		for _, r := range runs {
			if !isOpen(r) {
				continue
			}
			openCount++
			e := r.GetExecution()
			err := x.Temporal().TerminateWorkflow(ctx, e.GetWorkflowId(), e.GetRunId(),
				"what the process worked on is forgotten")
			if err != nil && !isNotFound(err) {
				return err
			}
		}
		if err != nil || openCount == 0 {
			return err
		}
		client.Sleep(ctx, pollInterval)
	}
}

// deleteAllRuns deletes every run, waits until the server has none left, and returns how many there were.
func (x *executions) deleteAllRuns(ctx context.Context) (int, error) {
	deletedRunIDs, goneSince := map[string]bool{}, time.Time{}
	for {
		runs, listedCount, err := x.runs(ctx)
		if err != nil {
			return 0, err
		}
		for _, r := range runs {
			if runID := r.GetExecution().GetRunId(); !deletedRunIDs[runID] {
				_, err := x.Temporal().WorkflowService().DeleteWorkflowExecution(ctx,
					&workflowservice.DeleteWorkflowExecutionRequest{
						Namespace: x.Namespace(), WorkflowExecution: r.GetExecution(),
					})
				if err != nil && !isNotFound(err) {
					return 0, err
				}
				deletedRunIDs[runID] = true
			}
		}
		switch {
		case len(runs)+listedCount == 0:
			return len(deletedRunIDs), nil
		case len(runs) > 0:
			goneSince = time.Now()
		case time.Since(goneSince) > maxListLag && !goneSince.IsZero():
			return 0, fmt.Errorf("Temporal's list still shows %d runs that were deleted; forget it again later",
				listedCount)
		case goneSince.IsZero():
			goneSince = time.Now()
		}
		client.Sleep(ctx, pollInterval)
	}
}

func isNotFound(err error) bool { return kind.Is[*serviceerror.NotFound](err) }

func isOpen(r *workflowpb.WorkflowExecutionInfo) bool {
	return protocol.IsOpen(r.GetStatus())
}

// runs returns every run that exists, and how many the server's list shows, which lags behind in both directions.
func (x *executions) runs(ctx context.Context) (runs []*workflowpb.WorkflowExecutionInfo, listedCount int, err error) {
	seenRunIDs := map[string]bool{}
	addRun := func(workflow, runID string) error {
		d, err := x.Temporal().DescribeWorkflowExecution(ctx, workflow, runID)
		if isNotFound(err) {
			return nil
		}
		if info := d.GetWorkflowExecutionInfo(); err == nil && !seenRunIDs[info.GetExecution().GetRunId()] {
			seenRunIDs[info.GetExecution().GetRunId()] = true
			runs = append(runs, info)
		}
		return err
	}
	if x.includesWorkflow(x.processID) {
		if err := addRun(x.processID, ""); err != nil {
			return nil, 0, err
		}
	}
	listedExecutions, err := x.listExecutions(ctx)
	for _, e := range listedExecutions {
		if err == nil {
			err = addRun(e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId())
		}
	}
	return runs, len(listedExecutions), err
}

// listExecutions returns the process's workflows in the server's list.
func (x *executions) listExecutions(ctx context.Context) (listedExecutions []*workflowpb.WorkflowExecutionInfo,
	err error) {
	for _, query := range []string{protocol.ProcessTreeQuery(x.processID), ""} {
		listedExecutions, err = nil, nil
		for e, listErr := range x.Executions(ctx, query) {
			if err = listErr; x.includesWorkflow(e.GetExecution().GetWorkflowId()) {
				listedExecutions = append(listedExecutions, e)
			}
		}
		if !kind.Is[*serviceerror.InvalidArgument](err) {
			break // otherwise the server is old, or cannot search for this id
		}
	}
	return listedExecutions, err
}
