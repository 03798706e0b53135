package lifecycle

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/protocol"
	"processidea/workflows/internal/activity"
	"processidea/workflows/internal/mailbox"
)

// watchInterval is how often a workflow looks whether the processes that it belongs to are still there.
const watchInterval = time.Hour

// WatchProcesses calls back, through the inbox, when one of some processes is gone.
func WatchProcesses(ctx workflow.Context, b *mailbox.Inbox, processes []protocol.ProcessRef, onGone func()) {
	goneChannel := workflow.NewBufferedChannel(ctx, 1)
	b.OnChannelReceive(goneChannel, func(c workflow.ReceiveChannel) {
		c.ReceiveAsync(nil)
		onGone()
	})
	workflow.Go(ctx, func(ctx workflow.Context) {
		if watchUntilGone(ctx, processes) {
			goneChannel.Send(ctx, true)
		}
	})
}

// watchUntilGone looks from time to time until one of the processes is gone. It returns false when nobody needs to look
// any more, since the workflow is cancelled.
func watchUntilGone(ctx workflow.Context, processes []protocol.ProcessRef) bool {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, Summary: processCheckSummary, RetryPolicy: unlimitedRetryPolicy(),
	})
	for {
		timer := workflow.NewTimerWithOptions(ctx, watchInterval,
			workflow.TimerOptions{Summary: "until the process is looked for"})
		if timer.Get(ctx, nil) != nil {
			return false
		}
		for _, ref := range processes {
			var isGone bool
			err := workflow.ExecuteActivity(ctx, protocol.ActivityIsProcessGone, ref).Get(ctx, &isGone)
			if err != nil {
				return false
			}
			if isGone {
				return true
			}
		}
	}
}

// IsAnyProcessGone checks, within the workflow task, whether one of some processes is gone. A failed check counts as
// gone: it fails only if the workflow is cancelled.
func IsAnyProcessGone(ctx workflow.Context, processes []protocol.ProcessRef) bool {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: 10 * time.Second, Summary: processCheckSummary, RetryPolicy: unlimitedRetryPolicy(),
		ScheduleToCloseTimeout: activity.AllAttemptsTimeout,
	})
	for _, ref := range processes {
		var isGone bool
		err := workflow.ExecuteLocalActivity(ctx, protocol.ActivityIsProcessGone, ref).Get(ctx, &isGone)
		if err != nil || isGone {
			return true
		}
	}
	return false
}

const processCheckSummary = "is the process still there?"

func unlimitedRetryPolicy() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute}
}

// NewOrphanedError returns the error with which a workflow ends when its process is gone.
func NewOrphanedError() error {
	return temporal.NewNonRetryableApplicationError("the process is gone", "process_gone", nil)
}
