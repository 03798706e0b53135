package safego_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"processidea/internal/safego"
)

// ends are ways in which a goroutine ends other than by returning.
var ends = map[string]func(){
	"a text":                         func() { panic("boom") },
	"an error":                       func() { panic(errors.New("boom")) },
	"nil":                            func() { panic(nil) }, //nolint:govet // that is the case
	"a fault":                        func() { var m map[string]int; m["a"] = 1 },
	"a value that cannot be printed": func() { panic(unprintable{}) },
}

type unprintable struct{}

func (u unprintable) String() string { panic(u) }

func TestAPanicIsAnError(t *testing.T) {
	t.Parallel()
	for name, end := range ends {
		f := func() error { end(); return nil }
		run := map[string]func() error{
			"Run":  func() error { return safego.Run("test", f) },
			"Wait": func() error { return safego.GoAndWait("test", f) },
			"Each": func() error {
				return safego.ForEach(t.Context(), "test", 1, 1, func(context.Context, int) error { return f() })
			},
		}
		for how, run := range run {
			var panicked *safego.PanicError
			if err := run(); !errors.As(err, &panicked) || panicked.Label != "test" ||
				!strings.HasPrefix(panicked.Stack, "processidea/internal/safego_test.") {
				t.Errorf("%s, %s: %v, at %s", how, name, err, panicked.StackTrace())
			}
		}
	}
}

func TestWhoWaitsHearsOfAGoroutineThatWasLeft(t *testing.T) {
	t.Parallel()
	err := safego.GoAndWait("test", func() error { runtime.Goexit(); return nil })
	if err == nil || !strings.Contains(err.Error(), "runtime.Goexit") {
		t.Errorf("%v", err)
	}
}

func TestAnErrorIsHandedOn(t *testing.T) {
	t.Parallel()
	why := errors.New("why")
	if err := safego.GoAndWait("test", func() error { return why }); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	if err := safego.GoAndWait("test", func() error { return nil }); err != nil {
		t.Errorf("%v", err)
	}
}

func TestWhatIsToldOfAnEndMayPanicToo(t *testing.T) {
	t.Parallel()
	told := make(chan struct{})
	safego.Go("test", func() error { panic("first") }, func(error) {
		defer close(told)
		panic("second")
	})
	<-told
	synctest.Test(t, func(*testing.T) {
		safego.AfterFunc(time.Minute, "test", func() { panic("third") })
		<-time.After(time.Hour)
	})
}

func TestAGoroutineCanFailWhatItWorksFor(t *testing.T) {
	t.Parallel()
	ctx, release := safego.FailableContext(t.Context())
	defer release()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	safego.Go("test", func() error { panic("boom") }, func(err error) { safego.FailContext(inner, err) })
	<-ctx.Done()
	if p := safego.PanicOf(ctx, ctx.Err()); p == nil || p.Value != "boom" {
		t.Errorf("%v", context.Cause(ctx))
	}
	safego.FailContext(t.Context(), errors.New("nobody hears it"))
}

// The rule is held by this test: linters that forbid identifiers do not see go statements.
func TestGoroutinesAreStartedHere(t *testing.T) {
	t.Parallel()
	s := readSource(t)
	for _, p := range s.Problems {
		t.Error(p)
	}
	for place, folder := range s.Places {
		if !s.Named[place] {
			t.Errorf("no test has %s panic, in %s", place, folder)
		}
	}
	if len(s.Places) < 40 {
		t.Errorf("only %d places were found", len(s.Places))
	}
}

// The gate looks for races where goroutines are started.
func TestTheRaceDetectorRunsWhereGoroutinesAreStarted(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("../../.ci/race")
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Fields(string(list))
	for place, folder := range readSource(t).Places {
		if !slices.Contains(listed, "./"+folder) {
			t.Errorf("%s starts a goroutine (%s): .ci/race does not name it", folder, place)
		}
	}
}

func TestTheRuleSeesEveryWay(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`func f() { go f() }`, `func f() { func() { go func() {}() }() }`, `var g errgroup.Group; func f() { g.Go(f) }`,
		`func f(all sync.WaitGroup) { all.Go(func() {}) }`, `var _ = time.AfterFunc(1, f)`,
		`var start = context.AfterFunc`,
		`func f() { safego.Inject(nil) }`, `func f() { safego.Go(name, f, nil) }`,
		`func f() { safego.Go("twice", f, nil); safego.Run("twice", f) }`,
	} {
		s := newSource()
		if err := s.Read("a/a.go", "package a\n"+body); err != nil || len(s.Problems) != 1 {
			t.Errorf("%s: %v %v", body, err, s.Problems)
		}
	}
	s := newSource()
	if err := s.Read("a/a_test.go", "package a\nvar _ = `a.place`"); err != nil || s.Named["a.place"] {
		t.Errorf("a test that names a place without a panic counts: %v", err)
	}
	if err := s.Read("a/a.go", "package a\nimport \"golang.org/x/sync/errgroup\""); err != nil || len(s.Problems) != 1 {
		t.Errorf("%v %v", err, s.Problems)
	}
}

func BenchmarkGo(b *testing.B) {
	done := make(chan error)
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			go func() { done <- nil }()
			<-done
		}
	})
	b.Run("safe", func(b *testing.B) {
		for b.Loop() {
			safego.Go("bench", func() error { return nil }, func(err error) { done <- err })
			<-done
		}
	})
}
