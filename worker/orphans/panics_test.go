package orphans

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"processidea/internal/safego/safegotest"
)

// It is not parallel: every goroutine of the program sees the fault.
func TestAPanicDoesNotEndTheWatch(t *testing.T) {
	safegotest.Panic(t, "orphans.look")
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			WatchAndCancel(ctx, nil, slog.New(slog.DiscardHandler)) // without a client every look panics
		}()
		select {
		case <-ended:
			t.Error("the watch has ended")
		case <-time.After(24 * time.Hour):
		}
		stop()
		<-ended
	})
}
