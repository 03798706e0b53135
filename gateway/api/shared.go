package api

import (
	"context"
	"sync/atomic"
	"time"

	"processidea/gateway/shared"
)

// answerTTL is how long an answer is good for those who ask the same.
const answerTTL = time.Second

// answers caches recent answers: the server is asked once a second, however many callers ask. An answer requested after
// an act at this gateway always includes the act.
type answers struct {
	shared.Works
	acts atomic.Int64
}

func newAnswers() *answers {
	keep := func(_ bool, err error) time.Duration {
		if err != nil {
			return 0
		}
		return answerTTL
	}
	return &answers{Works: shared.Works{Longest: time.Minute, Keep: keep}}
}

// sharedAnswer gives the answer that somebody else got a moment ago, or is getting, or asks for one. Nobody's leaving
// ends the asking.
func sharedAnswer[T any](ctx context.Context, a *API, key string, ask func(context.Context) (T, error)) (T, error) {
	return shared.Ask(ctx, &a.answers.Works, key, 0,
		func(ctx context.Context, _ *shared.Work) (T, error) { return ask(ctx) })
}

// forget has everything asked for anew: somebody did something here, and expects to see it.
func (s *answers) forget() {
	s.Forget()
	s.acts.Add(1)
}
