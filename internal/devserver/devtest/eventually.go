package devtest

import (
	"context"
	"testing"
	"time"

	"processidea/internal/pause"
)

// maxWait is how long a condition is waited for: much longer than it takes, since the machine may be slow.
const maxWait = 5 * time.Minute

// maxPollInterval is how long a condition is left alone in the end. Asking a process more often keeps a small machine
// from the work that is waited for.
const maxPollInterval = 100 * time.Millisecond

// Eventually waits until a condition holds, and fails the test where it never does. It asks again after 5 ms, and
// then less and less often.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	for again := 5 * time.Millisecond; !holds(); again = min(again*3/2, maxPollInterval) {
		if pause.For(ctx, again) != nil {
			t.Fatalf("it never came to it that %s", what)
		}
	}
}
