package api

import (
	"context"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/approval"
)

func (a *API) addOrders() {
	actOn(a, access.Decide, approval.SteerAllow, "Give a standing order",
		"Approves Calls of a Tool beforehand: those that wait, now or later, and fit, as if the token's person "+
			"approved each, until so many were approved, or until a moment. GET /api/processes/{id} lists the orders.",
		func(ctx context.Context, p *client.Process, b orderBody) error {
			return p.Allow(ctx, SignedBy(access.From(ctx), b.StandingOrder))
		})
	actOn(a, access.Decide, approval.SteerDisallow, "End a standing order", "What was approved under it stays so.",
		func(ctx context.Context, p *client.Process, b endOrderBody) error {
			return p.Disallow(ctx, b.Order, b.by(ctx))
		})
}

type orderBody struct {
	_ struct{} `additionalProperties:"false"`
	client.StandingOrder
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
