package safego

import (
	"context"
	"errors"
)

type cancelFuncContextKey struct{}

// FailableContext returns a context that goroutines can end with Fail. It is for an activity that must fail when a
// goroutine that works for it fails.
func FailableContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	return context.WithValue(ctx, cancelFuncContextKey{}, cancel), func() { cancel(nil) }
}

// FailContext ends the Failable context that ctx is derived from, with the error of a goroutine that works for it.
// Without an error, or without such a context, it does nothing.
func FailContext(ctx context.Context, err error) {
	if cancel, ok := ctx.Value(cancelFuncContextKey{}).(context.CancelCauseFunc); ok && err != nil {
		cancel(err)
	}
}

// PanicOf returns the panic that err wraps, or that has ended the context, or nil if there is none.
func PanicOf(ctx context.Context, err error) *PanicError {
	var e *PanicError
	if errors.As(err, &e) || errors.As(context.Cause(ctx), &e) {
		return e
	}
	return nil
}
