// Package safegotest lets goroutines panic in tests.
package safegotest

import (
	"encoding/json"
	"log"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"processidea/internal/safego"
)

// Panic makes the next goroutine of a place panic, and returns a channel that is closed when the log has the panic. The
// test fails if that has not happened by its end. It affects all goroutines of the program, so such a test must not run
// in parallel.
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

// EachOnce makes one goroutine panic at each place for which wanted is true, after skip[place] goroutines of that
// place. With -1 in skip, every goroutine of the place panics.
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

// Variable maps places, as JSON, to numbers: at each place one goroutine of the program panics, after that number of
// others; with -1, every one panics.
const Variable = "PROCESSIDEA_TEST_PANICS"

// PanicAsTold makes goroutines panic as Variable says. A test's binary calls it where it is the program that is tried.
func PanicAsTold() {
	var after map[string]int
	if json.Unmarshal([]byte(os.Getenv(Variable)), &after) == nil {
		EachOnce(after, func(place string) bool { _, listed := after[place]; return listed })
	}
}

// buffer is a log writer that waits for the line about one place.
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
