package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
)

// unreported is what an activity ends with that its worker's stop cut off: nothing. It did not fail; the worker is lost to
// it, as one that was killed is, and the workflow decides, once the heartbeats that stop here are missed. A failure would
// count as the tool's own, and say of an effect that may be there that it is not.
func unreported(ctx context.Context, err error) error {
	if err != nil && cutOff(ctx) {
		return activity.ErrResultPending
	}
	return err
}

// cutOff says whether the worker has stopped, and its time to drain is over.
func cutOff(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), worker.ErrWorkerShutdown) && !activity.GetInfo(ctx).IsLocalActivity
}
