package api

import (
	"context"
	"errors"
	"sync"
	"time"

	"processidea/internal/safego"
)

// sharedFor is how long an answer is good for those who ask the same.
const sharedFor = time.Second

// shared has those who ask the same get the same answer: the server is asked once a second, however many ask. What somebody did at
// this gateway is in every answer that is asked for after it.
type shared struct {
	mu      sync.Mutex
	answers map[any]*sharedAnswer
	// recent are answers that took long, for those who would rather have an old one than wait; acts counts what made them wrong.
	recent map[any]recent
	acts   int
}

type recent struct {
	value any
	at    time.Time
}

const (
	// recentFor is how old an answer may be that is given in place of one that takes longer than patient.
	recentFor = 15 * time.Second
	patient   = 100 * time.Millisecond
)

// shareRecent is share; where that takes long, and keep says of the answer before that it may stand for this one, it gives that one.
func shareRecent[T any](ctx context.Context, s *shared, key any, keep func(T) bool, ask func(context.Context) (T, error)) (T, error) {
	asking := func(ctx context.Context) (T, error) {
		s.mu.Lock()
		acts := s.acts
		s.mu.Unlock()
		v, err := ask(ctx)
		if err == nil && keep(v) {
			s.remember(key, v, acts)
		}
		return v, err
	}
	s.mu.Lock()
	before, known := s.recent[key]
	s.mu.Unlock()
	if !known {
		return share(ctx, s, key, asking)
	}
	soon, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	v, err := share(soon, s, key, asking)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		v, _ = before.value.(T)
		return v, nil
	}
	return v, err
}

// remember keeps an answer for a while, unless somebody did something since it was asked for.
func (s *shared) remember(key, v any, acts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if acts != s.acts {
		return
	}
	if s.recent == nil {
		s.recent = map[any]recent{}
	}
	now := time.Now()
	s.recent[key] = recent{v, now}
	safego.AfterFunc(recentFor, "gateway.share.recent", func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.recent[key].at.Equal(now) {
			delete(s.recent, key)
		}
	})
}

type sharedAnswer struct {
	done  chan struct{}
	value any
	err   error
	until time.Time // zero: it is being asked for
}

// share gives the answer that somebody else got a moment ago, or is getting, or asks for one. Nobody's leaving ends the asking.
func share[T any](ctx context.Context, s *shared, key any, ask func(context.Context) (T, error)) (T, error) {
	a, mine := s.find(key)
	if mine {
		safego.Go("gateway.share", func() (err error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()
			a.value, err = ask(ctx)
			return err
		}, func(err error) {
			a.err = err
			s.answered(key, a)
		})
	}
	select {
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case <-a.done:
	}
	v, _ := a.value.(T)
	return v, a.err
}

func (s *shared) find(key any) (a *sharedAnswer, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers == nil {
		s.answers = map[any]*sharedAnswer{}
	}
	a = s.answers[key]
	if a == nil || !a.until.IsZero() && time.Now().After(a.until) {
		a, mine = &sharedAnswer{done: make(chan struct{})}, true
		s.answers[key] = a
	}
	return a, mine
}

// forget has everything asked for anew: somebody did something here, and expects to see it.
func (s *shared) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.answers)
	clear(s.recent)
	s.acts++
}

// answered hands the answer out, and forgets it after a while. An error is forgotten at once, but for those who wait.
func (s *shared) answered(key any, a *sharedAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.until = time.Now().Add(sharedFor)
	close(a.done)
	forget := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.answers[key] == a {
			delete(s.answers, key)
		}
	}
	if a.err != nil {
		if s.answers[key] == a {
			delete(s.answers, key)
		}
		return
	}
	safego.AfterFunc(sharedFor, "gateway.share.forget", forget)
}
