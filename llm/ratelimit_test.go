package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func mustLimiter(t *testing.T, l Config) *rateLimiter {
	t.Helper()
	limiter, err := newRateLimiter(l)
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}

func TestNoMinuteHoldsMoreRequestsThanItsLimit(t *testing.T) {
	t.Parallel()
	for _, rpm := range []int{1, 7, 60, 600} {
		synctest.Test(t, func(t *testing.T) {
			limiter := mustLimiter(t, Config{RPM: fmt.Sprint(rpm)})
			var mu sync.Mutex
			var sent []time.Time
			var all sync.WaitGroup
			for n := range 3 * rpm {
				all.Go(func() {
					if err := limiter.wait(t.Context(), fmt.Sprint(n), "", 10); err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					sent = append(sent, time.Now())
				})
			}
			start := time.Now()
			all.Wait()
			for n := range sent[:len(sent)-rpm] {
				// A second's worth goes at once.
				if d := sent[n+rpm].Sub(sent[n]); d < 58*time.Second {
					t.Fatalf("%d: %d requests within %s", rpm, rpm+1, d)
				}
			}
			if d := sent[len(sent)-1].Sub(start); d > 3*time.Minute {
				t.Errorf("%d: %s for three minutes' worth", rpm, d)
			}
		})
	}
}

func TestTokensArePaidForBeforeTheNextRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := mustLimiter(t, Config{TPM: "6000"})
		start := time.Now()
		next := func(tokens int, want time.Duration) {
			if err := limiter.wait(t.Context(), "p/1", "", tokens); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(start); d.Round(time.Second) != want {
				t.Fatalf("sent after %s, want %s", d, want)
			}
		}
		next(1000, 0)                  // a hundred are there, the rest is a debt of nine seconds
		limiter.chargeExtraTokens(500) // and what the reply took, of five
		next(200, 14*time.Second)
		limiter.chargeExtraTokens(-100) // nothing is paid back
		next(0, 16*time.Second)
	})
}

func TestAPauseHoldsEveryRequestAndIsNotFollowedByAllOfThemAtOnce(t *testing.T) {
	t.Parallel()
	for rpm, least := range map[string]time.Duration{"": 60*time.Second + 1, "60": 78 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			limiter := mustLimiter(t, Config{RPM: rpm})
			_ = limiter.wait(t.Context(), "first", "", 0)
			start := time.Now()
			if rpm == "" {
				limiter.pauseModel("", time.Minute, "slow down")
			}
			var mu sync.Mutex
			var last time.Duration
			var all sync.WaitGroup
			for n := range 20 {
				all.Go(func() {
					_ = limiter.wait(t.Context(), fmt.Sprint(n), "", 0)
					d := time.Since(start)
					if d < time.Minute {
						t.Errorf("sent after %s", d)
					}
					mu.Lock()
					defer mu.Unlock()
					last = max(last, d)
				})
			}
			synctest.Wait() // each waits, or has its turn within twenty seconds
			limiter.pauseModel("", time.Minute, "slow down")
			limiter.pauseModel("", time.Second, "slow down") // a shorter one takes nothing away
			all.Wait()
			if last < least || last > 2*time.Minute {
				t.Errorf("the last after %s", last)
			}
		})
	}
}

func TestWhoCannotWaitComesAgainAtHisTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := mustLimiter(t, Config{RPM: "1"})
		_ = limiter.wait(t.Context(), "p/1", "", 0)
		var busy rateLimitedError
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		// The second's turn is in a minute, the third's in two; each has half of a hundred seconds to wait.
		if err := limiter.wait(ctx, "p/2", "", 0); !errors.As(err, &busy) || busy.delay != time.Minute ||
			!strings.Contains(err.Error(), "OPENAI_RPM") {
			t.Fatal(err)
		}
		if err := limiter.wait(ctx, "p/3", "", 0); !errors.As(err, &busy) || busy.delay != 2*time.Minute {
			t.Fatal(err)
		}
		limiter.pauseModel("m", time.Hour, "come back later")
		// Up to five seconds are added, so that not all come at once.
		err := limiter.wait(ctx, "p/5", "m", 0)
		if err == nil || !strings.Contains(err.Error(), "wants no Request for another 1h0m") ||
			!strings.Contains(err.Error(), "come back later") {
			t.Fatal(err)
		}
		<-time.After(30 * time.Second)
		if err := limiter.wait(t.Context(), "p/2", "", 0); err != nil || len(limiter.sendTimeByKey) != 1 {
			t.Fatal(err, limiter.sendTimeByKey)
		}
		<-time.After(3 * time.Hour)
		if _ = limiter.wait(t.Context(), "p/4", "", 0); len(limiter.sendTimeByKey) != 0 {
			t.Errorf("%v is kept", limiter.sendTimeByKey)
		}
	})
}

func TestWithoutLimitsNobodyWaitsAndAWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		limiter := mustLimiter(t, Config{})
		for n := range 10_000 {
			if err := limiter.wait(t.Context(), fmt.Sprint(n), "", 1_000_000); err != nil {
				t.Fatal(err)
			}
			limiter.chargeExtraTokens(1_000_000)
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("waited %s", d)
		}
		limiter.pauseModel("", time.Hour, "slow down")
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if err := limiter.wait(ctx, "p/1", "", 0); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestALimitIsAWholeNumber(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0", "-1", "1.5", "many", "1e3", "60/min"} {
		if err := (Config{RPM: text}).Check(); err == nil {
			t.Errorf("RPM %q is taken", text)
		}
		if err := (Config{TPM: text}).Check(); err == nil {
			t.Errorf("TPM %q is taken", text)
		}
		s := serve(t, streaming(chunks(spoken(solutionText)...)))
		l := s.config()
		l.RPM = text
		if _, err := New(l); err == nil {
			t.Errorf("a client of %q a minute is made", text)
		}
	}
	if err := (Config{RPM: "500", TPM: "200000"}).Check(); err != nil {
		t.Error(err)
	}
}

type farAway struct{ SharedRateLimit }

func (farAway) Wait(context.Context, string, float64, int) (time.Duration, error) {
	return time.Minute, nil
}

func TestSettingsOfAServerAreSaidByTheirVariables(t *testing.T) {
	t.Parallel()
	for variable, c := range map[string]Config{"OPENAI_RPM": {RPM: "x"}, "OPENAI_TPM": {TPM: "x"},
		"OPENAI_BASE_URL": {BaseURL: "x"}, "OPENAI_API_KEY": {APIKey: "\n"}, "OPENAI_MODEL": {Model: "\n"}} {
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), variable+":") {
			t.Errorf("%s: %v", variable, err)
		}
		c.ServerName = "eu-west"
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), variable+"_EU_WEST:") {
			t.Errorf("%s of a server: %v", variable, err)
		}
	}
	for variable, c := range map[string]Config{"OPENAI_RPM": {RPM: "1", SharedRequestLimit: farAway{}},
		"OPENAI_TPM_TWIN": {TPM: "1", SharedTokenLimit: farAway{}, ServerName: "twin"}} {
		if err := mustLimiter(t, c).wait(t.Context(), "p/1", "", 1); err == nil ||
			!strings.Contains(err.Error(), "("+variable+")") {
			t.Errorf("%s: %v", variable, err)
		}
	}
}

func TestABusyServerIsLeftAloneByAllRequestsOfTheWorker(t *testing.T) {
	t.Parallel()
	for status, wait := range map[int]bool{429: true, 503: true, 500: false, 401: false} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3000")
			refusing(status, `{"error":{"message":"no"}}`)(w, r)
		})
		c := newClient(t, s.config())
		_, _ = makeRequest(t, c)
		_, err := makeRequest(t, c)
		if n := len(s.requests()); (n == 1) != wait {
			t.Errorf("%d: asked %d times", status, n)
		}
		if e := refused(t, err); wait && (!e.IsRetryable || e.RetryAfter < 40*time.Minute) {
			t.Errorf("%d: %v, again after %s", status, err, e.RetryAfter)
		}
	}
	quota := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3000")
		refusing(429, `{"error":{"message":"pay","code":"insufficient_quota"}}`)(w, r)
	})
	c := newClient(t, quota.config())
	_, _ = makeRequest(t, c)
	if _, _ = makeRequest(t, c); len(quota.requests()) != 2 {
		t.Error("what is final holds nobody up")
	}
}

func TestTheReplysTokensHoldTheNextRequestUp(t *testing.T) {
	t.Parallel()
	heard := spoken(solutionText)
	for name, said := range map[string]string{
		"as the server counts them": chunks(append(heard[:len(heard)-2],
			`{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":600000}}`)...),
		"by the reply's length": chunks(delta(`{"calls":[],"output":"` + strings.Repeat("word", 500_000) + `"}`)),
	} {
		s := serve(t, streaming(said))
		l := s.config()
		l.TPM = "10000"
		c := newClient(t, l)
		_, _ = makeRequest(t, c)
		_, err := makeRequest(t, c)
		if e := refused(t, err); e.RetryAfter < 30*time.Minute || len(s.requests()) != 1 {
			t.Errorf("%s: %v, again after %s", name, err, e.RetryAfter)
		}
	}
}
