package client

import (
	"context"
	"testing"
	"time"
)

func TestAWaitEndsWithItsContext(t *testing.T) {
	pause(t.Context(), time.Nanosecond)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	pause(ctx, time.Hour)
}
