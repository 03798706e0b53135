package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// watchEvery is how often an instance looks whether its process is still there. An instance outlives the runs of its
// process, and so the process's termination too, of which nobody would tell it.
const watchEvery = time.Hour

// ProcessRef names a process beyond its runs: an id may be used again, by another process.
type ProcessRef struct {
	ID         string `json:"id"`
	FirstRunID string `json:"firstRunId"`
}

// watch calls back when one of some processes is gone.
func watch(ctx workflow.Context, b *inbox, of []ProcessRef, gone func()) {
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
func watchUntilGone(ctx workflow.Context, of []ProcessRef) bool {
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
			if workflow.ExecuteActivity(ctx, ActivityGone, ref).Get(ctx, &gone) != nil {
				return false
			}
			if gone {
				return true
			}
		}
	}
}

// belongsTo lists the processes that an instance ends with: its own, the one that this is a part of, and those
// that it is a delegate of.
func (s InstanceSetup) belongsTo() []ProcessRef {
	list := []ProcessRef{{s.Process, s.FirstRunID}}
	if s.Whole != nil {
		list = append(list, *s.Whole)
	}
	return append(list, s.Delegation.Above...)
}

// orphan is how an instance ends whose process is gone.
func orphan() error {
	return temporal.NewNonRetryableApplicationError("the process is gone", "process_gone", nil)
}
