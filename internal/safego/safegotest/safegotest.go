// Package safegotest lets goroutines panic in tests.
package safegotest

import (
	"log"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"processidea/internal/safego"
)

// Panic makes the next goroutine of a place panic, and returns a channel that is closed when the log has it. The test
// fails if that does not happen by its end. All goroutines of the program see it, so that such a test is not parallel.
func Panic(t testing.TB, place string) (panicked <-chan struct{}) {
	t.Helper()
	captured := &buffer{place: "place=" + place + " ", panicked: make(chan struct{})}
	previous, writer, flags := slog.Default(), log.Writer(), log.Flags()
	slog.SetDefault(slog.New(slog.NewTextHandler(captured, nil)))
	EachOnce(map[string]int{place: 0}, func(other string) bool { return other == place })
	t.Cleanup(func() {
		safego.Inject(nil)
		slog.SetDefault(previous)
		log.SetOutput(writer)
		log.SetFlags(flags)
		select {
		case <-captured.panicked:
		default:
			t.Errorf("the log does not say that %s panicked", place)
		}
	})
	return captured.panicked
}

// EachOnce makes one goroutine panic at each wanted place: the one after as many as skip has for the place; -1: every
// one.
func EachOnce(skip map[string]int, wanted func(place string) bool) {
	var mu sync.Mutex
	seen := map[string]int{}
	safego.Inject(func(place string) {
		mu.Lock()
		n := seen[place]
		seen[place]++
		mu.Unlock()
		if (n == skip[place] || skip[place] < 0) && wanted(place) {
			panic("a fault that was put in")
		}
	})
}

// buffer is a log that waits for one line.
type buffer struct {
	place    string
	once     sync.Once
	panicked chan struct{}
}

func (b *buffer) Write(line []byte) (int, error) {
	if text := string(line); strings.Contains(text, "level=ERROR") && strings.Contains(text, b.place) &&
		strings.Contains(text, "stack=") {
		b.once.Do(func() { close(b.panicked) })
	}
	return len(line), nil
}
