package workflows

import (
	"time"

	"processidea/protocol"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// watchEvery is how often an instance looks whether its process is still there. An instance outlives the runs of its
// process, and so the process's termination too, of which nobody would tell it.
const watchEvery = time.Hour

// watch calls back when one of some processes is gone.
func watch(ctx workflow.Context, b *inbox, of []protocol.ProcessRef, gone func()) {
	found := workflow.NewBufferedChannel(ctx, 1)
	b.selector.AddReceive(found, func(c workflow.ReceiveChannel, _ bool) {
		c.ReceiveAsync(nil)
		gone()
	})
	workflow.Go(ctx, func(ctx workflow.Context) {
		if watchUntilGone(ctx, of) {
			found.Send(ctx, true)
		}
	})
}

// watchUntilGone looks from time to time; it gives false where nobody needs to look any more.
func watchUntilGone(ctx workflow.Context, of []protocol.ProcessRef) bool {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, Summary: "is the process still there?",
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
	})
	for {
		timer := workflow.NewTimerWithOptions(ctx, watchEvery, workflow.TimerOptions{Summary: "until the process is looked for"})
		if timer.Get(ctx, nil) != nil {
			return false
		}
		for _, ref := range of {
			var gone bool
			if workflow.ExecuteActivity(ctx, protocol.ActivityGone, ref).Get(ctx, &gone) != nil {
				return false
			}
			if gone {
				return true
			}
		}
	}
}

// orphan is how an instance ends whose process is gone.
func orphan() error {
	return temporal.NewNonRetryableApplicationError("the process is gone", "process_gone", nil)
}
