package mailbox

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/protocol"
)

// deliverSignals sends signals from inside the workflow task, as a local activity. A signal that a workflow sends by
// command costs four more events, and a workflow task that records its delivery.
//
// The price: if the worker is lost before the task is completed, the signals are sent again, and with other content if
// this workflow has received more by then. So a signal may only be sent in this way if it may come twice, and if it may
// come although the workflow decides differently later. The future's value lists the ids of the workflows that do not
// exist or have ended.
func deliverSignals(ctx workflow.Context, deliveries ...protocol.SignalDelivery) workflow.Future {
	return workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: time.Minute, Summary: deliverySummary(deliveries),
		ScheduleToCloseTimeout: time.Hour, // for all attempts, while Temporal is unavailable
	}), protocol.ActivityDeliverSignals, deliveries)
}

func deliverySummary(deliveries []protocol.SignalDelivery) string {
	if len(deliveries) == 1 {
		return fmt.Sprintf("signal %s to %s", deliveries[0].Signal, deliveries[0].To)
	}
	return fmt.Sprintf("signal %s to %d workflows", deliveries[0].Signal, len(deliveries))
}

// DeliverSignalsAndWait delivers signals that may come twice, and waits until they are delivered. It logs and returns
// the recipients that do not exist or have ended, for instance since somebody terminated them.
func DeliverSignalsAndWait(ctx workflow.Context, deliveries []protocol.SignalDelivery) (missingWorkflowIDs []string) {
	if len(deliveries) == 0 {
		return nil
	}
	err := deliverSignals(ctx, deliveries...).Get(ctx, &missingWorkflowIDs)
	if (err != nil || len(missingWorkflowIDs) > 0) && ctx.Err() == nil {
		workflow.GetLogger(ctx).Warn("signals were not delivered", "signal", deliveries[0].Signal, "missing",
			missingWorkflowIDs, "error", err)
	}
	return missingWorkflowIDs
}
