package client

import (
	"context"
	"time"

	"processidea/client/internal/kind"
	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/store/signing"
)

// StandingOrder is leave that somebody gives beforehand: Calls of a Tool that wait for a person, and fit, are approved
// under it, in the name of whoever gave it.
type StandingOrder struct {
	ID   string // its name, by which it is ended; at most 100 characters
	Tool string
	// When is a JSON Schema that the parameters of a Call must fit; nil: any do. A parameter that it names under
	// "properties" must be there.
	When map[string]any
	// Count is how many Calls are approved at most; 0: any number. Until is the moment from which none is; zero: it has
	// no end. One of both is needed.
	Count  int
	Until  time.Time
	By     string // who gives it
	Groups []string
	Reason string
	// Key signs the order, for Tools whose policy wants signed decisions; nil: nothing does. Proof is a compact JWS
	// made elsewhere, and comes first.
	Key   Signer
	Proof string
}

func (o StandingOrder) payload() map[string]any {
	p := map[string]any{"id": o.ID, "tool": o.Tool}
	for key, text := range map[string]string{"by": o.By, "reason": o.Reason, "proof": o.Proof} {
		if text != "" {
			p[key] = text
		}
	}
	if o.When != nil {
		p["when"] = o.When
	}
	if o.Count != 0 {
		p["count"] = o.Count
	}
	if !o.Until.IsZero() {
		p["until"] = o.Until.UTC().Format(time.RFC3339Nano)
	}
	if len(o.Groups) > 0 {
		p["groups"] = o.Groups
	}
	return jsonval.AsObject(jsonval.ToJSONValue(p))
}

// Validate reports what is wrong with the form of an order, without asking anybody; the error wraps ErrInvalid.
func (o StandingOrder) Validate() error {
	_, err := approval.ReadStandingOrder(o.payload())
	return kind.Of(ErrInvalid, err)
}

// Allow gives a standing order, and returns when the process has taken it. The error is a *RefusedError where it did
// not: there is no such Tool, who gives the order may not decide on its Calls, the id is taken. It wraps ErrInvalid
// where the order breaks its form. Status().Orders says how many Calls were approved under it.
func (p *Process) Allow(ctx context.Context, o StandingOrder) error {
	order, err := approval.ReadStandingOrder(o.payload())
	if err == nil && o.Key != nil && o.Proof == "" {
		o.Proof, err = o.Key.Sign(signing.NewClaims(order.ToProve(p.id), o.ID, o.Groups))
	}
	if err != nil {
		return kind.Errorf(ErrInvalid, "%s: %w", approval.SteerAllow, err)
	}
	return p.steer(ctx, approval.SteerAllow, o.payload())
}

// Disallow ends a standing order. What was approved under it stays so.
func (p *Process) Disallow(ctx context.Context, order string, by By) error {
	payload := by.payload()
	payload["order"] = order
	return p.steer(ctx, approval.SteerDisallow, payload)
}
