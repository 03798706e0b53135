package activities

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
	synctest.Test(t, func(t *testing.T) {
		var hungUp atomic.Bool
		s := newSilence(0, func() { hungUp.Store(true) })
		defer s.end()
		pass := func(d time.Duration, want bool) {
			<-time.After(d)
			synctest.Wait()
			if hungUp.Load() != want {
				t.Fatalf("hung up: %v", !want)
			}
		}
		s.beat()
		pass(time.Hour, false) // nothing was said yet
		s.begin()
		pass(maxSilence-time.Second, false)
		s.beat()
		pass(maxSilence-time.Second, false)
		pass(2*time.Second, true)
	})
}

func TestEveryLineOfAStreamIsASignOfLife(t *testing.T) {
	text := ": keep-alive\n\n" + chunks(delta("a")) + ":\n:\n\n" + chunks(done)
	beats := 0
	e := newEvents(&http.Response{Body: io.NopCloser(strings.NewReader(text))}, func() { beats++ })
	var said []*fastjson.Value
	for e.Next() {
		said = append(said, e.Event())
	}
	if want := strings.Count(text, "\n"); beats != want || e.Err() != nil || len(said) != 2 || said[0] == nil || said[1] != nil {
		t.Errorf("%d beats of %d, %v, %v", beats, want, said, e.Err())
	}
}
