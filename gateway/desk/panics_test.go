package desk

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"processidea/internal/safego/safegotest"
)

// These tests are not parallel: every goroutine of the program sees the fault.

func TestWhoLooksHearsOfAPanicAndMayLookAgain(t *testing.T) {
	safegotest.Panic(t, "gateway.shared")
	all := newTasks(1)
	look := func() (int, error) {
		return findWithinPageTime(t.Context(), all, "key", func(context.Context, *task) (int, error) { return 1, nil })
	}
	if _, err := look(); err == nil || !strings.Contains(err.Error(), "gateway.shared panicked") {
		t.Errorf("%v", err)
	}
	if v, err := look(); v != 1 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
}

func TestAPanicWhileAPageIsForgottenIsLogged(t *testing.T) {
	safegotest.Panic(t, "gateway.shared.forget")
	synctest.Test(t, func(t *testing.T) {
		_, err := findWithinPageTime(t.Context(), newTasks(1), "key", func(context.Context, *task) (int, error) {
			<-time.After(time.Minute)
			return 1, nil
		})
		var later *pendingPageError
		if !errors.As(err, &later) {
			t.Errorf("%v", err)
		}
		<-time.After(time.Hour)
	})
}

func TestAPanicWhileWhatWasFoundIsForgottenIsLogged(t *testing.T) {
	safegotest.Panic(t, "gateway.desk.found")
	found, _ := lru.New[string, any](1)
	synctest.Test(t, func(t *testing.T) {
		v, err := findOrPrevious(t.Context(), &Desk{previousResults: found}, newTasks(1), "key", func(int) bool { return true },
			func(context.Context) (int, error) { return 1, nil })
		if v != 1 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
		<-time.After(time.Hour)
	})
}
