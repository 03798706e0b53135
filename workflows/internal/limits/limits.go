// Package limits keeps the limits that all workers of a namespace share. Each limit is one small workflow, which runs
// while workers ask it.
//
// Invariant: an Update is answered within one workflow task, so that the open Updates never become so many that
// Temporal refuses one.
package limits

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile/limit"
	"processidea/protocol"
)

// idleTimeout is how long a limit's workflow waits for an Update before it ends. By then all turns are over.
const idleTimeout = 2 * limit.TurnLease

// Run answers the Updates that ask for turns. It ends when no Update comes any more and nothing spent still counts.
func Run(ctx workflow.Context, queue limit.Queue) error {
	isInUse := true
	err := workflow.SetUpdateHandlerWithOptions(ctx, protocol.UpdateLimitTurns,
		func(ctx workflow.Context, q limit.TurnRequest) ([]limit.TurnAnswer, error) {
			isInUse = true
			return queue.RequestTurns(workflow.Now(ctx), q), nil
		}, workflow.UpdateHandlerOptions{Description: "From a worker: whose turn it is."})
	for err == nil && isInUse {
		isInUse = false
		var isContinueDue bool
		timeout := max(idleTimeout, queue.TimeToBudgetReset(workflow.Now(ctx)))
		isContinueDue, err = workflow.AwaitWithTimeout(ctx, timeout, func() bool {
			return workflow.GetInfo(ctx).GetContinueAsNewSuggested()
		})
		isInUse = isInUse || queue.TimeToBudgetReset(workflow.Now(ctx)) > 0
		if isContinueDue {
			return workflow.NewContinueAsNewError(ctx, protocol.LimitType, queue)
		}
	}
	return err
}
