package llm

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// DefaultMaxRetryPause is the longest pause between two attempts at an unavailable server, unless a Config sets
// another.
const DefaultMaxRetryPause = 5 * time.Minute

// firstRetryPause is the pause after the first failed attempt. Each further pause is 1.5 times the previous one.
const firstRetryPause = time.Second

// probeInterval is how long one Request may probe the server before another one may, while the pauses are still
// shorter.
const probeInterval = 10 * time.Second

// RetryPauses are the pauses between attempts, up to the longest.
type RetryPauses struct{ Max time.Duration }

// DelayAfter returns the pause after a number of failed attempts, from 1.
func (p RetryPauses) DelayAfter(failureCount int) time.Duration {
	d := p.initialPause()
	for n := 1; n < failureCount && d < p.maxPause(); n++ {
		d = p.nextPause(d)
	}
	return d
}

func (p RetryPauses) maxPause() time.Duration                 { return cmp.Or(p.Max, DefaultMaxRetryPause) }
func (p RetryPauses) initialPause() time.Duration             { return min(firstRetryPause, p.maxPause()) }
func (p RetryPauses) nextPause(d time.Duration) time.Duration { return min(d+d/2, p.maxPause()) }

// circuitBreaker keeps the Requests of a worker from all trying an unavailable server: one of them probes it now and
// then, and the others are held back. It opens for the whole server if the server cannot be reached, and for one model
// if the server reports that it is unavailable, or is silent for long.
type circuitBreaker struct {
	pauses RetryPauses

	mu          sync.Mutex
	outageByKey map[string]*outage // by model; "" is the whole server
}

// outage is the state of an unavailable server or model.
type outage struct {
	cause         Error
	retryPause    time.Duration
	failedAt      time.Time // when an attempt last failed
	nextAttemptAt time.Time // no attempt before this time
	probedAt      time.Time // when a Request last probed the server
}

func newCircuitBreaker(maxRetryPause time.Duration) *circuitBreaker {
	return &circuitBreaker{pauses: RetryPauses{maxRetryPause}, outageByKey: map[string]*outage{}}
}

// admit returns why a Request to a model must not be sent now, or nil if it may. During an outage the admitted Request
// is the probe, and the others wait for its outcome. Requests that would give up before the next attempt, such as those
// of processes that a person has resumed, probe one after the other.
func (c *circuitBreaker) admit(model string, now, giveUpAt time.Time) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, outageKey := range []string{"", model} {
		o := c.outageByKey[outageKey]
		if o == nil || !o.nextAttemptAt.After(now) {
			continue
		}
		heldErr := o.retryError(now)
		heldErr.IsHeldBack = true
		if giveUpAt.IsZero() || !now.Add(heldErr.RetryAfter).After(giveUpAt) {
			return heldErr
		}
		if nextProbeAt := o.probedAt.Add(c.pauses.initialPause()); nextProbeAt.After(now) {
			heldErr.RetryAfter = nextProbeAt.Sub(now)
			return heldErr
		}
	}
	for _, outageKey := range []string{"", model} {
		if o := c.outageByKey[outageKey]; o != nil {
			o.probedAt, o.nextAttemptAt = now, now.Add(max(o.retryPause, min(probeInterval, c.pauses.maxPause())))
		}
	}
	return nil
}

// recordFailure records an attempt that found a server, or a model, unavailable, and returns the error with the time
// until the next attempt. An attempt that began before the last failure does not lengthen the pause.
func (c *circuitBreaker) recordFailure(outageKey string, e Error, startedAt, now time.Time) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.outageByKey[outageKey]
	switch {
	case o == nil:
		o = &outage{retryPause: c.pauses.initialPause()}
		c.outageByKey[outageKey] = o
	case startedAt.Before(o.failedAt):
		return o.retryError(now)
	default:
		o.retryPause = c.pauses.nextPause(o.retryPause)
	}
	o.cause, o.failedAt, o.nextAttemptAt = e, now, now.Add(max(o.retryPause, e.RetryAfter))
	return o.retryError(now)
}

// retryError returns the cause, with a time to retry. The times are randomized, so that one attempt is made before the
// others.
func (o *outage) retryError(now time.Time) *Error {
	e := o.cause
	e.RetryAfter = max(o.nextAttemptAt.Sub(now), 0) + rand.N(o.retryPause/5+1)
	return &e
}

// recordAnswer records that a server has answered for a model.
func (c *circuitBreaker) recordAnswer(model string, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.outageByKey, "")
	if !isUnavailableStatus(status) {
		delete(c.outageByKey, model)
	}
}

// isUnavailableStatus reports whether a status means that the server behind a proxy is unavailable.
func isUnavailableStatus(status int) bool { return status >= http.StatusBadGateway }

// minOutageSilence is how long a server must have been silent before other Requests are held back. An Idea may allow
// its Requests less time than the server needs; that is no reason to hold back the Requests of others.
const minOutageSilence = 30 * time.Second

// circuitToOpen returns which circuit an error before the first byte opens: that of the server (""), or that of the
// model. A silent server may be loading the model.
func (x *exchange) circuitToOpen(err error) (outageKey string, shouldOpen bool) {
	switch {
	case x.serverError != nil:
		return x.params.Model, isUnavailableStatus(x.serverError.status)
	case x.startedAt.IsZero(), x.response != nil: // the server was not asked, or its answer broke off
		return "", false
	case errors.Is(err, errNoResponse), errors.Is(err, errNoFirstByte):
		return x.params.Model, time.Since(x.startedAt) >= minOutageSilence
	}
	return "", true
}
