package workflows

import (
	"fmt"
	"time"

	"processidea/protocol"

	"go.temporal.io/sdk/workflow"
)

// deliver sends signals from inside the workflow task, as a local activity. A signal that a workflow sends by command costs
// four more events and a workflow task in which it hears that the signal was delivered. The price: where the worker is lost
// before the task is completed, they are sent again. So it is for signals that may come twice, and may come although this
// workflow, when its task is done again, has heard more and says something else. The future gives the ids of the workflows
// that are not there.
func deliver(ctx workflow.Context, list ...protocol.Delivery) workflow.Future {
	return workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: time.Minute, Summary: deliverySummary(list),
	}), protocol.ActivityDeliver, list)
}

func deliverySummary(list []protocol.Delivery) string {
	if len(list) == 1 {
		return fmt.Sprintf("signal %s to %s", list[0].Signal, list[0].To)
	}
	return fmt.Sprintf("signal %s to %d workflows", list[0].Signal, len(list))
}

// tell delivers signals to instances and waits; one that somebody terminated is not there, and that is logged.
func (p *process) tell(ctx workflow.Context, list []protocol.Delivery) {
	if len(list) == 0 {
		return
	}
	var nobody []string
	err := deliver(ctx, list...).Get(ctx, &nobody)
	if (err != nil || len(nobody) > 0) && ctx.Err() == nil {
		workflow.GetLogger(ctx).Warn("instances could not be told", "signal", list[0].Signal, "nobody", nobody, "error", err)
	}
}
