package retryafter_test

import (
	"encoding/json"
	"net/http"
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
		"99999999999999": retryafter.MaxWait, "18446744073709551615": retryafter.MaxWait,
		"Fri, 20 Nov 2099 12:00:00 GMT": retryafter.MaxWait,
		"Infinity":                      retryafter.MaxWait, "-Infinity": 0, "NaN": 0, "1e400": retryafter.MaxWait,
		strconv.FormatInt(now.Unix()+90, 10): 90 * time.Second, strconv.FormatInt(now.Unix()-90, 10): 0,
		strconv.FormatInt(now.UnixMilli()+90_000, 10): 90 * time.Second,
		"2026-11-20T12:01:30Z":                        90 * time.Second, "2026-11-20T14:01:30+02:00": 90 * time.Second,
		"Fri, 20 Nov 2026 12:01:30 UTC": 90 * time.Second, "Fri, 20 Nov 2026 14:01:30 +0200": 90 * time.Second,
		"1m30s": 90 * time.Second, "500ms": time.Second / 2, "-5s": 0, "999999h": retryafter.MaxWait,
		"2099-11-20T12:00:00Z": retryafter.MaxWait, "2020-11-20T12:00:00Z": 0,
	} {
		if got := retryafter.Parse(text, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestALimitThatIsUsedUpSaysWhenItBeginsAnew(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	reset := strconv.FormatInt(now.Unix()+600, 10)
	for name, row := range map[string]struct {
		header map[string]string
		want   time.Duration
	}{
		"GitHub":          {map[string]string{"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}, 10 * time.Minute},
		"GitLab":          {map[string]string{"RateLimit-Remaining": "0", "RateLimit-Reset": reset}, 10 * time.Minute},
		"seconds":         {map[string]string{"RateLimit-Remaining": "0", "RateLimit-Reset": "7"}, 7 * time.Second},
		"OpenRouter":      {map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset + "000"}, 10 * time.Minute},
		"more is left":    {map[string]string{"x-ratelimit-remaining": "1", "x-ratelimit-reset": reset}, 0},
		"both":            {map[string]string{"Retry-After": "5", "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}, 5 * time.Second},
		"neither":         {nil, 0},
		"no time is told": {map[string]string{"x-ratelimit-remaining": "0"}, 0},
	} {
		h := http.Header{}
		for key, value := range row.header {
			h.Set(key, value)
		}
		if got := retryafter.FromHeader(h, now); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

func TestTheBodyOfAnErrorSaysWhatItsHeaderDoesNot(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		`[{"error":{"details":[{"retryDelay":"1s"},{"@type":"x"},{"retryDelay":"17.5s"}]}}]`:                   17500 * time.Millisecond,
		`{"message":"You are being rate limited.","retry_after":1.5,"global":false}`:                           1500 * time.Millisecond,
		`{"parameters":{"retry_after":35}}`:                                                                    35 * time.Second,
		`{"error":{"metadata":{"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1795176060000"}}}}`: time.Minute,
		`{"error":{"metadata":{"headers":{"Retry-After":"9"}}}}`:                                               9 * time.Second,
		`{"error":"slow down","details":null,"retry_after":null}`:                                              0,
		`{"orders":[{"retry_after":9}]}`:                                                                       0, `"17s"`: 0, `null`: 0,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if got := retryafter.FromErrorBody(v, now); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
