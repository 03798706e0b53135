package llm

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestAConnectionServesOneRequestAfterAnother(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, chunks(spoken(solutionText)...))
	}))
	s.Config.ConnState = func(_ net.Conn, now http.ConnState) {
		if now == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	c := newClient(t, Config{BaseURL: s.URL + "/v1"})
	for range 3 {
		if r, err := makeRequest(t, c); err != nil || !r.Whole {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// lateEnd is an answer whose end comes some time after all that is said in it.
type lateEnd struct {
	io.Reader
	after         time.Duration
	closed        chan struct{}
	ended, hungUp bool
}

func (l *lateEnd) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if err != io.EOF {
		return n, err
	}
	select {
	case <-time.After(l.after):
		l.ended = true
		return n, io.EOF
	case <-l.closed:
		return n, http.ErrBodyReadAfterClose
	}
}

func (l *lateEnd) Close() error {
	l.hungUp = !l.ended
	close(l.closed)
	return nil
}

func TestTheEndOfAnAnswerIsWaitedForAMoment(t *testing.T) {
	t.Parallel()
	for after, hungUp := range map[time.Duration]bool{maxDrainWait - time.Millisecond: false,
		maxDrainWait + time.Millisecond: true, time.Hour: true} {
		synctest.Test(t, func(t *testing.T) {
			l := &lateEnd{Reader: strings.NewReader(chunks(spoken(solutionText)...)), after: after,
				closed: make(chan struct{})}
			s := &chunkStream{eventReader: newEventReader(&http.Response{Body: l}, func() {})}
			for s.Next() {
			}
			began := time.Now()
			if err := s.Close(); err != nil || s.Err() != nil || l.hungUp != hungUp ||
				time.Since(began) > maxDrainWait {
				t.Errorf("an end after %s: hung up %v after %s, %v, %v", after, l.hungUp, time.Since(began),
					err, s.Err())
			}
		})
	}
}
