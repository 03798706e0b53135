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
	instanceOrPart, refusalIfUndelivered, err := c.ownerOfDecision(d, nil)
	if err != nil {
		return err
	}
	workflowID, bypassesPart := c.variant.receiverOf(instanceOrPart, d.CallID)
	if bypassesPart {
		payload = approval.WithForwardedMark(payload)
	}
	c.outbox.Send(ctx, workflowID, mailbox.OutgoingSignal{SignalName: d.Kind, Payload: payload,
		RefusalIfUndelivered: refusalIfUndelivered})
	return mailbox.ErrOutcomePending
}

// ownerOfDecision is ownerOf, or the error of a decision that people may not take.
func (c *processCore) ownerOfDecision(d approval.Decision,
	omitsHint func() bool) (instanceOrPart, refusalIfUndelivered string, err error) {
	if err := c.orders.RefuseClaimedOrder(d); err != nil {
		return "", "", err
	}
	return c.variant.ownerOf(d.CallID, omitsHint)
}

// maxUnknownCallHints bounds how many unknown Calls per signal get a did-you-mean hint: the search among a thousand
// names takes a millisecond, and a workflow task must be short.
const maxUnknownCallHints = 20

// routedDecision is one of many decisions that an instance or a part is to receive.
type routedDecision struct {
	approval.BatchDecision
	instanceOrPart, refusalIfUndelivered string
}

// DecideMany passes each decision on, in turn. A refused decision does not affect the others.
func (c *processCore) DecideMany(ctx workflow.Context, batch approval.DecisionBatch) error {
	tokenIndex, unknownCallCount := spelling.NewInstanceTokenIndex(c.variant.instanceTokens()), 0
	omitsHint := func() bool {
		unknownCallCount++
		return unknownCallCount > maxUnknownCallHints
	}
	var routedDecisions []routedDecision
	for _, decision := range batch.Decisions {
		c.inbox.RecordSignalStart(ctx, decision.Kind, decision.Payload)
		instanceOrPart, refusalIfUndelivered, err := "", "", decision.ReadErr
		if err == nil {
			decision.CallID = withCorrectedToken(decision.CallID, tokenIndex)
			instanceOrPart, refusalIfUndelivered, err = c.ownerOfDecision(decision.Decision, omitsHint)
		}
		if err != nil {
			c.inbox.RecordSignalOutcome(ctx, decision.Kind, decision.Payload, err)
			continue
		}
		routedDecisions = append(routedDecisions, routedDecision{decision, instanceOrPart, refusalIfUndelivered})
	}
	c.variant.forwardDecisions(ctx, batch, routedDecisions)
	return nil
}

// withCorrectedToken corrects the spelling of the instance's token in a Call's id. An id that names no instance stays
// as it is.
func withCorrectedToken(callID string, tokenIndex *spelling.InstanceTokenIndex) string {
	token, isKnown := tokenIndex.FindToken(ideafile.InstanceTokenOfCallID(callID))
	if !isKnown {
		return callID
	}
	return ideafile.CallIDWithExactToken(callID, token)
}

func (p *unsplitProcess) instanceTokens() []string { return p.loop.InstanceTokens() }

func (p *unsplitProcess) ownerOf(callID string,
	omitsHint func() bool) (instanceOrPart, refusalIfUndelivered string, err error) {
	token, isKnown := p.loop.FindInstanceToken(ideafile.InstanceTokenOfCallID(callID))
	if isKnown && p.phase == phaseOpening {
		return "", "", errors.New("the process has not begun: nothing waits there")
	}
	err = p.loop.ExplainCallNotWaiting(callID, omitsHint)
	if !isKnown {
		return "", "", err
	}
	return token, err.Error(), nil // if the instance has ended
}

func (p *unsplitProcess) receiverOf(instanceToken, _ string) (workflowID string, bypassesPart bool) {
	return protocol.InstanceID(p.processID, instanceToken), false
}

func (p *unsplitProcess) forwardDecisions(ctx workflow.Context, _ approval.DecisionBatch, decisions []routedDecision) {
	for _, decision := range decisions {
		p.outbox.SendInTurn(ctx, protocol.InstanceID(p.processID, decision.instanceOrPart), mailbox.OutgoingSignal{
			SignalName: decision.Kind, Payload: decision.Payload, RefusalIfUndelivered: decision.refusalIfUndelivered,
		})
	}
}

const nothingWaitsRefusal = "the instance has not begun or has ended: nothing waits there"

func (p *splitProcess) instanceTokens() []string { return p.splitState.InstanceTokens() }

func (p *splitProcess) ownerOf(callID string,
	omitsHint func() bool) (instanceOrPart, refusalIfUndelivered string, err error) {
	token := p.splitState.FindInstanceToken(ideafile.InstanceTokenOfCallID(callID))
	number := p.splitState.PartNumberOf(token)
	switch {
	case number > 0:
		return protocol.PartID(p.processID, number), nothingWaitsRefusal, nil
	case omitsHint != nil && omitsHint():
		return "", "", approval.UnknownCallShortError(callID)
	}
	return "", "", approval.UnknownCallError(callID, nil, p.splitState.PendingApprovals())
}

// receiverOf returns the Call's instance or, if parts deal out earlier decisions, the Call's part.
func (p *splitProcess) receiverOf(partID, callID string) (workflowID string, bypassesPart bool) {
	if p.routesDecisionsViaParts {
		return partID, false
	}
	token := p.splitState.FindInstanceToken(ideafile.InstanceTokenOfCallID(callID))
	return protocol.InstanceID(partID, token), true
}

// forwardDecisions gives each part the decisions that are for its instances.
func (p *splitProcess) forwardDecisions(ctx workflow.Context, batch approval.DecisionBatch,
	decisions []routedDecision) {
	decisionsByPart := map[string][]approval.BatchDecision{}
	for _, decision := range decisions {
		decisionsByPart[decision.instanceOrPart] = append(decisionsByPart[decision.instanceOrPart],
			decision.BatchDecision)
	}
	for _, part := range p.splitState.Parts {
		partID := protocol.PartID(p.processID, part.Number)
		if list := decisionsByPart[partID]; list != nil {
			p.outbox.SendInTurn(ctx, partID, mailbox.OutgoingSignal{
				SignalName:           approval.SteerDecideMany,
				Payload:              batch.PayloadToForward(protocol.ForwardedSteeringSignalID, list),
				RefusalIfUndelivered: nothingWaitsRefusal,
			})
		}
	}
	p.routesDecisionsViaParts = true
}
