package instance

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/workflows/internal/lifecycle"
)

// Run is the Instance workflow. Given what an earlier run carried, it goes on from there.
func Run(ctx workflow.Context, setup protocol.InstanceSetup, start protocol.InstanceStart,
	carriedInput *ContinueAsNewInput) (*protocol.InstanceResult, error) {
	i := newInstance(ctx, setup, start, carriedInput)
	r, err := i.run(ctx)
	i.inbox.Close(ctx)
	return r, err
}

func (i *instance) run(ctx workflow.Context) (*protocol.InstanceResult, error) {
	err := i.registerQueryHandlers(ctx)
	if err != nil {
		return nil, err
	}
	if !i.setup.MinimizesActions { // else workers watch for it (package orphans)
		lifecycle.WatchProcesses(ctx, i.inbox, i.setup.Owners(), func() { i.isOrphaned = true })
	}
	i.watchDelegates(ctx)
	for {
		i.startAndReport(ctx)
		switch i.nextStep(ctx) {
		case stepReturn:
			return &protocol.InstanceResult{Status: i.endStatus, State: i.dataflow.State()}, nil
		case stepOrphaned:
			return nil, lifecycle.NewOrphanedError()
		case stepContinueAsNew:
			return nil, i.continueAsNew(ctx)
		case stepWait:
			i.waitForEvent(ctx)
		}
		if ctx.Err() != nil {
			return nil, i.cancel(ctx)
		}
		i.applyDeadlines(ctx)
	}
}

// workflowStep is the workflow's next action, after it has started what may start and reported the changes.
type workflowStep int

const (
	stepWait          workflowStep = iota // for what happens next
	stepReturn                            // the process has ended the instance, and nothing runs
	stepOrphaned                          // the process is gone
	stepContinueAsNew                     // as new
)

// nextStep decides on the step. The order matters: an instance that has ended returns, even if its process is gone.
func (i *instance) nextStep(ctx workflow.Context) workflowStep {
	switch {
	case i.endStatus != "" && i.dataflow.IsIdle() && i.inbox.HasHandledPersonSignalSinceWait():
		i.inbox.WakeInNextTask(ctx)
		return stepWait
	case i.endStatus != "" && i.dataflow.IsIdle():
		return stepReturn
	case i.isOrphaned:
		return stepOrphaned
	case i.prepareContinueAsNew(ctx):
		return stepContinueAsNew
	}
	return stepWait
}

// startAndReport starts what may start, and reports the changes to the process and in the UI.
func (i *instance) startAndReport(ctx workflow.Context) {
	i.loopIterationCount++
	i.startReadyCalls(ctx)
	if i.isOrphaned {
		return
	}
	i.setAwaitingAttribute(ctx, len(i.dataflow.PendingApprovals()))
	i.reportToProcess(ctx)
	i.showDetails(ctx)
}

// waitForEvent waits for the next event, at most until the next deadline of a decision.
func (i *instance) waitForEvent(ctx workflow.Context) {
	deadline, _ := i.dataflow.NextReviewDueTime()
	i.inbox.WakeAt(ctx, deadline, "until a decision is due")
	i.inbox.Wait(ctx)
}

// cancel ends the instance, and its delegates with it.
func (i *instance) cancel(ctx workflow.Context) error {
	err := ctx.Err()
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	i.cancelDelegates(ctx)
	i.setAwaitingAttribute(ctx, 0)
	return err
}

// applyDeadlines applies what happens by itself when nobody decides in time.
func (i *instance) applyDeadlines(ctx workflow.Context) {
	pendingCountBefore := len(i.dataflow.PendingApprovals())
	i.dataflow.SetTime(workflow.Now(ctx))
	i.dataflow.ApplyDeadlines()
	if len(i.dataflow.PendingApprovals()) < pendingCountBefore {
		i.MustCheckAncestors, i.HasUnhandledChange = true, true
	}
}

// readContextMessages reads messages that the process has checked.
func readContextMessages(lists ...[]any) []ideafile.Message {
	var messages []ideafile.Message
	for _, list := range lists {
		for _, raw := range list {
			m, ok := ideafile.ReadMessage(raw, "", new(diag.Problems))
			if ok {
				messages = append(messages, m)
			}
		}
	}
	return messages
}
