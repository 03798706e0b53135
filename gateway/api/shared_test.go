package api

import (
	"context"
	"testing"
)

func TestAnAnswerThatTakesLongIsReplacedByTheOneBeforeUntilSomebodyActs(t *testing.T) {
	s, release := newAnswers(), make(chan struct{})
	keep := func(int) bool { return true }
	now := func(n int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return n, nil }
	}
	never := func(ctx context.Context) (int, error) { <-release; return 3, nil }
	if v, err := shareRecent(t.Context(), s, "key", keep, now(1)); v != 1 || err != nil {
		t.Fatal(v, err)
	}
	s.Forget() // as after a second
	if v, err := shareRecent(t.Context(), s, "key", keep, never); v != 1 || err != nil {
		t.Errorf("instead of waiting it gives %d, %v", v, err)
	}
	s.forget()
	if v, err := shareRecent(t.Context(), s, "key", keep, now(2)); v != 2 || err != nil {
		t.Errorf("after somebody acted it gives %d, %v", v, err)
	}
	close(release)
}
