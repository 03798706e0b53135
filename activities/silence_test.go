package activities

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
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
	var data []string
	for e.Next() {
		data = append(data, strings.TrimSpace(string(e.Event().Data)))
	}
	if want := strings.Count(text, "\n"); beats != want || e.Err() != nil || len(data) != 2 || data[0] != delta("a") || data[1] != done {
		t.Errorf("%d beats of %d, %q, %v", beats, want, data, e.Err())
	}
}
