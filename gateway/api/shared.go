package api

import (
	"context"
	"errors"
	"sync"
	"time"

	"processidea/gateway/shared"
	"processidea/internal/safego"
)

// sharedFor is how long an answer is good for those who ask the same.
const sharedFor = time.Second

// answers are what was asked a moment ago: the server is asked once a second, however many ask. What somebody did at
// this gateway is
// in every answer that is asked for after it.
type answers struct {
	shared.Works
	mu sync.Mutex
	// recent are answers that took long, for those who would rather have an old one than wait; acts counts what made
	// them wrong.
	recent map[any]recent
	acts   int
}

func newAnswers() *answers {
	keep := func(_ bool, err error) time.Duration {
		if err != nil {
			return 0
		}
		return sharedFor
	}
	return &answers{Works: shared.Works{Longest: time.Minute, Keep: keep}, recent: map[any]recent{}}
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

// shareRecent is share; where that takes long, and keep says of the answer before that it may stand for this one, it
// gives that one.
func shareRecent[T any](
	ctx context.Context, s *answers, key any, keep func(T) bool, ask func(context.Context) (T, error),
) (T, error) {
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
func (s *answers) remember(key, v any, acts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if acts != s.acts {
		return
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

// share gives the answer that somebody else got a moment ago, or is getting, or asks for one. Nobody's leaving ends the
// asking.
func share[T any](ctx context.Context, s *answers, key any, ask func(context.Context) (T, error)) (T, error) {
	return shared.Ask(ctx, &s.Works, key, 0, func(ctx context.Context, _ *shared.Work) (T, error) { return ask(ctx) })
}

// forget has everything asked for anew: somebody did something here, and expects to see it.
func (s *answers) forget() {
	s.Forget()
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.recent)
	s.acts++
}
