package httptool

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestABodyThatDripsEndsWithTheTimeOfItsCall(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, " ")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(time.Millisecond):
			}
		}
	})
	ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
	defer cancel()
	_, err := client(t, nil, s).Do(ctx, Spec{URL: s.URL}, nil, nil, "k")
	if e := asError(t, err); !e.IsRetryable || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", e)
	}
	<-gone // the server was hung up on
}

func TestHeadersWithoutEndAreNotRead(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("a", 2<<20))
	})
	if got, err := client(t, nil, s).Do(bg, Spec{URL: s.URL}, nil, nil, "k"); err == nil ||
		!strings.Contains(err.Error(), "headers") {
		t.Errorf("%v, %v", got, err)
	}
}

func TestALocationThatRepeatsASecretDoesNotCarryItAway(t *testing.T) {
	t.Parallel()
	other, reached := serve(t, nil)
	var to string
	s, _ := redirecting(t, 302, func(r *http.Request) string { return to + "?" + r.URL.RawQuery })
	c := client(t, map[string]string{"TOKEN": "t0p/secret"}, s, other)
	spec := Spec{URL: s.URL + "/?k=$env:TOKEN", Method: "GET"}
	to = other.URL + "/end"
	_, err := c.Do(bg, spec, nil, nil, "k")
	if e := asError(t, err); e.IsRetryable || !strings.Contains(e.Error(), "it would carry a secret to another host") ||
		len(reached.take()) != 0 {
		t.Errorf("%v", e)
	}
	to = "/end" // the server itself knows it
	if got, err := c.Do(bg, spec, nil, nil, "k"); err != nil || got != "arrived" {
		t.Errorf("%v, %v", got, err)
	}
}
