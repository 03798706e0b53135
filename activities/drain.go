package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"processidea/internal/safego"
	"processidea/model/ideafile"
)

// translateShutdownError turns an error that the worker's shutdown caused into activity.ErrResultPending, so that the
// server times the attempt out, as it does for a worker that was killed, and the workflow decides what to do. A
// reported failure would count as the Tool's own, and claim that an effect which may have happened did not.
func translateShutdownError(ctx context.Context, err error) error {
	if err != nil && isWorkerStopping(ctx) {
		return activity.ErrResultPending
	}
	return err
}

// isWorkerStopping reports whether the activity was cancelled without anybody asking for it: the worker has stopped and
// its time to drain is over, or no heartbeat came through to the server, which the SDK takes for the activity's end.
func isWorkerStopping(ctx context.Context) bool {
	if !errors.Is(ctx.Err(), context.Canceled) || activity.GetInfo(ctx).IsLocalActivity {
		return false
	}
	return safego.PanicOf(ctx, nil) == nil && !temporal.IsCanceledError(context.Cause(ctx)) && !wasEndedByOperator(ctx)
}

// wasEndedByOperator reports whether an operator of Temporal has ended the attempt, by pausing or resetting its
// activity.
func wasEndedByOperator(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return errors.Is(cause, activity.ErrActivityPaused) || errors.Is(cause, activity.ErrActivityReset)
}

// remainingAttempts is how many attempts Temporal still makes, this one included, of those that a policy bounds; 1
// without a policy.
func remainingAttempts(info activity.Info) int32 {
	if info.RetryPolicy == nil {
		return 1
	}
	return info.RetryPolicy.MaximumAttempts - info.Attempt + 1
}

// isLastAttempt reports whether Temporal tries no more after this attempt, whatever comes of it.
func isLastAttempt(info activity.Info) bool {
	return info.RetryPolicy != nil && info.RetryPolicy.MaximumAttempts > 0 && remainingAttempts(info) <= 1
}

// wasAttemptedBefore reports whether an activity that may run only once was begun before: Temporal runs an activity
// again that was paused meanwhile.
func wasAttemptedBefore(info activity.Info) bool {
	return info.RetryPolicy != nil && info.RetryPolicy.MaximumAttempts == 1 && info.Attempt > 1
}

// errEndedByOperator is the error of a Call whose attempt an operator ended. It does not say that the Tool failed,
// since the Tool may have had its effect.
var errEndedByOperator = temporal.NewApplicationErrorWithOptions(
	"an operator of Temporal paused or reset the activity while the tool ran", ideafile.CodeOutcomeUnknown,
	temporal.ApplicationErrorOptions{})
