package client

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"processidea/client/internal/kind"
	"processidea/model/approval"
	"processidea/model/jsonval"
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
	Until time.Time `json:"until,omitzero" doc:"the moment at which it ends"`
	// By is who gives it.
	By     string   `json:"-"`
	Groups []string `json:"-"`
	Reason string   `json:"reason,omitempty"`
	// Key signs the order, for Tools whose policy wants signed decisions; nil: nothing does. Proof is a compact JWS
	// made elsewhere, and comes first.
	Key   Signer `json:"-"`
	Proof string `json:"proof,omitempty" doc:"a signature made elsewhere"`
}

func (o StandingOrder) payload() jsonval.Object { return orderPayload(o, o.By, o.Groups) }

func orderPayload(order any, by string, groups []string) jsonval.Object {
	payload := object(order)
	if by != "" {
		payload["by"] = by
	}
	if groups != nil {
		payload["groups"] = jsonval.ToJSONValue(groups)
	}
	return payload
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
	return p.sendOrder(ctx, approval.SteerAllow, o.payload(), approval.ReadStandingOrder, o.Key)
}

// Deputy decides in the place of By for a time, on Calls of one process.
type Deputy struct {
	// ID is its name, by which Disallow ends it early; empty: one is made.
	ID string `json:"id,omitempty" maxLength:"100" doc:"a name of your own, by which it is ended; absent: one is made"`
	To string `json:"to" minLength:"1" maxLength:"200" doc:"who may decide in your place"`
	// From is when it begins; zero: at once.
	From  time.Time `json:"from,omitzero" doc:"absent: at once"`
	Until time.Time `json:"until" doc:"the moment at which their time ends"`
	// By is who names the deputy.
	By     string   `json:"-"`
	Groups []string `json:"-"`
	Reason string   `json:"reason,omitempty"`
	// Key and Proof are as in StandingOrder.
	Key   Signer `json:"-"`
	Proof string `json:"proof,omitempty" doc:"a signature made elsewhere"`
}

// NameDeputy has somebody decide in the place of By. Whether By may decide is checked with each decision. The error is
// a *RefusedError if the process refused it, and wraps ErrInvalid if the Deputy is malformed.
func (p *Process) NameDeputy(ctx context.Context, d Deputy) error {
	d.ID = cmp.Or(d.ID, "deputy-"+uuid.NewString()[:8])
	return p.sendOrder(ctx, approval.SteerDeputy, orderPayload(d, d.By, d.Groups), approval.ReadDeputy, d.Key)
}

// sendOrder sends an order, signed where there is a key and no proof.
func (p *Process) sendOrder(ctx context.Context, signal string, payload jsonval.Object,
	read func(jsonval.Object) (approval.StandingOrder, error), key Signer) error {
	o, err := read(payload)
	if err == nil && key != nil && o.Proof == "" {
		payload["proof"], err = key.Sign(signing.NewClaims(o.ToProve(p.id), o.ID, o.Groups))
	}
	if err != nil {
		return kind.Errorf(ErrInvalid, "%s: %w", signal, err)
	}
	return p.steer(ctx, signal, payload)
}

// Disallow ends a standing order, or a deputy's time. What was decided stays so.
func (p *Process) Disallow(ctx context.Context, order string, by By) error {
	payload := by.payload()
	payload["order"] = order
	return p.steer(ctx, approval.SteerDisallow, payload)
}
