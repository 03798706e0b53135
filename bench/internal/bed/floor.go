package bed

import (
	"context"
	"fmt"
	"time"

	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// plainTaskQueue is the task queue of the plain workflows.
const plainTaskQueue = "floor"

// MeasurePlainWorkflows measures how long Temporal itself takes: it runs plain workflows in the shape of instances with
// one Call each, on the same server. A workflow starts a child for each; a child runs one activity and returns its
// result.
func (b *TestBed) MeasurePlainWorkflows(ctx context.Context, n int) (time.Duration, error) {
	w := worker.New(b.temporal, plainTaskQueue, worker.Options{})
	w.RegisterWorkflow(plainParentWorkflow)
	w.RegisterWorkflow(plainChildWorkflow)
	w.RegisterActivity(Instant)
	if err := w.Start(); err != nil {
		return 0, err
	}
	defer w.Stop()
	begin := time.Now()
	run, err := b.temporal.ExecuteWorkflow(ctx, sdk.StartWorkflowOptions{TaskQueue: plainTaskQueue},
		plainParentWorkflow, n)
	if err != nil {
		return 0, err
	}
	sum := 0
	if err := run.Get(ctx, &sum); err != nil || sum != n*(n+1)/2 {
		return 0, fmt.Errorf("%d plain workflows came to %d: %w", n, sum, err)
	}
	return time.Since(begin), nil
}

func plainParentWorkflow(ctx workflow.Context, n int) (sum int, err error) {
	var children []workflow.ChildWorkflowFuture
	for i := range n {
		children = append(children, workflow.ExecuteChildWorkflow(ctx, plainChildWorkflow, ToolInput{N: i + 1}))
	}
	for _, child := range children {
		var childNumber int
		if err := child.Get(ctx, &childNumber); err != nil {
			return 0, err
		}
		sum += childNumber
	}
	return sum, nil
}

func plainChildWorkflow(ctx workflow.Context, in ToolInput) (n int, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	return n, workflow.ExecuteActivity(ctx, Instant, in).Get(ctx, &n)
}
