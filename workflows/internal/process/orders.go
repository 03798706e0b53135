package process

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/orders"
)

// This file takes standing orders, and sends the approvals under them.

func (c *processCore) giveOrder(ctx workflow.Context, o approval.StandingOrder, log func(approval.Decision)) error {
	given, err := c.orders.Give(ctx, o, orders.Scope{ProcessID: c.processID, Idea: c.idea, Override: c.approvalOverride(), ToolsKnown: c.phase != opening})
	if err != nil {
		return err
	}
	log(given)
	return nil
}

func (c *processCore) endOrder(ctx workflow.Context, order string, s approval.SteeringPayload, log func(approval.Decision)) error {
	if err := c.orders.End(ctx, order, s); err != nil {
		return err
	}
	d := steeringDecision(ctx, approval.SteerDisallow, s)
	d.OrderID = order
	log(d)
	return nil
}

// Allow takes a standing order, and approves what waits and is covered.
func (p *unsplitProcess) Allow(ctx workflow.Context, o approval.StandingOrder) error {
	if err := p.giveOrder(ctx, o, p.loop.LogSteering); err != nil {
		return err
	}
	p.approveAll(ctx)
	return nil
}

// Disallow ends a standing order.
func (p *unsplitProcess) Disallow(ctx workflow.Context, order string, s approval.SteeringPayload) error {
	return p.endOrder(ctx, order, s, p.loop.LogSteering)
}

func (p *unsplitProcess) approveAll(ctx workflow.Context) {
	for _, m := range p.loop.Instances() {
		p.approveOf(ctx, m.Token, m.PendingApprovals)
	}
}

func (p *unsplitProcess) approveOf(ctx workflow.Context, token string, waits []approval.Pending) {
	p.orders.Approve(ctx, p.idea, token, waits, func(_ string, payload map[string]any) {
		p.outbox.SendInTurn(ctx, protocol.InstanceID(p.processID, token), approvalUnderOrder(payload))
	})
}

// approvalUnderOrder approves a Call under an order. Where nobody receives it, it is taken back.
func approvalUnderOrder(payload map[string]any) mailbox.OutgoingSignal {
	return mailbox.OutgoingSignal{Signal: policy.Approve, Payload: payload, RefusalReason: nothingWaitsThere}
}

// Allow takes a standing order for all parts, and approves what waits and is covered.
func (p *splitProcess) Allow(ctx workflow.Context, o approval.StandingOrder) error {
	if err := p.giveOrder(ctx, o, p.parts.LogSteering); err != nil {
		return err
	}
	p.approveAll(ctx)
	return nil
}

// Disallow ends a standing order.
func (p *splitProcess) Disallow(ctx workflow.Context, order string, s approval.SteeringPayload) error {
	return p.endOrder(ctx, order, s, p.parts.LogSteering)
}

func (p *splitProcess) approveAll(ctx workflow.Context) {
	for _, part := range p.parts.All {
		p.approveOf(ctx, part.Number, part.Report.PendingApprovals)
	}
}

func (p *splitProcess) approveOf(ctx workflow.Context, number int, waits []approval.Pending) {
	to := protocol.PartID(p.processID, number)
	p.orders.Approve(ctx, p.idea, to, waits, func(call string, payload map[string]any) {
		at := to
		if !p.decidesThroughParts {
			token, _ := p.instanceOfCall(call)
			at = protocol.InstanceID(to, token)
		}
		p.outbox.SendInTurn(ctx, at, approvalUnderOrder(payload))
	})
}
