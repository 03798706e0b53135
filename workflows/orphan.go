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

// watchProcess ends the instance when its process is gone.
func (i *instance) watchProcess(ctx workflow.Context) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, Summary: "is the process still there?",
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
	})
	for {
		timer := workflow.NewTimerWithOptions(ctx, watchEvery, workflow.TimerOptions{Summary: "until the process is looked for"})
		if timer.Get(ctx, nil) != nil {
			return
		}
		var gone bool
		if workflow.ExecuteActivity(ctx, ActivityGone, ProcessRef{i.setup.Process, i.setup.FirstRunID}).Get(ctx, &gone) != nil {
			return
		}
		if gone {
			i.orphaned.Send(ctx, true)
			return
		}
	}
}

// orphan is how an instance ends whose process is gone.
func orphan() error {
	return temporal.NewNonRetryableApplicationError("the process is gone", "process_gone", nil)
}
