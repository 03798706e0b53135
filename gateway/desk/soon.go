package desk

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"processidea/internal/safego"
)

const (
	// patience is how long a page waits for what may take long: what is read from the chain, and what a worker or the server answers. It then
	// says so, and looks again: whoever comes sees something at once.
	patience = 250 * time.Millisecond
	// leastPatience is what is left of it for the last of several works of a page, each of which takes a part.
	leastPatience = 20 * time.Millisecond
	// lookAgain is after how many seconds.
	lookAgain = 1
	// keptFor is how long what came of a work is kept for who was told to look again.
	keptFor = 10 * time.Second
	// longestWork ends what nobody can be waiting for any more.
	longestWork = 10 * time.Minute
)

// works does what takes longer than a page may: once for all who ask for the same, and to its end, whoever goes away meanwhile.
type works struct {
	atOnce chan struct{} // bounds how much is held in memory
	mu     sync.Mutex
	under  map[string]*work
}

type work struct {
	done    chan struct{}
	value   any
	err     error
	awaited bool // somebody was told to look again

	mu          sync.Mutex
	checked, of int
}

func newWorks(atOnce int) *works {
	return &works{atOnce: make(chan struct{}, atOnce), under: map[string]*work{}}
}

// progress says how far the work is.
func (w *work) progress(checked, of int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checked, w.of = checked, of
}

// underWay is the error of a page that cannot be shown yet.
type underWay struct{ Checked, Of int }

func (*underWay) Error() string { return "desk: it is being worked out" }

type pageBegan struct{}

// withPatience notes when a page began: all that it waits for shares its patience.
func withPatience(ctx context.Context) context.Context {
	return context.WithValue(ctx, pageBegan{}, time.Now())
}

func patienceLeft(ctx context.Context) time.Duration {
	began, ok := ctx.Value(pageBegan{}).(time.Time)
	if !ok {
		return patience
	}
	return max(patience-time.Since(began), leastPatience)
}

// soon gives what find finds, unless that takes longer than a page may: the error is then an *underWay, and who asks again is given it.
func soon[T any](ctx context.Context, all *works, key string, find func(context.Context, *work) (T, error)) (T, error) {
	var none T
	w := all.join(ctx, key, func(ctx context.Context, w *work) (any, error) { return find(ctx, w) })
	timer := time.NewTimer(patienceLeft(ctx))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case <-timer.C:
		return none, all.putOff(w)
	case <-w.done:
		all.taken(key, w)
		v, _ := w.value.(T)
		return v, w.err
	}
}

// ask is soon of what people's acts change: who has acted is not given what was asked before.
func ask[T any](ctx context.Context, d *Desk, key string, find func(context.Context) (T, error)) (T, error) {
	key += "\n" + strconv.Itoa(d.API.Acts())
	return soon(ctx, d.asking, key, func(ctx context.Context, _ *work) (T, error) { return find(ctx) })
}

func (all *works) join(ctx context.Context, key string, find func(context.Context, *work) (any, error)) *work {
	all.mu.Lock()
	defer all.mu.Unlock()
	w := all.under[key]
	if w == nil {
		w = &work{done: make(chan struct{})}
		all.under[key] = w
		safego.Go("desk.work", func() error { return all.do(context.WithoutCancel(ctx), w, find) },
			func(err error) { all.ended(key, w, err) })
	}
	return w
}

func (all *works) do(ctx context.Context, w *work, find func(context.Context, *work) (any, error)) (err error) {
	all.atOnce <- struct{}{}
	defer func() { <-all.atOnce }()
	ctx, cancel := context.WithTimeout(ctx, longestWork)
	defer cancel()
	w.value, err = find(ctx, w)
	return err
}

func (all *works) ended(key string, w *work, err error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	w.err = err
	close(w.done)
	if w.awaited {
		safego.AfterFunc(keptFor, "desk.forget", func() { all.taken(key, w) })
	} else {
		delete(all.under, key)
	}
}

// putOff notes that somebody was told to look again.
func (all *works) putOff(w *work) error {
	all.mu.Lock()
	w.awaited = true
	all.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	return &underWay{w.checked, w.of}
}

// taken forgets what came of a work: it is asked for anew.
func (all *works) taken(key string, w *work) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.under[key] == w {
		delete(all.under, key)
	}
}

// showUnderWay says that a page is being worked out. It looks again by itself, with and without scripts.
func (d *Desk) showUnderWay(w http.ResponseWriter, r *http.Request, u *underWay) {
	w.Header().Set("Refresh", strconv.Itoa(lookAgain))
	d.render(w, r, http.StatusAccepted, "underway", struct {
		frame
		*underWay
	}{d.frame(r, "One moment"), u})
}
