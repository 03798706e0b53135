package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
)

// This file holds what an instance does when a person must look.

func (i *instance) hearPeople(ctx workflow.Context) {
	for _, kind := range ideafile.Decisions() {
		onPeople(i.inbox, ctx, kind, describe[kind], func(ctx workflow.Context, payload map[string]any) error {
			return i.decide(ctx, kind, payload)
		})
	}
	for _, kind := range steering {
		onPeople(i.inbox, ctx, kind, "Send it to the process, not to an instance.", func(workflow.Context, map[string]any) error {
			return fmt.Errorf("%s goes to the process, %s", kind, i.setup.Process)
		})
	}
}

func (i *instance) decide(ctx workflow.Context, kind string, payload map[string]any) error {
	d, err := turn.ReadDecision(kind, payload)
	if err != nil {
		return err
	}
	i.event(ctx)
	if err := i.run.Decide(d); err != nil {
		return err
	}
	i.waited = true
	return nil
}

// expire lets deadlines take effect that have passed.
func (i *instance) expire(ctx workflow.Context) {
	before := len(i.run.Pending())
	i.run.SetTime(workflow.Now(ctx))
	i.run.ApplyDeadlines()
	if len(i.run.Pending()) < before {
		i.waited, i.dirty = true, true
	}
}

// orphanedSince says whether the process is gone, where a Call is about to start that has waited for a person: of a process
// that was terminated nobody tells its instances, and nothing may run for it any more.
func (i *instance) orphanedSince(ctx workflow.Context) bool {
	if !i.waited {
		return false
	}
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: 10 * time.Second, Summary: "is the process still there?",
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
	})
	i.waited = false
	for _, ref := range i.setup.BelongsTo() {
		var gone bool
		if err := workflow.ExecuteLocalActivity(ctx, protocol.ActivityGone, ref).Get(ctx, &gone); err != nil || gone {
			return true
		}
	}
	return false
}

func (i *instance) onHold(ctx workflow.Context, s protocol.HoldSignal) { i.held = s.Held }

func (i *instance) onCorrect(ctx workflow.Context, s protocol.CorrectSignal) {
	i.event(ctx)
	i.run.Revise(readContext(s.Context), s.By, s.Reason)
	i.corrected++
}

// event notes that something has happened after which something may start.
func (i *instance) event(ctx workflow.Context) {
	i.run.SetTime(workflow.Now(ctx))
	i.dirty = true
}

// attribute keeps IdeaAwaiting up to date where it is registered: elsewhere it would fail the workflow task.
func (i *instance) attribute(ctx workflow.Context, waiting int) {
	if i.setup.Attributes {
		setAwaiting(ctx, waiting)
	}
}

var attributeAwaiting = temporal.NewSearchAttributeKeyInt64(protocol.AttributeAwaiting)

func setAwaiting(ctx workflow.Context, waiting int) {
	now, _ := workflow.GetTypedSearchAttributes(ctx).GetInt64(attributeAwaiting)
	if now == int64(waiting) {
		return
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, attributeAwaiting.ValueSet(int64(waiting))); err != nil {
		workflow.GetLogger(ctx).Warn("the search attribute could not be set", "error", err)
	}
}
