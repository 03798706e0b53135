package protocol_test

import (
	"math"
	"testing"
	"time"

	"processidea/protocol"
)

func TestAHeartbeatIsAlwaysInTime(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{
		math.MinInt64, -1, 0, 1, time.Microsecond, time.Millisecond, 500 * time.Millisecond, time.Second,
		2 * time.Second,
		3*time.Second - 1, 3 * time.Second, 3*time.Second + 1, 4 * time.Second, 4500 * time.Millisecond,
		5 * time.Second,
		9 * time.Second, time.Minute, 24 * time.Hour, math.MaxInt64,
	} {
		interval := protocol.HeartbeatInterval(timeout)
		if interval <= 0 {
			t.Errorf("%s: an interval of %s stops the worker", timeout, interval)
		}
		if timeout > 2*time.Millisecond && interval > timeout-timeout/3 {
			t.Errorf("%s: after %s a heartbeat has less than a third of the time left", timeout, interval)
		}
	}
	if got := protocol.HeartbeatInterval(protocol.HeartbeatTimeout); got != 2*time.Second {
		t.Errorf("the default has an interval of %s", got)
	}
}
