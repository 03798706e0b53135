package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"processidea/store/blobs"
	"processidea/store/encryption"
)

// What a store that does not answer is left to mend: a pause between attempts, and before a Call's time is over the moment
// in which the reason is still told.
const (
	storePause    = 500 * time.Millisecond
	storeFarPause = 5 * time.Second
	storeFarewell = 2 * time.Second
)

// patiently tries again what the store failed at, for as long as the Call may take: a full disk is no failure of the tool,
// and what the tool did is lost with its result. In a workflow task there is no time for that.
func patiently[T any](ctx context.Context, do func() (T, error)) (T, error) {
	v, err := do()
	if err == nil || activity.GetInfo(ctx).IsLocalActivity {
		return v, err
	}
	over, cancel := context.WithDeadline(ctx, activity.GetInfo(ctx).Deadline.Add(-storeFarewell))
	defer cancel()
	for pause := storePause; err != nil && mends(err) && waits(over, pause); pause = min(2*pause, storeFarPause) {
		v, err = do()
	}
	return v, err
}

// mends says whether a store's failure may pass by itself. What is lost, and what is encrypted with a key that is not
// here, does not come back.
func mends(err error) bool {
	for _, lost := range []error{blobs.ErrMissing, blobs.ErrChanged, blobs.ErrUnfit} {
		if errors.Is(err, lost) {
			return false
		}
	}
	return !encryption.IsKeyError(err)
}

func waits(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
