package safego

import (
	"context"
	"errors"
)

type failable struct{}

// Failable returns a context that goroutines can end by Fail. It is for an activity, which fails when a goroutine that
// works for it does.
func Failable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	return context.WithValue(ctx, failable{}, cancel), func() { cancel(nil) }
}

// Fail ends the Failable context that this one is made from, with the error of a goroutine that works for it. Without
// an error, and without such a context, it does nothing.
func Fail(ctx context.Context, err error) {
	if cancel, ok := ctx.Value(failable{}).(context.CancelCauseFunc); ok && err != nil {
		cancel(err)
	}
}

// PanicOf returns the panic that an error wraps, or that has ended the context; nil: none.
func PanicOf(ctx context.Context, err error) *PanicError {
	var e *PanicError
	if errors.As(err, &e) || errors.As(context.Cause(ctx), &e) {
		return e
	}
	return nil
}
