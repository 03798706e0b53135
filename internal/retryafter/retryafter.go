// Package retryafter reads how long an HTTP server asks its clients to wait.
package retryafter

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxWait bounds the result; longer waits count as MaxWait.
const MaxWait = 24 * time.Hour

// Numbers from here on are times since 1970, in seconds or in milliseconds: as a wait in seconds they would be over 31
// years.
const minUnixSeconds, minUnixMillis = 1_000_000_000, 1_000_000_000_000

// FromErrorBody reads the wait from the body of an error, where some servers put it rather than in a header: Google
// ({"details": [{"retryDelay": "17s"}]}), Telegram and Discord (retry_after), OpenRouter (the headers of the server
// behind it).
func FromErrorBody(v any, now time.Time) (wait time.Duration) {
	switch v := v.(type) {
	case []any:
		for _, member := range v {
			wait = max(wait, FromErrorBody(member, now))
		}
	case map[string]any:
		h := http.Header{}
		for key, member := range v {
			switch key {
			case "error", "details", "parameters", "metadata", "headers":
				wait = max(wait, FromErrorBody(member, now))
			case "retryDelay", "retry_after":
				wait = max(wait, Parse(fmt.Sprint(member), now))
			default:
				if text, ok := member.(string); ok {
					h.Set(key, text)
				}
			}
		}
		wait = max(wait, FromHeader(h, now))
	}
	return wait
}

// FromHeader reads Retry-After. Without it, it reads when a used-up limit of the server is reset, in headers
// such as GitHub's.
func FromHeader(h http.Header, now time.Time) time.Duration {
	wait := Parse(h.Get("Retry-After"), now)
	for _, prefix := range []string{"X-Ratelimit-", "Ratelimit-"} {
		if wait == 0 && strings.TrimSpace(h.Get(prefix+"Remaining")) == "0" {
			wait = Parse(h.Get(prefix+"Reset"), now)
		}
	}
	return wait
}

// Parse reads a Retry-After value: seconds, a date or, against the standard, a Unix time, another date format, or
// 1m30s. Unreadable and past values give 0; the maximum is MaxWait.
func Parse(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(seconds, 0) {
		seconds = parseSeconds(text, now)
	}
	switch {
	case math.IsInf(seconds, 1):
	case seconds >= minUnixMillis:
		seconds = seconds/1000 - float64(now.Unix())
	case seconds >= minUnixSeconds:
		seconds -= float64(now.Unix())
	}
	if math.IsNaN(seconds) || seconds <= 0 {
		return 0
	}
	return time.Duration(min(seconds, MaxWait.Seconds()) * float64(time.Second))
}

// parseSeconds reads a value that is not a number; it returns 0 if it cannot be read.
func parseSeconds(text string, now time.Time) float64 {
	if d, err := time.ParseDuration(text); err == nil {
		return min(d, MaxWait).Seconds()
	}
	parsed, err := http.ParseTime(text)
	for _, layout := range []string{time.RFC3339, time.RFC1123Z, time.RFC1123} {
		if err != nil {
			parsed, err = time.Parse(layout, text)
		}
	}
	if err != nil {
		return 0
	}
	return min(parsed.Sub(now), MaxWait).Seconds()
}
