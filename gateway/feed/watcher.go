package feed

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"processidea/client"
	"processidea/model/diag"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/store/chain"
)

// watcher observes one process for all its followers.
type watcher struct {
	feed         *Feed
	processID    string
	source       Source
	cancel       context.CancelFunc
	wakeSignal   chan struct{}
	lastSeenAt   time.Time     // when the process was last seen
	queryLimiter *rate.Limiter // bounds the queries, which a hosted server bills

	followerCount int // guarded by the feed's mu

	mu             sync.Mutex
	latestSnapshot *Snapshot     // nil: nothing has been seen
	permanentErr   error         // a permanent error: there will be no Snapshot
	changeSignal   chan struct{} // closed when latestSnapshot or failure changes

	cachedLinksMu sync.Mutex   // held while an Idea is read, so that each is read once
	cachedLinks   []chain.Link // of the last Ideas, in order
}

// maxCachedLinks bounds the links of a watcher. Older Ideas are read again for a follower who needs them.
const maxCachedLinks = 64

// currentSnapshot returns the latest Snapshot, or the permanent error, and the channel that is closed when there is a
// newer one.
func (w *watcher) currentSnapshot() (*Snapshot, <-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latestSnapshot, w.changeSignal, w.permanentErr
}

// awaitFirstSnapshot waits until something is known.
func (w *watcher) awaitFirstSnapshot(ctx context.Context) error {
	for {
		latestSnapshot, changeSignal, permanentErr := w.currentSnapshot()
		if permanentErr != nil || latestSnapshot != nil {
			return permanentErr
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changeSignal:
		}
	}
}

func (w *watcher) setLatest(s *Snapshot, permanentErr error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.latestSnapshot, w.permanentErr = s, permanentErr
	close(w.changeSignal)
	w.changeSignal = make(chan struct{})
}

// run looks until the process has ended, or nobody follows it any more.
func (w *watcher) run(ctx context.Context) {
	interval, lastPosition := minPollInterval, client.HistoryPosition{}
	for ctx.Err() == nil {
		newPosition, err := w.poll(ctx, lastPosition)
		switch {
		case ctx.Err() != nil || errors.Is(err, errWatchEnded):
			return
		case err != nil || newPosition != lastPosition:
			interval = minPollInterval
		default:
			interval = min(interval*3/2, maxPollInterval)
		}
		lastPosition = newPosition
		timer := time.NewTimer(interval)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-w.wakeSignal:
			interval = minPollInterval
		}
		timer.Stop()
	}
}

// errWatchEnded ends a watcher: nothing will change any more.
var errWatchEnded = errors.New("feed: nothing more to be seen")

// poll asks how far the process has come and, after a change, its status. It returns the revision that it saw.
func (w *watcher) poll(ctx context.Context, lastPosition client.HistoryPosition) (client.HistoryPosition, error) {
	if err := w.feed.serverReadLimiter.Wait(ctx); err != nil {
		return lastPosition, err
	}
	position, err := w.source.HistoryPosition(ctx)
	switch {
	case errors.Is(err, client.ErrNotFound), errors.Is(err, client.ErrForgotten):
		w.setLatest(nil, err)
		return lastPosition, errWatchEnded
	case err != nil:
		w.publishQueryFailure(ctx, CodeUnreachable, err)
		return client.HistoryPosition{}, err // so that the next look that succeeds counts as a change
	case position == lastPosition:
		w.lastSeenAt = time.Now()
		return position, nil
	}
	if !position.HasEnded && !w.queryLimiter.Allow() {
		return lastPosition, nil // a later look notices the change again, and queries when it may
	}
	if err := w.feed.serverReadLimiter.Wait(ctx); err != nil {
		return lastPosition, err
	}
	if position.HasEnded {
		return position, w.publishEnd(ctx, position)
	}
	v, err := w.source.Status(ctx)
	if err != nil {
		w.publishQueryFailure(ctx, CodeNoWorker, err)
		return client.HistoryPosition{}, err
	}
	s, err := snapshotOf(KindStatus, cursorOf(position, v.IdeaCount), v)
	if err == nil {
		w.lastSeenAt = time.Now()
		w.setLatest(s, nil)
	}
	return position, err
}

// publishEnd publishes the end. A process that a worker refused has no Result: its error is permanent.
func (w *watcher) publishEnd(ctx context.Context, position client.HistoryPosition) error {
	r, err := w.source.Result(ctx)
	switch {
	case client.IsUnreachable(err):
		w.publishQueryFailure(ctx, CodeUnreachable, err)
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if err != nil {
		r = loop.ProcessResult{ProcessID: w.processID, Status: loop.StatusFailed,
			Instances: map[string]loop.InstanceResult{},
			Error:     &diag.Fault{Code: turn.CodeInvalidIdea, Message: err.Error()}}
	}
	s, err := snapshotOf(KindEnded, cursorOf(position, r.IdeaCount), WithoutStates(r))
	if err != nil {
		return err
	}
	w.setLatest(s, nil)
	return errWatchEnded
}

// publishQueryFailure publishes that the process cannot be queried, once for as long as that lasts.
func (w *watcher) publishQueryFailure(ctx context.Context, code string, cause error) {
	if ctx.Err() != nil {
		return
	}
	latestSnapshot, _, _ := w.currentSnapshot()
	cursor := Cursor{}
	if latestSnapshot != nil {
		cursor = latestSnapshot.Cursor
	}
	// the cursor stays: nothing is known to have happened
	if latestSnapshot == nil || latestSnapshot.Kind != KindNotQueryable {
		nextSnapshot, _ := snapshotOf(KindNotQueryable, cursor,
			QueryFailure{Code: code, Message: cause.Error(), LastSeenAt: w.lastSeenAt})
		w.setLatest(nextSnapshot, nil)
	}
}

// readIdeaLink returns the Link of an Idea. The latest ones are read once for all followers.
func (w *watcher) readIdeaLink(ctx context.Context, ideaNumber int) (chain.Link, error) {
	w.cachedLinksMu.Lock()
	defer w.cachedLinksMu.Unlock()
	if n := slices.IndexFunc(w.cachedLinks, func(l chain.Link) bool { return l.IdeaNumber == ideaNumber }); n >= 0 {
		return w.cachedLinks[n], nil
	}
	l, err := w.source.IdeaLink(ctx, ideaNumber)
	if err != nil {
		return l, err
	}
	if n := len(w.cachedLinks); n == 0 || w.cachedLinks[n-1].IdeaNumber < ideaNumber {
		w.cachedLinks = append(w.cachedLinks, l)
		w.cachedLinks = w.cachedLinks[max(0, len(w.cachedLinks)-maxCachedLinks):]
	}
	return l, nil
}
