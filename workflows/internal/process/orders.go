package process

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/orders"
)

// This file takes standing orders, and sends the approvals under them.

// Allow takes a standing order, and approves the waiting Calls that it covers. If it is for a deputy, Allow sends the
// waiting Calls the deputy instead.
func (c *processCore) Allow(ctx workflow.Context, o approval.StandingOrder) error {
	logEntry, err := c.orders.AcceptOrder(ctx, o, orders.OrderContext{
		ProcessID: c.processID, Idea: c.idea, Override: c.approvalOverride(), ToolsKnown: c.phase != phaseOpening,
	})
	if err != nil {
		return err
	}
	c.logDecision(logEntry)
	c.variant.applyStandingOrders(ctx)
	return nil
}

// Disallow ends a standing order.
func (c *processCore) Disallow(ctx workflow.Context, order string, s approval.SteeringPayload) error {
	if err := c.orders.EndOrder(ctx, order, s); err != nil {
		return err
	}
	d := steeringDecision(ctx, approval.SteerDisallow, s)
	d.OrderID = order
	c.logDecision(d)
	c.variant.applyStandingOrders(ctx) // Calls that know of a deputy are informed of the end
	return nil
}

// approveUnderOrders approves the waiting Calls of an owner, an instance or a part, that standing orders cover.
// Undelivered approvals do not count.
func (c *processCore) approveUnderOrders(ctx workflow.Context, owner string, pending []approval.Pending) {
	c.orders.ApproveCovered(ctx, c.idea, owner, pending, func(signal, call string, payload map[string]any) {
		to, _ := c.variant.receiverOf(owner, call)
		c.outbox.SendInTurn(ctx, to, mailbox.OutgoingSignal{
			Signal: signal, Payload: payload, RefusalReason: nothingWaitsRefusal,
		})
	})
}

func (p *unsplitProcess) applyStandingOrders(ctx workflow.Context) {
	for _, m := range p.loop.Instances {
		p.approveUnderOrders(ctx, m.Token, m.PendingApprovals)
	}
}

func (p *splitProcess) applyStandingOrders(ctx workflow.Context) {
	for _, part := range p.parts.Parts {
		p.approveUnderOrders(ctx, protocol.PartID(p.processID, part.Number), part.Report.PendingApprovals)
	}
}
