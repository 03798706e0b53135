// Package safegotest lets goroutines panic in tests, and finds in the source where they are started.
package safegotest

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"processidea/internal/safego"
)

// Panic has the next goroutine of a place panic. The test fails if none does until its end, or if the log does not say where it panicked.
// All goroutines of the program see it, so that such a test is not parallel.
func Panic(t testing.TB, place string) {
	t.Helper()
	said := &buffer{}
	previous, writer, flags := slog.Default(), log.Writer(), log.Flags()
	slog.SetDefault(slog.New(slog.NewTextHandler(said, nil)))
	EachOnce(map[string]int{place: 0}, func(other string) bool { return other == place })
	t.Cleanup(func() {
		safego.Inject(nil)
		slog.SetDefault(previous)
		log.SetOutput(writer)
		log.SetFlags(flags)
		if text := said.String(); !strings.Contains(text, "level=ERROR") || !strings.Contains(text, "place="+place) || !strings.Contains(text, "stack=") {
			t.Errorf("the log does not say that %s panicked: %s", place, text)
		}
	})
}

// EachOnce has one goroutine panic at each place that is wanted: the first one, or the one after so many as skip says.
func EachOnce(skip map[string]int, wanted func(place string) bool) {
	var mu sync.Mutex
	seen := map[string]int{}
	safego.Inject(func(place string) {
		mu.Lock()
		n := seen[place]
		seen[place]++
		mu.Unlock()
		if n == skip[place] && wanted(place) {
			panic("a fault that was put in")
		}
	})
}

type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(line)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
