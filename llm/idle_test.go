package llm

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valyala/fastjson"
)

func TestACommentKeepsTheLineOpenAndThinkingTakesItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var hungUp atomic.Bool
		timer := newIdleTimer(maxSilence, func() { hungUp.Store(true) })
		defer timer.stop()
		pass := func(d time.Duration, want bool) {
			<-time.After(d)
			synctest.Wait()
			if hungUp.Load() != want {
				t.Fatalf("hung up: %v", !want)
			}
		}
		timer.reset()
		pass(time.Hour, false) // nothing was said yet
		timer.start()
		pass(maxSilence-time.Second, false)
		timer.reset()
		pass(maxSilence-time.Second, false)
		pass(2*time.Second, true)
	})
}

func TestEveryLineOfAStreamIsASignOfLife(t *testing.T) {
	t.Parallel()
	text := ": keep-alive\n\n" + chunks(delta("a")) + ":\n:\n\n" + chunks(done)
	beats := 0
	e := newEventReader(&http.Response{Body: io.NopCloser(strings.NewReader(text))}, func() { beats++ })
	var said []*fastjson.Value
	for e.Next() {
		said = append(said, e.eventValue)
	}
	if want := strings.Count(text, "\n"); beats != want || e.Err() != nil || len(said) != 2 || said[0] == nil ||
		said[1] != nil {
		t.Errorf("%d beats of %d, %v, %v", beats, want, said, e.Err())
	}
}
