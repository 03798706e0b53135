package client

import (
	"context"
	"testing"
	"time"
)

func TestAWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	Sleep(t.Context(), time.Nanosecond)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	Sleep(ctx, time.Hour)
}
