package api

import (
	"context"
	"sync"
	"time"
)

// sharedFor is how long an answer is good for those who ask the same.
const sharedFor = time.Second

// shared has those who ask the same get the same answer: the server is asked once a second, however many ask. What somebody did at
// this gateway is in every answer that is asked for after it.
type shared struct {
	mu      sync.Mutex
	answers map[any]*answer
}

type answer struct {
	done  chan struct{}
	value any
	err   error
	until time.Time // zero: it is being asked for
}

// share gives the answer that somebody else got a moment ago, or is getting, or asks for one. Nobody's leaving ends the asking.
func share[T any](ctx context.Context, s *shared, key any, ask func(context.Context) (T, error)) (T, error) {
	a, mine := s.find(key)
	if mine {
		go func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()
			a.value, a.err = ask(ctx)
			s.answered(key, a)
		}()
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

func (s *shared) find(key any) (a *answer, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers == nil {
		s.answers = map[any]*answer{}
	}
	a = s.answers[key]
	if a == nil || !a.until.IsZero() && time.Now().After(a.until) {
		a, mine = &answer{done: make(chan struct{})}, true
		s.answers[key] = a
	}
	return a, mine
}

// forget has everything asked for anew: somebody did something here, and expects to see it.
func (s *shared) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.answers)
}

// answered hands the answer out, and forgets it after a while. An error is forgotten at once, but for those who wait.
func (s *shared) answered(key any, a *answer) {
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
	time.AfterFunc(sharedFor, forget)
}
