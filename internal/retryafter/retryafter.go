// Package retryafter reads the header Retry-After of HTTP.
package retryafter

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Max is the longest wait that is read.
const Max = 24 * time.Hour

// earliestUnixTime is from when on a number of seconds can only be a time since 1970: as a wait it would be 31 years.
const earliestUnixTime = 1_000_000_000

// Parse reads a Retry-After: seconds, a date or, against the standard, a Unix time. Unreadable and past values are 0;
// the maximum is Max.
func Parse(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(seconds, 0) {
		at, err := http.ParseTime(text)
		if err != nil {
			return 0
		}
		seconds = at.Sub(now).Seconds()
	}
	if seconds >= earliestUnixTime && !math.IsInf(seconds, 1) {
		seconds -= float64(now.Unix())
	}
	if math.IsNaN(seconds) || seconds <= 0 {
		return 0
	}
	return time.Duration(min(seconds, Max.Seconds()) * float64(time.Second))
}
