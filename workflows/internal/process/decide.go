package process

import (
	"errors"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file passes decisions on to their instances, one by one or many together. An instance reports what it refuses.

// Decide passes a decision on to the instance that it is about.
func (c *processCore) Decide(ctx workflow.Context, payload map[string]any, d approval.Decision) error {
	owner, refusal, err := c.ownerOfDecision(d, nil)
	if err != nil {
		return err
	}
	to, bypassesPart := c.variant.receiverOf(owner, d.CallID)
	if bypassesPart {
		payload = approval.ForwardedPayload(payload)
	}
	c.outbox.Send(ctx, to, mailbox.OutgoingSignal{Signal: d.Kind, Payload: payload, RefusalReason: refusal})
	return mailbox.ErrUnderWay
}

// ownerOfDecision is ownerOf, or the error of a decision that people may not take.
func (c *processCore) ownerOfDecision(d approval.Decision, briefly func() bool) (owner, refusal string, err error) {
	if err := c.orders.CheckDecision(d); err != nil {
		return "", "", err
	}
	return c.variant.ownerOf(d.CallID, briefly)
}

// maxExplained bounds how many unknown Calls per signal get a did-you-mean hint: the search among a thousand names
// takes a millisecond, and a workflow task must be short.
const maxExplained = 20

// ownedDecision is one of many decisions that an instance or a part is to receive.
type ownedDecision struct {
	approval.OneOfMany
	owner, refusal string
}

// DecideMany passes each decision on, in turn. A refused decision does not affect the others.
func (c *processCore) DecideMany(ctx workflow.Context, many approval.ManyDecisions) error {
	names, unknown := spelling.NewTokenIndex(c.variant.instanceTokens()), 0
	briefly := func() bool {
		unknown++
		return unknown > maxExplained
	}
	var some []ownedDecision
	for _, one := range many.List {
		c.inbox.Begin(ctx, one.Kind, one.Payload)
		owner, refusal, err := "", "", one.Invalid
		if err == nil {
			one.CallID = withToken(one.CallID, names)
			owner, refusal, err = c.ownerOfDecision(one.Decision, briefly)
		}
		if err != nil {
			c.inbox.Conclude(ctx, one.Kind, one.Payload, err)
			continue
		}
		some = append(some, ownedDecision{one, owner, refusal})
	}
	c.variant.dealOut(ctx, many, some)
	return nil
}

// withToken corrects the spelling of the instance's token in a Call's id. An id that names no instance stays as it is.
func withToken(id string, names *spelling.TokenIndex) string {
	token, known := names.FindToken(ideafile.InstanceTokenOfCallID(id))
	if !known {
		return id
	}
	return ideafile.CallIDInInstance(id, token)
}

func (p *unsplitProcess) instanceTokens() []string { return p.loop.InstanceTokens() }

func (p *unsplitProcess) ownerOf(call string, briefly func() bool) (owner, refusal string, err error) {
	token, known := p.loop.FindInstance(ideafile.InstanceTokenOfCallID(call))
	if known && p.phase == opening {
		return "", "", errors.New("the process has not begun: nothing waits there")
	}
	err = p.loop.CheckCallWaiting(call, briefly)
	if !known {
		return "", "", err
	}
	return token, err.Error(), nil // if the instance has ended
}

func (p *unsplitProcess) receiverOf(owner, _ string) (to string, bypassesPart bool) {
	return protocol.InstanceID(p.processID, owner), false
}

func (p *unsplitProcess) dealOut(ctx workflow.Context, _ approval.ManyDecisions, some []ownedDecision) {
	for _, one := range some {
		p.outbox.SendInTurn(ctx, protocol.InstanceID(p.processID, one.owner), mailbox.OutgoingSignal{
			Signal: one.Kind, Payload: one.Payload, RefusalReason: one.refusal,
		})
	}
}

const nothingWaitsText = "the instance has not begun or has ended: nothing waits there"

func (p *splitProcess) instanceTokens() []string { return p.parts.InstanceTokens() }

func (p *splitProcess) ownerOf(call string, briefly func() bool) (owner, refusal string, err error) {
	token := p.parts.FindInstance(ideafile.InstanceTokenOfCallID(call))
	number := p.parts.PartNumberOf(token)
	switch {
	case number > 0:
		return protocol.PartID(p.processID, number), nothingWaitsText, nil
	case briefly != nil && briefly():
		return "", "", approval.ErrUnknownCallBriefly(call)
	}
	return "", "", approval.UnknownCallError(call, nil, p.parts.PendingApprovals())
}

// receiverOf returns the Call's instance or, if parts deal out earlier decisions, the Call's part.
func (p *splitProcess) receiverOf(owner, call string) (to string, bypassesPart bool) {
	if p.decidesThroughParts {
		return owner, false
	}
	token := p.parts.FindInstance(ideafile.InstanceTokenOfCallID(call))
	return protocol.InstanceID(owner, token), true
}

// dealOut gives each part the decisions that are for its instances.
func (p *splitProcess) dealOut(ctx workflow.Context, many approval.ManyDecisions, some []ownedDecision) {
	byPart := map[string][]approval.OneOfMany{}
	for _, one := range some {
		byPart[one.owner] = append(byPart[one.owner], one.OneOfMany)
	}
	for _, part := range p.parts.All {
		to := protocol.PartID(p.processID, part.Number)
		if list := byPart[to]; list != nil {
			p.outbox.SendInTurn(ctx, to, mailbox.OutgoingSignal{
				Signal: approval.SteerDecide, Payload: many.PassedOnPayload(protocol.ForwardedSignalID, list),
				RefusalReason: nothingWaitsText,
			})
		}
	}
	p.decidesThroughParts = true
}
