// Package longrun switches on tests that only repeat what shorter tests prove: more often, larger, in a second browser,
// at other lengths, on another database. The ordinary run leaves them out.
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

// SkipUnlessEnabled skips a test unless the long run is on.
func SkipUnlessEnabled(t testing.TB) {
	t.Helper()
	if !Enabled() {
		t.Skip("in the long run only: set PROCESSIDEA_LONG=1")
	}
}

// RepeatCount is how often a test repeats something: longRunCount in the long run, else ordinaryCount.
func RepeatCount(ordinaryCount, longRunCount int) int {
	if Enabled() {
		return longRunCount
	}
	return ordinaryCount
}

// SampleRows yields rows of a table that tests one rule in several forms: all of them in the long run, one with -short,
// and otherwise every stride-th, at least one. Where it begins depends on the test's name, so that tests with the same
// forms do not all use the same rows.
func SampleRows[R any](t testing.TB, stride int, table map[string]R) iter.Seq2[string, R] {
	names := slices.Sorted(maps.Keys(table))
	switch {
	case Enabled():
		stride = 1
	case testing.Short() || stride > len(names):
		stride = len(names)
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(t.Name()))
	firstIndex := int(hash.Sum32() % uint32(max(stride, 1))) //nolint:gosec // the rows of a table are few
	return func(yield func(string, R) bool) {
		for n := firstIndex; n < len(names); n += stride {
			if !yield(names[n], table[names[n]]) {
				return
			}
		}
	}
}
