package process

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/orders"
)

// This file handles people's signals to a process of either kind (signals.ProcessHandler). Decisions on Calls are
// handled in decide.go, those on Plans in plans.go.

// Pause lets running Calls finish and starts nothing new.
func (c *processCore) Pause(ctx workflow.Context, s approval.SteeringPayload) error {
	if f := c.variant.pauseReason(); f != nil {
		return refusalUnlessForwarded(s, fmt.Errorf("the process is paused already: %s", f.Message))
	}
	c.variant.pause(ctx, s)
	c.logDecision(steeringDecision(ctx, approval.SteerPause, s))
	return nil
}

// Resume lets a paused process go on.
func (c *processCore) Resume(ctx workflow.Context, s approval.SteeringPayload) error {
	if !c.variant.resume(ctx, s) {
		return refusalUnlessForwarded(s, errors.New("the process is not paused"))
	}
	c.logDecision(steeringDecision(ctx, approval.SteerResume, s))
	return nil
}

// refusalUnlessForwarded returns refusal, or nil if the whole sent the signal to all its parts: some may already be as
// it wants.
func refusalUnlessForwarded(s approval.SteeringPayload, refusal error) error {
	if s.ID == protocol.ForwardedSteeringSignalID {
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
	d := steeringDecision(ctx, approval.SteerAddInstances, s)
	d.AddedInstanceTokens = tokens
	c.logDecision(d)
	return err
}

// steeringDecision returns a steering signal as the chain keeps it. It has no messages of an addition, since the Ideas
// have them.
func steeringDecision(ctx workflow.Context, signalName string, s approval.SteeringPayload) approval.Decision {
	d := approval.Decision{Kind: signalName, DecidedBy: s.SentBy, Account: s.Account, Reason: s.Reason,
		SignalID: s.ID, DecidedAt: workflow.Now(ctx)}
	if signalName == approval.SteerRevise {
		d.AddedMessages = s.Context
	}
	if s.Limits != (ideafile.Limits{}) {
		d.Limits = &s.Limits
	}
	return d
}

// deferUntilRunning keeps a signal that needs instances until there are any.
func (p *unsplitProcess) deferUntilRunning(
	signalName string, s approval.SteeringPayload, handle func(workflow.Context, approval.SteeringPayload) error,
) error {
	p.deferredSignalHandlers = append(p.deferredSignalHandlers, func(ctx workflow.Context) {
		p.recordSignalOutcome(ctx, signalName, s, handle(ctx, s))
	})
	return mailbox.ErrOutcomePending
}

// handleDeferredSignals handles the signals that people sent before the instances could start, once these have
// started. If people paused the process, its instances start paused. A pause is sealed as an Idea of the chain, and so
// is the beginning of a Plan that runs directly.
func (p *unsplitProcess) handleDeferredSignals(ctx workflow.Context) error {
	if f := p.pauseReason(); f != nil {
		p.AreInstancesHeld = true
		p.loop.MarkAllHeldByPause()
		p.logAutomaticPause(ctx, f)
	}
	if p.pauseReason() != nil || p.loop.RunsDirectPlan() {
		p.sealCurrentState(ctx)
	}
	if len(p.deferredSignalHandlers) == 0 {
		return nil
	}
	err := p.startPendingInstances(ctx)
	if err != nil {
		return err
	}
	for _, handle := range p.deferredSignalHandlers {
		handle(ctx)
	}
	p.deferredSignalHandlers = nil
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
	undoingInstances, err := p.loop.BeginUndo(s.Undo, workflow.Now(ctx))
	for _, inst := range undoingInstances {
		p.outbox.Send(ctx, protocol.InstanceID(p.processID, inst.Token), mailbox.OutgoingSignal{
			SignalName: protocol.SignalEndInstance, Payload: protocol.EndInstanceSignal{MustUndo: true,
				UndoOrder: inst.UndoOrder,
				CausedBy:  []policy.Identity{s.Identity()}}})
	}
	return err
}

func (p *splitProcess) undo(ctx workflow.Context, s approval.SteeringPayload) error {
	undoOrders, err := p.splitState.BeginUndo(s.Undo, protocol.ForwardedSteeringSignalID)
	for n, order := range undoOrders {
		payload := jsonval.AsObject(jsonval.ToJSONValue(order))
		approval.AddSenderAccount(payload, s.Account)
		p.sendToPart(ctx, p.splitState.Undo.PendingPartNumbers[n],
			mailbox.OutgoingSignal{SignalName: approval.SteerUndo, Payload: payload})
	}
	return err
}

// concludeUndo concludes the act of an undo that has ended.
func (c *processCore) concludeUndo(ctx workflow.Context, o *approval.UndoOrder, refusal error) {
	if o != nil {
		c.recordSignalOutcome(ctx, approval.SteerUndo, approval.SteeringPayload{ID: o.ID, SentBy: o.RequestedBy},
			refusal)
	}
}

// Allow takes a standing order, and approves the waiting Calls that it covers. If it is for a deputy, Allow sends the
// waiting Calls the deputy instead.
func (c *processCore) Allow(ctx workflow.Context, o approval.StandingOrder) error {
	decision, err := c.orders.AcceptStandingOrder(ctx, o, orders.OrderContext{
		ProcessID: c.processID, Idea: c.idea, Oversight: c.oversight(), AreToolsKnown: c.phase != phaseOpening,
	})
	if err != nil {
		return err
	}
	c.logDecision(decision)
	c.variant.applyStandingOrders(ctx)
	return nil
}

// Disallow ends a standing order.
func (c *processCore) Disallow(ctx workflow.Context, standingOrderID string, s approval.SteeringPayload) error {
	if err := c.orders.EndStandingOrder(ctx, standingOrderID, s); err != nil {
		return err
	}
	d := steeringDecision(ctx, approval.SteerEndStandingOrder, s)
	d.StandingOrderID = standingOrderID
	c.logDecision(d)
	c.variant.applyStandingOrders(ctx) // Calls that know of a deputy are informed of the end
	return nil
}

// approveUnderOrders approves the waiting Calls of an owner, an instance or a part, that standing orders cover.
// Undelivered approvals do not count.
func (c *processCore) approveUnderOrders(ctx workflow.Context, instanceOrPart string, pending []approval.PendingCall) {
	c.orders.ApproveCoveredCalls(ctx, c.idea, instanceOrPart, pending,
		func(signal, call string, payload map[string]any) {
			workflowID, _ := c.variant.receiverOf(instanceOrPart, call)
			c.outbox.SendInTurn(ctx, workflowID, mailbox.OutgoingSignal{
				SignalName: signal, Payload: payload, RefusalIfUndelivered: nothingWaitsRefusal,
			})
		})
}

func (p *unsplitProcess) applyStandingOrders(ctx workflow.Context) {
	for _, m := range p.loop.Instances {
		p.approveUnderOrders(ctx, m.Token, m.PendingApprovals)
	}
}

func (p *splitProcess) applyStandingOrders(ctx workflow.Context) {
	for _, part := range p.splitState.Parts {
		p.approveUnderOrders(ctx, protocol.PartID(p.processID, part.Number), part.Report.PendingApprovals)
	}
}

// notifyPeople notifies people of what began to wait for them and of decisions. One notification has all changes, and
// the next waits until the last was delivered or given up. Nobody waits for it, and nothing depends on it.
func (p *unsplitProcess) notifyPeople(ctx workflow.Context) {
	if !p.NotifiesPeople || p.isNotifyingPeople {
		return
	}
	n := p.SentNotices.TakeChanges(p.loop)
	if n.IsEmpty() {
		return
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 15 * time.Second, ScheduleToCloseTimeout: 5 * time.Minute, Summary: "tell people",
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 3,
			MaximumInterval: time.Minute, MaximumAttempts: 6},
	})
	p.isNotifyingPeople = true
	p.inbox.OnFutureReady(workflow.ExecuteActivity(ctx, protocol.ActivityNotifyPeople, n), func(f workflow.Future) {
		p.isNotifyingPeople = false
		err := f.Get(ctx, nil)
		if err != nil && ctx.Err() == nil {
			workflow.GetLogger(ctx).Warn("people could not be notified", "error", err)
		}
	})
}
