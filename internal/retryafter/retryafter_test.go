package retryafter_test

import (
	"strconv"
	"testing"
	"time"

	"processidea/internal/retryafter"
)

func TestRetryAfterIsSecondsADateOrTheUnixTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"120": 2 * time.Minute, " 7 ": 7 * time.Second, "0": 0, "-5": 0, "": 0, "soon": 0,
		"1.5":                           1500 * time.Millisecond,
		"Fri, 20 Nov 2026 12:01:30 GMT": 90 * time.Second, "Fri, 20 Nov 2026 11:00:00 GMT": 0,
		"99999999999999": retryafter.Max, "18446744073709551615": retryafter.Max,
		"Fri, 20 Nov 2099 12:00:00 GMT": retryafter.Max,
		"Infinity":                      retryafter.Max, "-Infinity": 0, "NaN": 0, "1e400": retryafter.Max,
		strconv.FormatInt(now.Unix()+90, 10): 90 * time.Second, strconv.FormatInt(now.Unix()-90, 10): 0,
	} {
		if got := retryafter.Parse(text, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
