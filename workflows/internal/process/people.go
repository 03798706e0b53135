package process

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file handles what people signal an ordinary process (signals.Process).

// Decide passes a decision on to the instance that it is about. What the instance refuses, it reports.
func (p *ordinaryProcess) Decide(ctx workflow.Context, kind string, payload map[string]any, d turn.Decision) error {
	token := ideafile.TokenOfCallID(d.Call)
	if !p.loop.HasInstance(token) {
		return errNoSuchCall(d)
	}
	if p.phase == opening {
		return errors.New("the process has not begun: nothing waits there")
	}
	p.outbox.Send(ctx, protocol.InstanceID(p.id, token), mailbox.Outgoing{Signal: kind, Payload: payload, OnFailure: func() {
		p.inbox.Refuse(ctx, kind, payload, "the instance has ended: nothing waits there")
	}})
	return nil
}

func errNoSuchCall(d turn.Decision) error {
	return fmt.Errorf("there is no Call %q", jsonval.Clip(d.Call, 80))
}

// Pause lets running Calls finish and starts nothing new.
func (p *ordinaryProcess) Pause(ctx workflow.Context, s loop.Steering) error {
	if f := p.paused(); f != nil {
		return errAlreadyPaused(f)
	}
	p.loop.Pause(s.By, s.Reason)
	p.recordAccepted(ctx, loop.SteerPause, s)
	return nil
}

func errAlreadyPaused(f *diag.Fault) error {
	return fmt.Errorf("the process is paused already: %s", f.Message)
}

// Resume lets a paused process go on.
func (p *ordinaryProcess) Resume(ctx workflow.Context, s loop.Steering) error {
	if p.paused() == nil {
		return errors.New("the process is not paused")
	}
	p.loop.Resume(s.Limits)
	p.recordAccepted(ctx, loop.SteerResume, s)
	return nil
}

// Revise takes a correction and sends the instances what concerns them. It is accepted once they have taken it in.
func (p *ordinaryProcess) Revise(ctx workflow.Context, s loop.Steering) error {
	if p.phase == opening {
		p.deferUntilRunning(loop.SteerRevise, s, p.Revise)
		return nil
	}
	touched, err := p.loop.Revise(s)
	if err != nil {
		return err
	}
	p.setIdea(p.loop.Idea())
	for _, m := range touched {
		p.outbox.Send(ctx, protocol.InstanceID(p.id, m.Token), mailbox.Outgoing{
			Signal:  protocol.SignalCorrect,
			Payload: protocol.CorrectSignal{Context: messagesForInstance(s.Context, m.Token), By: s.By, Reason: s.Reason},
		})
	}
	p.revisions = append(p.revisions, s)
	return nil
}

// messagesForInstance picks the messages that an instance sees.
func messagesForInstance(context []any, token string) []any {
	var list []any
	for _, raw := range context {
		m, ok := ideafile.ReadMessage(raw, "", new(diag.Problems))
		if ok && m.Kind != "" && (m.Instance == "" || m.Instance == token) {
			list = append(list, raw)
		}
	}
	return list
}

// AddInstances takes in more instances. It is accepted once they have started.
func (p *ordinaryProcess) AddInstances(_ workflow.Context, s loop.Steering) error {
	if p.phase == opening {
		p.deferUntilRunning(loop.SteerAdd, s, p.AddInstances)
		return nil
	}
	tokens, err := p.loop.AddInstances(s)
	if err != nil {
		return err
	}
	p.setIdea(p.loop.Idea())
	p.joining = append(p.joining, joiningInstances{tokens, &s})
	return nil
}

// earlySignal is a signal that needs instances, of a process that has none yet.
type earlySignal struct {
	kind   string
	s      loop.Steering
	handle func(workflow.Context, loop.Steering) error
}

func (p *ordinaryProcess) deferUntilRunning(kind string, s loop.Steering, handle func(workflow.Context, loop.Steering) error) {
	p.early = append(p.early, earlySignal{kind, s, handle})
}

// handleEarlySignals starts the instances and then does what people asked for early. If they paused the process, its instances start
// held; and a pause is an Idea of the chain.
func (p *ordinaryProcess) handleEarlySignals(ctx workflow.Context) error {
	if p.paused() != nil {
		p.instancesHeld = true
		p.sealCurrentState(ctx, nil)
	}
	if len(p.early) == 0 {
		return nil
	}
	err := p.startJoiningInstances(ctx)
	if err != nil {
		return err
	}
	for _, e := range p.early {
		err := e.handle(ctx, e.s)
		if err != nil {
			p.inbox.Refuse(ctx, e.kind, map[string]any{"id": e.s.ID, "by": e.s.By}, mailbox.Reason(err))
		}
	}
	p.early = nil
	return nil
}

// sealRevisions makes a new Idea of what was revised, once every instance has taken it in.
func (p *ordinaryProcess) sealRevisions(ctx workflow.Context) {
	if len(p.revisions) == 0 || !p.loop.CorrectionsAcked() {
		return
	}
	p.sealCurrentState(ctx, nil)
	for _, s := range p.revisions {
		p.recordAccepted(ctx, loop.SteerRevise, s)
	}
	p.revisions = nil
}

// pauseFor pauses the process for a reason of its own.
func (p *ordinaryProcess) pauseFor(f *diag.Fault) { p.loop.PauseFor(f) }

// paused is why the process is paused; nil: it is not.
func (p *ordinaryProcess) paused() *diag.Fault { return p.loop.PauseReason() }

// propagatePause keeps the instances from starting anything while the process is paused, and lets them go on with it. A pause
// is an Idea of the chain.
func (p *ordinaryProcess) propagatePause(ctx workflow.Context) {
	paused := p.paused() != nil
	if paused == p.instancesHeld {
		return
	}
	p.instancesHeld = paused
	if paused {
		p.sealCurrentState(ctx, nil)
	}
	for _, m := range p.loop.Instances() {
		if m.Status == ideafile.InstanceWorking {
			p.outbox.Send(ctx, protocol.InstanceID(p.id, m.Token), mailbox.Outgoing{
				Signal: protocol.SignalHold, Payload: protocol.HoldSignal{Held: paused},
			})
		}
	}
}
