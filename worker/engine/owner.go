package engine

import (
	"context"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"

	"processidea/store/blobs"
)

// owned has what an activity writes into the store, and reads there, belong to the process that it works for.
type owned struct {
	interceptor.WorkerInterceptorBase
}

func (*owned) InterceptActivity(_ context.Context,
	next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &ownedActivity{interceptor.ActivityInboundInterceptorBase{Next: next}}
}

type ownedActivity struct {
	interceptor.ActivityInboundInterceptorBase
}

func (o *ownedActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	return o.Next.ExecuteActivity(blobs.ForProcess(ctx, activity.GetInfo(ctx).WorkflowExecution.ID), in)
}
