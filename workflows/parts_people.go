package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// This file holds what a split process does when its parts report and when people signal it: it passes on what is for the
// parts.

func (p *process) hearParts(ctx workflow.Context) {
	on(p.inbox, ctx, protocol.SignalPart, "From a part: what it has come to.", func(_ workflow.Context, r loop.PartReport) {
		for _, refusal := range r.Refusals {
			p.inbox.refusals.Add(refusal)
		}
		p.parts.ApplyReport(r)
	})
	for _, kind := range ideafile.Decisions() {
		onPeople(p.inbox, ctx, kind, describe[kind], func(ctx workflow.Context, payload map[string]any) error {
			return p.passToPart(ctx, kind, payload)
		})
	}
	for _, kind := range steering {
		onPeople(p.inbox, ctx, kind, describe[kind], func(ctx workflow.Context, payload map[string]any) error {
			s, err := loop.ReadSteering(kind, payload)
			if err != nil {
				return err
			}
			if err := p.steerParts(ctx, kind, s); err != nil {
				return err
			}
			p.accept(ctx, kind, s)
			return nil
		})
	}
}

// passToPart sends a decision to the instance that it is about.
func (p *process) passToPart(ctx workflow.Context, kind string, payload map[string]any) error {
	d, err := turn.ReadDecision(kind, payload)
	if err != nil {
		return err
	}
	token := ideafile.TokenOfCallID(d.Call)
	part := p.parts.PartOf(token)
	if part == 0 {
		return fmt.Errorf("there is no Call %q", clipBytes(d.Call, 80))
	}
	p.outbox.send(ctx, protocol.InstanceID(protocol.PartID(p.id, part), token), outgoing{signal: kind, payload: payload, failed: func(error) {
		p.inbox.refuse(ctx, kind, payload, "the instance has not begun or has ended: nothing waits there")
	}})
	return nil
}

func (p *process) steerParts(ctx workflow.Context, kind string, s loop.Steering) error {
	switch paused := p.pausedParts(); {
	case kind == loop.SteerPause && paused != nil:
		return fmt.Errorf("the process is paused already: %s", paused.Message)
	case kind == loop.SteerPause:
		p.parts.Paused = loop.PauseFault(s.By, s.Reason)
	case kind == loop.SteerResume:
		p.parts.Paused = nil
		p.parts.Limits = p.parts.Limits.Override(s.Limits)
		if p.opening {
			p.mind.Resume(ideafile.Limits{})
		}
	case kind == loop.SteerRevise:
		p.parts.Limits = p.parts.Limits.Override(s.Limits)
		return p.reviseParts(ctx, s)
	case kind == loop.SteerAdd:
		return p.addParts(s)
	}
	p.toParts(ctx, kind, map[string]any{"by": s.By, "reason": s.Reason})
	return nil
}

// toParts sends a signal to every part that has begun.
func (p *process) toParts(ctx workflow.Context, kind string, payload any) {
	for _, number := range p.parts.RunningParts() {
		p.outbox.send(ctx, protocol.PartID(p.id, number), outgoing{signal: kind, payload: payload})
	}
}

// reviseParts gives each part what concerns it. Those that have not begun begin with it.
func (p *process) reviseParts(ctx workflow.Context, s loop.Steering) error {
	if err := p.checkMessages(s.Context, false); err != nil {
		return err
	}
	p.setIdea(p.idea.WithRawMessages(s.Context))
	for _, number := range p.parts.RunningParts() {
		if list := p.parts.List[number-1].FilterContext(s.Context); len(list) > 0 {
			p.outbox.send(ctx, protocol.PartID(p.id, number), outgoing{signal: loop.SteerRevise, payload: map[string]any{
				"context": list, "by": s.By, "reason": s.Reason,
			}})
		}
	}
	return nil
}

func (p *process) addParts(s loop.Steering) error {
	if err := p.checkMessages(s.Context, true); err != nil {
		return err
	}
	p.setIdea(p.idea.WithRawMessages(s.Context))
	p.parts.AddInstances(ideafile.SplitContext(s.Context).Tokens)
	return nil
}

// checkMessages says what is wrong with messages of people: whether they can be read, and whom they are about.
func (p *process) checkMessages(context []any, fresh bool) error {
	for n, raw := range context {
		var problems diag.Problems
		m, ok := ideafile.ReadMessage(raw, fmt.Sprintf("$.context[%d]", n), &problems)
		known := p.parts.PartOf(m.Instance) > 0
		switch {
		case !ok || len(problems.Errors()) > 0:
			return problems
		case fresh && m.Instance == "":
			return fmt.Errorf("$.context[%d]: it names no new instance", n)
		case fresh && known:
			return fmt.Errorf("$.context[%d]: there is an instance %s already", n, m.Instance)
		case !fresh && m.Instance != "" && !known:
			return fmt.Errorf("$.context[%d]: there is no instance %s; add makes new ones", n, m.Instance)
		}
	}
	return nil
}
