package intake_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"processidea/gateway/access"
	"processidea/gateway/intake"
)

// reading is one body on its way into an Intake.
type reading struct {
	unread  *strings.Reader
	answer  *httptest.ResponseRecorder
	release func()
	err     error
}

// beginReading reads a body of a size, and tells when that is over.
func beginReading(t *testing.T, i *intake.Intake, size int) (r *reading, isOver func() bool) {
	t.Helper()
	r = &reading{unread: strings.NewReader(strings.Repeat("x", size)), answer: httptest.NewRecorder()}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", io.NopCloser(r.unread))
	request.ContentLength = int64(size)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, r.release, r.err = i.Read(r.answer, request, 20<<20)
	}()
	synctest.Wait()
	return r, func() bool {
		synctest.Wait()
		select {
		case <-over:
			return true
		default:
			return false
		}
	}
}

// However many large bodies come, together they take the memory of a few, and small ones do not wait for them.
func TestLargeBodiesWaitForEachOtherAndAreThenRefusedUnread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const large = 3 << 20
		i := intake.New(time.Minute)
		first, isOver := beginReading(t, i, large)
		second, isSecondOver := beginReading(t, i, large)
		if !isOver() || !isSecondOver() || first.err != nil || second.err != nil {
			t.Fatalf("two do not fit: %v, %v", first.err, second.err)
		}
		third, isThirdOver := beginReading(t, i, large)
		if isThirdOver() || third.unread.Len() != large {
			t.Fatalf("a third is read: %v", third.err)
		}
		if small, isSmallOver := beginReading(t, i, 1000); !isSmallOver() || small.err != nil {
			t.Errorf("a small one waits: %v", small.err)
		}
		first.release()
		if !isThirdOver() || third.err != nil || third.unread.Len() != 0 {
			t.Fatalf("the third is not read once the first is answered: %v", third.err)
		}
		fourth, isFourthOver := beginReading(t, i, large)
		<-time.After(time.Minute)
		var refusal *access.Refusal
		if !isFourthOver() || !errors.As(fourth.err, &refusal) || refusal.Status != http.StatusServiceUnavailable ||
			fourth.answer.Header().Get("Retry-After") == "" || fourth.unread.Len() != large {
			t.Errorf("%v, %v, %d unread bytes", fourth.err, fourth.answer.Header(), fourth.unread.Len())
		}
	})
}
