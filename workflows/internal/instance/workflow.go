package instance

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/workflows/internal/lifecycle"
)

// Run is the Instance workflow. Given what an earlier run carried, it goes on from there.
func Run(ctx workflow.Context, setup protocol.InstanceSetup, own protocol.InstanceOwn, carried *Carried) (*protocol.InstanceResult, error) {
	i := newInstance(ctx, setup, own, carried)
	err := i.answerQueries(ctx)
	if err != nil {
		return nil, err
	}
	lifecycle.Watch(ctx, i.inbox, setup.BelongsTo(), func() { i.orphaned = true })
	i.watchDelegates(ctx)
	for {
		i.work(ctx)
		switch i.next(ctx) {
		case stepReturn:
			return &protocol.InstanceResult{Status: i.endStatus, State: i.run.State()}, nil
		case stepOrphaned:
			return nil, lifecycle.ErrOrphaned()
		case stepContinue:
			return nil, i.continueAsNew(ctx)
		case stepWait:
			i.wait(ctx)
		}
		if ctx.Err() != nil {
			return nil, i.cancel(ctx)
		}
		i.applyDeadlines(ctx)
	}
}

// step is what the workflow does once it has started what may start and reported what has changed.
type step int

const (
	stepWait     step = iota // for what happens next
	stepReturn               // the process has ended the instance, and nothing runs
	stepOrphaned             // the process is gone
	stepContinue             // as new
)

// next decides on the step. The order matters: an instance that has ended returns, whatever became of its process.
func (i *instance) next(ctx workflow.Context) step {
	switch {
	case i.endStatus != "" && i.run.Idle():
		return stepReturn
	case i.orphaned:
		return stepOrphaned
	case i.shouldContinueAsNew(ctx) && i.canContinueAsNew():
		return stepContinue
	}
	return stepWait
}

// work starts what may start, and tells the process and whoever looks what has changed.
func (i *instance) work(ctx workflow.Context) {
	i.passes++
	i.startReady(ctx)
	if i.orphaned {
		return
	}
	i.setAwaiting(ctx, len(i.run.Pending()))
	i.report(ctx)
	i.show(ctx)
}

// wait waits for what happens next: at the latest until somebody's time to decide is over.
func (i *instance) wait(ctx workflow.Context) {
	deadline, _ := i.run.NextDeadline()
	i.inbox.WakeAt(ctx, deadline, "until a decision is due")
	i.inbox.Wait(ctx)
}

// cancel ends the instance, and its delegates with it.
func (i *instance) cancel(ctx workflow.Context) error {
	err := ctx.Err()
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	i.cancelDelegates(ctx)
	i.setAwaiting(ctx, 0)
	return err
}

// applyDeadlines lets take effect what happens by itself when nobody decides in time.
func (i *instance) applyDeadlines(ctx workflow.Context) {
	before := len(i.run.Pending())
	i.run.SetTime(workflow.Now(ctx))
	i.run.ApplyDeadlines()
	if len(i.run.Pending()) < before {
		i.ownersUnchecked, i.changed = true, true
	}
}

// readContext reads messages that the process has checked.
func readContext(lists ...[]any) []ideafile.Message {
	var out []ideafile.Message
	for _, list := range lists {
		for _, raw := range list {
			m, ok := ideafile.ReadMessage(raw, "", new(diag.Problems))
			if ok {
				out = append(out, m)
			}
		}
	}
	return out
}
