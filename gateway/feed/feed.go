package feed

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"processidea/client"
	"processidea/internal/safego"
	"processidea/model/loop"
	"processidea/store/chain"
)

// Source is what a feed observes: a process of package client.
type Source interface {
	HistoryPosition(ctx context.Context) (client.HistoryPosition, error)
	Status(ctx context.Context) (client.Status, error)
	Result(ctx context.Context) (loop.ProcessResult, error)
	// IdeaLink returns a sealed Idea.
	IdeaLink(ctx context.Context, ideaNumber int) (chain.Link, error)
}

// MaxServerReadsPerSecond bounds how often all watchers of a feed together call the Temporal server.
const MaxServerReadsPerSecond = 50

const (
	// minPollInterval and maxPollInterval bound how long a watcher waits before it looks again.
	minPollInterval = 300 * time.Millisecond
	maxPollInterval = 5 * time.Second
	// queryBurst and queryInterval bound how often a watcher queries a process that changes all the time: a burst, and
	// then one query per queryInterval. Asking Temporal how far the process has come is cheaper.
	queryBurst    = 30
	queryInterval = 10 * time.Second
)

// Feed follows processes. It is safe for concurrent use.
type Feed struct {
	openSource        func(process string) Source
	serverReadLimiter *rate.Limiter

	mu       sync.Mutex
	watchers map[string]*watcher
}

// New makes a Feed. openSource returns the Source of a process by its id.
func New(openSource func(processID string) Source) *Feed {
	return &Feed{openSource: openSource, serverReadLimiter: rate.NewLimiter(MaxServerReadsPerSecond,
		MaxServerReadsPerSecond),
		watchers: map[string]*watcher{}}
}

// NewForClient makes a Feed of a client's processes.
func NewForClient(c *client.Client) *Feed {
	return New(func(id string) Source { return processSource{c.Process(id)} })
}

// processSource is a Source.
type processSource struct{ *client.Process }

func (p processSource) IdeaLink(ctx context.Context, ideaNumber int) (chain.Link, error) {
	return p.Chain().Link(ctx, ideaNumber)
}

// Event is an event for a follower, who can go on later from the last ID that they received. Some events have no ID.
type Event struct {
	Kind EventKind
	ID   string
	Data []byte // JSON
}

// Follower follows one process. It is for one goroutine, and must be closed.
type Follower struct {
	feed          *Feed
	watcher       *watcher
	cursor        Cursor
	startsFromNow bool // it has seen nothing yet, and begins from now
	lastSnapshot  *Snapshot
}

// Follow begins to follow a process: after a Cursor that was seen before, or from now if fresh is true. The error wraps
// client.ErrNotFound if there is no such process.
func (f *Feed) Follow(ctx context.Context, processID string, cursor Cursor, fromNow bool) (*Follower, error) {
	w := f.joinWatcher(processID)
	if err := w.awaitFirstSnapshot(ctx); err != nil {
		f.leaveWatcher(w)
		return nil, err
	}
	return &Follower{feed: f, watcher: w, cursor: cursor, startsFromNow: fromNow}, nil
}

// Close ends the Follower.
func (r *Follower) Close() { r.feed.leaveWatcher(r.watcher) }

// SawEnd reports whether the follower has received the end already.
func (r *Follower) SawEnd() bool { return !r.startsFromNow && r.cursor.HasEnded }

// WakeWatcher makes the watcher of a process look immediately, after an act on it.
func (f *Feed) WakeWatcher(processID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w := f.watchers[processID]; w != nil {
		select {
		case w.wakeSignal <- struct{}{}:
		default:
		}
	}
}

func (f *Feed) joinWatcher(processID string) *watcher {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.watchers[processID]
	if w == nil {
		ctx, cancel := context.WithCancel(context.Background())
		w = &watcher{feed: f, processID: processID, source: f.openSource(processID), cancel: cancel,
			queryLimiter: rate.NewLimiter(rate.Every(queryInterval), queryBurst), changeSignal: make(chan struct{}),
			wakeSignal: make(chan struct{}, 1), lastSeenAt: time.Now()}
		f.watchers[processID] = w
		safego.Go("feed.watch", func() error { w.run(ctx); return nil }, func(err error) {
			if err != nil {
				w.setLatest(nil, err)
			}
		})
	}
	w.followerCount++
	return w
}

func (f *Feed) leaveWatcher(w *watcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.followerCount--; w.followerCount == 0 {
		w.cancel()
		delete(f.watchers, w.processID)
	}
}

// Events yields news until the process has ended or ctx is done. After wait without news it yields an Event without a
// Kind, which shows that the connection is alive.
func (r *Follower) Events(ctx context.Context, idleInterval time.Duration) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			snapshot, changeSignal, permanentErr := r.watcher.currentSnapshot()
			if permanentErr != nil {
				yield(Event{}, permanentErr)
				return
			}
			if snapshot != r.lastSnapshot {
				r.lastSnapshot = snapshot
				if !r.yieldNews(ctx, snapshot, yield) || snapshot.Kind == KindEnded {
					return
				}
				continue
			}
			idleTimer := time.NewTimer(idleInterval)
			select {
			case <-ctx.Done():
				idleTimer.Stop()
				return
			case <-changeSignal:
			case <-idleTimer.C:
				if !yield(Event{}, nil) {
					return
				}
			}
			idleTimer.Stop()
		}
	}
}

// yieldNews yields the Ideas sealed since the last call, and the Snapshot if it is new.
func (r *Follower) yieldNews(ctx context.Context, s *Snapshot, yield func(Event, error) bool) bool {
	if s.Kind == KindNotQueryable {
		return yield(Event{Kind: s.Kind, Data: s.Data}, nil)
	}
	isNew := r.startsFromNow || s.Cursor != r.cursor
	if r.startsFromNow {
		r.cursor.IdeaCount, r.startsFromNow = s.Cursor.IdeaCount, false
	}
	// A client may send any cursor, such as that of another process.
	for ideaNumber := min(r.cursor.IdeaCount, s.Cursor.IdeaCount) + 1; ideaNumber <= s.Cursor.IdeaCount; ideaNumber++ {
		link, err := r.watcher.readIdeaLink(ctx, ideaNumber)
		if errors.Is(err, client.ErrNotFound) {
			// The Idea belongs to a part. A split process also counts the Ideas of its parts, which have chains of
			// their own.
			continue
		}
		if err != nil {
			yield(Event{}, err)
			return false
		}
		r.cursor.IdeaCount = ideaNumber
		data, err := json.Marshal(link)
		if !yield(Event{KindIdea, r.cursor.String(), data}, err) || err != nil {
			return false
		}
	}
	r.cursor = s.Cursor
	return !isNew || yield(Event{s.Kind, s.Cursor.String(), s.Data}, nil)
}

// AwaitEnd waits for the end of a process, until ctx is done, and reports whether it has ended.
func (f *Feed) AwaitEnd(ctx context.Context, processID string) (bool, error) {
	follower, err := f.Follow(ctx, processID, Cursor{}, true)
	if err != nil {
		if ctx.Err() != nil {
			return false, nil
		}
		return false, err
	}
	defer follower.Close()
	for e, err := range follower.Events(ctx, maxPollInterval) {
		if err != nil || e.Kind == KindEnded {
			return err == nil, err
		}
	}
	return false, nil
}

// AwaitEndWithin reports whether a process has ended, or ends within wait.
func (f *Feed) AwaitEndWithin(ctx context.Context, p *client.Process, wait time.Duration) (bool, error) {
	position, err := p.HistoryPosition(ctx)
	if err != nil || position.HasEnded || wait == 0 {
		return position.HasEnded, err
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return f.AwaitEnd(ctx, p.ID())
}
