package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"

	"processidea/client/internal/kind"
	"processidea/internal/safego"
	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// MaxDecisionsAtOnce is how many decisions DecideMany sends in one signal.
const MaxDecisionsAtOnce = approval.MaxDecisionsAtOnce

// Outcome is what became of one of many decisions.
type Outcome struct {
	Decision
	// Refused is why it changed nothing; empty: it was taken.
	Refused string
	// Count is how many have decided the same, of how many must, once it was taken.
	Count Count
}

// DecideMany sends up to MaxDecisionsAtOnce decisions in one signal and waits until each is taken or refused: each is judged by itself, and a
// wrong one leaves the others as they are. The outcomes are in the order of the decisions. The error is a *RefusedError where the whole was
// refused; it wraps ErrInvalid where a decision breaks its form, or where all of them are too many or together larger than 2 MB as JSON: nothing
// was sent then. Without a worker it waits for one.
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
	b := &bulk{process: p, id: uuid.NewString(), outcomes: make([]Outcome, len(list))}
	sendable, err := b.address(ctx, list)
	if err != nil || len(sendable) == 0 {
		return b.outcomes, err
	}
	payload := manyPayload(sendable)
	if _, err := approval.ReadDecisions(payload); err != nil { // with what was signed
		return nil, kind.Errorf(ErrInvalid, "decide on %s: %w", p.id, err)
	}
	payload["id"] = b.id
	sent, err := p.client.signal(ctx, p.id, approval.SteerDecide, payload)
	if err == nil && sent {
		err = b.untilDealtOut(ctx)
	}
	if err != nil {
		return nil, err
	}
	b.gone = !sent
	return b.outcomes, p.until(ctx, func() (bool, error) { return b.look(ctx) })
}

// manyPayload is that of the signal: what all decisions have in common is said once.
func manyPayload(list []Decision) map[string]any {
	payload, decisions := map[string]any{}, make([]any, len(list))
	common := map[string]any{}
	for n, d := range list {
		own := d.payload()
		own["decision"] = d.Kind
		for _, key := range []string{"by", "groups", "reason", "proof"} {
			v, said := own[key]
			if n == 0 && said {
				common[key], payload[key] = v, v
			}
			switch shared, isShared := common[key]; {
			case isShared && jsonval.Equal(v, shared):
				delete(own, key)
			case isShared && !said && key == "groups":
				own[key] = []any{} // not those of all
			case isShared && !said:
				own[key] = ""
			}
		}
		decisions[n] = jsonval.ToJSONValue(own)
	}
	payload["decisions"] = decisions
	return payload
}

// bulk is a signal of many decisions that is under way.
type bulk struct {
	process  *Process
	id       string // the signal's
	gone     bool   // the process has ended: what is not decided on now will never be
	outcomes []Outcome
	open     []openDecision // whose outcome is not known yet
}

// openDecision is one whose outcome is not known yet.
type openDecision struct {
	id, instance string // of the decision, and of the workflow that it goes to
	outcome      *Outcome
}

// address finds the instance of each decision, and returns those decisions that have one, signed where they have a Key. The others are refused.
func (b *bulk) address(ctx context.Context, list []Decision) (sendable []Decision, err error) {
	v, err := b.process.Status(ctx)
	if err != nil {
		v = Status{}
	}
	pending := sync.OnceValue(func() []approval.Pending { return b.process.pending(ctx) })
	for n, d := range list {
		b.outcomes[n].Decision = d
		instance, known := b.process.instanceIn(v, d.Call)
		if !known {
			b.outcomes[n].Refused = approval.UnknownCallError(d.Call, nil, pending()).Error()
			continue
		}
		var refused *RefusedError
		switch d, err = b.sign(ctx, instance, d); {
		case errors.As(err, &refused):
			b.outcomes[n].Refused = refused.Reason
			continue
		case err != nil:
			return nil, err
		}
		sendable = append(sendable, d)
		b.open = append(b.open, openDecision{fmt.Sprintf("%s/%d", b.id, len(sendable)), instance, &b.outcomes[n]})
	}
	return sendable, nil
}

// sign is Process.sign, which asks the instance of each Call, but for decisions that name a digest.
func (b *bulk) sign(ctx context.Context, instance string, d Decision) (Decision, error) {
	if d.Key == nil || d.Proof != "" || d.Digest == "" {
		return b.process.sign(ctx, instance, d)
	}
	return b.process.signAs(d, d.Call)
}

// untilDealtOut waits until the process has taken the signal.
func (b *bulk) untilDealtOut(ctx context.Context) error {
	reason := ""
	err := b.process.until(ctx, func() (done bool, err error) {
		v, err := b.process.Status(ctx)
		if err != nil {
			return false, err
		}
		done = slices.ContainsFunc(v.Accepted, func(a protocol.AcceptedSignal) bool { return a.ID == b.id })
		refused, why := refusalOf(v.Refusals, b.id)
		reason = why
		return done || refused || b.process.ended(ctx), nil
	})
	if err == nil && reason != "" {
		err = &RefusedError{Process: b.process.id, Signal: approval.SteerDecide, Reason: reason}
	}
	return err
}

// lookedAtOnce is how many instances are asked before it is judged whether asking more is worth while.
const lookedAtOnce = 4 * queriesAtOnce

// look asks the instances what they have made of the decisions that are open, and reports whether none is left. The instances get their signals
// one after the other: where none of those asked has its own, the others are left for later.
func (b *bulk) look(ctx context.Context) (done bool, err error) {
	refusals, gone := map[string]string{}, b.gone || b.process.ended(ctx)
	if v, err := b.process.Status(ctx); err == nil {
		for _, r := range v.Refusals {
			refusals[r.ID] = r.Reason
		}
	}
	for left := len(b.open); left > 0; left -= lookedAtOnce {
		asked := b.open[:min(lookedAtOnce, left)]
		before := len(b.open)
		still, err := b.lookAt(ctx, asked, refusals, gone)
		if err != nil {
			return false, err
		}
		b.open = append(slices.Clone(b.open[len(asked):]), still...)
		if len(b.open) == before {
			break
		}
	}
	return len(b.open) == 0, ctx.Err()
}

// lookAt asks the instances of some decisions and returns those of which nothing is known yet.
func (b *bulk) lookAt(ctx context.Context, asked []openDecision, refusals map[string]string,
	gone bool) (still []openDecision, err error) {
	known := make([]bool, len(asked))
	var g safego.Group
	g.SetLimit(queriesAtOnce)
	for n, d := range asked {
		if reason, refused := refusals[d.id]; refused {
			known[n], d.outcome.Refused = true, reason
			continue
		}
		g.Go("client.decisions", func() error {
			known[n] = b.process.learn(ctx, d, gone)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for n, d := range asked {
		if !known[n] {
			still = append(still, d)
		}
	}
	return still, nil
}

// learn finds out what an instance has made of a decision. One that has ended without it will never take it; nor will any, once the process is gone.
func (p *Process) learn(ctx context.Context, d openDecision, gone bool) (known bool) {
	var v InstanceStatus
	info, err := p.client.temporal.DescribeWorkflowExecution(ctx, d.instance, "")
	ended := isNotFound(err) || err == nil && info.GetWorkflowExecutionInfo().GetCloseTime() != nil
	timeout := queryTimeout
	if ended {
		timeout = slowQueryTimeout
	}
	err = p.client.queryFor(ctx, timeout, d.instance, protocol.QueryStatus, &v)
	if err == nil {
		d.outcome.Count, d.outcome.Refused, known = fateOf(v, d.id)
	}
	if known || !ended && !gone {
		return known
	}
	if err != nil && !isNotFound(err) {
		return false
	}
	d.outcome.Refused = p.whyNotWaiting(ctx, d.instance, d.outcome.Call).Error()
	return true
}
