package activities

import (
	"context"
	"runtime"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"

	"processidea/protocol"
)

// Burst runs several pure Calls, as many at once as there are processors, each with its own timeout.
func (a *Activities) Burst(ctx context.Context, calls []protocol.BurstCall) ([]protocol.Executed, error) {
	results := make([]protocol.Executed, len(calls))
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

// executeOne leaves a function running that does not react to the end of its context.
func (a *Activities) executeOne(ctx context.Context, c protocol.BurstCall) protocol.Executed {
	ctx, done := context.WithTimeout(ctx, c.Timeout)
	defer done()
	executed := make(chan protocol.Executed, 1)
	go func() { executed <- protocol.TakeExecuted(a.Execute(ctx, c.ExecuteInput)) }()
	select {
	case e := <-executed:
		return e
	case <-ctx.Done():
		return protocol.TakeExecuted(nil, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil))
	}
}
