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
	// Refused is why the decision changed nothing; empty: it took effect.
	Refused string
	// Count is how many people have decided the same, and how many must, after an accepted decision.
	Count Count
}

// DecideMany sends up to MaxDecisionsPerSignal decisions in one signal and waits until each is accepted or refused.
// Each is judged separately: a refused one does not affect the others. The outcomes are in the order of the decisions.
// The error is a *RefusedError if the whole signal was refused. It wraps ErrInvalid, and nothing is sent, if a decision
// is malformed, or if they are too many or together larger than 2 MB as JSON. Without a worker it waits for one.
func (p *Process) DecideMany(ctx context.Context, list []Decision) ([]Outcome, error) {
	many, err := approval.ReadDecisions(manyPayload(list))
	if err != nil {
		return nil, kind.Errorf(ErrInvalid, "decide on %s: %w", p.id, err)
	}
	for n, one := range many.List {
		if one.Invalid != nil {
			return nil, kind.Errorf(ErrInvalid, "decide on %s %s: %w", p.id, list[n].Call, one.Invalid)
		}
	}
	b := &sentDecisions{process: p, outcomes: make([]Outcome, len(list))}
	sendable, err := b.address(ctx, list)
	if err != nil || len(sendable) == 0 {
		return b.outcomes, err
	}
	payload, id := manyPayload(sendable), uuid.NewString()
	if _, err := approval.ReadDecisions(payload); err != nil { // with the signatures
		return nil, kind.Errorf(ErrInvalid, "decide on %s: %w", p.id, err)
	}
	payload["id"] = id
	sent, err := p.client.signal(ctx, p.id, approval.SteerDecide, payload)
	became := make([]approval.Outcome, len(b.open))
	if err == nil && sent {
		became, err = b.ask(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return b.outcomes, b.setOutcomes(ctx, became)
}

// manyPayload returns the payload of the signal. It states once what all decisions have in common.
func manyPayload(list []Decision) jsonval.Object {
	payload, decisions := jsonval.Object{}, make([]any, len(list))
	common := jsonval.Object{}
	for n, d := range list {
		own := d.payload()
		own["decision"] = d.Kind
		for _, key := range []string{"by", "groups", "reason", "proof"} {
			v, isGiven := own[key]
			if n == 0 && isGiven {
				common[key], payload[key] = v, v
			}
			switch shared, isShared := common[key]; {
			case isShared && jsonval.Equal(v, shared):
				delete(own, key)
			case isShared && !isGiven && key == "groups":
				own[key] = []any{} // overrides the common value
			case isShared && !isGiven:
				own[key] = ""
			}
		}
		decisions[n] = own
	}
	payload["decisions"] = decisions
	return payload
}

// sentDecisions tracks a signal of many decisions until their outcomes are known.
type sentDecisions struct {
	process  *Process
	outcomes []Outcome
	open     []sentDecision // the decisions that were sent, in the order of the signal
}

// sentDecision is one sent decision, and the workflow of its instance.
type sentDecision struct {
	instance string
	outcome  *Outcome
}

// address finds the instance of each decision. It returns the decisions whose instance exists, signed if they have a
// Key. The others are refused.
func (b *sentDecisions) address(ctx context.Context, list []Decision) (sendable []Decision, err error) {
	v, _ := b.process.Status(ctx) // without an answer the process counts as not split
	pending := sync.OnceValue(func() []approval.Pending { return b.process.pending(ctx) })
	for n, d := range list {
		b.outcomes[n].Decision = d
		instance, known := b.process.instanceIn(v, d.Call)
		if !known {
			b.outcomes[n].Refused = approval.UnknownCallError(d.Call, nil, pending()).Error()
			continue
		}
		var refused *RefusedError
		switch d, err = b.process.sign(ctx, instance, d); {
		case errors.As(err, &refused):
			b.outcomes[n].Refused = refused.Reason
			continue
		case err != nil:
			return nil, err
		}
		sendable = append(sendable, d)
		b.open = append(b.open, sentDecision{instance, &b.outcomes[n]})
	}
	return sendable, nil
}

// ask asks the process for the outcomes of the signal and of its decisions.
func (b *sentDecisions) ask(ctx context.Context, id string) ([]approval.Outcome, error) {
	ids := []string{id}
	for n := range b.open {
		ids = append(ids, fmt.Sprintf("%s/%d", id, n+1))
	}
	became, err := b.process.outcomes(ctx, b.process.id, ids, nil)
	if err == nil && became[0].Became == approval.ActRefused {
		err = &RefusedError{Process: b.process.id, Signal: approval.SteerDecide, Reason: became[0].Reason}
	}
	if err != nil {
		return nil, err
	}
	return became[1:], nil
}

// setOutcomes records the outcomes of the decisions. If the process ended before it handled a decision, the decision
// took no effect: its instance says why.
func (b *sentDecisions) setOutcomes(ctx context.Context, became []approval.Outcome) error {
	return safego.Each(ctx, "client.decisions", len(b.open), maxQueries, func(ctx context.Context, n int) error {
		d := b.open[n]
		d.outcome.Count, d.outcome.Refused = became[n].Count, became[n].Reason
		if became[n].Became == approval.ActAccepted || became[n].Became == approval.ActRefused {
			return nil
		}
		d.outcome.Refused = b.process.notWaitingError(ctx, d.instance, d.outcome.Call).Error()
		return ctx.Err()
	})
}
