package workflows

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// This file holds what a process does when people signal it: it passes decisions on to the instances they are about, and
// is steered.

// describe says what a decision's signal does and what it takes, for whoever sends it from the Temporal UI.
var describe = map[string]string{
	ideafile.Approve: `Run a Call that waits, as shown: {"call", "digest"?, "by"?, "reason"?}.`,
	ideafile.Reject:  `Do not run a Call that waits: {"call", "reason", "digest"?, "by"?}. The reason goes to the LLM.`,
	ideafile.Amend:   `Run a Call that waits with other parameters: {"call", "params", "digest"?, "by"?, "reason"?}.`,
	ideafile.Replace: `Put another Call in the place of one that waits: {"call", "with": {"_tool", …}, "digest"?, "by"?, "reason"?}.`,
	ideafile.Answer:  `Give the result of a Call that waits; nothing runs: {"call", "output", "digest"?, "by"?, "reason"?}.`,

	loop.SteerPause:  `Let running Calls finish and start nothing new: {"by"?, "reason"?}.`,
	loop.SteerResume: `Go on: {"by"?, "reason"?, "limits"?: {"requests", "tokens", "calls", "duration"}}.`,
	loop.SteerRevise: `Correct the process: {"context": [messages], "limits"?, "by"?, "reason"?}. It makes a new Idea.`,
	loop.SteerAdd:    `Add instances: {"context": [messages with a new _instance], "by"?, "reason"?}.`,
}

// steering lists the signals that steer, in the order in which they are shown.
var steering = []string{loop.SteerPause, loop.SteerResume, loop.SteerRevise, loop.SteerAdd}

func (p *process) hearPeople(ctx workflow.Context) {
	for _, kind := range ideafile.Decisions() {
		onPeople(p.inbox, ctx, kind, describe[kind], func(ctx workflow.Context, payload map[string]any) error {
			return p.passOn(ctx, kind, payload)
		})
	}
	for _, kind := range steering {
		onPeople(p.inbox, ctx, kind, describe[kind], func(ctx workflow.Context, payload map[string]any) error {
			s, err := loop.ReadSteering(kind, payload)
			if err != nil {
				return err
			}
			return p.steer(ctx, kind, s)
		})
	}
}

// passOn sends a decision to the instance that it is about. What that refuses, it reports.
func (p *process) passOn(ctx workflow.Context, kind string, payload map[string]any) error {
	d, err := turn.ReadDecision(kind, payload)
	if err != nil {
		return err
	}
	token := ideafile.TokenOfCallID(d.Call)
	if !p.mind.HasInstance(token) {
		return fmt.Errorf("there is no Call %q", clipBytes(d.Call, 80))
	}
	if p.opening {
		return errors.New("the process has not begun: nothing waits there")
	}
	p.outbox.send(ctx, protocol.InstanceID(p.id, token), outgoing{signal: kind, payload: payload, failed: func(error) {
		p.inbox.refuse(ctx, kind, payload, "the instance has ended: nothing waits there")
	}})
	return nil
}

// steer does what people ask of the process. What takes effect at once is accepted here, the rest when it has.
func (p *process) steer(ctx workflow.Context, kind string, s loop.Steering) error {
	if p.opening && (kind == loop.SteerRevise || kind == loop.SteerAdd) {
		p.early = append(p.early, early{kind, s})
		return nil
	}
	switch kind {
	case loop.SteerPause:
		if f := p.mind.PauseReason(); f != nil {
			return fmt.Errorf("the process is paused already: %s", f.Message)
		}
		p.mind.Pause(s.By, s.Reason)
	case loop.SteerResume:
		if p.mind.PauseReason() == nil {
			return fmt.Errorf("the process is not paused")
		}
		p.mind.Resume(s.Limits)
	case loop.SteerRevise:
		return p.revise(ctx, s)
	case loop.SteerAdd:
		return p.add(ctx, s)
	}
	p.accept(ctx, kind, s)
	return nil
}

const keptAccepted = 100

func (p *process) accept(ctx workflow.Context, kind string, s loop.Steering) {
	p.accepted = append(p.accepted, protocol.Accepted{ID: s.ID, Signal: kind, By: s.By, Reason: s.Reason, At: workflow.Now(ctx)})
	if len(p.accepted) > keptAccepted {
		p.accepted = p.accepted[1:]
	}
}

// revise takes a correction and sends the instances what concerns them. The new Idea is sealed once they have it.
func (p *process) revise(ctx workflow.Context, s loop.Steering) error {
	touched, err := p.mind.Revise(s)
	if err != nil {
		return err
	}
	p.setIdea(p.mind.Idea())
	for _, m := range touched {
		p.outbox.send(ctx, protocol.InstanceID(p.id, m.Token), outgoing{
			signal: protocol.SignalCorrect, payload: protocol.CorrectSignal{Context: concerning(s.Context, m.Token), By: s.By, Reason: s.Reason},
		})
	}
	p.revisions = append(p.revisions, s)
	return nil
}

// concerning picks the messages that an instance sees.
func concerning(context []any, token string) []any {
	var list []any
	for _, raw := range context {
		m, ok := ideafile.ReadMessage(raw, "", new(diag.Problems))
		if ok && m.Kind != "" && (m.Instance == "" || m.Instance == token) {
			list = append(list, raw)
		}
	}
	return list
}

// sealRevisions makes a new Idea of what was revised, once every instance has taken it in.
func (p *process) sealRevisions(ctx workflow.Context) {
	if len(p.revisions) == 0 || !p.mind.CorrectionsAcked() {
		return
	}
	p.sealNow(ctx, nil)
	for _, s := range p.revisions {
		p.accept(ctx, loop.SteerRevise, s)
	}
	p.revisions = nil
}

// add takes in more instances. They are started before the process goes on.
func (p *process) add(_ workflow.Context, s loop.Steering) error {
	tokens, err := p.mind.AddInstances(s)
	if err != nil {
		return err
	}
	p.setIdea(p.mind.Idea())
	p.joining = append(p.joining, joining{tokens, &s})
	return nil
}

// joining is instances that are not started yet.
type joining struct {
	tokens []string
	s      *loop.Steering // by which people added them; nil: the process begins with them
}

// startNew starts the instances that have joined since it was called last.
func (p *process) startNew(ctx workflow.Context) error {
	p.passes++
	list := p.joining
	p.joining = nil
	for _, j := range list {
		if err := p.startInstances(ctx, j.tokens); err != nil {
			return err
		}
		if j.s != nil {
			p.accept(ctx, loop.SteerAdd, *j.s)
		}
	}
	p.takeUp(ctx)
	return nil
}

// followPause keeps the instances from starting anything while the process is paused, and lets them go on with it. A pause
// is an Idea of the chain.
func (p *process) followPause(ctx workflow.Context) {
	paused := p.mind.PauseReason() != nil
	if paused == p.held {
		return
	}
	if p.held = paused; paused {
		p.sealNow(ctx, nil)
	}
	for _, m := range p.mind.Instances() {
		if m.Status != ideafile.InstanceWorking {
			continue
		}
		p.outbox.send(ctx, protocol.InstanceID(p.id, m.Token), outgoing{signal: protocol.SignalHold, payload: protocol.HoldSignal{Held: paused}})
	}
}
