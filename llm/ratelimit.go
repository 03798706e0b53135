package llm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"processidea/internal/pause"

	"golang.org/x/time/rate"
)

// rateLimiter keeps the Requests of one worker within the limits of its LLM's server: requests and tokens a minute, and
// no Requests while the server demands a pause.
type rateLimiter struct {
	requestLimiter, tokenLimiter         *rate.Limiter     // limits of this worker alone
	sharedRequestLimit, sharedTokenLimit workerSharedLimit // limits of all workers together, in place of those

	variablesText string // the variables that set the limits

	mu            sync.Mutex
	pauseByModel  map[string]modelPause // by model
	sendTimeByKey map[string]time.Time  // when each postponed Request may be sent, by Request.RateLimitKey
}

// modelPause is how long a server must not be called for a model, with the server's own words.
type modelPause struct {
	until      time.Time
	serverText string
}

// workerSharedLimit is a limit that all workers share, if it has a SharedRateLimit.
type workerSharedLimit struct {
	SharedRateLimit
	perSecond    float64
	variableName string // the variable that sets the limit
}

func (r workerSharedLimit) wait(ctx context.Context, key string, units int) error {
	if r.SharedRateLimit == nil {
		return nil
	}
	delay, err := r.Wait(ctx, key, r.perSecond, units)
	if err == nil && delay > 0 {
		err = rateLimitedError{delay, "", r.variableName}
	}
	return err
}

// newRateLimiter reads the limits of a Config.
func newRateLimiter(c Config) (*rateLimiter, error) {
	l := &rateLimiter{sendTimeByKey: map[string]time.Time{}, pauseByModel: map[string]modelPause{}}
	var requestsErr, tokensErr error
	requestsVariable, tokensVariable := c.variableName("OPENAI_RPM"), c.variableName("OPENAI_TPM")
	l.requestLimiter, l.sharedRequestLimit, requestsErr = newMinuteLimiter(requestsVariable, c.RPM,
		c.SharedRequestLimit)
	l.tokenLimiter, l.sharedTokenLimit, tokensErr = newMinuteLimiter(tokensVariable, c.TPM, c.SharedTokenLimit)
	l.variablesText = requestsVariable + ", " + tokensVariable
	if err := errors.Join(requestsErr, tokensErr); err != nil {
		return nil, err
	}
	return l, nil
}

// maxPerMinute is more than any server handles.
const maxPerMinute = 1_000_000_000_000

// newMinuteLimiter returns a limiter, of this worker or shared by all. It allows a burst of one second's worth, because
// servers also count by the second.
func newMinuteLimiter(variableName, perMinuteText string,
	shared SharedRateLimit) (*rate.Limiter, workerSharedLimit, error) {
	unlimitedLimiter := rate.NewLimiter(rate.Inf, 1)
	if perMinuteText == "" {
		return unlimitedLimiter, workerSharedLimit{}, nil
	}
	n, err := strconv.Atoi(perMinuteText)
	if err != nil || n < 1 || n > maxPerMinute {
		return nil, workerSharedLimit{}, fmt.Errorf("llm: read %s: want a whole number from 1 to %d, not %q",
			variableName,
			maxPerMinute, perMinuteText)
	}
	perSecond := float64(n) / 60
	if shared != nil {
		return unlimitedLimiter, workerSharedLimit{shared, perSecond, variableName}, nil
	}
	return rate.NewLimiter(rate.Limit(perSecond), max(1, n/60)), workerSharedLimit{}, nil
}

// rateLimitedError means that a Request's reservation is too far off to wait for.
type rateLimitedError struct {
	delay         time.Duration
	serverText    string // the server's words; empty if the limits are the worker's own
	variablesText string // the variables that set the worker's limits
}

func (e rateLimitedError) Error() string {
	if wait := e.delay.Round(time.Second); e.serverText == "" {
		return fmt.Sprintf("the limit of the workers (%s) lets no Request through for another %s", e.variablesText,
			wait)
	} else {
		return fmt.Sprintf("the LLM's server wants no Request for another %s: %s", wait, e.serverText)
	}
}

// wait waits until a Request of about tokens tokens may be sent. A Request that would wait for more than half of its
// remaining time gets rateLimitedError and keeps its reservation, because waiting counts as part of an attempt, and a
// later attempt has its full time.
func (l *rateLimiter) wait(ctx context.Context, key, model string, tokens int) error {
	for {
		d, serverText := l.reserveOrDelay(key, model, tokens, time.Now())
		if d <= 0 {
			err := l.sharedRequestLimit.wait(ctx, key, 1)
			if err == nil {
				err = l.sharedTokenLimit.wait(ctx, key, tokens)
			}
			return err
		}
		if deadline, ok := ctx.Deadline(); ok && d > time.Until(deadline)/2 {
			return rateLimitedError{d, serverText, l.variablesText}
		}
		if err := pause.For(ctx, d); err != nil {
			return err
		}
	}
}

// reserveOrDelay returns how long a Request must still wait, and the words of the server that demands it. If the
// Request need not wait, its reservation is used up.
func (l *rateLimiter) reserveOrDelay(key, model string, tokens int,
	now time.Time) (wait time.Duration, serverText string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if pause := l.pauseByModel[model].until.Sub(now); pause > 0 {
		// Reservations within the pause are made anew after it, and spread: otherwise all would be due at the same
		// moment.
		delete(l.sendTimeByKey, key)
		return pause + rand.N(min(pause/10, maxSendTimeSpread)+1), l.pauseByModel[model].serverText
	}
	sendAt, ok := l.sendTimeByKey[key]
	if !ok {
		sendAt = l.reserve(tokens, now)
		l.sendTimeByKey[key] = sendAt
		l.dropExpiredReservations(now)
	}
	if sendAt.After(now) {
		return sendAt.Sub(now), ""
	}
	delete(l.sendTimeByKey, key)
	return 0, ""
}

// maxSendTimeSpread bounds the random spread of Requests that waited for the same moment.
const maxSendTimeSpread = 5 * time.Second

// reserve makes a reservation. Tokens are charged afterwards: later Requests wait until the debt is paid.
func (l *rateLimiter) reserve(tokens int, now time.Time) time.Time {
	wait := max(l.requestLimiter.ReserveN(now, 1).DelayFrom(now), l.tokenLimiter.ReserveN(now, 0).DelayFrom(now))
	l.chargeTokens(tokens, now)
	return now.Add(wait)
}

func (l *rateLimiter) chargeTokens(tokens int, now time.Time) {
	for l.tokenLimiter.Limit() != rate.Inf && tokens > 0 {
		n := min(tokens, l.tokenLimiter.Burst())
		l.tokenLimiter.ReserveN(now, n)
		tokens -= n
	}
}

// dropExpiredReservations drops the reservations of Requests that never came back.
func (l *rateLimiter) dropExpiredReservations(now time.Time) {
	for key, sendAt := range l.sendTimeByKey {
		if now.Sub(sendAt) > time.Hour {
			delete(l.sendTimeByKey, key)
		}
	}
}

// chargeExtraTokens charges what a Request used beyond its estimate.
func (l *rateLimiter) chargeExtraTokens(tokens int) {
	if shared := l.sharedTokenLimit; shared.SharedRateLimit != nil && tokens > 0 {
		shared.Spend(shared.perSecond, tokens)
	}
	l.chargeTokens(tokens, time.Now())
}

// pauseModel holds back all Requests to a model for as long as its server demands. serverText is the server's own
// message.
func (l *rateLimiter) pauseModel(model string, d time.Duration, serverText string) {
	if d <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if until := time.Now().Add(d); until.After(l.pauseByModel[model].until) {
		l.pauseByModel[model] = modelPause{until, serverText}
	}
}
