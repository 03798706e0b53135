package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"processidea/internal/safego"
	"processidea/store/blobs"
)

// NewPanicInterceptor returns the interceptor that makes an activity fail when a goroutine that works for it panics,
// with the stack in the failure's details. What an activity writes into the store, and reads there, belongs to its
// process.
func NewPanicInterceptor() interceptor.WorkerInterceptor { return &panicInterceptor{} }

type panicInterceptor struct {
	interceptor.WorkerInterceptorBase
}

func (*panicInterceptor) InterceptActivity(_ context.Context,
	next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &panicActivityInterceptor{interceptor.ActivityInboundInterceptorBase{Next: next}}
}

type panicActivityInterceptor struct {
	interceptor.ActivityInboundInterceptorBase
}

// ExecuteActivity keeps the result of an activity that has one despite a panic: its work is done.
func (p *panicActivityInterceptor) ExecuteActivity(ctx context.Context,
	in *interceptor.ExecuteActivityInput) (any, error) {
	ctx, release := safego.FailableContext(blobs.WithProcess(ctx, activity.GetInfo(ctx).WorkflowExecution.ID))
	defer release()
	value, err := p.Next.ExecuteActivity(ctx, in)
	if err == nil {
		return value, nil
	}
	var failure *temporal.ApplicationError
	if panicErr := safego.PanicOf(ctx, err); panicErr != nil && !errors.As(err, &failure) {
		return nil, panicError(panicErr, false)
	}
	return value, err
}
