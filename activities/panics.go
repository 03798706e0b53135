package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"processidea/internal/safego"
)

// NewPanicInterceptor returns what lets activities fail by the panics of goroutines that work for them, with the
// stack in the failure's details.
func NewPanicInterceptor() interceptor.WorkerInterceptor { return &panics{} }

type panics struct {
	interceptor.WorkerInterceptorBase
}

func (*panics) InterceptActivity(_ context.Context,
	next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &panicsOfActivity{interceptor.ActivityInboundInterceptorBase{Next: next}}
}

type panicsOfActivity struct {
	interceptor.ActivityInboundInterceptorBase
}

// ExecuteActivity keeps the result of an activity that has one all the same: what it did is done.
func (p *panicsOfActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	ctx, release := safego.Failable(ctx)
	defer release()
	value, err := p.Next.ExecuteActivity(ctx, in)
	if err == nil {
		return value, nil
	}
	var said *temporal.ApplicationError
	if panicked := safego.PanicOf(ctx, err); panicked != nil && !errors.As(err, &said) {
		return nil, panicError(panicked, false)
	}
	return value, err
}
