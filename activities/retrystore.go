package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"processidea/internal/pause"
	"processidea/protocol"
	"processidea/store/blobs"
)

// Pauses between attempts at the store double from minStoreRetryDelay to maxStoreRetryDelay. The last attempt ends
// before the activity's deadline, so that there is time to report why it failed.
const (
	minStoreRetryDelay = 500 * time.Millisecond
	maxStoreRetryDelay = 5 * time.Second
	errorReportMargin  = 2 * time.Second
)

// retryStoreOperation tries an operation on the store again for as long as the activity may take: a full disk is no
// failure of the Tool, and the result of a Tool that has had its effect would be lost. A local activity is tried once,
// because it runs within a workflow task.
func retryStoreOperation[T any](ctx context.Context, operation func() (T, error)) (T, error) {
	v, err := operation()
	if err == nil || activity.GetInfo(ctx).IsLocalActivity {
		return v, err
	}
	limitedCtx, cancel := context.WithDeadline(ctx, activity.GetInfo(ctx).Deadline.Add(-errorReportMargin))
	defer cancel()
	wait := minStoreRetryDelay
	for err != nil && blobs.IsTransient(err) && pause.For(limitedCtx, wait) == nil {
		v, err = operation()
		wait = min(2*wait, maxStoreRetryDelay)
	}
	return v, err
}

// checkStorable makes sure that the result of an activity can be kept, as the Temporal client is about to.
func (a *Activities) checkStorable(ctx context.Context, result any) error {
	p, err := protocol.DataConverter().ToPayload(result)
	if err != nil {
		return err
	}
	_, err = retryStoreOperation(ctx, func() (struct{}, error) { return struct{}{}, a.Store.CheckStorable(ctx, p) })
	return err
}

// ProbeStore fails until the store can be written.
func (a *Activities) ProbeStore(ctx context.Context) error { return a.Store.CheckWritable(ctx) }
