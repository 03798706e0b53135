package llm

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// DefaultLongestPause is the longest pause between two attempts at an unavailable server, unless a Config sets another.
const DefaultLongestPause = 5 * time.Minute

// firstPause is the pause after the first failed attempt. Each further pause is 1.5 times the previous one.
const firstPause = time.Second

// probeTimeout is how long one Request may probe the server before another one may, while the pauses are still shorter.
const probeTimeout = 10 * time.Second

// Pauses are the pauses between attempts, up to the longest.
type Pauses struct{ Longest time.Duration }

// DelayAfter returns the pause after a number of failed attempts, from 1.
func (p Pauses) DelayAfter(failed int) time.Duration {
	d := p.first()
	for n := 1; n < failed && d < p.longest(); n++ {
		d = p.next(d)
	}
	return d
}

func (p Pauses) longest() time.Duration             { return cmp.Or(p.Longest, DefaultLongestPause) }
func (p Pauses) first() time.Duration               { return min(firstPause, p.longest()) }
func (p Pauses) next(d time.Duration) time.Duration { return min(d+d/2, p.longest()) }

// circuit keeps the Requests of a worker from all trying an unavailable server: one of them probes it now and then, and
// the others are held back. It opens for the whole server if the server cannot be reached, and for one model if the
// server reports that it is unavailable, or is silent for long.
type circuit struct {
	pauses Pauses

	mu      sync.Mutex
	outages map[string]*outage // by model; "" is the whole server
}

// outage is the state of an unavailable server or model.
type outage struct {
	cause    Error
	pause    time.Duration
	failedAt time.Time // when an attempt last failed
	next     time.Time // no attempt before this time
	probedAt time.Time // when a Request last probed the server
}

func newCircuit(longest time.Duration) *circuit {
	return &circuit{pauses: Pauses{longest}, outages: map[string]*outage{}}
}

// admit returns why a Request to a model must not be sent now, or nil if it may. During an outage the admitted Request
// is the probe, and the others wait for its outcome. Requests that would give up before the next attempt, such as those
// of processes that a person has resumed, probe one after the other.
func (c *circuit) admit(model string, now, giveUp time.Time) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range []string{"", model} {
		o := c.outages[key]
		if o == nil || !o.next.After(now) {
			continue
		}
		held := o.refusal(now)
		held.HeldBack = true
		if giveUp.IsZero() || !now.Add(held.RetryAfter).After(giveUp) {
			return held
		}
		if next := o.probedAt.Add(c.pauses.first()); next.After(now) {
			held.RetryAfter = next.Sub(now)
			return held
		}
	}
	for _, key := range []string{"", model} {
		if o := c.outages[key]; o != nil {
			o.probedAt, o.next = now, now.Add(max(o.pause, min(probeTimeout, c.pauses.longest())))
		}
	}
	return nil
}

// recordFailure records an attempt that found a server, or a model, unavailable, and returns the error with the time
// until the next attempt. An attempt that began before the last failure does not lengthen the pause.
func (c *circuit) recordFailure(key string, e Error, began, now time.Time) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.outages[key]
	switch {
	case o == nil:
		o = &outage{pause: c.pauses.first()}
		c.outages[key] = o
	case began.Before(o.failedAt):
		return o.refusal(now)
	default:
		o.pause = c.pauses.next(o.pause)
	}
	o.cause, o.failedAt, o.next = e, now, now.Add(max(o.pause, e.RetryAfter))
	return o.refusal(now)
}

// refusal returns the cause, with a time to retry. The times are randomized, so that one attempt is made before the
// others.
func (o *outage) refusal(now time.Time) *Error {
	e := o.cause
	e.RetryAfter = max(o.next.Sub(now), 0) + rand.N(o.pause/5+1)
	return &e
}

// recordAnswer records that a server has answered for a model.
func (c *circuit) recordAnswer(model string, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.outages, "")
	if !isUnavailable(status) {
		delete(c.outages, model)
	}
}

// isUnavailable reports whether a status means that the server behind a proxy is unavailable.
func isUnavailable(status int) bool { return status >= http.StatusBadGateway }

// longSilence is how long a server must have been silent before other Requests are held back. An Idea may allow its
// Requests less time than the server needs; that is no reason to hold back the Requests of others.
const longSilence = 30 * time.Second

// circuitToOpen returns which circuit an error before the first byte opens: that of the server (""), or that of the
// model. A silent server may be loading the model.
func (x *exchange) circuitToOpen(err error) (key string, away bool) {
	switch {
	case x.serverError != nil:
		return x.params.Model, isUnavailable(x.serverError.status)
	case x.began.IsZero(), x.response != nil: // the server was not asked, or its answer broke off
		return "", false
	case errors.Is(err, errNoResponse), errors.Is(err, errNoFirstByte):
		return x.params.Model, time.Since(x.began) >= longSilence
	}
	return "", true
}
