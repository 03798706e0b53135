// Package longrun is the switch for tests that only repeat what shorter ones prove: more often, larger, in a second
// browser, at other lengths, on another database. The ordinary run leaves them out.
package longrun

import (
	"hash/fnv"
	"iter"
	"maps"
	"os"
	"slices"
	"testing"
)

// Enabled reports whether the long run is on: PROCESSIDEA_LONG is set.
func Enabled() bool { return os.Getenv("PROCESSIDEA_LONG") != "" }

// Only skips a test that is for the long run alone.
func Only(t testing.TB) {
	t.Helper()
	if !Enabled() {
		t.Skip("in the long run only: set PROCESSIDEA_LONG=1")
	}
}

// Rows yields rows of a table that tests one rule in several forms: all of them in the long run, one with -short, and
// otherwise one in oneIn, at least one. The choice is derived from the test's name, so that tests with the same forms
// do not all use the same.
func Rows[R any](t testing.TB, oneIn int, table map[string]R) iter.Seq2[string, R] {
	names := slices.Sorted(maps.Keys(table))
	switch {
	case Enabled():
		oneIn = 1
	case testing.Short() || oneIn > len(names):
		oneIn = len(names)
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.Name()))
	first := int(h.Sum32() % uint32(max(oneIn, 1))) //nolint:gosec // the rows of a table are few
	return func(yield func(string, R) bool) {
		for n := first; n < len(names); n += oneIn {
			if !yield(names[n], table[names[n]]) {
				return
			}
		}
	}
}
