// Package shared lets concurrent callers with the same question share one computation, which runs to its end even if a
// caller leaves.
package shared

import (
	"context"
	"sync"
	"time"

	"processidea/internal/safego"
)

// Works are computations. Concurrent callers with the same key share one of them.
type Works struct {
	// Longest bounds how long a computation may take. Nobody waits for a longer one.
	Longest time.Duration
	// Keep returns how long a result is kept for later callers. awaited: a caller was asked to come back.
	Keep func(awaited bool, err error) time.Duration

	slots chan struct{} // nil: no limit on concurrent computations
	mu    sync.Mutex
	byKey map[string]*Work
}

// Bound limits the number of concurrent computations.
func (all *Works) Bound(n int) *Works { all.slots = make(chan struct{}, n); return all }

// Work is one computation, under way or finished.
type Work struct {
	done    chan struct{}
	value   any
	err     error
	awaited bool // a caller was asked to come back

	mu             sync.Mutex
	checked, total int
}

// SetProgress records how far the work is.
func (w *Work) SetProgress(checked, of int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checked, w.total = checked, of
}

// PendingError means that a caller's patience ended before the work did. It says how far the work is.
type PendingError struct{ Checked, Of int }

func (*PendingError) Error() string { return "shared: it is being worked out" }

// Ask returns the result of find, or its recent result. If find takes longer than patience, the error is a
// *PendingError, and the next Ask returns the result. A patience of 0 waits to the end.
func Ask[T any](
	ctx context.Context, all *Works, key string, patience time.Duration, find func(context.Context, *Work) (T, error),
) (v T, err error) {
	w := all.join(ctx, key, func(ctx context.Context, w *Work) (any, error) { return find(ctx, w) })
	var late <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-ctx.Done():
		return v, ctx.Err()
	case <-late:
		return v, all.putOff(w)
	case <-w.done:
		all.dropHandedOut(key, w)
		v, _ = w.value.(T)
		return v, w.err
	}
}

func (all *Works) join(ctx context.Context, key string, find func(context.Context, *Work) (any, error)) *Work {
	all.mu.Lock()
	defer all.mu.Unlock()
	w := all.byKey[key]
	if w == nil {
		w = &Work{done: make(chan struct{})}
		if all.byKey == nil {
			all.byKey = map[string]*Work{}
		}
		all.byKey[key] = w
		safego.Go("gateway.shared", func() (err error) {
			if all.slots != nil {
				all.slots <- struct{}{}
				defer func() { <-all.slots }()
			}
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), all.Longest)
			defer cancel()
			w.value, err = find(ctx, w)
			return err
		}, func(err error) { all.keepResult(key, w, err) })
	}
	return w
}

func (all *Works) keepResult(key string, w *Work, err error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	w.err = err
	close(w.done)
	if kept := all.Keep(w.awaited, err); kept > 0 {
		safego.AfterFunc(kept, "gateway.shared.forget", func() { all.forget(key, w) })
	} else if all.byKey[key] == w {
		delete(all.byKey, key)
	}
}

// putOff records that a caller was asked to come back.
func (all *Works) putOff(w *Work) error {
	all.mu.Lock()
	w.awaited = true
	all.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	return &PendingError{w.checked, w.total}
}

// dropHandedOut drops a result once a caller that was asked to come back has received it.
func (all *Works) dropHandedOut(key string, w *Work) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if w.awaited && all.byKey[key] == w {
		delete(all.byKey, key)
	}
}

func (all *Works) forget(key string, w *Work) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byKey[key] == w {
		delete(all.byKey, key)
	}
}

// Forget drops all results and all running work: later callers start new computations.
func (all *Works) Forget() {
	all.mu.Lock()
	defer all.mu.Unlock()
	clear(all.byKey)
}
