// Package limits keeps a limit that all workers of a namespace share: one small workflow for each, which is there while
// anybody asks.
//
// Invariant: an Update is answered at once, within one workflow task: never do so many wait that Temporal refuses one.
package limits

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile/limit"
	"processidea/protocol"
)

// idleTimeout is after how long a workflow ends that nobody asks. By then all turns are over.
const idleTimeout = 2 * limit.TurnLease

// Run answers who wants a turn, until nobody asks any more and what was spent has ceased to count.
func Run(ctx workflow.Context, queue limit.Queue) error {
	asked := true
	err := workflow.SetUpdateHandlerWithOptions(ctx, protocol.UpdateTurns,
		func(ctx workflow.Context, q limit.TurnRequest) ([]limit.Turn, error) {
			asked = true
			return queue.Ask(workflow.Now(ctx), q), nil
		}, workflow.UpdateHandlerOptions{Description: "From a worker: whose turn it is."})
	for err == nil && asked {
		asked = false
		var isLong bool
		timeout := max(idleTimeout, queue.SpentCountsFor(workflow.Now(ctx)))
		isLong, err = workflow.AwaitWithTimeout(ctx, timeout, func() bool {
			return workflow.GetInfo(ctx).GetContinueAsNewSuggested()
		})
		asked = asked || queue.SpentCountsFor(workflow.Now(ctx)) > 0
		if isLong {
			return workflow.NewContinueAsNewError(ctx, protocol.LimitType, queue)
		}
	}
	return err
}
