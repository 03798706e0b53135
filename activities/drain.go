package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

// unreported is what an activity ends with that was cut off by something other than its work: nothing. It did not fail;
// its worker is lost to it, as one that was killed is, and the workflow decides, once the heartbeats that stop here are
// missed. A failure would count as the tool's own, and say of an effect that may be there that it is not.
func unreported(ctx context.Context, err error) error {
	if err != nil && cutOff(ctx) {
		return activity.ErrResultPending
	}
	return err
}

// cutOff says whether an activity was cancelled though nobody asked for it: the worker has stopped and its time to drain
// is over, or no heartbeat came through to the server, which the SDK takes for the activity's end.
func cutOff(ctx context.Context) bool {
	if !errors.Is(ctx.Err(), context.Canceled) || activity.GetInfo(ctx).IsLocalActivity {
		return false
	}
	cause := context.Cause(ctx)
	return !temporal.IsCanceledError(cause) && !errors.Is(cause, activity.ErrActivityPaused) && !errors.Is(cause, activity.ErrActivityReset)
}
