package diag_test

import (
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
