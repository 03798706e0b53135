package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// This file holds a process of very many instances: it is split into parts, processes themselves with Requests and a
// chain of their own, starts some at a time, passes on what people signal, and gathers what they come to.

// runParts is a split process from its first part to its result.
func (p *process) runParts(ctx workflow.Context) (*loop.Result, error) {
	for ctx.Err() == nil {
		p.passes++
		p.checkLimit(ctx)
		if part := p.parts.StartNext(); part != nil {
			if err := p.startPart(ctx, *part); err != nil {
				return nil, err
			}
		}
		p.showParts(ctx, p.partsStatus())
		if p.parts.Finished() && p.parts.Paused == nil && p.outputOfParts(ctx) {
			return p.gather(ctx)
		}
		if tooLong(ctx, p.passes, p.start.ContinueEvery) && p.idle() {
			return nil, p.continueParts(ctx)
		}
		p.inbox.wait(ctx)
	}
	return nil, p.cancelParts(ctx)
}

// startPart starts a part and waits until it has started. It outlives this run, and ends with the process all the same.
func (p *process) startPart(ctx workflow.Context, part loop.Part) error {
	start := p.start
	start.Idea = part.IdeaSource(p.idea.Source)
	start.Delegation.To = nil // the whole tells of it
	start.Part = &protocol.PartOf{Number: part.Number, Of: protocol.ProcessRef{ID: p.id, FirstRunID: p.firstRun}}
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: protocol.PartID(p.id, part.Number), ParentClosePolicy: parentClosePolicy,
		Memo:          protocol.Memo(p.idea),
		StaticSummary: fmt.Sprintf("part %d: %d instances", part.Number, len(part.Tokens)),
	})
	f := workflow.ExecuteChildWorkflow(ctx, protocol.ProcessType, start)
	if err := f.GetChildWorkflowExecution().Get(ctx, nil); err != nil {
		return fmt.Errorf("workflows: start part %d: %w", part.Number, err)
	}
	p.inbox.when(f, func(f workflow.Future) { p.partEnded(part.Number, f.Get(ctx, nil)) })
	return nil
}

// partEnded notes the end of a part that had no time to tell of it: somebody terminated it.
func (p *process) partEnded(number int, err error) {
	if r := p.parts.List[number-1].Report; err != nil && !r.Finished() {
		r.Number, r.Status, r.AwaitsOnlyPeople = number, loop.StatusFailed, false
		r.Error = &diag.Fault{Code: turn.CodeWorkerLost, Message: "it was ended from outside"}
		p.parts.ApplyReport(r)
	}
}

// checkLimit pauses the parts when together they have reached a limit of the process.
func (p *process) checkLimit(ctx workflow.Context) {
	if p.parts.Paused != nil || p.parts.Finished() {
		p.inbox.wakeAt(ctx, time.Time{}, "")
		return
	}
	reached, until := p.parts.ReachedLimit(workflow.Now(ctx))
	p.inbox.wakeAt(ctx, until, "until the process has run for as long as it may")
	if reached != nil {
		p.parts.Paused = reached
		p.inbox.wakeAt(ctx, time.Time{}, "")
		p.toParts(ctx, loop.SteerPause, map[string]any{"by": "the limit", "reason": reached.Message})
	}
}

// outputOfParts asks for one output over those of the parts, where the Idea wants one. It says whether the process is
// over then.
func (p *process) outputOfParts(ctx workflow.Context) bool {
	if p.idea.Output == nil || p.parts.Own.Output != nil || p.parts.FinalStatus() != loop.StatusCompleted {
		return true
	}
	brief := &turn.RequestInput{Process: p.id, Number: p.parts.Own.Requests + 1, Turn: p.parts.NextTurn(), Instances: p.parts.OutputsAsInstances(), OutputOnly: true}
	var r turn.Reply
	states := protocol.RequestStates{Changes: brief.DetachStates()}
	if err := workflow.ExecuteActivity(p.requestOptions(ctx, brief), protocol.ActivityRequest, p.setup, brief, states).Get(ctx, &r); err != nil {
		if ctx.Err() != nil {
			return false
		}
		r = brokenReply(err)
	}
	p.parts.ApplyOutputReply(p.idea, r)
	return p.parts.Own.Output != nil
}

// gather ends the process: its last Idea is sealed over everybody's State.
func (p *process) gather(ctx workflow.Context) (*loop.Result, error) {
	in := protocol.GatherInput{Process: p.id, Idea: p.idea.Source, Parent: p.last.Digest, At: p.last.At + 1, Output: p.parts.Own.Output}
	for _, part := range p.parts.List {
		id := protocol.PartID(p.id, part.Number)
		in.Parts = append(in.Parts, protocol.GatherPart{
			Process: id, Last: protocol.Sealed{At: part.Report.Ideas, Digest: part.Report.Digest}, Tokens: part.Tokens, Statuses: part.Report.Instances,
		})
	}
	var g protocol.Gathered
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute, HeartbeatTimeout: protocol.HeartbeatTimeout, Summary: "gather what the parts came to",
	}), protocol.ActivityGather, in).Get(ctx, &g)
	if err != nil {
		return nil, err
	}
	p.last = g.Last
	p.parts.Own.Ideas = g.Last.At
	status := p.parts.FinalStatus()
	p.over = status
	p.showParts(ctx, status)
	r := p.partsResult(status)
	//workflowcheck:ignore -- each by itself
	for token, i := range r.Instances {
		i.State = g.States[token]
		r.Instances[token] = i
	}
	p.inbox.drain(ctx)
	p.tellCaller(ctx, r)
	return ended(r)
}

func (p *process) cancelParts(ctx workflow.Context) error {
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	for _, number := range p.parts.RunningParts() {
		_ = workflow.RequestCancelExternalWorkflow(ctx, protocol.PartID(p.id, number), "").Get(ctx, nil)
	}
	p.over = loop.StatusCancelled
	p.attribute(ctx, string(loop.StatusCancelled), 0)
	p.tellCaller(ctx, p.partsResult(loop.StatusCancelled))
	return temporal.NewCanceledError(p.partsResult(loop.StatusCancelled))
}

// CarriedParts is what a split process carries from one run to the next.
type CarriedParts struct {
	loop.Parts
	Context []any `json:"context,omitempty"` // the messages that people corrected it by, and added
}

func (p *process) continueParts(ctx workflow.Context) error {
	p.attribute(ctx, continued, 0)
	given, _ := p.start.Idea["context"].([]any)
	now, _ := p.idea.Source["context"].([]any)
	return workflow.NewContinueAsNewError(ctx, protocol.ProcessType, p.start, CarriedProcess{
		Parts: &CarriedParts{*p.parts, now[len(given):]}, Bindings: p.setup.Bindings, Last: p.last, Accepted: p.accepted,
		Refusals: p.inbox.refusals,
	})
}
