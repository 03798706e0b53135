package client

import (
	"context"
	"testing"
	"time"
)

func TestAWaitEndsWithItsContext(t *testing.T) {
	Pause(t.Context(), time.Nanosecond)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	Pause(ctx, time.Hour)
}
