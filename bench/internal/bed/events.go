package bed

import (
	"context"
	"fmt"
	"maps"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"processidea/client/actions"
	"processidea/connect"
	"processidea/internal/pause"
)

// closedRunsTimeout bounds the wait until visibility shows as closed what has ended.
const closedRunsTimeout = time.Minute

// AwaitClosedRuns lists every run of every workflow on the server. It waits until visibility shows them all as closed.
func (b *TestBed) AwaitClosedRuns(ctx context.Context) ([]*workflow.WorkflowExecutionInfo, error) {
	waitCtx, stop := context.WithTimeout(ctx, closedRunsTimeout)
	defer stop()
	for {
		runs, openWorkflowID, err := b.listRuns(ctx)
		if err != nil || openWorkflowID == "" {
			return runs, err
		}
		if err := pause.For(waitCtx, 50*time.Millisecond); err != nil {
			return nil, fmt.Errorf("wait until workflow %s is closed: %w", openWorkflowID, err)
		}
	}
}

// eachEvent calls do for every event of every history, with the id of its workflow.
func (b *TestBed) eachEvent(ctx context.Context, visit func(id string, e *history.HistoryEvent)) error {
	runs, err := b.AwaitClosedRuns(ctx)
	if err != nil {
		return err
	}
	for _, run := range runs {
		execution := run.GetExecution()
		events := b.temporal.GetWorkflowHistory(ctx, execution.GetWorkflowId(), execution.GetRunId(), false,
			enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			if err != nil {
				return fmt.Errorf("read history of %s: %w", execution.GetWorkflowId(), err)
			}
			visit(execution.GetWorkflowId(), event)
		}
	}
	return nil
}

// CountBilledActions counts what a hosted server would have billed since the start, by kind.
func (b *TestBed) CountBilledActions(ctx context.Context) (actions.Counts, error) {
	c := actions.NewCounter()
	err := b.eachEvent(ctx, func(_ string, e *history.HistoryEvent) { c.Add(e) })
	maps.Copy(c.Counts, b.temporalRequestCounter.BilledCounts())
	return c.Counts, err
}

// PollCount is how often the worker has polled for tasks since the start. Polls are not billed.
func (b *TestBed) PollCount() int { return b.temporalRequestCounter.PollCount() }

// listRuns lists the runs that visibility shows; openWorkflowID is the id of one that has not ended, if any.
func (b *TestBed) listRuns(ctx context.Context) (runs []*workflow.WorkflowExecutionInfo, openWorkflowID string,
	err error) {
	for e, err := range connect.Executions(ctx, b.temporal.ListWorkflow,
		&workflowservice.ListWorkflowExecutionsRequest{PageSize: 1000}) {
		if err != nil {
			return nil, "", fmt.Errorf("list workflows: %w", err)
		}
		if e.GetCloseTime() == nil {
			openWorkflowID = e.GetExecution().GetWorkflowId()
		}
		runs = append(runs, e)
	}
	return runs, openWorkflowID, nil
}
