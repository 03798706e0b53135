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
func Panic(t testing.TB, goroutineLabel string) (panicLogged <-chan struct{}) {
	t.Helper()
	watcher := &logWatcher{label: "place=" + goroutineLabel + " ", panicLogged: make(chan struct{})}
	previousLogger, writer, flags := slog.Default(), log.Writer(), log.Flags()
	slog.SetDefault(slog.New(slog.NewTextHandler(watcher, nil)))
	PanicOnceAt(map[string]int{goroutineLabel: 0}, func(other string) bool { return other == goroutineLabel })
	t.Cleanup(func() {
		safego.SetStartHook(nil)
		slog.SetDefault(previousLogger)
		log.SetOutput(writer)
		log.SetFlags(flags)
		select {
		case <-watcher.panicLogged:
		default:
			t.Errorf("the log does not say that %s panicked", goroutineLabel)
		}
	})
	return watcher.panicLogged
}

// PanicOnceAt makes one goroutine panic at each place for which isWanted is true, after skipCountByLabel[place]
// goroutines of that place. With -1 in skipCountByLabel, every goroutine of the place panics.
func PanicOnceAt(skipCountByLabel map[string]int, isWanted func(label string) bool) {
	var mu sync.Mutex
	countByLabel := map[string]int{}
	safego.SetStartHook(func(label string) {
		mu.Lock()
		n := countByLabel[label]
		countByLabel[label]++
		mu.Unlock()
		if (n == skipCountByLabel[label] || skipCountByLabel[label] < 0) && isWanted(label) {
			panic("a fault that was put in")
		}
	})
}

// PanicsVariable maps places, as JSON, to numbers: at each place one goroutine of the program panics, after that number
// of others; with -1, every one panics.
const PanicsVariable = "PROCESSIDEA_TEST_PANICS"

// PanicFromEnvironment makes goroutines panic as PanicsVariable says. A test's binary calls it where it is the program
// that is tried.
func PanicFromEnvironment() {
	var skipCountByLabel map[string]int
	if json.Unmarshal([]byte(os.Getenv(PanicsVariable)), &skipCountByLabel) == nil {
		PanicOnceAt(skipCountByLabel, func(label string) bool {
			_, isListed := skipCountByLabel[label]
			return isListed
		})
	}
}

// logWatcher is a log writer that waits for the line about one place.
type logWatcher struct {
	label       string
	once        sync.Once
	panicLogged chan struct{}
}

func (b *logWatcher) Write(line []byte) (int, error) {
	if text := string(line); strings.Contains(text, "level=ERROR") && strings.Contains(text, b.label) &&
		strings.Contains(text, "stack=") {
		b.once.Do(func() { close(b.panicLogged) })
	}
	return len(line), nil
}
