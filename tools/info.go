package tools

import "context"

// Info tells a tool about the Call that it runs for.
type Info struct {
	ProcessID      string
	InstanceToken  string         // token; empty for the anonymous instance
	CallID         string         // such as 3.2@①
	IdempotencyKey string         // the same on every attempt
	Attempt        int            // from 1
	ScopeValues    map[string]any // the values that _scopes let through, by path; nil without _scopes
}

type infoKey struct{}

// CallInfo returns the Info that the context carries; false outside a Call.
func CallInfo(ctx context.Context) (Info, bool) {
	info, ok := ctx.Value(infoKey{}).(Info)
	return info, ok
}

// WithCallInfo returns a context that carries info.
func WithCallInfo(ctx context.Context, info Info) context.Context {
	return context.WithValue(ctx, infoKey{}, info)
}
