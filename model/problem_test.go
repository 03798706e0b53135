package model

import "testing"

func TestProblemsAreListedOneALineEachWithItsPlace(t *testing.T) {
	var ps Problems
	ps.add("$.a", "want %s", "x")
	ps.warn("$.b", "it is %d", 1)
	ps.add("$", "last")
	if got, want := ps.Error(), "$.a: want x\n$.b: it is 1\n$: last"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAWarningIsNoError(t *testing.T) {
	var ps Problems
	ps.warn("$.b", "odd")
	if len(ps.Errors()) != 0 {
		t.Error("a warning counts as an error")
	}
	ps.add("$.a", "wrong")
	if errs := ps.Errors(); len(errs) != 1 || errs[0].Path != "$.a" || len(ps) != 2 {
		t.Errorf("the errors of %v are %v", ps, errs)
	}
}
