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

// Outcome is the result of one of many decisions.
type Outcome struct {
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
func (p *Process) DecideMany(ctx context.Context, list []Decision) ([]Outcome, error) {
	parsed, err := approval.ReadDecisions(batchPayload(list))
	if err != nil {
		return nil, kind.Errorf(ErrInvalid, "decide on %s: %w", p.id, err)
	}
	for n, one := range parsed.Decisions {
		if one.ReadErr != nil {
			return nil, kind.Errorf(ErrInvalid, "decide on %s %s: %w", p.id, list[n].Call, one.ReadErr)
		}
	}
	b := &decisionBatch{process: p, outcomes: make([]Outcome, len(list))}
	sendableDecisions, err := b.resolveInstances(ctx, list)
	if err != nil || len(sendableDecisions) == 0 {
		return b.outcomes, err
	}
	payload, id := batchPayload(sendableDecisions), uuid.NewString()
	if _, err := approval.ReadDecisions(payload); err != nil { // with the signatures
		return nil, kind.Errorf(ErrInvalid, "decide on %s: %w", p.id, err)
	}
	payload["id"] = id
	isDelivered, err := p.client.signal(ctx, p.id, approval.SteerDecide, payload)
	outcomes := make([]approval.Outcome, len(b.sentDecisions))
	if err == nil && isDelivered {
		outcomes, err = b.queryOutcomes(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return b.outcomes, b.setOutcomes(ctx, outcomes)
}

// batchPayload returns the payload of the signal. It states once what all decisions have in common.
func batchPayload(list []Decision) jsonval.Object {
	payload, decisions := jsonval.Object{}, make([]any, len(list))
	common := jsonval.Object{}
	for n, d := range list {
		entry := d.payload()
		entry["decision"] = d.Kind
		for _, key := range []string{"by", "groups", "reason", "proof"} {
			v, isGiven := entry[key]
			if n == 0 && isGiven {
				common[key], payload[key] = v, v
			}
			switch shared, isShared := common[key]; {
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
	outcomes      []Outcome
	sentDecisions []sentDecision // the decisions that were sent, in the order of the signal
}

// sentDecision is one sent decision, and the workflow of its instance.
type sentDecision struct {
	instanceID string
	outcome    *Outcome
}

// resolveInstances finds the instance of each decision. It returns the decisions whose instance exists, signed if they
// have a Key. The others are refused.
func (b *decisionBatch) resolveInstances(ctx context.Context, list []Decision) (sendableDecisions []Decision, err error) {
	v, _ := b.process.Status(ctx) // without an answer the process counts as not split
	pending := sync.OnceValue(func() []approval.Pending { return b.process.pendingCalls(ctx) })
	for n, d := range list {
		b.outcomes[n].Decision = d
		instanceID, known := b.process.instanceIDFromStatus(v, d.Call)
		if !known {
			b.outcomes[n].RefusalReason = approval.UnknownCallError(d.Call, nil, pending()).Error()
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
func (b *decisionBatch) queryOutcomes(ctx context.Context, id string) ([]approval.Outcome, error) {
	ids := []string{id}
	for n := range b.sentDecisions {
		ids = append(ids, fmt.Sprintf("%s/%d", id, n+1))
	}
	outcomes, err := b.process.awaitOutcomes(ctx, b.process.id, ids, nil)
	if err == nil && outcomes[0].Status == approval.ActRefused {
		err = &RefusedError{Process: b.process.id, Signal: approval.SteerDecide, Reason: outcomes[0].Reason}
	}
	if err != nil {
		return nil, err
	}
	return outcomes[1:], nil
}

// setOutcomes records the outcomes of the decisions. If the process ended before it handled a decision, the decision
// took no effect: its instance says why.
func (b *decisionBatch) setOutcomes(ctx context.Context, outcomes []approval.Outcome) error {
	return safego.ForEach(ctx, "client.decisions", len(b.sentDecisions), maxQueries,
		func(ctx context.Context, n int) error {
			d := b.sentDecisions[n]
			d.outcome.Votes, d.outcome.RefusalReason = outcomes[n].Votes, outcomes[n].Reason
			if outcomes[n].Status == approval.ActAccepted || outcomes[n].Status == approval.ActRefused {
				return nil
			}
			d.outcome.RefusalReason = b.process.notWaitingError(ctx, d.instanceID, d.outcome.Call).Error()
			return ctx.Err()
		})
}
