package process

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/protocol"
)

// notifyPeople notifies people of what began to wait for them and of decisions. One notification has all changes, and
// the next waits until the last was delivered or given up. Nobody waits for it, and nothing depends on it.
func (p *unsplitProcess) notifyPeople(ctx workflow.Context) {
	if !p.NotifiesPeople || p.isNotifying {
		return
	}
	n := p.SentNotices.TakeChanges(p.loop)
	if n.IsEmpty() {
		return
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 15 * time.Second, ScheduleToCloseTimeout: 5 * time.Minute, Summary: "tell people",
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 3,
			MaximumInterval: time.Minute, MaximumAttempts: 6},
	})
	p.isNotifying = true
	p.inbox.OnFutureReady(workflow.ExecuteActivity(ctx, protocol.ActivityNotify, n), func(f workflow.Future) {
		p.isNotifying = false
		err := f.Get(ctx, nil)
		if err != nil && ctx.Err() == nil {
			workflow.GetLogger(ctx).Warn("people could not be notified", "error", err)
		}
	})
}
