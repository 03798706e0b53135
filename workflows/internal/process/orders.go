package process

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/deciders"
	"processidea/model/ideafile"
	"processidea/model/proof"
	"processidea/model/standing"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/proofs"
)

// This file keeps standing orders: the process has them, or the whole of one that is split, so that what is counted is counted once.

// giveOrder takes a standing order in.
func (c *processCore) giveOrder(ctx workflow.Context, o turn.StandingOrder, log func(turn.Decision)) error {
	var finding *proof.Finding
	if o.Proof != "" {
		finding = proofs.Verify(ctx, o.Proof, "the standing order "+o.ID, c.processID)
	}
	now := workflow.Now(ctx)
	giver, err := o.Giver(finding, now)
	if err != nil {
		return err
	}
	toolsKnown := c.phase != opening
	if err := standing.Check(o, giver, c.idea, c.approvalOverride(), deciders.ReadStarters(c.idea.Source), now, toolsKnown); err != nil {
		return err
	}
	if err := c.orders.Give(o, giver, now); err != nil {
		return err
	}
	log(turn.Decision{
		Kind: turn.SteerAllow, DecidedBy: giver.Name, Groups: giver.Groups, Reason: o.Reason, Proof: o.Proof, SignalID: o.ID, DecidedAt: now, Order: &o,
	})
	c.recordAcceptedSignal(ctx, turn.SteerAllow, turn.SteeringPayload{ID: o.ID, By: giver.Name, Reason: o.Reason})
	return nil
}

// endOrder ends a standing order.
func (c *processCore) endOrder(ctx workflow.Context, order string, s turn.SteeringPayload, log func(turn.Decision)) error {
	if err := c.orders.End(order, standing.Ending{By: s.By, Reason: s.Reason, EndedAt: workflow.Now(ctx)}); err != nil {
		return err
	}
	d := steeringDecision(ctx, turn.SteerDisallow, s)
	d.OrderID = order
	log(d)
	c.recordAcceptedSignal(ctx, turn.SteerDisallow, s)
	return nil
}

// approveUnderOrders sends approvals for what waits with an owner, an instance or a part, and is covered by standing orders.
func (c *processCore) approveUnderOrders(ctx workflow.Context, owner string, waits []turn.PendingApproval, send func(call string, s mailbox.OutgoingSignal)) {
	if len(c.orders) == 0 {
		return
	}
	for _, a := range c.orders.Cover(owner, waits, deciders.ReadStarters(c.idea.Source), workflow.Now(ctx)) {
		send(a.Pending.CallID, mailbox.OutgoingSignal{Signal: ideafile.Approve, Payload: a.Order.Approval(a.Pending), RefusalReason: nothingWaitsThere})
	}
}

// takeRefusals keeps the signals that instances or parts refused. Of an approval under a standing order nobody needs to hear: nobody has sent it.
func (c *processCore) takeRefusals(list []turn.RefusedSignal) {
	for _, refusal := range list {
		if !c.orders.Refused(refusal.ID, refusal.CallID) {
			c.inbox.Refusals.Add(refusal)
		}
	}
}

// Allow takes a standing order, and approves what waits and is covered.
func (p *unsplitProcess) Allow(ctx workflow.Context, o turn.StandingOrder) error {
	if err := p.giveOrder(ctx, o, p.loop.LogSteering); err != nil {
		return err
	}
	for _, m := range p.loop.Instances() {
		p.approveOf(ctx, m.Token, m.PendingApprovals)
	}
	return nil
}

// Disallow ends a standing order.
func (p *unsplitProcess) Disallow(ctx workflow.Context, order string, s turn.SteeringPayload) error {
	return p.endOrder(ctx, order, s, p.loop.LogSteering)
}

func (p *unsplitProcess) approveOf(ctx workflow.Context, token string, waits []turn.PendingApproval) {
	p.approveUnderOrders(ctx, token, waits, func(_ string, s mailbox.OutgoingSignal) {
		p.outbox.SendInTurn(ctx, protocol.InstanceID(p.processID, token), s)
	})
}

// Allow takes a standing order, and approves what waits and is covered.
func (p *splitProcess) Allow(ctx workflow.Context, o turn.StandingOrder) error {
	if err := p.giveOrder(ctx, o, p.parts.LogSteering); err != nil {
		return err
	}
	for _, part := range p.parts.All {
		p.approveOf(ctx, part.Number, part.Report.PendingApprovals)
	}
	return nil
}

// Disallow ends a standing order.
func (p *splitProcess) Disallow(ctx workflow.Context, order string, s turn.SteeringPayload) error {
	return p.endOrder(ctx, order, s, p.parts.LogSteering)
}

func (p *splitProcess) approveOf(ctx workflow.Context, number int, waits []turn.PendingApproval) {
	to := protocol.PartID(p.processID, number)
	p.approveUnderOrders(ctx, to, waits, func(call string, s mailbox.OutgoingSignal) {
		at := to
		if !p.decidesThroughParts {
			token, _ := p.instanceOfCall(call)
			at = protocol.InstanceID(to, token)
		}
		p.outbox.SendInTurn(ctx, at, s)
	})
}
