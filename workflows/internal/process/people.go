package process

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file handles people's signals to a process of either kind (signals.ProcessHandler). Decisions on Calls are
// handled in decide.go, those on Plans in plans.go, standing orders in orders.go.

// Pause lets running Calls finish and starts nothing new.
func (c *processCore) Pause(ctx workflow.Context, s approval.SteeringPayload) error {
	if f := c.variant.pauseReason(); f != nil {
		return ignoreIfForwarded(s, fmt.Errorf("the process is paused already: %s", f.Message))
	}
	c.variant.pause(ctx, s)
	c.logDecision(steeringDecision(ctx, approval.SteerPause, s))
	return nil
}

// Resume lets a paused process go on.
func (c *processCore) Resume(ctx workflow.Context, s approval.SteeringPayload) error {
	if !c.variant.resume(ctx, s) {
		return ignoreIfForwarded(s, errors.New("the process is not paused"))
	}
	c.logDecision(steeringDecision(ctx, approval.SteerResume, s))
	return nil
}

// ignoreIfForwarded returns refusal, or nil if the whole sent the signal to all its parts: some may already be as it
// wants.
func ignoreIfForwarded(s approval.SteeringPayload, refusal error) error {
	if s.ID == protocol.ForwardedSignalID {
		return nil
	}
	return refusal
}

// Revise takes a correction, and sends instances or parts the messages that concern them.
func (c *processCore) Revise(ctx workflow.Context, s approval.SteeringPayload) error {
	idea, err := c.variant.revise(ctx, &s)
	if idea == nil {
		return err
	}
	c.setIdea(idea)
	c.recordReviser(s)
	c.logDecision(steeringDecision(ctx, approval.SteerRevise, s))
	return err
}

// AddInstances adds instances to the process.
func (c *processCore) AddInstances(ctx workflow.Context, s approval.SteeringPayload) error {
	idea, tokens, err := c.variant.addInstances(s)
	if idea == nil {
		return err
	}
	c.setIdea(idea)
	c.recordCauser(s.Identity(), tokens...)
	d := steeringDecision(ctx, approval.SteerAdd, s)
	d.Instances = tokens
	c.logDecision(d)
	return err
}

// steeringDecision returns a steering signal as the chain keeps it. It has no messages of an addition, since the Ideas
// have them.
func steeringDecision(ctx workflow.Context, kind string, s approval.SteeringPayload) approval.Decision {
	d := approval.Decision{Kind: kind, DecidedBy: s.By, Account: s.Account, Reason: s.Reason,
		SignalID: s.ID, DecidedAt: workflow.Now(ctx)}
	if kind == approval.SteerRevise {
		d.Context = s.Context
	}
	if s.Limits != (ideafile.Limits{}) {
		d.Limits = &s.Limits
	}
	return d
}

// deferUntilRunning keeps a signal that needs instances until there are any.
func (p *unsplitProcess) deferUntilRunning(
	kind string, s approval.SteeringPayload, handle func(workflow.Context, approval.SteeringPayload) error,
) error {
	p.deferredSignals = append(p.deferredSignals, func(ctx workflow.Context) {
		p.recordSignalOutcome(ctx, kind, s, handle(ctx, s))
	})
	return mailbox.ErrOutcomePending
}

// handleSignalsBeforeStart handles the signals that people sent before the instances could start, once these have
// started. If people paused the process, its instances start paused. A pause is sealed as an Idea of the chain, and so
// is the beginning of a Plan that runs directly.
func (p *unsplitProcess) handleSignalsBeforeStart(ctx workflow.Context) error {
	if f := p.pauseReason(); f != nil {
		p.InstancesHeld = true
		p.loop.MarkAllHeldByPause()
		p.logAutomaticPause(ctx, f)
	}
	if p.pauseReason() != nil || p.loop.RunsDirectPlan() {
		p.sealCurrentState(ctx)
	}
	if len(p.deferredSignals) == 0 {
		return nil
	}
	err := p.startJoiningInstances(ctx)
	if err != nil {
		return err
	}
	for _, handle := range p.deferredSignals {
		handle(ctx)
	}
	p.deferredSignals = nil
	return nil
}

// Undo makes a paused process undo what its instances did.
func (c *processCore) Undo(ctx workflow.Context, s approval.SteeringPayload) error {
	err := c.variant.undo(ctx, s)
	if err == nil {
		c.logDecision(steeringDecision(ctx, approval.SteerUndo, s))
		err = mailbox.ErrOutcomePending
	}
	return err
}

func (p *unsplitProcess) undo(ctx workflow.Context, s approval.SteeringPayload) error {
	if p.phase != phaseRunning {
		return errors.New("the process has not begun: there is nothing to take back")
	}
	list, err := p.loop.BeginUndo(s.Undo, workflow.Now(ctx))
	for _, inst := range list {
		p.outbox.Send(ctx, protocol.InstanceID(p.processID, inst.Token), mailbox.OutgoingSignal{
			Signal: protocol.SignalEnd, Payload: protocol.EndSignal{Undo: true, UndoOf: inst.UndoOrder,
				CausedBy: []policy.Identity{s.Identity()}}})
	}
	return err
}

func (p *splitProcess) undo(ctx workflow.Context, s approval.SteeringPayload) error {
	orders, err := p.parts.BeginUndo(s.Undo, protocol.ForwardedSignalID)
	for n, order := range orders {
		payload := jsonval.AsObject(jsonval.ToJSONValue(order))
		approval.AddAccount(payload, s.Account)
		p.sendToPart(ctx, p.parts.Undo.PendingParts[n],
			mailbox.OutgoingSignal{Signal: approval.SteerUndo, Payload: payload})
	}
	return err
}

// concludeUndo concludes the act of an undo that has ended.
func (c *processCore) concludeUndo(ctx workflow.Context, o *approval.UndoOrder, refusal error) {
	if o != nil {
		c.recordSignalOutcome(ctx, approval.SteerUndo, approval.SteeringPayload{ID: o.ID, By: o.RequestedBy}, refusal)
	}
}
