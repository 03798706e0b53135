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
		return noSuchCall(d)
	}
	if p.phase == opening {
		return errors.New("the process has not begun: nothing waits there")
	}
	p.outbox.Send(ctx, protocol.InstanceID(p.id, token), mailbox.Outgoing{Signal: kind, Payload: payload, OnFailure: func() {
		p.inbox.Refuse(ctx, kind, payload, "the instance has ended: nothing waits there")
	}})
	return nil
}

func noSuchCall(d turn.Decision) error {
	return fmt.Errorf("there is no Call %q", jsonval.Clip(d.Call, 80))
}

// Pause lets running Calls finish and starts nothing new.
func (p *ordinaryProcess) Pause(ctx workflow.Context, s loop.Steering) error {
	if f := p.paused(); f != nil {
		return alreadyPaused(f)
	}
	p.loop.Pause(s.By, s.Reason)
	p.accept(ctx, loop.SteerPause, s)
	return nil
}

func alreadyPaused(f *diag.Fault) error {
	return fmt.Errorf("the process is paused already: %s", f.Message)
}

// Resume lets a paused process go on.
func (p *ordinaryProcess) Resume(ctx workflow.Context, s loop.Steering) error {
	if p.paused() == nil {
		return errors.New("the process is not paused")
	}
	p.loop.Resume(s.Limits)
	p.accept(ctx, loop.SteerResume, s)
	return nil
}

// Revise takes a correction and sends the instances what concerns them. It is accepted once they have taken it in.
func (p *ordinaryProcess) Revise(ctx workflow.Context, s loop.Steering) error {
	if p.phase == opening {
		p.keepForLater(loop.SteerRevise, s, p.Revise)
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
			Payload: protocol.CorrectSignal{Context: concerning(s.Context, m.Token), By: s.By, Reason: s.Reason},
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

// Add takes in more instances. It is accepted once they have started.
func (p *ordinaryProcess) Add(_ workflow.Context, s loop.Steering) error {
	if p.phase == opening {
		p.keepForLater(loop.SteerAdd, s, p.Add)
		return nil
	}
	tokens, err := p.loop.AddInstances(s)
	if err != nil {
		return err
	}
	p.setIdea(p.loop.Idea())
	p.joining = append(p.joining, joining{tokens, &s})
	return nil
}

// early is a signal that needs instances, of a process that has none yet.
type early struct {
	kind   string
	s      loop.Steering
	handle func(workflow.Context, loop.Steering) error
}

func (p *ordinaryProcess) keepForLater(kind string, s loop.Steering, handle func(workflow.Context, loop.Steering) error) {
	p.early = append(p.early, early{kind, s, handle})
}

// handleEarly starts the instances and then does what people asked for early. If they paused the process, its instances start
// held; and a pause is an Idea of the chain.
func (p *ordinaryProcess) handleEarly(ctx workflow.Context) error {
	if p.paused() != nil {
		p.instancesHeld = true
		p.sealNow(ctx, nil)
	}
	if len(p.early) == 0 {
		return nil
	}
	err := p.startJoining(ctx)
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
	p.sealNow(ctx, nil)
	for _, s := range p.revisions {
		p.accept(ctx, loop.SteerRevise, s)
	}
	p.revisions = nil
}

// pauseFor pauses the process for a reason of its own.
func (p *ordinaryProcess) pauseFor(f *diag.Fault) { p.loop.PauseFor(f) }

// paused is why the process is paused; nil: it is not.
func (p *ordinaryProcess) paused() *diag.Fault { return p.loop.PauseReason() }

// followPause keeps the instances from starting anything while the process is paused, and lets them go on with it. A pause
// is an Idea of the chain.
func (p *ordinaryProcess) followPause(ctx workflow.Context) {
	paused := p.paused() != nil
	if paused == p.instancesHeld {
		return
	}
	p.instancesHeld = paused
	if paused {
		p.sealNow(ctx, nil)
	}
	for _, m := range p.loop.Instances() {
		if m.Status == ideafile.InstanceWorking {
			p.outbox.Send(ctx, protocol.InstanceID(p.id, m.Token), mailbox.Outgoing{
				Signal: protocol.SignalHold, Payload: protocol.HoldSignal{Held: paused},
			})
		}
	}
}
