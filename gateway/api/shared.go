package api

import (
	"context"
	"sync/atomic"
	"time"

	"processidea/gateway/shared"
)

// answerTTL is how long an answer is reused for callers with the same question.
const answerTTL = time.Second

// answerCache caches recent answers: the server is asked once a second, however many callers ask. An answer requested
// after an act at this gateway always includes the act.
type answerCache struct {
	shared.Tasks
	changeCount atomic.Int64
}

func newAnswerCache() *answerCache {
	resultTTL := func(_ bool, err error) time.Duration {
		if err != nil {
			return 0
		}
		return answerTTL
	}
	return &answerCache{Tasks: shared.Tasks{MaxDuration: time.Minute, ResultTTL: resultTTL}}
}

// sharedAnswer returns a recent answer to the same question, or waits for the one that another caller is getting, or
// calls ask. A caller who leaves does not interrupt ask.
func sharedAnswer[T any](ctx context.Context, a *API, key string, ask func(context.Context) (T, error)) (T, error) {
	return shared.Ask(ctx, &a.answers.Tasks, key, 0,
		func(ctx context.Context, _ *shared.Task) (T, error) { return ask(ctx) })
}

// forgetAnswers drops all answers after an act at this gateway, since whoever acted expects to see the effect.
func (s *answerCache) forgetAnswers() {
	s.ForgetAll()
	s.changeCount.Add(1)
}
