package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
)

func mustPace(t *testing.T, l LLM) *pace {
	t.Helper()
	p, err := newPace(l)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNoMinuteHoldsMoreRequestsThanItsLimit(t *testing.T) {
	for _, rpm := range []int{1, 7, 60, 600} {
		synctest.Test(t, func(t *testing.T) {
			p := mustPace(t, LLM{RPM: fmt.Sprint(rpm)})
			var mu sync.Mutex
			var sent []time.Time
			var all sync.WaitGroup
			for n := range 3 * rpm {
				all.Go(func() {
					if err := p.wait(t.Context(), fmt.Sprint(n), 10); err != nil {
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
	synctest.Test(t, func(t *testing.T) {
		p := mustPace(t, LLM{TPM: "6000"})
		start := time.Now()
		next := func(tokens int, want time.Duration) {
			if err := p.wait(t.Context(), "p/1", tokens); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(start); d.Round(time.Second) != want {
				t.Fatalf("sent after %s, want %s", d, want)
			}
		}
		next(1000, 0) // a hundred are there, the rest is a debt of nine seconds
		p.settle(500) // and what the reply took, of five
		next(200, 14*time.Second)
		p.settle(-100) // nothing is paid back
		next(0, 16*time.Second)
	})
}

func TestAPauseHoldsEveryRequestAndIsNotFollowedByAllOfThemAtOnce(t *testing.T) {
	for rpm, least := range map[string]time.Duration{"": 60*time.Second + 1, "60": 78 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			p := mustPace(t, LLM{RPM: rpm})
			_ = p.wait(t.Context(), "first", 0)
			start := time.Now()
			if rpm == "" {
				p.pause(time.Minute)
			}
			var mu sync.Mutex
			var last time.Duration
			var all sync.WaitGroup
			for n := range 20 {
				all.Go(func() {
					_ = p.wait(t.Context(), fmt.Sprint(n), 0)
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
			p.pause(time.Minute)
			p.pause(time.Second) // a shorter one takes nothing away
			all.Wait()
			if last < least || last > 2*time.Minute {
				t.Errorf("the last after %s", last)
			}
		})
	}
}

func TestWhoCannotWaitComesAgainAtHisTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := mustPace(t, LLM{RPM: "1"})
		_ = p.wait(t.Context(), "p/1", 0)
		var busy errBusy
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		// The second's turn is in a minute, the third's in two; each has half of a hundred seconds to wait.
		if err := p.wait(ctx, "p/2", 0); !errors.As(err, &busy) || busy.wait != time.Minute {
			t.Fatal(err)
		}
		if err := p.wait(ctx, "p/3", 0); !errors.As(err, &busy) || busy.wait != 2*time.Minute {
			t.Fatal(err)
		}
		<-time.After(30 * time.Second)
		if err := p.wait(t.Context(), "p/2", 0); err != nil || len(p.turns) != 1 {
			t.Fatal(err, p.turns)
		}
		<-time.After(3 * time.Hour)
		if _ = p.wait(t.Context(), "p/4", 0); len(p.turns) != 0 {
			t.Errorf("%v is kept", p.turns)
		}
	})
}

func TestWithoutLimitsNobodyWaitsAndAWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := mustPace(t, LLM{})
		for n := range 10_000 {
			if err := p.wait(t.Context(), fmt.Sprint(n), 1_000_000); err != nil {
				t.Fatal(err)
			}
			p.settle(1_000_000)
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("waited %s", d)
		}
		p.pause(time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if err := p.wait(ctx, "p/1", 0); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		var none *pace
		none.pause(time.Hour)
		none.settle(1)
		if err := none.wait(ctx, "p/1", 0); err != nil {
			t.Error(err)
		}
	})
}

func TestALimitIsAWholeNumber(t *testing.T) {
	for _, text := range []string{"0", "-1", "1.5", "many", "1e3", "60/min"} {
		if err := (LLM{RPM: text}).Check(); err == nil {
			t.Errorf("RPM %q is taken", text)
		}
		if err := (LLM{TPM: text}).Check(); err == nil {
			t.Errorf("TPM %q is taken", text)
		}
		s := serve(t, streaming(chunks(spoken(solutionText)...)))
		l := s.llm()
		l.RPM = text
		if _, err := makeRequest(t, newWorker(t, l)); !refused(t, err).NonRetryable() || len(s.requests()) > 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := (LLM{RPM: "500", TPM: "200000"}).Check(); err != nil {
		t.Error(err)
	}
}

func TestABusyServerIsLeftAloneByAllRequestsOfTheWorker(t *testing.T) {
	for status, wait := range map[int]bool{429: true, 503: true, 500: false, 401: false} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3000")
			refusing(status, `{"error":{"message":"no"}}`)(w, r)
		})
		a := newWorker(t, s.llm())
		_, _ = makeRequest(t, a)
		_, err := makeRequest(t, a)
		if n := len(s.requests()); (n == 1) != wait {
			t.Errorf("%d: asked %d times", status, n)
		}
		if app := refused(t, err); wait && (app.NonRetryable() || app.NextRetryDelay() < 40*time.Minute) {
			t.Errorf("%d: %v, again after %s", status, err, app.NextRetryDelay())
		}
	}
	quota := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3000")
		refusing(429, `{"error":{"message":"pay","code":"insufficient_quota"}}`)(w, r)
	})
	a := newWorker(t, quota.llm())
	_, _ = makeRequest(t, a)
	if _, _ = makeRequest(t, a); len(quota.requests()) != 2 {
		t.Error("what is final holds nobody up")
	}
}

func TestARequestThatWaitsForItsTurnShowsThatItsWorkerLives(t *testing.T) {
	var asked, beats atomic.Int32
	a := newWorker(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		streaming(chunks(spoken(solutionText)...))(w, r)
	}).llm())
	a.LLM.RPM = "40" // one and a half seconds apart
	if _, err := makeRequest(t, a); err != nil {
		t.Fatal(err)
	}
	env := newEnvironment()
	env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) {
		if asked.Load() == 1 {
			beats.Add(1)
		}
	})
	if reply, err := requestIn(t, a, env); err != nil || !reply.Complete || beats.Load() == 0 || asked.Load() != 2 {
		t.Errorf("%v %+v, %d beats, asked %d times", err, reply, beats.Load(), asked.Load())
	}
}

func TestTheReplysTokensHoldTheNextRequestUp(t *testing.T) {
	heard := spoken(solutionText)
	for name, said := range map[string]string{
		"as the server counts them": chunks(append(heard[:len(heard)-2], `{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":600000}}`)...),
		"by the reply's length":     chunks(delta(`{"calls":[],"output":"` + strings.Repeat("word", 500_000) + `"}`)),
	} {
		s := serve(t, streaming(said))
		l := s.llm()
		l.TPM = "10000"
		a := newWorker(t, l)
		_, _ = makeRequest(t, a)
		_, err := makeRequest(t, a)
		if app := refused(t, err); app.NextRetryDelay() < 30*time.Minute || len(s.requests()) != 1 {
			t.Errorf("%s: %v, again after %s", name, err, app.NextRetryDelay())
		}
	}
}
