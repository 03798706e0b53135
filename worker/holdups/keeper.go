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
	"processidea/model/jsonval"
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
	// ListHoldUpsInTemporal lists what only Temporal knows, by process; if it is nil, Temporal is not asked. A HoldUp
	// whose ProcessID is that process goes only to the log and the metrics: the process cannot handle signals.
	ListHoldUpsInTemporal func(context.Context) (map[string][]turn.HoldUp, error)
	// FindRunning returns which of the processes run. It is asked only beside ListHoldUpsInTemporal.
	FindRunning func(ctx context.Context, processIDs []string) (map[string]bool, error)
	// ObserveProcessCount receives the number of processes that a cause holds up; nil: none.
	ObserveProcessCount func(cause string, processes int)
	Log                 *slog.Logger
}

// Tracker knows which processes are held up, and by what.
type Tracker struct {
	Options
	mu                      sync.Mutex
	holdUpByKey             map[holdUpKey]*holdUp
	lastProcessCountByCause map[string]int // the last observed number by cause
	temporalAskedAt         time.Time      // when Temporal was asked last
}

type holdUpKey struct{ processID, cause string }

func (k holdUpKey) isOfStore() bool {
	return k.cause != turn.CodeTemporalPaused && k.cause != turn.CodeWorkerFails
}

// holdUp is one cause that holds one process up.
type holdUp struct {
	turn.HoldUp
	err error
	// lastFoundAt is when it was found, or recorded, last, or, in the future, until when it counts as found.
	lastFoundAt time.Time
	reportedAt  time.Time // when it was reported to the process last; zero: never
	// expiresAt is when the hold-up counts as gone, if others report it to the process; zero: the Tracker reports it.
	expiresAt time.Time
}

// New makes a Tracker that knows nothing yet.
func New(o Options) *Tracker {
	return &Tracker{Options: o, holdUpByKey: map[holdUpKey]*holdUp{}, lastProcessCountByCause: map[string]int{}}
}

// RecordStoreFailure notes that a value of a process could not be written or read.
func (k *Tracker) RecordStoreFailure(processID string, err error) {
	h := holdUpFromStoreError(err)
	if processID == "" || h.CauseCode == "" {
		return
	}
	now := time.Now()
	k.record(processID, h, err, now, now)
}

// record records a hold-up that counts until holdUpTTL has passed since latest.
func (k *Tracker) record(processID string, h turn.HoldUp, err error, now, lastFoundAt time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	existing := k.holdUpByKey[holdUpKey{processID, h.CauseCode}]
	if existing == nil {
		h.Since = now
		existing = &holdUp{HoldUp: h}
		k.holdUpByKey[holdUpKey{processID, h.CauseCode}] = existing
	}
	existing.err, existing.lastFoundAt, existing.ProcessID = err, lastFoundAt, h.ProcessID
}

// askTemporal asks, once per temporalPollInterval, what only Temporal knows.
func (k *Tracker) askTemporal(ctx context.Context, now time.Time) {
	if k.ListHoldUpsInTemporal == nil || now.Sub(k.temporalAskedAt) < temporalPollInterval {
		return
	}
	k.temporalAskedAt = now
	ctx, cancel := context.WithTimeout(ctx, temporalPollTimeout)
	defer cancel()
	holdUpsByProcess, err := k.ListHoldUpsInTemporal(ctx)
	if err != nil {
		k.Log.Debug("Temporal could not be asked what holds processes up", "error", err)
	}
	for processID, list := range holdUpsByProcess {
		for _, h := range list {
			k.record(processID, h, nil, now, now.Add(2*temporalPollInterval))
		}
	}
	if err := k.dropEnded(ctx, now); err != nil {
		k.Log.Debug("Temporal could not be asked which processes have ended", "error", err)
	}
}

// dropEnded drops what others report of processes that have ended meanwhile: a cancelled Call tells nobody that it
// waits no more. Temporal's list lags, so that a recent report stays.
func (k *Tracker) dropEnded(ctx context.Context, now time.Time) error {
	isOld := func(h *holdUp) bool {
		return !h.expiresAt.IsZero() && now.Sub(h.lastFoundAt) >= temporalPollInterval
	}
	processIDs := map[string]bool{}
	k.mu.Lock()
	for key, h := range k.holdUpByKey {
		if isOld(h) {
			processIDs[key.processID] = true
		}
	}
	k.mu.Unlock()
	isRunning, err := k.FindRunning(ctx, jsonval.SortedKeys(processIDs))
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.holdUpByKey, func(key holdUpKey, h *holdUp) bool {
		return processIDs[key.processID] && !isRunning[key.processID] && isOld(h)
	})
	return nil
}

// RecordHoldUp records that a process waits until a time and has been informed of that.
func (k *Tracker) RecordHoldUp(processID, cause string, expiresAt time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.holdUpByKey[holdUpKey{processID, cause}] = &holdUp{expiresAt: expiresAt, lastFoundAt: time.Now()}
}

// ForgetHoldUp reverts RecordHoldUp.
func (k *Tracker) ForgetHoldUp(processID, cause string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.holdUpByKey, holdUpKey{processID, cause})
}

// WatchAndReport reports and withdraws hold-ups until ctx ends.
func (k *Tracker) WatchAndReport(ctx context.Context) {
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
	keys := k.keysToReport(now)
	var storeErr error
	if slices.ContainsFunc(keys, holdUpKey.isOfStore) {
		storeCheckCtx, cancel := context.WithTimeout(ctx, checkInterval)
		storeErr = k.CheckStore(storeCheckCtx)
		cancel()
	}
	for _, key := range keys {
		if key.isOfStore() {
			k.reportHoldUp(ctx, key, now, storeErr)
		} else {
			k.reportHoldUp(ctx, key, now, nil)
		}
	}
	k.observeProcessCounts()
}

// keysToReport lists the hold-ups that the Tracker reports. It drops expired ones that others report.
func (k *Tracker) keysToReport(now time.Time) (keys []holdUpKey) {
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
		return cmp.Or(strings.Compare(a.processID, b.processID), strings.Compare(a.cause, b.cause))
	})
	return keys
}

// reportHoldUp reports a hold-up to a process, or withdraws it. storeErr is why the store cannot be written now.
func (k *Tracker) reportHoldUp(ctx context.Context, key holdUpKey, now time.Time, storeErr error) {
	k.mu.Lock()
	h := k.holdUpByKey[key]
	if h == nil {
		k.mu.Unlock()
		return
	}
	holdUpCopy := *h
	k.mu.Unlock()
	signal := protocol.WorkerHoldUpSignal{Cause: key.cause}
	switch isGone := storeErr == nil && now.Sub(holdUpCopy.lastFoundAt) >= holdUpTTL; {
	case isGone && holdUpCopy.reportedAt.IsZero():
		k.ForgetHoldUp(key.processID, key.cause)
		return
	case isGone:
	case now.Sub(holdUpCopy.reportedAt) < reportInterval, holdUpCopy.reportedAt.IsZero() &&
		!holdUpCopy.isPersistent(now, storeErr):
		return
	default:
		signal.HoldUp = &holdUpCopy.HoldUp
	}
	if holdUpCopy.reportedAt.IsZero() {
		k.Log.Warn("the process is held up", "process", key.processID, "cause", key.cause, "reason", holdUpCopy.Message,
			"mend", holdUpCopy.Remedy, "error", holdUpCopy.err)
	}
	var err error
	if holdUpCopy.ProcessID != key.processID { // else it cannot handle signals
		err = k.SendSignal(ctx, key.processID, signal)
	}
	var notFound *serviceerror.NotFound
	switch hasEnded := errors.As(err, &notFound); {
	case err != nil && !hasEnded:
		return // it is reported by the next look
	case hasEnded:
		k.ForgetHoldUp(key.processID, key.cause)
	case signal.HoldUp == nil:
		k.ForgetHoldUp(key.processID, key.cause)
		k.Log.Info("the process is held up no more", "process", key.processID, "cause", key.cause)
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

// observeProcessCounts reports the number of processes that each cause holds up, if it has changed.
func (k *Tracker) observeProcessCounts() {
	if k.ObserveProcessCount == nil {
		return
	}
	k.mu.Lock()
	countByCause := map[string]int{}
	for cause := range k.lastProcessCountByCause {
		countByCause[cause] = 0
	}
	for key := range k.holdUpByKey {
		countByCause[key.cause]++
	}
	changedCountByCause := maps.Clone(countByCause)
	maps.DeleteFunc(changedCountByCause, func(cause string, n int) bool {
		countBefore, isKnown := k.lastProcessCountByCause[cause]
		return isKnown && countBefore == n
	})
	k.lastProcessCountByCause = countByCause
	k.mu.Unlock()
	for cause, n := range changedCountByCause {
		k.ObserveProcessCount(cause, n)
	}
}
