package process

import (
	"errors"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file passes decisions on to the instances that they are about, one by one or many at once.

// sender is how a signal is sent: at once, or in turn where it is one of many.
type sender func(ctx workflow.Context, to string, s mailbox.OutgoingSignal)

// Decide passes a decision on to the instance that it is about. What the instance refuses, it reports.
func (p *unsplitProcess) Decide(ctx workflow.Context, kind string, payload map[string]any, d approval.Decision) error {
	if err := p.orders.CheckDecision(d); err != nil {
		return err
	}
	return p.passOn(ctx, kind, payload, d.CallID, p.outbox.Send, nil)
}

// passOn sends a decision to its instance.
func (p *unsplitProcess) passOn(ctx workflow.Context, kind string, payload map[string]any, call string, send sender, briefly func() bool) error {
	token, known := p.loop.FindInstance(ideafile.InstanceTokenOfCallID(call))
	if !known {
		return p.loop.CheckCallWaiting(call, briefly)
	}
	if p.phase == opening {
		return errors.New("the process has not begun: nothing waits there")
	}
	send(ctx, protocol.InstanceID(p.processID, token), mailbox.OutgoingSignal{
		Signal: kind, Payload: payload, RefusalReason: p.loop.CheckCallWaiting(call, briefly).Error(), // if the instance has ended
	})
	return mailbox.ErrUnderWay
}

// maxExplained is of how many unknown Calls of one signal it is said which ones were probably meant: to find that out among a thousand names
// takes a millisecond, and a workflow task must be short.
const maxExplained = 20

// DecideMany passes each decision on to its instance, in turn.
func (p *unsplitProcess) DecideMany(ctx workflow.Context, many approval.ManyDecisions) error {
	names, unknown := spelling.NewTokenIndex(p.loop.InstanceTokens()), 0
	briefly := func() bool {
		unknown++
		return unknown > maxExplained
	}
	p.acceptMany(ctx, many, func(one approval.OneOfMany) error {
		return p.passOn(ctx, one.Kind, one.Payload, withToken(one.CallID, names), p.outbox.SendInTurn, briefly)
	})
	return nil
}

// withToken is a Call's id with the token of its instance, however that was spelled; one that names no instance stays as it is.
func withToken(id string, names *spelling.TokenIndex) string {
	token, known := names.FindToken(ideafile.InstanceTokenOfCallID(id))
	if !known {
		return id
	}
	return ideafile.CallIDInInstance(id, token)
}

// acceptMany hands out the decisions that have a form. Each of the others is refused, as it would be alone.
func (c *processCore) acceptMany(ctx workflow.Context, many approval.ManyDecisions, handOut func(approval.OneOfMany) error) {
	for _, one := range many.List {
		c.inbox.Begin(ctx, one.Kind, one.Payload)
		err := one.Invalid
		if err == nil {
			err = c.orders.CheckDecision(one.Decision)
		}
		if err == nil {
			err = handOut(one)
		}
		c.inbox.Conclude(ctx, one.Kind, one.Payload, err)
	}
}

const nothingWaitsThere = "the instance has not begun or has ended: nothing waits there"

// Decide passes a decision on to the instance that it is about; by its part where that deals out decisions that came before.
func (p *splitProcess) Decide(ctx workflow.Context, kind string, payload map[string]any, d approval.Decision) error {
	if err := p.orders.CheckDecision(d); err != nil {
		return err
	}
	token, number := p.instanceOfCall(d.CallID)
	if number == 0 {
		return approval.UnknownCallError(d.CallID, nil, p.parts.PendingApprovals())
	}
	to := protocol.PartID(p.processID, number)
	if !p.decidesThroughParts {
		to, payload = protocol.InstanceID(to, token), approval.PassedOn(payload)
	}
	p.outbox.Send(ctx, to, mailbox.OutgoingSignal{Signal: kind, Payload: payload, RefusalReason: nothingWaitsThere})
	return mailbox.ErrUnderWay
}

// DecideMany gives each part the decisions that are for its instances.
func (p *splitProcess) DecideMany(ctx workflow.Context, many approval.ManyDecisions) error {
	names, unknown, ofPart := spelling.NewTokenIndex(p.parts.InstanceTokens()), 0, map[int][]approval.OneOfMany{}
	p.acceptMany(ctx, many, func(one approval.OneOfMany) error {
		_, number := p.instanceOfCall(withToken(one.CallID, names))
		if number == 0 {
			if unknown++; unknown > maxExplained {
				return approval.ErrUnknownCallBriefly(one.CallID)
			}
			return approval.UnknownCallError(one.CallID, nil, p.parts.PendingApprovals())
		}
		ofPart[number] = append(ofPart[number], one)
		return mailbox.ErrUnderWay
	})
	for _, number := range jsonval.SortedKeys(ofPart) {
		p.outbox.SendInTurn(ctx, protocol.PartID(p.processID, number), mailbox.OutgoingSignal{
			Signal: approval.SteerDecide, Payload: many.Passed(protocol.ForwardedID, ofPart[number]), RefusalReason: nothingWaitsThere,
		})
	}
	p.decidesThroughParts = true
	return nil
}

// instanceOfCall returns the instance that a Call's id names, and the number of its part; 0 if there is none.
func (p *splitProcess) instanceOfCall(id string) (token string, number int) {
	token, _ = p.parts.FindInstance(ideafile.InstanceTokenOfCallID(id))
	return token, p.parts.PartNumberOf(token)
}
