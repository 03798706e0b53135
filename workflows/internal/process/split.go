package process

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/lifecycle"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/signals"
)

// splitProcess is a process of more instances than one Request may cover. Its parts are processes themselves, with Requests
// and a chain of their own. It starts some at a time, passes on what people signal, and gathers what the parts come to.
type splitProcess struct {
	*core
	parts *loop.Parts
	// unreachable is why the process is paused before it has any part: its MCP servers could not be asked.
	unreachable *diag.Fault
}

func newSplitProcess(c *core, parts *loop.Parts, carried *Carried) *splitProcess {
	p := &splitProcess{core: c, parts: parts}
	if carried != nil {
		p.restore(carried)
		p.setIdea(p.idea.WithRawMessages(carried.Parts.Context))
	}
	return p
}

// registerHandlers registers what the process hears. The order is that in which the selector offers what is pending: it never changes.
func (p *splitProcess) registerHandlers(ctx workflow.Context) {
	mailbox.On(p.inbox, ctx, protocol.SignalPart, "From a part: what it has come to.", p.onPartReport)
	signals.HearAtProcess(ctx, p.inbox, p)
}

func (p *splitProcess) onPartReport(_ workflow.Context, r loop.PartReport) {
	for _, refusal := range r.Refusals {
		p.inbox.Refusals.Add(refusal)
	}
	p.parts.ApplyReport(r)
}

// run is the main loop, from the first part to the result.
func (p *splitProcess) run(ctx workflow.Context) (*loop.Result, error) {
	for ctx.Err() == nil {
		p.passes++
		p.applyLimits(ctx)
		err := p.startNextPart(ctx)
		if err != nil {
			return nil, err
		}
		p.showDetails(ctx, p.status(p.paused()))
		if p.parts.Finished() && p.parts.Paused == nil && p.ensureOutput(ctx) {
			return p.gatherResult(ctx)
		}
		if lifecycle.ContinueAsNewDue(ctx, p.passes, p.start.ContinueEvery) && p.idle() {
			return nil, p.continueAsNew(ctx)
		}
		p.inbox.Wait(ctx)
	}
	return nil, p.cancel(ctx)
}

// startNextPart starts the part whose time has come, if there is one, and waits until it has started. It outlives this run of the
// workflow.
func (p *splitProcess) startNextPart(ctx workflow.Context) error {
	part := p.parts.StartNext()
	if part == nil {
		return nil
	}
	number := part.Number
	f := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: protocol.PartID(p.id, number), ParentClosePolicy: lifecycle.ParentClosePolicy,
		Memo:          protocol.Memo(p.idea),
		StaticSummary: fmt.Sprintf("part %d: %d instances", number, len(part.Tokens)),
	}), protocol.ProcessType, p.partStart(*part))
	err := f.GetChildWorkflowExecution().Get(ctx, nil)
	if err != nil {
		return fmt.Errorf("process: start part %d: %w", number, err)
	}
	p.inbox.OnReady(f, func(f workflow.Future) { p.onPartClosed(number, f.Get(ctx, nil)) })
	return nil
}

// partStart is what a part starts from.
func (p *splitProcess) partStart(part loop.Part) protocol.Start {
	start := p.start
	start.Idea = part.IdeaSource(p.idea.Source)
	start.Delegation.To = nil // the parent reports to the Call
	start.Part = &protocol.PartOf{Number: part.Number, Of: p.processRef()}
	return start
}

// onPartClosed notes the end of a part that had no time to report it: somebody terminated it.
func (p *splitProcess) onPartClosed(number int, err error) {
	r := p.parts.List[number-1].Report
	if err == nil || r.Finished() {
		return
	}
	r.Number, r.Status, r.AwaitsOnlyPeople = number, loop.StatusFailed, false
	r.Error = &diag.Fault{Code: turn.CodeWorkerLost, Message: "it was ended from outside"}
	p.parts.ApplyReport(r)
}

// applyLimits pauses the parts when together they have reached a limit of the process.
func (p *splitProcess) applyLimits(ctx workflow.Context) {
	if p.parts.Paused != nil || p.parts.Finished() {
		p.inbox.WakeAt(ctx, time.Time{}, "")
		return
	}
	reached, until := p.parts.ReachedLimit(workflow.Now(ctx))
	p.inbox.WakeAt(ctx, until, "until the process has run for as long as it may")
	if reached != nil {
		p.parts.Paused = reached
		p.inbox.WakeAt(ctx, time.Time{}, "")
		p.sendToParts(ctx, loop.SteerPause, map[string]any{"by": "the limit", "reason": reached.Message})
	}
}

// idle reports whether nothing would be lost if the process continued as new.
func (p *splitProcess) idle() bool { return p.outbox.Empty() && !p.inbox.HasPending() }

func (p *splitProcess) continueAsNew(ctx workflow.Context) error {
	p.setAttributes(ctx, statusContinued, 0)
	given, _ := p.start.Idea["context"].([]any)
	now, _ := p.idea.Source["context"].([]any)
	c := p.carry()
	c.Parts = &CarriedParts{Parts: *p.parts, Context: now[len(given):]}
	return workflow.NewContinueAsNewError(ctx, protocol.ProcessType, p.start, c)
}

// cancel ends the process as cancelled, and its parts with it.
func (p *splitProcess) cancel(ctx workflow.Context) error {
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	for _, number := range p.parts.RunningParts() {
		// One that has just ended cannot be cancelled, and need not be.
		_ = workflow.RequestCancelExternalWorkflow(ctx, protocol.PartID(p.id, number), "").Get(ctx, nil)
	}
	p.markOver(loop.StatusCancelled)
	p.setAttributes(ctx, string(loop.StatusCancelled), 0)
	p.reportToCaller(ctx, p.result(loop.StatusCancelled))
	return temporal.NewCanceledError(p.result(loop.StatusCancelled))
}
