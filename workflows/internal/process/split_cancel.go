package process

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/loop"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file ends a split process that was cancelled.

// cancelReportTimeout bounds the wait for the last reports of cancelled parts: a part that somebody terminates
// meanwhile reports nothing.
const cancelReportTimeout = 5 * time.Minute

// cancel ends the process as cancelled, and its parts with it.
func (p *splitProcess) cancel(ctx workflow.Context) error {
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	cancelledPartNumbers := p.cancelParts(ctx)
	if mailbox.IsPatched(ctx, "what cancelled parts came to") { // before, it ended immediately, without any State
		p.awaitLastReports(ctx, cancelledPartNumbers)
		p.gatherCancelledStates(ctx)
	}
	p.markCancelled(ctx)
	r := p.resultWithStates(loop.StatusCancelled)
	p.reportResultToDelegatingCall(ctx, r, p.splitState.QuotaUse())
	return temporal.NewCanceledError(r)
}

// cancelParts cancels the running parts, and lists them. A part that has just ended cannot be cancelled, and need not
// be.
func (p *splitProcess) cancelParts(ctx workflow.Context) (cancelledPartNumbers []int) {
	for _, number := range p.splitState.RunningPartNumbers() {
		err := workflow.RequestCancelExternalWorkflow(ctx, protocol.PartID(p.processID, number), "").Get(ctx, nil)
		if err == nil {
			cancelledPartNumbers = append(cancelledPartNumbers, number)
		}
	}
	return cancelledPartNumbers
}

// awaitLastReports waits a while for the last reports of the cancelled parts.
func (p *splitProcess) awaitLastReports(ctx workflow.Context, cancelledPartNumbers []int) {
	ctx, stopTimer := workflow.WithCancel(ctx)
	defer stopTimer()
	timer := workflow.NewTimerWithOptions(ctx, cancelReportTimeout,
		workflow.TimerOptions{Summary: "until the cancelled parts have reported"})
	p.inbox.OnFutureReady(timer, func(workflow.Future) {})
	for p.inbox.Drain(ctx); p.isAnyPartRunning(cancelledPartNumbers) && !timer.IsReady(); {
		p.inbox.Wait(ctx)
	}
}

func (p *splitProcess) isAnyPartRunning(partNumbers []int) bool {
	runningPartNumbers := p.splitState.RunningPartNumbers()
	return slices.ContainsFunc(partNumbers, func(number int) bool {
		return slices.Contains(runningPartNumbers,
			number)
	})
}

// gatherCancelledStates reads the States of all instances, and seals what the latest Idea lacks.
func (p *splitProcess) gatherCancelledStates(ctx workflow.Context) {
	in := p.gatherInput()
	in.GathersOnlyStates = p.phase == phaseOpening || (p.LastSealedIdea.IdeaNumber > 0 &&
		!p.splitState.HasUnsealedChanges())
	g, err := p.gatherParts(ctx, in, "gather what the cancelled parts came to")
	if err != nil {
		workflow.GetLogger(ctx).Error("the States of a cancelled process could not be read", "error", err)
		return
	}
	p.finalStatesByToken = g.StateByInstance
}
