package api

import (
	"context"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/approval"
	"processidea/model/jsonval"
)

func (a *API) addOrders() {
	actOn(a, access.Decide, approval.SteerAllow, "Give a standing order",
		"Approves Calls of a Tool beforehand: those that wait, now or later, and fit, as if the token's person "+
			"approved each, until so many were approved, or until a moment. GET /api/processes/{id} lists the orders.",
		func(ctx context.Context, p *client.Process, b orderBody) error { return p.Allow(ctx, b.order(ctx)) })
	actOn(a, access.Decide, approval.SteerDisallow, "End a standing order", "What was approved under it stays so.",
		func(ctx context.Context, p *client.Process, b endOrderBody) error {
			return p.Disallow(ctx, b.Order, b.by(ctx))
		})
}

type orderBody struct {
	_      struct{}  `additionalProperties:"false"`
	ID     string    `json:"id" minLength:"1" maxLength:"100" doc:"a name of your own, by which it is ended"`
	Tool   string    `json:"tool" minLength:"1"`
	When   Object    `json:"when,omitempty" doc:"a JSON Schema that the parameters fit; absent: any do"`
	Count  int       `json:"count,omitempty" minimum:"1" maximum:"100000" doc:"how many Calls it approves; count, until or both"`
	Until  time.Time `json:"until,omitzero" doc:"the moment from which it approves none"`
	Reason string    `json:"reason,omitempty"`
	Proof  string    `json:"proof,omitempty" doc:"a signature made elsewhere"`
}

// order is what a body says, given by whoever asks.
func (b orderBody) order(ctx context.Context) client.StandingOrder {
	who := access.From(ctx)
	o := client.StandingOrder{ID: b.ID, Tool: b.Tool, Count: b.Count, Until: b.Until, Reason: b.Reason, Proof: b.Proof}
	if len(b.When) > 0 {
		v, _ := jsonval.Decode(b.When) // validated as an object
		o.When = jsonval.AsObject(v)
	}
	return SignedBy(who, o)
}

// SignedBy is an order as a person gives it, signed where the gateway signs for them.
func SignedBy(who *access.Person, o client.StandingOrder) client.StandingOrder {
	o.By, o.Groups, o.Key = who.Name, who.Groups, who.Key
	return o
}

type endOrderBody struct {
	ReasonBody
	Order string `json:"order" minLength:"1" doc:"the name of the order"`
}
