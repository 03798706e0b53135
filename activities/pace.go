package activities

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// pace keeps the Requests of one worker within what its LLM's server allows: so many requests and tokens a minute, and
// nothing while the server wants to be left alone. nil holds nobody up.
type pace struct {
	requests, tokens *rate.Limiter

	mu    sync.Mutex
	until time.Time            // before it, the server wants no request
	turns map[string]time.Time // when those may be sent that were told to come again
}

// newPace reads the limits of an LLM.
func newPace(l LLM) (*pace, error) {
	requests, err := perMinute("OPENAI_RPM", l.RPM)
	if err != nil {
		return nil, err
	}
	tokens, err := perMinute("OPENAI_TPM", l.TPM)
	if err != nil {
		return nil, err
	}
	return &pace{requests: requests, tokens: tokens, turns: map[string]time.Time{}}, nil
}

// paced has a Request wait its turn among those of its worker.
func (a *Activities) paced(c *chat, process string, request int) error {
	a.pacing.Do(func() {
		if a.paceErr = a.LLM.Check(); a.paceErr == nil {
			a.pace, a.paceErr = newPace(a.LLM)
		}
	})
	c.pace, c.turn = a.pace, fmt.Sprintf("%s/%d", process, request)
	return a.paceErr
}

// perMinute makes a limiter that lets a second's worth through at once: servers count in seconds too.
func perMinute(name, text string) (*rate.Limiter, error) {
	if text == "" {
		return rate.NewLimiter(rate.Inf, 1), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("activities: read %s: want a whole number from 1, not %q", name, text)
	}
	return rate.NewLimiter(rate.Limit(float64(n)/60), max(1, n/60)), nil
}

// errBusy says that a Request's turn is too far off to wait for.
type errBusy struct{ wait time.Duration }

func (e errBusy) Error() string {
	return fmt.Sprintf("the rate limit lets nothing through for another %s", e.wait.Round(time.Second))
}

// wait waits until a Request of about so many tokens may be sent. One that would wait for more than half the time it has
// keeps its turn under its key and is told to come again, since Temporal counts the wait as part of the Request.
func (p *pace) wait(ctx context.Context, key string, tokens int) error {
	if p == nil {
		return nil
	}
	for {
		d := p.delay(key, tokens, time.Now())
		if d <= 0 {
			return nil
		}
		if deadline, ok := ctx.Deadline(); ok && d > time.Until(deadline)/2 {
			return errBusy{d}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
		}
	}
}

// delay is how long a Request has still to wait; its turn is taken where that is no time at all.
func (p *pace) delay(key string, tokens int, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pause := p.until.Sub(now); pause > 0 {
		// Turns that come up meanwhile are given anew, or all would be taken at once. The same where no limit is set.
		delete(p.turns, key)
		return pause + rand.N(min(pause/10, maxSpread)+1)
	}
	at, ok := p.turns[key]
	if !ok {
		at = p.reserve(tokens, now)
		p.turns[key] = at
		p.forget(now)
	}
	if at.After(now) {
		return at.Sub(now)
	}
	delete(p.turns, key)
	return 0
}

// maxSpread is how far apart Requests are sent that waited for the same moment.
const maxSpread = 5 * time.Second

// reserve takes a turn. Tokens are paid for afterwards: who comes next waits until the debt is paid.
func (p *pace) reserve(tokens int, now time.Time) time.Time {
	wait := max(p.requests.ReserveN(now, 1).DelayFrom(now), p.tokens.ReserveN(now, 0).DelayFrom(now))
	p.pay(tokens, now)
	return now.Add(wait)
}

func (p *pace) pay(tokens int, now time.Time) {
	for p.tokens.Limit() != rate.Inf && tokens > 0 {
		n := min(tokens, p.tokens.Burst())
		p.tokens.ReserveN(now, n)
		tokens -= n
	}
}

// forget drops turns of Requests that never came again.
func (p *pace) forget(now time.Time) {
	for key, at := range p.turns {
		if now.Sub(at) > time.Hour {
			delete(p.turns, key)
		}
	}
}

// settle pays what a Request has taken beyond what it was taken for.
func (p *pace) settle(tokens int) {
	if p != nil {
		p.pay(tokens, time.Now())
	}
}

// pause keeps all Requests back for as long as the server says.
func (p *pace) pause(d time.Duration) {
	if p == nil || d <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.until) {
		p.until = until
	}
}
