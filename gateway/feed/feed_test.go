package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"processidea/client"
	"processidea/model/loop"
	"processidea/store/chain"
)

// fake is a process that a test moves on.
type fake struct {
	mu               sync.Mutex
	now              client.HistoryPosition
	ideas            int
	down, noWorker   bool
	never            error // why there is nothing to be seen
	looks, questions atomic.Int64
	reads            atomic.Int64
}

func (f *fake) set(do func()) { f.mu.Lock(); defer f.mu.Unlock(); do() }

func (f *fake) HistoryPosition(context.Context) (client.HistoryPosition, error) {
	f.looks.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.never != nil:
		return client.HistoryPosition{}, f.never
	case f.down:
		return client.HistoryPosition{}, errors.New("connection refused")
	}
	return f.now, nil
}

func (f *fake) Status(context.Context) (client.Status, error) {
	f.questions.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.noWorker {
		return client.Status{}, errors.New("no poller")
	}
	return client.Status{ProcessResult: loop.ProcessResult{ProcessID: "p", Status: loop.StatusRunning,
		IdeaCount:    f.ideas,
		RequestCount: int(f.now.EventCount)}}, nil
}

func (f *fake) Result(context.Context) (loop.ProcessResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return loop.ProcessResult{ProcessID: "p", Status: loop.StatusCompleted, IdeaCount: f.ideas,
		Instances: map[string]loop.InstanceResult{"": {State: "large"}}}, nil
}

func (f *fake) IdeaLink(_ context.Context, at int) (chain.Link, error) {
	f.reads.Add(1)
	return chain.Link{IdeaNumber: at}, nil
}

func feedOf(f *fake) *Feed { return New(func(string) Source { return f }) }

// follow follows to the end and gives what was told, in a bubble of synctest.
func follow(t *testing.T, f *Feed, last string) (told []Event) {
	t.Helper()
	cursor, known := ParseCursor(last)
	r, err := f.Follow(t.Context(), "p", cursor, !known)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for e, err := range r.Events(t.Context(), time.Hour) {
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, e)
	}
	return told
}

func kinds(list []Event) string {
	text := ""
	for _, e := range list {
		text += string(e.Kind) + " " + e.ID + "; "
	}
	return text
}

func TestEveryChangeIsToldOnceUntilTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{now: client.HistoryPosition{RunID: "0123456789", EventCount: 3}}
		go func() {
			time.Sleep(time.Minute) //nolint:forbidigo // no time passes in a bubble
			f.set(func() { f.now.EventCount, f.ideas = 5, 2 })
			time.Sleep(time.Minute) //nolint:forbidigo // as above
			f.set(func() { f.noWorker, f.now.EventCount = true, 6 })
			time.Sleep(time.Minute) //nolint:forbidigo // as above
			f.set(func() { f.noWorker, f.down = false, true })
			time.Sleep(time.Minute) //nolint:forbidigo // as above
			f.set(func() { f.down, f.ideas = false, 3 })
			time.Sleep(time.Minute) //nolint:forbidigo // as above
			f.set(func() { f.now = client.HistoryPosition{RunID: "abcdefghij", EventCount: 2, HasEnded: true} })
		}()
		feed := feedOf(f)
		got := follow(t, feed, "")
		want := "status 0.01234567.3; idea 1.01234567.3; idea 2.01234567.3; status 2.01234567.5; unseen ; idea " +
			"3.01234567.5; " +
			"status 3.01234567.6; ended 3.abcdefgh.2e; "
		if kinds(got) != want {
			t.Errorf("told %s\nwant %s", kinds(got), want)
		}
		if feed.Watched() != 0 {
			t.Error("it is still looked at")
		}
		// Later, from in between: what was missed, and nothing else.
		if got := kinds(follow(t, feed, "2.01234567.5")); got != "idea 3.01234567.5; ended 3.abcdefgh.2e; " {
			t.Error(got)
		}
	})
}

func TestAProcessIsAskedOnceForAllWhoFollowItAndRarelyWhileItRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{now: client.HistoryPosition{RunID: "run", EventCount: 3}}
		feed := feedOf(f)
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() { follow(t, feed, "") })
		}
		synctest.Wait()
		time.Sleep(time.Hour) //nolint:forbidigo // no time passes in a bubble
		if n := f.questions.Load(); n != 1 {
			t.Errorf("it was asked %d times", n)
		}
		if n := f.looks.Load(); n > 3600/5+20 {
			t.Errorf("it was looked at %d times in an hour", n)
		}
		f.set(func() { f.ideas, f.now.EventCount = 7, 4 })
		feed.WakeWatcher("p")
		synctest.Wait()
		if n := f.reads.Load(); n != 7 {
			t.Errorf("7 Ideas were read %d times", n)
		}
		f.set(func() { f.now.HasEnded = true })
		feed.WakeWatcher("p")
		all.Wait()
	})
}

func TestAllWatchersTogetherKeepToANumberOfCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int64
		var all []*fake
		var mu sync.Mutex
		feed := New(func(string) Source {
			f := &fake{now: client.HistoryPosition{RunID: "run", EventCount: 1}}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, f)
			return f
		})
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		for n := range 200 {
			done.Go(func() {
				r, err := feed.Follow(ctx, fmt.Sprint(n), Cursor{}, true)
				if err != nil {
					return
				}
				defer r.Close()
				for range r.Events(ctx, time.Hour) { //nolint:revive // it reads on
				}
			})
		}
		// All of them never rest.
		for range 600 {
			time.Sleep(100 * time.Millisecond) //nolint:forbidigo // no time passes in a bubble
			mu.Lock()
			for _, f := range all {
				f.set(func() { f.now.EventCount++ })
			}
			mu.Unlock()
		}
		var questions int64
		for _, f := range all {
			looks.Add(f.looks.Load())
			questions += f.questions.Load()
		}
		if n := looks.Load() + questions; n > 60*MaxServerReadsPerSecond+MaxServerReadsPerSecond ||
			n < 60*MaxServerReadsPerSecond/2 {
			t.Errorf("%d calls in a minute", n)
		}
		cancel()
		done.Wait()
		if feed.Watched() != 0 {
			t.Errorf("%d are still looked at", feed.Watched())
		}
	})
}

func TestWhoIsSlowMissesWhatCameInBetweenAndHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{now: client.HistoryPosition{RunID: "run", EventCount: 1}}
		feed := feedOf(f)
		var quick, slow int
		var all sync.WaitGroup
		all.Go(func() { quick = len(follow(t, feed, "")) })
		all.Go(func() {
			r, err := feed.Follow(t.Context(), "p", Cursor{}, true)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			for e := range r.Events(t.Context(), time.Hour) {
				if slow++; e.Kind != KindEnded {
					time.Sleep(time.Hour) //nolint:forbidigo // no time passes in a bubble
				}
			}
		})
		for n := range 20 {
			time.Sleep(time.Minute) //nolint:forbidigo // as above
			f.set(func() { f.now.EventCount = int64(n) + 2 })
		}
		time.Sleep(time.Minute) //nolint:forbidigo // as above
		f.set(func() { f.now.HasEnded = true })
		all.Wait()
		if quick != 22 || slow != 2 {
			t.Errorf("one was told %d things, the slow one %d", quick, slow)
		}
	})
}

func TestWhatIsNoProcessIsNotFollowed(t *testing.T) {
	t.Parallel()
	for _, never := range []error{client.ErrNotFound, client.ErrForgotten} {
		feed := feedOf(&fake{never: never})
		if _, err := feed.Follow(t.Context(), "p", Cursor{}, true); !errors.Is(err, never) || feed.Watched() != 0 {
			t.Error(err)
		}
	}
}

// A cursor is what a browser sends: it may be of another process, or made up.
func TestACursorAheadOfItsProcessIsToldWhereThatStands(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{now: client.HistoryPosition{RunID: "0123456789", EventCount: 5, HasEnded: true}, ideas: 2}
		for _, last := range []string{"3.0123456789.4", "9223372036854775806.x.1", "9223372036854775807.x.1"} {
			if got := kinds(follow(t, feedOf(f), last)); got != "ended 2.01234567.5e; " {
				t.Errorf("after %s: %s", last, got)
			}
		}
		if n := f.reads.Load(); n > 0 {
			t.Errorf("%d Ideas were read", n)
		}
	})
}

func TestACursorIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []Cursor{{}, {3, "0198f2aa", 57, false}, {12, "x", 1, true}} {
		if got, ok := ParseCursor(c.String()); !ok || got != c {
			t.Errorf("%v: %v %v", c, got, ok)
		}
	}
	for _, text := range []string{"", "3", "3.x", "a.b.c", "-1.x.2", "1.x.2f"} {
		if _, ok := ParseCursor(text); ok {
			t.Errorf("%q is read", text)
		}
	}
}

// Watched counts the processes that are being looked at.
func (f *Feed) Watched() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.watchers)
}
