package llm

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"processidea/model/turn"
)

func contextOf(t *testing.T, limit time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), limit)
}

func TestPausesGrowToTheLongest(t *testing.T) {
	t.Parallel()
	for longest, last := range map[time.Duration]time.Duration{0: DefaultMaxRetryPause, time.Minute: time.Minute,
		time.Millisecond: time.Millisecond} {
		p, before := RetryPauses{Max: longest}, time.Duration(0)
		for n := 1; n <= 40; n++ {
			d := p.DelayAfter(n)
			if d < before || d > last {
				t.Errorf("longest %s: the pause after %d attempts is %s, after %s", longest, n, d, before)
			}
			before = d
		}
		if first := p.DelayAfter(1); before != last || first != min(time.Second, last) {
			t.Errorf("longest %s: from %s to %s", longest, first, before)
		}
	}
	if d := (RetryPauses{}).DelayAfter(1 << 30); d != DefaultMaxRetryPause {
		t.Errorf("%s after very many", d)
	}
}

// All Requests of a worker come again when they are told to. Hours without an answer take as many knocks as one alone
// would make.
func TestOneRequestKnocksForAllAndTheyGoOnWhenTheServerIsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCircuitBreaker(0)
		var knocks, through atomic.Int32
		back := time.Now().Add(6 * time.Hour)
		for range 300 {
			go func() {
				for {
					began := time.Now()
					held := c.admit("m", began, time.Time{})
					if held == nil {
						knocks.Add(1)
						if began.After(back) {
							c.recordAnswer("m", http.StatusOK)
							through.Add(1)
							return
						}
						time.Sleep(20 * time.Millisecond) //nolint:forbidigo // no time passes in a bubble
						held = c.recordFailure("", Error{Code: turn.CodeLLMUnreachable, IsRetryable: true}, began,
							time.Now())
					}
					if !held.IsRetryable || held.RetryAfter <= 0 {
						t.Errorf("%+v", held)
						return
					}
					time.Sleep(held.RetryAfter) //nolint:forbidigo // as above
				}
			}()
		}
		time.Sleep(6 * time.Hour)                          //nolint:forbidigo // as above
		if n := knocks.Load(); n < 300+70 || n > 300+110 { // all before the first failure, and then one each time
			t.Errorf("%d knocks", n)
		}
		time.Sleep(7 * time.Minute) //nolint:forbidigo // as above
		if through.Load() != 300 {
			t.Errorf("%d of 300 went on within the longest pause", through.Load())
		}
	})
}

func TestARequestThatHangsKeepsOthersFromKnockingForAPauseOnly(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := newCircuitBreaker(0)
	c.recordFailure("", Error{IsRetryable: true}, now, now)
	now = now.Add(2 * time.Second)
	if held := c.admit("m", now, time.Time{}); held != nil {
		t.Fatalf("nobody may knock: %v", held)
	}
	if held := c.admit("m", now.Add(time.Second), time.Time{}); held == nil || !held.IsHeldBack {
		t.Errorf("two knock: %v", held)
	}
	if held := c.admit("m", now.Add(probeInterval), time.Time{}); held != nil {
		t.Errorf("one that hangs holds all: %v", held)
	}
}

// What one model lacks, the others of the same server do not wait for; nor does anybody for what is wrong with one
// Request.
func TestWhatOpensTheCircuitAndForWhom(t *testing.T) {
	for name, row := range map[string]struct {
		answer        http.HandlerFunc
		same, another bool // whether a Request to the same model, or to another one, is held back then
	}{
		"503":                   {refusing(503, `{"error": "overloaded"}`), true, false},
		"502":                   {refusing(502, ""), true, false},
		"504":                   {refusing(504, ""), true, false},
		"529":                   {refusing(529, ""), true, false},
		"500":                   {refusing(500, ""), false, false},
		"401":                   {refusing(401, ""), false, false},
		"it breaks off unasked": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true, true},
		"it breaks off answered": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, false, false},
	} {
		c := newClient(t, serve(t, row.answer).config())
		_, err := makeRequest(t, c)
		if e := refused(t, err); e.IsHeldBack {
			t.Errorf("%s: %v", name, e)
		}
		for model, want := range map[string]bool{"any": row.same, "another": row.another} {
			if held := c.circuitBreaker.admit(model, time.Now(), time.Time{}); (held != nil) != want {
				t.Errorf("%s: a Request to the model %q is held back: %v", name, model, held)
			}
		}
	}
}

// A gateway in front of an LLM answers 200, and says in the answer that the LLM is away: the pauses grow all the same.
func TestPausesGrowWhereAnAnswerSaysThatTheModelIsAway(t *testing.T) {
	t.Parallel()
	for how, answer := range map[string]http.HandlerFunc{
		"a status":       refusing(503, `{"error": "overloaded"}`),
		"an answer":      streaming(chunks(`{"error": {"message": "bad gateway", "code": 502}}`)),
		"a whole answer": refusing(200, `{"choices": [{"index": 0, "finish_reason": "error", "error": {"message": "x", "code": 502}}]}`),
		"behind a chunk": streaming(chunks(`{"choices": [{"index": 0, "delta": {"role": "assistant"}}]}`,
			`{"error": {"message": "bad gateway", "code": 502}}`)),
	} {
		s := serve(t, answer)
		c := newClient(t, s.config())
		for n := range 5 {
			_, err := makeRequest(t, c)
			if e := refused(t, err); e.IsHeldBack || e.RetryAfter < c.circuitBreaker.pauses.DelayAfter(n+1) {
				t.Errorf("%s: after attempt %d the pause is %s: %+v", how, n+1, e.RetryAfter, e)
			}
			c.circuitBreaker.mu.Lock()
			for _, o := range c.circuitBreaker.outageByKey {
				o.nextAttemptAt = time.Now() // as if the pause were over
			}
			c.circuitBreaker.mu.Unlock()
		}
	}
}

func TestAServerThatTakesARequestAndSendsNothingIsAway(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c := newClient(t, Config{BaseURL: "http://" + l.Addr().String() + "/v1"})
	ctx, cancel := contextOf(t, 200*time.Millisecond)
	defer cancel()
	_, err = c.Stream(ctx, question(t))
	if e := refused(t, err); !e.IsRetryable || e.Code != turn.CodeLLMUnreachable ||
		!strings.Contains(e.Message, l.Addr().String()) ||
		!strings.Contains(e.Message, errNoResponse.Error()) || ctx.Err() != nil {
		t.Errorf("%+v, %v", e, ctx.Err())
	}
	if held := c.circuitBreaker.admit("any", time.Now(), time.Time{}); held != nil {
		t.Errorf("others wait because one Request had little time: %v", held)
	}
}

// A server that is silent for long is away, for whoever asks the same model. What an Idea sets for itself, the time of
// a Request or of its first byte, holds up no other process.
func TestASilentServerHoldsOthersUpOnlyWhereItHadTime(t *testing.T) {
	t.Parallel()
	for _, silent := range []error{errNoResponse, errNoFirstByte} {
		for waited, want := range map[time.Duration]bool{minOutageSilence - time.Second: false,
			minOutageSilence: true} {
			c := newClient(t, Config{BaseURL: "http://127.0.0.1:1/v1"})
			x := c.newExchange(question(t))
			x.params.Model, x.startedAt = "silent", time.Now().Add(-waited)
			if e := x.classifyAndRecord(t.Context(), silent); !e.IsRetryable {
				t.Errorf("%v after %s: %+v", silent, waited, e)
			}
			for model, want := range map[string]bool{"silent": want, "another": false} {
				if held := c.circuitBreaker.admit(model, time.Now(), time.Time{}); (held != nil) != want {
					t.Errorf("%v after %s: a Request to the model %q is held back: %v", silent, waited, model, held)
				}
			}
		}
	}
}

// A Request that is called off says nothing of the server.
func TestARequestThatIsCalledOffOpensNothing(t *testing.T) {
	t.Parallel()
	c := newClient(t, serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }).config())
	ctx, cancel := contextOf(t, time.Hour)
	time.AfterFunc(50*time.Millisecond, cancel)
	_, _ = c.Stream(ctx, question(t))
	if held := c.circuitBreaker.admit("any", time.Now(), time.Time{}); held != nil {
		t.Errorf("it is held back: %v", held)
	}
}

// A person resumes processes whose patience is short, and the server is back: each of them asks it.
func TestOneThatWouldGiveUpUnaskedKnocksBefore(t *testing.T) {
	t.Parallel()
	c, now := newCircuitBreaker(0), time.Now()
	for range 40 { // the pause is five minutes
		c.recordFailure("", Error{Message: "away"}, now, now)
	}
	patient, short := now.Add(time.Hour), now.Add(8*time.Second)
	if held := c.admit("m", now, patient); held == nil || held.RetryAfter < time.Minute {
		t.Errorf("the patient one: %+v", held)
	}
	if held := c.admit("m", now, short); held != nil {
		t.Fatalf("the first: %+v", held)
	}
	held := c.admit("m", now, short)
	if held == nil || !held.IsHeldBack || held.RetryAfter <= 0 || held.RetryAfter > time.Second {
		t.Fatalf("the second: %+v", held)
	}
	if again := c.admit("m", now.Add(held.RetryAfter), short); again != nil {
		t.Errorf("the second, again: %+v", again)
	}
	c.recordAnswer("m", http.StatusOK)
	if held := c.admit("m", now, patient); held != nil {
		t.Errorf("the server is back: %+v", held)
	}
}
