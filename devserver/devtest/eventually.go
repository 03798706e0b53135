package devtest

import (
	"context"
	"testing"
	"time"
)

// longest is how long a condition is waited for: much longer than it takes, since the machine may be slow.
const longest = 5 * time.Minute

// Eventually waits until a condition holds, which is asked 50 times a second at most, and fails the test where it never does.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("it never came to it that %s", what)
		case <-tick.C:
		}
	}
}
