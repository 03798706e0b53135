package api

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/feed"
	"processidea/internal/safego/safegotest"
)

// These tests are not parallel: every goroutine of the program sees the fault.

func TestWhoSharesAnAnswerHearsOfAPanicAndTheNextIsAnswered(t *testing.T) {
	safegotest.Panic(t, "gateway.shared")
	s := &API{answers: newAnswerCache()}
	ask := func(context.Context) (int, error) { return 1, nil }
	if _, err := sharedAnswer(t.Context(), s, "key", ask); err == nil || !strings.Contains(err.Error(), "gateway.shared "+
		"panicked") {
		t.Errorf("%v", err)
	}
	if v, err := sharedAnswer(t.Context(), s, "key", ask); v != 1 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
}

func TestAPanicWhileAnswersAreForgottenIsLogged(t *testing.T) {
	safegotest.Panic(t, "gateway.shared.forget")
	synctest.Test(t, func(t *testing.T) {
		ask := func(context.Context) (int, error) { return 1, nil }
		if v, err := sharedAnswer(t.Context(), &API{answers: newAnswerCache()}, "key", ask); v != 1 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
		<-time.After(time.Minute)
	})
}

func TestAPanicFailsTheDecisionsOfOneProcessAlone(t *testing.T) {
	safegotest.Panic(t, "gateway.decide")
	a := &API{answers: newAnswerCache()}
	a.Feed = feed.New(nil)
	approve := client.Decision{CallID: "1.1", Kind: client.Approve}
	// There is no client: the second process's decision panics by itself.
	results := a.decideAll(t.Context(), &access.Person{Name: "ann"},
		[]Decision{{ProcessID: "p", Decision: approve}, {ProcessID: "q", Decision: approve}})
	for _, r := range results {
		if r.Outcome != OutcomeFailed {
			t.Errorf("%+v", r)
		}
	}
}
