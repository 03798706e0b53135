// Package pause waits.
package pause

import (
	"context"
	"time"
)

// For waits for a time, or until the context ends, whose error it returns.
func For(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
