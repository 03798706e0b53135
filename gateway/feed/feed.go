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
	Revision(ctx context.Context) (client.Revision, error)
	Status(ctx context.Context) (client.Status, error)
	Result(ctx context.Context) (loop.Result, error)
	// Idea returns a sealed Idea.
	Idea(ctx context.Context, at int) (chain.Link, error)
}

// CallsPerSecond bounds how often all watchers of a feed together call the Temporal server.
const CallsPerSecond = 50

const (
	// minLookInterval and maxLookInterval bound how long a watcher waits before it looks again.
	minLookInterval = 300 * time.Millisecond
	maxLookInterval = 5 * time.Second
	// queryBurst and askEvery bound how often a watcher queries a process that changes all the time: a burst, and then
	// one query per askEvery. Asking Temporal how far the process has come is cheaper.
	queryBurst = 30
	askEvery   = 10 * time.Second
)

// Feed follows processes. It is safe for concurrent use.
type Feed struct {
	open  func(process string) Source
	limit *rate.Limiter

	mu       sync.Mutex
	watchers map[string]*watcher
}

// New makes a Feed. open returns the Source of a process by its id.
func New(open func(process string) Source) *Feed {
	return &Feed{open: open, limit: rate.NewLimiter(CallsPerSecond, CallsPerSecond), watchers: map[string]*watcher{}}
}

// Of makes a Feed of a client's processes.
func Of(c *client.Client) *Feed {
	return New(func(id string) Source { return process{c.Process(id)} })
}

// process is a Source.
type process struct{ *client.Process }

func (p process) Idea(ctx context.Context, at int) (chain.Link, error) {
	return p.Chain().Link(ctx, at)
}

// Event is an event for a follower, who can go on later from the last ID that they received. Some events have no ID.
type Event struct {
	Kind Kind
	ID   string
	Data []byte // JSON
}

// Follower follows one process. It is for one goroutine, and must be closed.
type Follower struct {
	feed   *Feed
	w      *watcher
	cursor Cursor
	fresh  bool // it has seen nothing yet, and begins from now
	last   *Snapshot
}

// Follow begins to follow a process: after a Cursor that was seen before, or from now if fresh is true. The error wraps
// client.ErrNotFound if there is no such process.
func (f *Feed) Follow(ctx context.Context, process string, after Cursor, fresh bool) (*Follower, error) {
	w := f.join(process)
	if err := w.awaitFirst(ctx); err != nil {
		f.leave(w)
		return nil, err
	}
	return &Follower{feed: f, w: w, cursor: after, fresh: fresh}, nil
}

// Close ends the Follower.
func (r *Follower) Close() { r.feed.leave(r.w) }

// SawEnd reports whether the follower has received the end already.
func (r *Follower) SawEnd() bool { return !r.fresh && r.cursor.Ended }

// Poke makes the watcher of a process look immediately, after an act on it.
func (f *Feed) Poke(process string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w := f.watchers[process]; w != nil {
		select {
		case w.poke <- struct{}{}:
		default:
		}
	}
}

func (f *Feed) join(process string) *watcher {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.watchers[process]
	if w == nil {
		ctx, cancel := context.WithCancel(context.Background())
		w = &watcher{feed: f, process: process, source: f.open(process), cancel: cancel,
			queryLimiter: rate.NewLimiter(rate.Every(askEvery), queryBurst), changed: make(chan struct{}),
			poke: make(chan struct{}, 1), since: time.Now()}
		f.watchers[process] = w
		safego.Go("feed.watch", func() error { w.run(ctx); return nil }, func(err error) {
			if err != nil {
				w.setLatest(nil, err)
			}
		})
	}
	w.followers++
	return w
}

func (f *Feed) leave(w *watcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.followers--; w.followers == 0 {
		w.cancel()
		delete(f.watchers, w.process)
	}
}

// Events yields news until the process has ended or ctx is done. After wait without news it yields an Event without a
// Kind, which shows that the connection is alive.
func (r *Follower) Events(ctx context.Context, wait time.Duration) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			snapshot, changed, failed := r.w.current()
			if failed != nil {
				yield(Event{}, failed)
				return
			}
			if snapshot != r.last {
				r.last = snapshot
				if !r.yieldNews(ctx, snapshot, yield) || snapshot.Kind == KindEnded {
					return
				}
				continue
			}
			idle := time.NewTimer(wait)
			select {
			case <-ctx.Done():
				idle.Stop()
				return
			case <-changed:
			case <-idle.C:
				if !yield(Event{}, nil) {
					return
				}
			}
			idle.Stop()
		}
	}
}

// yieldNews yields the Ideas sealed since the last call, and the Snapshot if it is new.
func (r *Follower) yieldNews(ctx context.Context, s *Snapshot, yield func(Event, error) bool) bool {
	if s.Kind == KindUnseen {
		return yield(Event{Kind: s.Kind, Data: s.Data}, nil)
	}
	news := r.fresh || s.Cursor != r.cursor
	if r.fresh {
		r.cursor.Ideas, r.fresh = s.Cursor.Ideas, false
	}
	// A client may send any cursor, such as that of another process.
	for at := min(r.cursor.Ideas, s.Cursor.Ideas) + 1; at <= s.Cursor.Ideas; at++ {
		link, err := r.w.readIdeaLink(ctx, at)
		if errors.Is(err, client.ErrNotFound) {
			// The Idea belongs to a part. A split process also counts the Ideas of its parts, which have chains of
			// their own.
			continue
		}
		if err != nil {
			yield(Event{}, err)
			return false
		}
		r.cursor.Ideas = at
		data, err := json.Marshal(link)
		if !yield(Event{KindIdea, r.cursor.String(), data}, err) || err != nil {
			return false
		}
	}
	r.cursor = s.Cursor
	return !news || yield(Event{s.Kind, s.Cursor.String(), s.Data}, nil)
}

// Ended waits for the end of a process, until ctx is done, and reports whether it has ended.
func (f *Feed) Ended(ctx context.Context, process string) (bool, error) {
	follower, err := f.Follow(ctx, process, Cursor{}, true)
	if err != nil {
		if ctx.Err() != nil {
			return false, nil
		}
		return false, err
	}
	defer follower.Close()
	for e, err := range follower.Events(ctx, maxLookInterval) {
		if err != nil || e.Kind == KindEnded {
			return err == nil, err
		}
	}
	return false, nil
}

// EndedWithin reports whether a process has ended, or ends within wait.
func (f *Feed) EndedWithin(ctx context.Context, p *client.Process, wait time.Duration) (bool, error) {
	now, err := p.Revision(ctx)
	if err != nil || now.Ended || wait == 0 {
		return now.Ended, err
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return f.Ended(ctx, p.ID())
}
