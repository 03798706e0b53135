package client

import (
	"context"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
)

// Account is who somebody is at an issuer of tokens.
type Account = policy.Account

type accountKey struct{}

// WithAccount returns a context whose starts, steering and decisions carry an account. An account identifies a person:
// people of the same name at two issuers are two, and one person stays one under another name.
func WithAccount(ctx context.Context, a Account) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

// AccountOf gives the account of a context; zero where it has none.
func AccountOf(ctx context.Context) Account {
	a, _ := ctx.Value(accountKey{}).(Account)
	return a
}

// addAccount has a signal say the account of who sends it, or who takes each of many decisions.
func addAccount(ctx context.Context, payload jsonval.Object) {
	approval.AddAccount(payload, AccountOf(ctx))
	for _, one := range jsonval.AsList(payload["decisions"]) {
		approval.AddAccount(jsonval.AsObject(one), AccountOf(ctx))
	}
}
