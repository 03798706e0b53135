// Package retryafter reads how long a server of HTTP wants to be left alone.
package retryafter

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Max is the longest wait that is read.
const Max = 24 * time.Hour

// From these on a number can only be a time since 1970, in seconds or in milliseconds: as a wait it would be 31 years.
const earliestUnixTime, earliestUnixMillis = 1_000_000_000, 1_000_000_000_000

// InError reads what servers say in the body of an error in place of a header: Google ({"details": [{"retryDelay":
// "17s"}]}), Telegram and Discord (retry_after), OpenRouter (the headers of whom it asked).
func InError(v any, now time.Time) (wait time.Duration) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			wait = max(wait, InError(inner, now))
		}
	case map[string]any:
		h := http.Header{}
		for key, inner := range v {
			switch key {
			case "error", "details", "parameters", "metadata", "headers":
				wait = max(wait, InError(inner, now))
			case "retryDelay", "retry_after":
				wait = max(wait, Parse(fmt.Sprint(inner), now))
			default:
				if text, ok := inner.(string); ok {
					h.Set(key, text)
				}
			}
		}
		wait = max(wait, Of(h, now))
	}
	return wait
}

// Of reads Retry-After, or else, where the limit of a server is used up, when it begins anew, as GitHub says it.
func Of(h http.Header, now time.Time) time.Duration {
	wait := Parse(h.Get("Retry-After"), now)
	for _, of := range []string{"X-Ratelimit-", "Ratelimit-"} {
		if wait == 0 && strings.TrimSpace(h.Get(of+"Remaining")) == "0" {
			wait = Parse(h.Get(of+"Reset"), now)
		}
	}
	return wait
}

// Parse reads a Retry-After: seconds, a date or, against the standard, a Unix time, another date, or 1m30s. Unreadable
// and past values are 0; the maximum is Max.
func Parse(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(seconds, 0) {
		seconds = secondsIn(text, now)
	}
	switch {
	case math.IsInf(seconds, 1):
	case seconds >= earliestUnixMillis:
		seconds = seconds/1000 - float64(now.Unix())
	case seconds >= earliestUnixTime:
		seconds -= float64(now.Unix())
	}
	if math.IsNaN(seconds) || seconds <= 0 {
		return 0
	}
	return time.Duration(min(seconds, Max.Seconds()) * float64(time.Second))
}

// secondsIn reads what is no number; 0 if it cannot be read.
func secondsIn(text string, now time.Time) float64 {
	if d, err := time.ParseDuration(text); err == nil {
		return min(d, Max).Seconds()
	}
	at, err := http.ParseTime(text)
	for _, form := range []string{time.RFC3339, time.RFC1123Z, time.RFC1123} {
		if err != nil {
			at, err = time.Parse(form, text)
		}
	}
	if err != nil {
		return 0
	}
	return min(at.Sub(now), Max).Seconds()
}
