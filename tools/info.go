package tools

import "context"

// Info is a tool's information on the Call that it runs for.
type Info struct {
	Process        string
	Instance       string         // token; empty for the anonymous instance
	CallID         string         // such as 3.2@①
	IdempotencyKey string         // the same on every attempt
	Attempt        int            // from 1
	Scopes         map[string]any // what _scopes let through, by path; nil without
}

type infoKey struct{}

// CallInfo is the Info that the context carries; false outside a Call.
func CallInfo(ctx context.Context) (Info, bool) {
	info, ok := ctx.Value(infoKey{}).(Info)
	return info, ok
}

// WithCallInfo returns a context that carries info.
func WithCallInfo(ctx context.Context, info Info) context.Context {
	return context.WithValue(ctx, infoKey{}, info)
}
