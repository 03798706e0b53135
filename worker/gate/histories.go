package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"processidea/connect"
	"processidea/protocol"
	"processidea/workflows"
)

// replayHistories replays the latest histories of running and of ended processes and instances.
func (o Options) replayHistories(ctx context.Context, r *Report) error {
	if o.MaxHistories == 0 {
		return nil
	}
	for _, operator := range []string{"=", "!="} {
		query := fmt.Sprintf(`WorkflowType IN ('%s', '%s') AND ExecutionStatus %s 'Running'`, protocol.ProcessType,
			protocol.InstanceType, operator)
		request := &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: o.Namespace, Query: query, PageSize: int32(min(o.MaxHistories, 100)),
		}
		replayedCount := 0
		for e, err := range connect.Executions(ctx, o.Temporal.ListWorkflow, request) {
			if err == nil {
				err = o.replay(ctx, workflow.Execution{ID: e.GetExecution().GetWorkflowId(),
					RunID: e.GetExecution().GetRunId()}, r)
			}
			if err != nil {
				return err
			}
			if replayedCount++; replayedCount == o.MaxHistories {
				break
			}
		}
	}
	return nil
}

// replay replays one history with the code of this version.
func (o Options) replay(ctx context.Context, e workflow.Execution, r *Report) error {
	activity.RecordHeartbeat(ctx, e.ID)
	h := &historypb.History{}
	events := o.Temporal.GetWorkflowHistory(ctx, e.ID, e.RunID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		var notFound *serviceerror.NotFound
		if errors.As(err, &notFound) {
			return nil
		}
		if err != nil {
			return err
		}
		h.Events = append(h.Events, event)
	}
	// A run that just began or just continued as new did nothing yet, and the SDK takes its few events for a fault.
	isTaskCompleted := func(e *historypb.HistoryEvent) bool {
		return e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
	}
	if !slices.ContainsFunc(h.Events, isTaskCompleted) {
		return nil
	}
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		DataConverter: connect.DataConverter(o.Store.Keys()), ExternalStorage: o.Store.ExternalStorage(),
		DisableDeadlockDetection: true, // a replay is about order, and this machine has other work
		Interceptors:             workflows.Interceptors(time.Minute),
	})
	if err != nil {
		return err
	}
	workflows.Register(replayer)
	r.HistoryCount++
	options := worker.ReplayWorkflowHistoryOptions{OriginalExecution: e}
	if err := replayer.ReplayWorkflowHistoryWithOptions(sdklog.NewStructuredLogger(o.Log), h, options); err != nil {
		r.addProblem("the history of %s, run %s, does not replay: %v", e.ID, e.RunID, err)
	}
	return nil
}
