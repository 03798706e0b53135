package client

import (
	"context"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
)

// Account identifies a person at an issuer of tokens.
type Account = policy.Account

type accountKey struct{}

// WithAccount returns a context whose starts, steering and decisions carry an account. An account identifies a person:
// the same name at two issuers is two people, and a person who changes names stays the same.
func WithAccount(ctx context.Context, a Account) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

// AccountOf returns the account of a context; zero if it has none.
func AccountOf(ctx context.Context) Account {
	a, _ := ctx.Value(accountKey{}).(Account)
	return a
}

// addSenderAccount adds the sender's account to a signal, and to each of many decisions in it.
func addSenderAccount(ctx context.Context, payload jsonval.Object) {
	approval.AddSenderAccount(payload, AccountOf(ctx))
	for _, one := range jsonval.AsList(payload["decisions"]) {
		approval.AddSenderAccount(jsonval.AsObject(one), AccountOf(ctx))
	}
}
