package desk

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/feed"
	"processidea/gateway/shared"
)

func TestWhatTakesLongIsSaidAtOnceAndIsThereForWhoLooksAgain(t *testing.T) {
	t.Parallel()
	all, release, found := newTasks(1), make(chan struct{}), 0
	look := func() (int, error) {
		return findWithinPageTime(t.Context(), all, "key", func(_ context.Context, w *task) (int, error) {
			w.SetProgress(3, 7)
			<-release
			found++
			return found, nil
		})
	}
	for range 2 { // the second look begins nothing anew
		_, err := look()
		var later *pendingPageError
		if !errors.As(err, &later) {
			t.Fatalf("it waits, and says %v", err)
		}
		if later.CheckedCount != 3 || later.TotalCount != 7 {
			t.Errorf("it says that %d of %d are checked", later.CheckedCount, later.TotalCount)
		}
	}
	close(release)
	v, err := look()
	for later := (*pendingPageError)(nil); errors.As(err, &later); { // on a slow machine
		v, err = look()
	}
	if v != 1 || err != nil {
		t.Errorf("who looks again is given %d, %v", v, err)
	}
	if v, err := look(); v != 2 || err != nil {
		t.Errorf("who looks later is given %d, %v: an old answer", v, err)
	}
}

// An inbox that is looked at again reads no record: this desk has none, so that a read would panic.
func TestWhatStandingOrdersTookOverIsKeptForAWhile(t *testing.T) {
	t.Parallel()
	found, err := lru.New[string, any](1)
	if err != nil {
		t.Fatal(err)
	}
	v := &visit{Desk: &Desk{previousResults: found}}
	want := []client.OrderApprovals{{ProcessID: "p", GivenBy: "ann", Tool: "pay", Count: 3}}
	found.Add(orderApprovalsKey, keptOrderApprovals{want, time.Now().Add(time.Hour)})
	if got := v.findOrderApprovals(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestAWorkGoesOnWhenWhoAskedForItHasGone(t *testing.T) {
	t.Parallel()
	all, begun, release := newTasks(1), make(chan struct{}), make(chan struct{})
	ctx, leave := context.WithCancel(t.Context())
	went := make(chan error, 1)
	ended := make(chan error, 1)
	go func() {
		_, err := findWithinPageTime(ctx, all, "key", func(ctx context.Context, _ *task) (int, error) {
			close(begun)
			<-release
			ended <- ctx.Err()
			return 1, nil
		})
		went <- err
	}()
	<-begun
	leave()
	if err := <-went; err == nil {
		t.Error("who has gone is given something")
	}
	close(release)
	if err := <-ended; err != nil {
		t.Errorf("the work was ended: %v", err)
	}
}

func TestAnErrorOfWhatTakesLongIsToldOnceAndTriedAgain(t *testing.T) {
	t.Parallel()
	all, wrong := newTasks(1), errors.New("the store is away")
	look := func(err error) error {
		_, got := findWithinPageTime(t.Context(), all, "key", func(context.Context, *task) (int, error) { return 0, err })
		for later := (*pendingPageError)(nil); errors.As(got, &later); { // on a slow machine
			_, got = findWithinPageTime(t.Context(), all, "key", func(context.Context, *task) (int, error) { return 0, err })
		}
		return got
	}
	if err := look(wrong); !errors.Is(err, wrong) {
		t.Errorf("it says %v", err)
	}
	if err := look(nil); err != nil {
		t.Errorf("it says again %v", err)
	}
}

// A page waits for several works one after the other: together they have the patience of one.
func TestThePatienceOfAPageIsSharedByAllThatItWaitsFor(t *testing.T) {
	t.Parallel()
	fresh, late := withPageStart(t.Context(), time.Now()), withPageStart(t.Context(), time.Now().Add(-time.Hour))
	if left := pageTimeLeft(fresh); left >= pageTimeout {
		t.Errorf("a page that has begun waits %s", left)
	}
	if left := pageTimeLeft(late); left != minPageTimeout {
		t.Errorf("one that has waited long waits %s more", left)
	}
	if left := pageTimeLeft(t.Context()); left != pageTimeout {
		t.Errorf("what is no page waits %s", left)
	}
}

func TestAPageThatIsUnderWayLooksAgainByItself(t *testing.T) {
	t.Parallel()
	d := &Desk{}
	r := httptest.NewRequest(http.MethodGet, "/desk/processes/x/verify", nil)
	r = r.WithContext(access.WithPerson(r.Context(), &access.Person{Name: "ann"}))
	w := httptest.NewRecorder()
	_ = d.newVisit(w, r).showError(&pendingPageError{CheckedCount: 3, TotalCount: 7})
	if w.Code != http.StatusAccepted || w.Header().Get("Refresh") == "" {
		t.Errorf("it is answered %d, %v", w.Code, w.Header())
	}
	if !strings.Contains(w.Body.String(), "3 of 7 entries are checked") {
		t.Errorf("it says %s", w.Body)
	}
}

func TestAPageThatNoWorkerAnsweredLooksAgainByItself(t *testing.T) {
	t.Parallel()
	d := &Desk{Options: Options{API: &api.API{Options: api.Options{Log: slog.New(slog.DiscardHandler)}}}}
	// a page that looks again must not act again
	for method, refresh := range map[string]string{http.MethodGet: "5", http.MethodPost: ""} {
		w := httptest.NewRecorder()
		_ = d.newVisit(w, httptest.NewRequest(method, "/", nil)).showError(client.ErrNoWorker)
		if got := w.Header().Get("Refresh"); w.Code != http.StatusServiceUnavailable || got != refresh {
			t.Errorf("%s is answered %d, and looks again after %q", method, w.Code, got)
		}
	}
}

func TestWhoHasActedIsNotGivenWhatWasAskedBefore(t *testing.T) {
	t.Parallel()
	d, release := &Desk{Options: Options{API: api.New(api.Options{Feed: feed.New(nil)})}, workerTasks: newTasks(2)},
		make(chan struct{})
	defer close(release)
	_, err := queryWorker(t.Context(), d, "inbox", func(context.Context) (int, error) { <-release; return 1, nil })
	if later := (*pendingPageError)(nil); !errors.As(err, &later) {
		t.Fatal(err)
	}
	d.API.NoteChange("a process")
	asked := make(chan struct{})
	_, _ = queryWorker(t.Context(), d, "inbox", func(context.Context) (int, error) { close(asked); return 2, nil })
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Error("who has acted is given what was asked before")
	}
}

func TestWhatTakesLongIsReplacedByWhatWasFoundBeforeUntilSomebodyActs(t *testing.T) {
	t.Parallel()
	found, err := lru.New[string, any](1)
	if err != nil {
		t.Fatal(err)
	}
	d := &Desk{Options: Options{API: api.New(api.Options{Feed: feed.New(nil)})}, previousResults: found}
	release := make(chan struct{})
	defer close(release)
	look := func(all *shared.Tasks, find func(context.Context) (int, error)) (int, error) {
		return findOrPrevious(t.Context(), d, all, d.keyWithChangeCount(t.Context(), "status"), func(n int) bool { return n < 3 }, find)
	}
	now := func(n int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return n, nil }
	}
	never := func(context.Context) (int, error) { <-release; return 9, nil }
	for v, err := look(newTasks(1), now(1)); v != 1 || err != nil; v, err = look(newTasks(1), now(1)) { // a slow machine
	}
	if v, err := look(newTasks(1), never); v != 1 || err != nil {
		t.Errorf("instead of waiting it gives %d, %v", v, err)
	}
	d.API.NoteChange("a process")
	var later *pendingPageError
	if _, err := look(newTasks(1), never); !errors.As(err, &later) {
		t.Errorf("after somebody acted it gives what was found before: %v", err)
	}
	for v, err := look(newTasks(1), now(3)); v != 3 || err != nil; v, err = look(newTasks(1), now(3)) {
	}
	if _, err := look(newTasks(1), never); !errors.As(err, &later) {
		t.Errorf("it gives what was not to be kept: %v", err)
	}
}
