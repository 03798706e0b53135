package holdups

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"

	"processidea/internal/pause"
	"processidea/internal/safego"
	"processidea/model/turn"
	"processidea/protocol"
)

const (
	lookInterval   = 2 * time.Second  // between two looks
	minDuration    = 2 * time.Second  // how long a cause lasts before it is reported
	goneAfter      = 15 * time.Second // how long without a failure before a cause counts as gone
	reportInterval = 5 * time.Minute  // between two reports to a process
	askInterval    = 30 * time.Second // between two questions to Temporal; one of two may fail
	askTimeout     = 10 * time.Second // for one question to Temporal
)

// Options are the dependencies of a Keeper.
type Options struct {
	// CheckStore returns an error if the store cannot be written.
	CheckStore func(context.Context) error
	// Signal signals a process.
	Signal func(ctx context.Context, process string, s protocol.WorkerHoldUpSignal) error
	// InTemporal lists what only Temporal knows, by process; if it is nil, Temporal is not asked. A HeldUp whose
	// Process is that process goes only to the log and the metrics: the process cannot handle signals.
	InTemporal func(context.Context) (map[string][]turn.HeldUp, error)
	// Observe receives the number of processes that a cause holds up; nil: none.
	Observe func(cause string, processes int)
	Log     *slog.Logger
}

// Keeper knows which processes are held up, and by what.
type Keeper struct {
	Options
	mu       sync.Mutex
	held     map[key]*holdUp
	observed map[string]int // the last observed number by cause
	askedAt  time.Time      // when Temporal was asked last
}

type key struct{ process, cause string }

func (at key) isOfStore() bool {
	return at.cause != turn.CodeTemporalPaused && at.cause != turn.CodeWorkerFails
}

// holdUp is one cause that holds one process up.
type holdUp struct {
	turn.HeldUp
	err        error
	latest     time.Time // when it was found last, or, in the future, until when it counts as found
	reportedAt time.Time // when it was reported to the process last; zero: never
	// until is when the hold-up counts as gone, if others report it to the process; zero: the Keeper reports it.
	until time.Time
}

// New makes a Keeper that knows nothing yet.
func New(o Options) *Keeper {
	return &Keeper{Options: o, held: map[key]*holdUp{}, observed: map[string]int{}}
}

// StoreFailed notes that a value of a process could not be written or read.
func (k *Keeper) StoreFailed(process string, err error) {
	h := ofStore(err)
	if process == "" || h.Cause == "" {
		return
	}
	now := time.Now()
	k.note(process, h, err, now, now)
}

// note records a hold-up that counts until goneAfter has passed since latest.
func (k *Keeper) note(process string, h turn.HeldUp, err error, now, latest time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.held[key{process, h.Cause}]
	if known == nil {
		h.Since = now
		known = &holdUp{HeldUp: h}
		k.held[key{process, h.Cause}] = known
	}
	known.err, known.latest, known.Process = err, latest, h.Process
}

// askTemporal asks, once per askInterval, what only Temporal knows.
func (k *Keeper) askTemporal(ctx context.Context, now time.Time) {
	if k.InTemporal == nil || now.Sub(k.askedAt) < askInterval {
		return
	}
	k.askedAt = now
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	found, err := k.InTemporal(ctx)
	if err != nil {
		k.Log.Debug("Temporal could not be asked what holds processes up", "error", err)
	}
	for process, list := range found {
		for _, h := range list {
			k.note(process, h, nil, now, now.Add(2*askInterval))
		}
	}
}

// RecordWait records that a process waits until a time and has been informed of that.
func (k *Keeper) RecordWait(process, cause string, until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held[key{process, cause}] = &holdUp{until: until}
}

// ForgetWait reverts RecordWait.
func (k *Keeper) ForgetWait(process, cause string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.held, key{process, cause})
}

// Watch reports and withdraws hold-ups until ctx ends.
func (k *Keeper) Watch(ctx context.Context) {
	for pause.For(ctx, lookInterval) == nil {
		err := safego.Run("holdups.look", func() error { k.look(ctx, time.Now()); return nil })
		if err != nil {
			k.Log.Error("what holds processes up could not be looked at", "error", err)
		}
	}
}

// look reports new hold-ups, and withdraws those that are gone.
func (k *Keeper) look(ctx context.Context, now time.Time) {
	k.askTemporal(ctx, now)
	list := k.reportedHoldUps(now)
	var away error
	if slices.ContainsFunc(list, key.isOfStore) {
		trying, cancel := context.WithTimeout(ctx, lookInterval)
		away = k.CheckStore(trying)
		cancel()
	}
	for _, at := range list {
		if at.isOfStore() {
			k.reportHoldUp(ctx, at, now, away)
		} else {
			k.reportHoldUp(ctx, at, now, nil)
		}
	}
	k.observe()
}

// reportedHoldUps lists the hold-ups that the Keeper reports. It drops expired ones that others report.
func (k *Keeper) reportedHoldUps(now time.Time) (list []key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for at, h := range k.held {
		switch {
		case h.until.IsZero():
			list = append(list, at)
		case h.until.Before(now):
			delete(k.held, at)
		}
	}
	slices.SortFunc(list, func(a, b key) int {
		return cmp.Or(strings.Compare(a.process, b.process), strings.Compare(a.cause, b.cause))
	})
	return list
}

// reportHoldUp reports a hold-up to a process, or withdraws it. away is why the store cannot be written now.
func (k *Keeper) reportHoldUp(ctx context.Context, at key, now time.Time, away error) {
	k.mu.Lock()
	h := k.held[at]
	if h == nil {
		k.mu.Unlock()
		return
	}
	seen := *h
	k.mu.Unlock()
	signal := protocol.WorkerHoldUpSignal{Cause: at.cause}
	switch gone := away == nil && now.Sub(seen.latest) >= goneAfter; {
	case gone && seen.reportedAt.IsZero():
		k.ForgetWait(at.process, at.cause)
		return
	case gone:
	case now.Sub(seen.reportedAt) < reportInterval, seen.reportedAt.IsZero() && !seen.isPersistent(now, away):
		return
	default:
		signal.HeldUp = &seen.HeldUp
	}
	if seen.reportedAt.IsZero() {
		k.Log.Warn("the process is held up", "process", at.process, "cause", at.cause, "reason", seen.Message,
			"mend", seen.Remedy, "error", seen.err)
	}
	var err error
	if seen.Process != at.process { // else it cannot handle signals
		err = k.Signal(ctx, at.process, signal)
	}
	var none *serviceerror.NotFound
	switch ended := errors.As(err, &none); {
	case err != nil && !ended:
		return // it is reported by the next look
	case ended:
		k.ForgetWait(at.process, at.cause)
	case signal.HeldUp == nil:
		k.ForgetWait(at.process, at.cause)
		k.Log.Info("the process is held up no more", "process", at.process, "cause", at.cause)
	default:
		k.mu.Lock()
		h.reportedAt = now
		k.mu.Unlock()
	}
}

// isPersistent reports whether a cause is more than a single failure: the store cannot be written now, or failed again.
func (h *holdUp) isPersistent(now time.Time, away error) bool {
	if away == nil {
		now = h.latest
	}
	return now.Sub(h.Since) >= minDuration
}

// observe reports the number of processes that each cause holds up, if it has changed.
func (k *Keeper) observe() {
	if k.Observe == nil {
		return
	}
	k.mu.Lock()
	counts := map[string]int{}
	for cause := range k.observed {
		counts[cause] = 0
	}
	for at := range k.held {
		counts[at.cause]++
	}
	changed := maps.Clone(counts)
	maps.DeleteFunc(changed, func(cause string, n int) bool {
		before, known := k.observed[cause]
		return known && before == n
	})
	k.observed = counts
	k.mu.Unlock()
	for cause, n := range changed {
		k.Observe(cause, n)
	}
}
