package devtest

import (
	"context"
	"testing"
	"time"

	"processidea/internal/pause"
)

// maxWait is the maximum wait for a condition. It is much longer than needed, since the machine may be slow.
const maxWait = 5 * time.Minute

// maxPollInterval is the longest pause between two checks of a condition. More frequent checks would slow down, on a
// small machine, the work that the test waits for.
const maxPollInterval = 100 * time.Millisecond

// Eventually waits until a condition holds, and fails the test if it never does. It checks again after 5 ms, and then
// less and less often.
func Eventually(t testing.TB, description string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	for interval := 5 * time.Millisecond; !condition(); interval = min(interval*3/2, maxPollInterval) {
		if pause.For(ctx, interval) != nil {
			t.Fatalf("it never came to it that %s", description)
		}
	}
}
