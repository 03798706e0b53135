package process

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file handles what people signal a split process (signals.Process): it passes on what is for the parts.

// Decide passes a decision on to the instance that it is about.
func (p *splitProcess) Decide(ctx workflow.Context, kind string, payload map[string]any, d turn.Decision) error {
	token := ideafile.TokenOfCallID(d.Call)
	part := p.parts.PartOf(token)
	if part == 0 {
		return errNoSuchCall(d)
	}
	to := protocol.InstanceID(protocol.PartID(p.id, part), token)
	p.outbox.Send(ctx, to, mailbox.Outgoing{Signal: kind, Payload: payload, OnFailure: func() {
		p.inbox.Refuse(ctx, kind, payload, "the instance has not begun or has ended: nothing waits there")
	}})
	return nil
}

// Pause pauses the parts, and starts no other.
func (p *splitProcess) Pause(ctx workflow.Context, s loop.Steering) error {
	if f := p.paused(); f != nil {
		return errAlreadyPaused(f)
	}
	p.parts.Paused = loop.PauseFault(s.By, s.Reason)
	p.forwardToParts(ctx, loop.SteerPause, s)
	return nil
}

// Resume lets the parts go on. The limits are the whole process's: the parts have none.
func (p *splitProcess) Resume(ctx workflow.Context, s loop.Steering) error {
	p.parts.Paused, p.unreachable = nil, nil
	p.parts.Limits = p.parts.Limits.Override(s.Limits)
	p.forwardToParts(ctx, loop.SteerResume, s)
	return nil
}

// forwardToParts sends the parts a signal that they all handle as the whole does, and accepts it.
func (p *splitProcess) forwardToParts(ctx workflow.Context, kind string, s loop.Steering) {
	p.sendToParts(ctx, kind, map[string]any{"by": s.By, "reason": s.Reason})
	p.recordAccepted(ctx, kind, s)
}

// sendToParts sends a signal to every part that works.
func (p *splitProcess) sendToParts(ctx workflow.Context, kind string, payload any) {
	for _, number := range p.parts.RunningParts() {
		p.outbox.Send(ctx, protocol.PartID(p.id, number), mailbox.Outgoing{Signal: kind, Payload: payload})
	}
}

// Revise gives each part what concerns it. Those that have not started will start with it.
func (p *splitProcess) Revise(ctx workflow.Context, s loop.Steering) error {
	p.parts.Limits = p.parts.Limits.Override(s.Limits)
	err := p.validate(s.Context, false)
	if err != nil {
		return err
	}
	p.setIdea(p.idea.WithRawMessages(s.Context))
	for _, number := range p.parts.RunningParts() {
		list := p.parts.List[number-1].FilterContext(s.Context)
		if len(list) > 0 {
			p.outbox.Send(ctx, protocol.PartID(p.id, number), mailbox.Outgoing{
				Signal: loop.SteerRevise, Payload: map[string]any{"context": list, "by": s.By, "reason": s.Reason},
			})
		}
	}
	p.recordAccepted(ctx, loop.SteerRevise, s)
	return nil
}

// AddInstances makes parts of more instances.
func (p *splitProcess) AddInstances(ctx workflow.Context, s loop.Steering) error {
	err := p.validate(s.Context, true)
	if err != nil {
		return err
	}
	p.setIdea(p.idea.WithRawMessages(s.Context))
	p.parts.AddInstances(ideafile.SplitContext(s.Context).Tokens)
	p.recordAccepted(ctx, loop.SteerAdd, s)
	return nil
}

// validate returns what is wrong with messages of people: whether they can be read, and whom they are about. newInstances:
// each must be about an instance that does not exist yet.
func (p *splitProcess) validate(context []any, newInstances bool) error {
	for n, raw := range context {
		var problems diag.Problems
		m, ok := ideafile.ReadMessage(raw, fmt.Sprintf("$.context[%d]", n), &problems)
		known := p.parts.PartOf(m.Instance) > 0
		switch {
		case !ok || len(problems.Errors()) > 0:
			return problems
		case newInstances && m.Instance == "":
			return fmt.Errorf("$.context[%d]: it names no new instance", n)
		case newInstances && known:
			return fmt.Errorf("$.context[%d]: there is an instance %s already", n, m.Instance)
		case !newInstances && m.Instance != "" && !known:
			return fmt.Errorf("$.context[%d]: there is no instance %s; add makes new ones", n, m.Instance)
		}
	}
	return nil
}

// pauseFor pauses the process before it has any part.
func (p *splitProcess) pauseFor(f *diag.Fault) { p.unreachable = f }

// paused is why the process is paused; nil: it is not.
func (p *splitProcess) paused() *diag.Fault {
	if p.parts.Paused == nil {
		return p.unreachable
	}
	return p.parts.Paused
}
