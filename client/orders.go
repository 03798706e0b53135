package client

import (
	"context"
	"time"

	"processidea/client/internal/kind"
	"processidea/model/approval"
	"processidea/store/signing"
)

// StandingOrder is an approval in advance: matching Calls of a Tool that wait for a person are approved under it, in
// the name of its giver.
type StandingOrder struct {
	// ID is its name, by which it is ended; at most 100 characters.
	ID   string `json:"id" minLength:"1" maxLength:"100" doc:"a name of your own, by which it is ended"`
	Tool string `json:"tool" minLength:"1"`
	// When is a JSON Schema that the parameters of a Call must fit; nil: any do. A parameter that it names under
	// "properties" must be there.
	When Object `json:"when,omitempty" doc:"a JSON Schema that the parameters fit; absent: any do"`
	// Count is how many Calls are approved at most; 0: any number. Until is the moment from which none is; zero: it has
	// no end. One of both is needed.
	Count int       `json:"count,omitempty" minimum:"1" maximum:"100000" doc:"how many Calls it approves; count, until or both"`
	Until time.Time `json:"until,omitzero" doc:"the moment from which it approves none"`
	// By is who gives it.
	By     string   `json:"-"`
	Groups []string `json:"-"`
	Reason string   `json:"reason,omitempty"`
	// Key signs the order, for Tools whose policy wants signed decisions; nil: nothing does. Proof is a compact JWS
	// made elsewhere, and comes first.
	Key   Signer `json:"-"`
	Proof string `json:"proof,omitempty" doc:"a signature made elsewhere"`
}

func (o StandingOrder) payload() map[string]any {
	return object(struct {
		StandingOrder
		By     string   `json:"by,omitempty"`
		Groups []string `json:"groups,omitempty"`
	}{o, o.By, o.Groups})
}

// Validate reports what is wrong with the form of an order, without asking anybody; the error wraps ErrInvalid.
func (o StandingOrder) Validate() error {
	_, err := approval.ReadStandingOrder(o.payload())
	return kind.Of(ErrInvalid, err)
}

// Allow gives a standing order, and returns when it is in force. The error is a *RefusedError if the process refused
// it: there is no such Tool, the giver may not decide on its Calls, the id is in use. It wraps ErrInvalid if the order
// is malformed. Status().Orders counts the Calls approved under it.
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
