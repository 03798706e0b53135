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

// watcher polls one process for all its followers.
type watcher struct {
	feed    *Feed
	process string
	source  Source
	cancel  context.CancelFunc
	poke    chan struct{}
	since   time.Time     // when it last answered
	asks    *rate.Limiter // bounds the queries, which a hosted server bills

	followers int // guarded by the feed

	mu      sync.Mutex
	latest  *Snapshot     // nil until the first answer
	failed  error         // a permanent error
	changed chan struct{} // closed when latest or failed changes

	reading sync.Mutex   // held while an Idea is read, so that others wait for it
	links   []chain.Link // of the last Ideas, in order
}

// maxLinks bounds the cached links of a watcher; a follower further behind reads them from the store.
const maxLinks = 64

// current returns the latest Snapshot, or the permanent error, and a channel that is closed at the next one.
func (w *watcher) current() (*Snapshot, <-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest, w.changed, w.failed
}

// first waits until something is known.
func (w *watcher) first(ctx context.Context) error {
	for {
		latest, changed, failed := w.current()
		if failed != nil || latest != nil {
			return failed
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (w *watcher) set(s *Snapshot, failed error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.latest, w.failed = s, failed
	close(w.changed)
	w.changed = make(chan struct{})
}

// run polls until the process has ended, or has no follower left.
func (w *watcher) run(ctx context.Context) {
	every, seen := minInterval, client.Revision{}
	for ctx.Err() == nil {
		now, err := w.look(ctx, seen)
		switch {
		case ctx.Err() != nil || errors.Is(err, errDone):
			return
		case err != nil || now != seen:
			every = minInterval
		default:
			every = min(every*3/2, maxInterval)
		}
		seen = now
		timer := time.NewTimer(every)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-w.poke:
			every = minInterval
		}
		timer.Stop()
	}
}

// errDone ends a watcher: nothing will change any more.
var errDone = errors.New("feed: nothing more to be seen")

// look reads the revision of the process, and queries its status if the revision has changed. It returns the revision
// that it has handled.
func (w *watcher) look(ctx context.Context, seen client.Revision) (client.Revision, error) {
	if err := w.feed.limit.Wait(ctx); err != nil {
		return seen, err
	}
	now, err := w.source.Revision(ctx)
	switch {
	case errors.Is(err, client.ErrNotFound), errors.Is(err, client.ErrForgotten):
		w.set(nil, err)
		return seen, errDone
	case err != nil:
		w.unseen(ctx, CodeUnreachable, err)
		return client.Revision{}, err // its next answer is news
	case now == seen:
		w.since = time.Now()
		return now, nil
	}
	if !now.Ended && !w.asks.Allow() {
		return seen, nil // a later look queries it
	}
	if err := w.feed.limit.Wait(ctx); err != nil {
		return seen, err
	}
	if now.Ended {
		return now, w.end(ctx, now)
	}
	v, err := w.source.Status(ctx)
	if err != nil {
		w.unseen(ctx, CodeNoWorker, err)
		return client.Revision{}, err
	}
	s, err := snapshotOf(KindStatus, cursorOf(now, v.Ideas), v)
	if err == nil {
		w.since = time.Now()
		w.set(s, nil)
	}
	return now, err
}

// end publishes the end. A process that a worker refused has no Result: its error becomes the final Snapshot.
func (w *watcher) end(ctx context.Context, now client.Revision) error {
	r, err := w.source.Result(ctx)
	switch {
	case client.IsUnreachable(err):
		w.unseen(ctx, CodeUnreachable, err)
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if err != nil {
		r = loop.Result{ProcessID: w.process, Status: loop.StatusFailed, Instances: map[string]loop.InstanceResult{},
			Error: &diag.Fault{Code: turn.CodeInvalidIdea, Message: err.Error()}}
	}
	s, err := snapshotOf(KindEnded, cursorOf(now, r.Ideas), WithoutStates(r))
	if err != nil {
		return err
	}
	w.set(s, nil)
	return errDone
}

// unseen publishes, once per outage, that the process does not answer.
func (w *watcher) unseen(ctx context.Context, code string, cause error) {
	if ctx.Err() != nil {
		return
	}
	latest, _, _ := w.current()
	at := Cursor{}
	if latest != nil {
		at = latest.Cursor
	}
	if latest == nil || latest.Kind != KindUnseen { // the cursor stays: nothing is known to have happened
		next, _ := snapshotOf(KindUnseen, at, Unseen{Code: code, Message: cause.Error(), Since: w.since})
		w.set(next, nil)
	}
}

// link returns an Idea's link; the latest ones are read once for all followers.
func (w *watcher) link(ctx context.Context, at int) (chain.Link, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	if n := slices.IndexFunc(w.links, func(l chain.Link) bool { return l.At == at }); n >= 0 {
		return w.links[n], nil
	}
	l, err := w.source.Idea(ctx, at)
	if err != nil {
		return l, err
	}
	if n := len(w.links); n == 0 || w.links[n-1].At < at {
		w.links = append(w.links, l)
		w.links = w.links[max(0, len(w.links)-maxLinks):]
	}
	return l, nil
}
