package activities

import (
	"context"
	"runtime"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"

	"processidea/workflows"
)

// Burst runs the Tools of several pure Calls, as many at once as there are processors, each within its own time.
func (a *Activities) Burst(ctx context.Context, calls []workflows.BurstCall) ([]workflows.Executed, error) {
	results := make([]workflows.Executed, len(calls))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for n, c := range calls {
		g.Go(func() error {
			results[n] = a.executeOne(ctx, c)
			return nil
		})
	}
	return results, g.Wait()
}

// executeOne leaves a function behind that does not heed its time.
func (a *Activities) executeOne(ctx context.Context, c workflows.BurstCall) workflows.Executed {
	ctx, done := context.WithTimeout(ctx, c.Timeout)
	defer done()
	executed := make(chan workflows.Executed, 1)
	go func() { executed <- workflows.TakeExecuted(a.Execute(ctx, c.ExecuteInput)) }()
	select {
	case e := <-executed:
		return e
	case <-ctx.Done():
		return workflows.TakeExecuted(nil, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil))
	}
}
