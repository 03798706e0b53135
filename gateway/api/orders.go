package api

import (
	"context"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/approval"
)

func (a *API) addOrderOperations() {
	addActOperation(a, access.Decide, approval.SteerGiveStandingOrder, "Give a standing order",
		"Approves Calls of a Tool beforehand, in the name of the token's person: each Call that fits and waits, "+
			"now or later. The order ends after a number of Calls, or at a time. GET /api/processes/{id} lists the "+
			"orders.",
		func(ctx context.Context, p *client.Process, b orderBody) error {
			return p.Allow(ctx, OrderGivenBy(access.PersonFrom(ctx), b.StandingOrder))
		})
	addActOperation(a, access.Decide, approval.SteerDeputy, "Name a deputy",
		"Lets somebody decide in place of the token's person for a time, on Calls that wait now or later. Each "+
			"such decision names both, and for all rules they are one person. GET /api/processes/{id} lists it "+
			"under orders.",
		func(ctx context.Context, p *client.Process, b deputyBody) error {
			return p.NameDeputy(ctx, DeputyNamedBy(access.PersonFrom(ctx), b.Deputy))
		})
	addActOperation(a, access.Decide, approval.SteerEndStandingOrder, "End a standing order, or a deputy's time",
		"What was decided stays so.",
		func(ctx context.Context, p *client.Process, b endOrderBody) error {
			return p.Disallow(ctx, b.OrderName, b.callerActor(ctx))
		})
}

type deputyBody struct {
	_ struct{} `additionalProperties:"false"`
	client.Deputy
}

// DeputyNamedBy returns d with the person who names the deputy, and with their key if the gateway signs for them.
func DeputyNamedBy(giver *access.Person, d client.Deputy) client.Deputy {
	d.By, d.Groups, d.Key = giver.Name, giver.Groups, giver.Signer
	return d
}

type orderBody struct {
	_ struct{} `additionalProperties:"false"`
	client.StandingOrder
}

// OrderGivenBy returns o with the person who gives the order, and with their key if the gateway signs for them.
func OrderGivenBy(giver *access.Person, o client.StandingOrder) client.StandingOrder {
	o.By, o.Groups, o.Key = giver.Name, giver.Groups, giver.Signer
	return o
}

type endOrderBody struct {
	ReasonBody
	OrderName string `json:"order" minLength:"1" doc:"the name of the order"`
}
