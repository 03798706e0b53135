package diag_test

import (
	"strings"
	"testing"

	"processidea/model/diag"
)

func TestProblemsAreListedOneALineEachWithItsPlace(t *testing.T) {
	t.Parallel()
	var ps diag.Problems
	ps.Add("$.a", "want %s", "x")
	ps.Warn("$.b", "it is %d", 1)
	ps.Add("$", "last")
	if got, want := ps.Error(), "$.a: want x\n$.b: it is 1\n$: last"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAWarningIsNoError(t *testing.T) {
	t.Parallel()
	var ps diag.Problems
	ps.Warn("$.b", "odd")
	if len(ps.Errors()) != 0 {
		t.Error("a warning counts as an error")
	}
	ps.Add("$.a", "wrong")
	if errs := ps.Errors(); len(errs) != 1 || errs[0].JSONPath != "$.a" || len(ps) != 2 {
		t.Errorf("the errors of %v are %v", ps, errs)
	}
}

func TestOfMillionsOfProblemsAHundredOfAKindAreListedAndTheRestIsCounted(t *testing.T) {
	t.Parallel()
	var ps, part diag.Problems
	for n := range 3000 {
		ps.Add("$.a", "error %d", n)
		ps.Warn("$.a", "warning %d", n)
		part = nil
		part.Add("$.b", "another")
		ps.Append(part...)
	}
	var both diag.Problems
	both.Append(ps...)
	both.Append(ps...)
	if errs := ps.Errors(); len(errs) != diag.MaxListedProblems+1 || errs.Count() != 6000 ||
		errs[diag.MaxListedProblems].String() != "and 5,900 more" {
		t.Errorf("%d errors are listed: %v", len(errs), errs)
	}
	if n := both.Count(); n != 18000 || len(both) != 2*(diag.MaxListedProblems+1) {
		t.Errorf("two lists come to %d, of which %d are listed", n, len(both))
	}
	sorted := both.SortByPath()
	if last := sorted[len(sorted)-1]; last.UnlistedCount == 0 || sorted[0].UnlistedCount > 0 {
		t.Errorf("what counts the rest does not stand last: %v", sorted)
	}
	var long diag.Problems
	long.Add(strings.Repeat("k", 1<<20), "%s", strings.Repeat("v", 1<<20))
	if text := long.Error(); len(text) > 5000 {
		t.Errorf("a problem has %d bytes", len(text))
	}
}
