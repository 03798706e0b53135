package client

import (
	"context"
	"testing"
	"time"
)

func TestAWaitEndsWithItsContext(t *testing.T) {
	Sleep(t.Context(), time.Nanosecond)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	Sleep(ctx, time.Hour)
}
