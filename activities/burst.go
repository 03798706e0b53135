package activities

import (
	"context"
	"runtime"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"processidea/internal/safego"
	"processidea/protocol"
)

// ExecuteBatch runs several pure Calls, one per processor at a time, each with its own timeout.
func (a *Activities) ExecuteBatch(ctx context.Context, calls []protocol.BatchCall) ([]protocol.BatchCallResult, error) {
	results := make([]protocol.BatchCallResult, len(calls))
	err := safego.Each(ctx, "activities.burst", len(calls), runtime.GOMAXPROCS(0),
		func(ctx context.Context, n int) error {
			results[n] = a.executeWithTimeout(ctx, calls[n])
			return nil
		})
	return results, err
}

// executeWithTimeout runs one Call. It leaves a function behind that goes on running after the end of its context.
func (a *Activities) executeWithTimeout(ctx context.Context, c protocol.BatchCall) protocol.BatchCallResult {
	ctx, done := context.WithTimeout(ctx, c.Timeout)
	defer done()
	resultChannel := make(chan protocol.BatchCallResult, 1)
	var value any
	safego.Go("activities.burst.call", func() (err error) {
		value, err = a.ExecuteCall(ctx, c.ExecuteInput)
		return err
	}, func(err error) { resultChannel <- protocol.NewBatchCallResult(value, err) })
	select {
	case e := <-resultChannel:
		return e
	case <-ctx.Done():
		return protocol.NewBatchCallResult(nil, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil))
	}
}
