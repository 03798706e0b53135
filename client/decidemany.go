package client

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"processidea/client/internal/kind"
	"processidea/internal/safego"
	"processidea/model/approval"
	"processidea/model/jsonval"
)

// MaxDecisionsPerSignal is how many decisions DecideMany sends in one signal.
const MaxDecisionsPerSignal = approval.MaxDecisionsPerSignal

// DecisionOutcome is the result of one of many decisions.
type DecisionOutcome struct {
	Decision
	// RefusalReason is why the decision changed nothing; empty: it took effect.
	RefusalReason string
	// Votes is how many people have decided the same, and how many must, after an accepted decision.
	Votes VoteCount
}

// DecideMany sends up to MaxDecisionsPerSignal decisions in one signal and waits until each is accepted or refused.
// Each is judged separately: a refused one does not affect the others. The outcomes are in the order of the decisions.
// The error is a *RefusedError if the whole signal was refused. It wraps ErrInvalid, and nothing is sent, if a decision
// is malformed, or if they are too many or together larger than 2 MB as JSON. Without a worker it waits for one.
func (p *Process) DecideMany(ctx context.Context, list []Decision) ([]DecisionOutcome, error) {
	parsedPayload, err := approval.ReadDecisionBatch(batchPayload(list))
	if err != nil {
		return nil, kind.Errorf(ErrInvalid, "decide on %s: %w", p.id, err)
	}
	for n, one := range parsedPayload.Decisions {
		if one.ReadErr != nil {
			return nil, kind.Errorf(ErrInvalid, "decide on %s %s: %w", p.id, list[n].CallID, one.ReadErr)
		}
	}
	b := &decisionBatch{process: p, outcomes: make([]DecisionOutcome, len(list))}
	sendableDecisions, err := b.resolveAndSign(ctx, list)
	if err != nil || len(sendableDecisions) == 0 {
		return b.outcomes, err
	}
	payload, signalID := batchPayload(sendableDecisions), uuid.NewString()
	if _, err := approval.ReadDecisionBatch(payload); err != nil { // with the signatures
		return nil, kind.Errorf(ErrInvalid, "decide on %s: %w", p.id, err)
	}
	payload["id"] = signalID
	isDelivered, err := p.client.signal(ctx, p.id, approval.SteerDecideMany, payload)
	outcomes := make([]approval.ActOutcome, len(b.sentDecisions))
	if err == nil && isDelivered {
		outcomes, err = b.queryOutcomes(ctx, signalID)
	}
	if err != nil {
		return nil, err
	}
	return b.outcomes, b.setOutcomes(ctx, outcomes)
}

// batchPayload returns the payload of the signal. It states once what all decisions have in common.
func batchPayload(list []Decision) jsonval.Object {
	payload, decisions := jsonval.Object{}, make([]any, len(list))
	commonFields := jsonval.Object{}
	for n, d := range list {
		entry := d.payload()
		entry["decision"] = d.Kind
		for _, key := range []string{"by", "groups", "reason", "proof"} {
			v, isGiven := entry[key]
			if n == 0 && isGiven {
				commonFields[key], payload[key] = v, v
			}
			switch shared, isShared := commonFields[key]; {
			case isShared && jsonval.Equal(v, shared):
				delete(entry, key)
			case isShared && !isGiven && key == "groups":
				entry[key] = []any{} // overrides the common value
			case isShared && !isGiven:
				entry[key] = ""
			}
		}
		decisions[n] = entry
	}
	payload["decisions"] = decisions
	return payload
}

// decisionBatch tracks a signal of many decisions until their outcomes are known.
type decisionBatch struct {
	process       *Process
	outcomes      []DecisionOutcome
	sentDecisions []sentDecision // the decisions that were sent, in the order of the signal
}

// sentDecision is one sent decision, and the workflow of its instance.
type sentDecision struct {
	instanceID string
	outcome    *DecisionOutcome
}

// resolveAndSign finds the instance of each decision. It returns the decisions whose instance exists, signed if they
// have a Key. The others are refused.
func (b *decisionBatch) resolveAndSign(ctx context.Context,
	list []Decision) (sendableDecisions []Decision, err error) {
	v, _ := b.process.Status(ctx) // without an answer the process counts as not split
	listPendingCalls := sync.OnceValue(func() []approval.PendingCall { return b.process.pendingCalls(ctx) })
	for n, d := range list {
		b.outcomes[n].Decision = d
		instanceID, known := b.process.instanceIDFromStatus(v, d.CallID)
		if !known {
			b.outcomes[n].RefusalReason = approval.UnknownCallError(d.CallID, nil, listPendingCalls()).Error()
			continue
		}
		var refused *RefusedError
		switch d, err = b.process.sign(ctx, instanceID, d); {
		case errors.As(err, &refused):
			b.outcomes[n].RefusalReason = refused.Reason
			continue
		case err != nil:
			return nil, err
		}
		sendableDecisions = append(sendableDecisions, d)
		b.sentDecisions = append(b.sentDecisions, sentDecision{instanceID, &b.outcomes[n]})
	}
	return sendableDecisions, nil
}

// queryOutcomes asks the process for the outcomes of the signal and of its decisions.
func (b *decisionBatch) queryOutcomes(ctx context.Context, signalID string) ([]approval.ActOutcome, error) {
	actIDs := []string{signalID}
	for n := range b.sentDecisions {
		actIDs = append(actIDs, fmt.Sprintf("%s/%d", signalID, n+1))
	}
	outcomes, err := b.process.awaitOutcomes(ctx, b.process.id, actIDs, nil)
	if err == nil && outcomes[0].Status == approval.ActRefused {
		err = &RefusedError{ProcessID: b.process.id, Signal: approval.SteerDecideMany,
			Reason: outcomes[0].RefusalReason}
	}
	if err != nil {
		return nil, err
	}
	return outcomes[1:], nil
}

// setOutcomes records the outcomes of the decisions. If the process ended before it handled a decision, the decision
// took no effect: its instance says why.
func (b *decisionBatch) setOutcomes(ctx context.Context, outcomes []approval.ActOutcome) error {
	return safego.ForEach(ctx, "client.decisions", len(b.sentDecisions), maxConcurrentQueries,
		func(ctx context.Context, n int) error {
			d := b.sentDecisions[n]
			d.outcome.Votes, d.outcome.RefusalReason = outcomes[n].Votes, outcomes[n].RefusalReason
			if outcomes[n].Status == approval.ActAccepted || outcomes[n].Status == approval.ActRefused {
				return nil
			}
			d.outcome.RefusalReason = b.process.notWaitingError(ctx, d.instanceID, d.outcome.CallID).Error()
			return ctx.Err()
		})
}
