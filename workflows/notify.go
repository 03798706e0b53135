package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/protocol"
)

// notify tells people what began to wait for them and what was decided: once for all that has changed, and not again
// before the last was delivered or given up. Nobody waits for it, and nothing depends on it.
func (p *process) notify(ctx workflow.Context) {
	if !p.notifies || p.notifying {
		return
	}
	n := p.watch.TakeChanges(p.mind)
	if n.Empty() {
		return
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 15 * time.Second, ScheduleToCloseTimeout: 5 * time.Minute, Summary: "tell people",
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 3, MaximumInterval: time.Minute, MaximumAttempts: 6},
	})
	p.notifying = true
	p.inbox.when(workflow.ExecuteActivity(ctx, protocol.ActivityNotify, n), func(f workflow.Future) {
		p.notifying = false
		if err := f.Get(ctx, nil); err != nil && ctx.Err() == nil {
			workflow.GetLogger(ctx).Warn("people could not be told", "error", err)
		}
	})
}
