package model

import "testing"

func TestAStatusIsAnEndOrNot(t *testing.T) {
	for status, ended := range map[Status]bool{
		Waiting: false, AwaitingApproval: false, Running: false, Done: true, Failed: true, Rejected: true, Skipped: true, Blocked: true,
	} {
		if status.Ended() != ended {
			t.Errorf("%s: ended is not %v", status, ended)
		}
	}
}

func TestEveryEndIsCountedOnceAndNothingElse(t *testing.T) {
	var c Counts
	for _, s := range []Status{Waiting, AwaitingApproval, Running, Done, Failed, Rejected, Skipped, Blocked, Done} {
		c.Count(s)
	}
	if c != (Counts{Done: 2, Failed: 1, Rejected: 1, Skipped: 1, Blocked: 1}) {
		t.Errorf("got %+v", c)
	}
	c.Add(Counts{Done: 1, Failed: 2, Rejected: 3, Skipped: 4, Blocked: 5})
	if c != (Counts{Done: 3, Failed: 3, Rejected: 4, Skipped: 5, Blocked: 6}) {
		t.Errorf("after adding: %+v", c)
	}
}

func TestACallExpectsItsResultOnce(t *testing.T) {
	for name, c := range map[string]struct {
		rec  Record
		want bool
	}{
		"waiting": {Record{Status: Waiting}, false}, "asking": {Record{Status: Waiting, Asking: true}, true}, "running": {Record{Status: Running}, true},
		"its result is there": {Record{Status: Running, Arrived: true}, false}, "done": {Record{Status: Done}, false}, "failed": {Record{Status: Failed}, false},
	} {
		if c.rec.expects() != c.want {
			t.Errorf("%s: not %v", name, c.want)
		}
	}
}

func TestAResultForTheWholeStateClaimsTheKeysItBrings(t *testing.T) {
	whole := one(Path{})
	for name, c := range map[string]struct {
		rec Record
		at  string
		yes bool
	}{
		"before it is there it may bring any": {Record{Call: Call{OutputPath: whole}, Status: Running}, "b.c", true},
		"what it brings":                      {Record{Call: Call{OutputPath: whole}, Arrived: true, Value: mustDecode(`{"a":1}`)}, "a.x", true},
		"what it does not bring":              {Record{Call: Call{OutputPath: whole}, Arrived: true, Value: mustDecode(`{"a":1}`)}, "b", false},
		"the whole itself":                    {Record{Call: Call{OutputPath: whole}, Arrived: true, Value: mustDecode(`{"a":1}`)}, "", true},
		"a merge reaches everywhere":          {Record{Call: Call{OutputPath: whole, Method: "merge"}, Arrived: true, Value: mustDecode(`{"a":1}`)}, "b", true},
		"no path claims nothing":              {Record{}, "", false},
	} {
		p, _ := ParsePath(c.at)
		if c.rec.writes(p) != c.yes {
			t.Errorf("%s: writes at %q is not %v", name, c.at, c.yes)
		}
	}
}
