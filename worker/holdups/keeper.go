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
	checkInterval        = 2 * time.Second  // between two looks
	minHoldUpDuration    = 2 * time.Second  // how long a cause lasts before it is reported
	holdUpTTL            = 15 * time.Second // how long without a failure before a cause counts as gone
	reportInterval       = 5 * time.Minute  // between two reports to a process
	temporalPollInterval = 30 * time.Second // between two questions to Temporal; one of two may fail
	temporalPollTimeout  = 10 * time.Second // for one question to Temporal
)

// Options are the dependencies of a Tracker.
type Options struct {
	// CheckStore returns an error if the store cannot be written.
	CheckStore func(context.Context) error
	// SendSignal signals a process.
	SendSignal func(ctx context.Context, process string, s protocol.WorkerHoldUpSignal) error
	// ListInTemporal lists what only Temporal knows, by process; if it is nil, Temporal is not asked. A HeldUp whose
	// Process is that process goes only to the log and the metrics: the process cannot handle signals.
	ListInTemporal func(context.Context) (map[string][]turn.HoldUp, error)
	// ObserveCount receives the number of processes that a cause holds up; nil: none.
	ObserveCount func(cause string, processes int)
	Log          *slog.Logger
}

// Tracker knows which processes are held up, and by what.
type Tracker struct {
	Options
	mu               sync.Mutex
	holdUpByKey      map[holdUpKey]*holdUp
	lastCountByCause map[string]int // the last observed number by cause
	temporalAskedAt  time.Time      // when Temporal was asked last
}

type holdUpKey struct{ process, cause string }

func (k holdUpKey) isOfStore() bool {
	return k.cause != turn.CodeTemporalPaused && k.cause != turn.CodeWorkerFails
}

// holdUp is one cause that holds one process up.
type holdUp struct {
	turn.HoldUp
	err         error
	lastFoundAt time.Time // when it was found last, or, in the future, until when it counts as found
	reportedAt  time.Time // when it was reported to the process last; zero: never
	// expiresAt is when the hold-up counts as gone, if others report it to the process; zero: the Tracker reports it.
	expiresAt time.Time
}

// New makes a Tracker that knows nothing yet.
func New(o Options) *Tracker {
	return &Tracker{Options: o, holdUpByKey: map[holdUpKey]*holdUp{}, lastCountByCause: map[string]int{}}
}

// RecordStoreFailure notes that a value of a process could not be written or read.
func (k *Tracker) RecordStoreFailure(process string, err error) {
	h := holdUpFromError(err)
	if process == "" || h.Cause == "" {
		return
	}
	now := time.Now()
	k.record(process, h, err, now, now)
}

// record records a hold-up that counts until holdUpTTL has passed since latest.
func (k *Tracker) record(process string, h turn.HoldUp, err error, now, lastFoundAt time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	existing := k.holdUpByKey[holdUpKey{process, h.Cause}]
	if existing == nil {
		h.Since = now
		existing = &holdUp{HoldUp: h}
		k.holdUpByKey[holdUpKey{process, h.Cause}] = existing
	}
	existing.err, existing.lastFoundAt, existing.ProcessID = err, lastFoundAt, h.ProcessID
}

// askTemporal asks, once per temporalPollInterval, what only Temporal knows.
func (k *Tracker) askTemporal(ctx context.Context, now time.Time) {
	if k.ListInTemporal == nil || now.Sub(k.temporalAskedAt) < temporalPollInterval {
		return
	}
	k.temporalAskedAt = now
	ctx, cancel := context.WithTimeout(ctx, temporalPollTimeout)
	defer cancel()
	holdUpsByProcess, err := k.ListInTemporal(ctx)
	if err != nil {
		k.Log.Debug("Temporal could not be asked what holds processes up", "error", err)
	}
	for process, list := range holdUpsByProcess {
		for _, h := range list {
			k.record(process, h, nil, now, now.Add(2*temporalPollInterval))
		}
	}
}

// RecordHoldUp records that a process waits until a time and has been informed of that.
func (k *Tracker) RecordHoldUp(process, cause string, expiresAt time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.holdUpByKey[holdUpKey{process, cause}] = &holdUp{expiresAt: expiresAt}
}

// ForgetHoldUp reverts RecordHoldUp.
func (k *Tracker) ForgetHoldUp(process, cause string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.holdUpByKey, holdUpKey{process, cause})
}

// Watch reports and withdraws hold-ups until ctx ends.
func (k *Tracker) Watch(ctx context.Context) {
	for pause.For(ctx, checkInterval) == nil {
		err := safego.Run("holdups.look", func() error { k.checkAll(ctx, time.Now()); return nil })
		if err != nil {
			k.Log.Error("what holds processes up could not be looked at", "error", err)
		}
	}
}

// checkAll reports new hold-ups, and withdraws those that are gone.
func (k *Tracker) checkAll(ctx context.Context, now time.Time) {
	k.askTemporal(ctx, now)
	keys := k.holdUpsToReport(now)
	var storeErr error
	if slices.ContainsFunc(keys, holdUpKey.isOfStore) {
		checkCtx, cancel := context.WithTimeout(ctx, checkInterval)
		storeErr = k.CheckStore(checkCtx)
		cancel()
	}
	for _, key := range keys {
		if key.isOfStore() {
			k.reportHoldUp(ctx, key, now, storeErr)
		} else {
			k.reportHoldUp(ctx, key, now, nil)
		}
	}
	k.observe()
}

// holdUpsToReport lists the hold-ups that the Tracker reports. It drops expired ones that others report.
func (k *Tracker) holdUpsToReport(now time.Time) (keys []holdUpKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, h := range k.holdUpByKey {
		switch {
		case h.expiresAt.IsZero():
			keys = append(keys, key)
		case h.expiresAt.Before(now):
			delete(k.holdUpByKey, key)
		}
	}
	slices.SortFunc(keys, func(a, b holdUpKey) int {
		return cmp.Or(strings.Compare(a.process, b.process), strings.Compare(a.cause, b.cause))
	})
	return keys
}

// reportHoldUp reports a hold-up to a process, or withdraws it. away is why the store cannot be written now.
func (k *Tracker) reportHoldUp(ctx context.Context, key holdUpKey, now time.Time, storeErr error) {
	k.mu.Lock()
	h := k.holdUpByKey[key]
	if h == nil {
		k.mu.Unlock()
		return
	}
	entry := *h
	k.mu.Unlock()
	signal := protocol.WorkerHoldUpSignal{Cause: key.cause}
	switch isGone := storeErr == nil && now.Sub(entry.lastFoundAt) >= holdUpTTL; {
	case isGone && entry.reportedAt.IsZero():
		k.ForgetHoldUp(key.process, key.cause)
		return
	case isGone:
	case now.Sub(entry.reportedAt) < reportInterval, entry.reportedAt.IsZero() && !entry.isPersistent(now, storeErr):
		return
	default:
		signal.HoldUp = &entry.HoldUp
	}
	if entry.reportedAt.IsZero() {
		k.Log.Warn("the process is held up", "process", key.process, "cause", key.cause, "reason", entry.Message,
			"mend", entry.Remedy, "error", entry.err)
	}
	var err error
	if entry.ProcessID != key.process { // else it cannot handle signals
		err = k.SendSignal(ctx, key.process, signal)
	}
	var notFound *serviceerror.NotFound
	switch hasEnded := errors.As(err, &notFound); {
	case err != nil && !hasEnded:
		return // it is reported by the next look
	case hasEnded:
		k.ForgetHoldUp(key.process, key.cause)
	case signal.HoldUp == nil:
		k.ForgetHoldUp(key.process, key.cause)
		k.Log.Info("the process is held up no more", "process", key.process, "cause", key.cause)
	default:
		k.mu.Lock()
		h.reportedAt = now
		k.mu.Unlock()
	}
}

// isPersistent reports whether a cause is more than a single failure: the store cannot be written now, or failed again.
func (h *holdUp) isPersistent(now time.Time, storeErr error) bool {
	if storeErr == nil {
		now = h.lastFoundAt
	}
	return now.Sub(h.Since) >= minHoldUpDuration
}

// observe reports the number of processes that each cause holds up, if it has changed.
func (k *Tracker) observe() {
	if k.ObserveCount == nil {
		return
	}
	k.mu.Lock()
	countByCause := map[string]int{}
	for cause := range k.lastCountByCause {
		countByCause[cause] = 0
	}
	for key := range k.holdUpByKey {
		countByCause[key.cause]++
	}
	changedByCause := maps.Clone(countByCause)
	maps.DeleteFunc(changedByCause, func(cause string, n int) bool {
		before, isKnown := k.lastCountByCause[cause]
		return isKnown && before == n
	})
	k.lastCountByCause = countByCause
	k.mu.Unlock()
	for cause, n := range changedByCause {
		k.ObserveCount(cause, n)
	}
}
