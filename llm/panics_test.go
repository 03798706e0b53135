package llm

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"processidea/internal/safego/safegotest"
)

// These tests are not parallel: every goroutine of the program sees the fault.

func TestAPanicOfTheIdleTimerIsLogged(t *testing.T) {
	safegotest.Panic(t, "llm.silence")
	synctest.Test(t, func(*testing.T) {
		newIdleTimer(time.Second, func() {}).start()
		<-time.After(time.Minute)
	})
}

func TestAPanicOfTheTimerOfAnAnswerIsLoggedAndTheRequestEndsInItsTime(t *testing.T) {
	safegotest.Panic(t, "llm.noResponse")
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := contextOf(t, 200*time.Millisecond)
	defer cancel()
	if _, err := newClient(t, s.config()).Stream(ctx, question(t)); err == nil || ctx.Err() == nil {
		t.Errorf("%v before its time is over", err)
	}
}

func TestAPanicOfTheTimerOfTheFirstByteIsLoggedAndTheRequestEndsInItsTime(t *testing.T) {
	panicked := safegotest.Panic(t, "llm.firstByte")
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-panicked
		cancel()
	}()
	q := question(t)
	q.FirstByteTimeout = time.Millisecond
	if _, err := newClient(t, s.config()).Stream(ctx, q); err == nil {
		t.Error("it answers")
	}
}
