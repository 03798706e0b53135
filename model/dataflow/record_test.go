package dataflow_test

import (
	"testing"

	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

func TestAStatusIsAnEndOrNot(t *testing.T) {
	for status, ended := range map[ideafile.Status]bool{
		ideafile.Waiting: false, ideafile.AwaitingApproval: false, ideafile.Running: false, ideafile.Done: true, ideafile.Failed: true, ideafile.Rejected: true, ideafile.Skipped: true, ideafile.Blocked: true,
	} {
		if status.Ended() != ended {
			t.Errorf("%s: ended is not %v", status, ended)
		}
	}
}

func TestEveryEndIsCountedOnceAndNothingElse(t *testing.T) {
	var c turn.Counts
	for _, s := range []ideafile.Status{ideafile.Waiting, ideafile.AwaitingApproval, ideafile.Running, ideafile.Done, ideafile.Failed, ideafile.Rejected, ideafile.Skipped, ideafile.Blocked, ideafile.Done} {
		c.Count(s)
	}
	if c != (turn.Counts{Done: 2, Failed: 1, Rejected: 1, Skipped: 1, Blocked: 1}) {
		t.Errorf("got %+v", c)
	}
	c.Add(turn.Counts{Done: 1, Failed: 2, Rejected: 3, Skipped: 4, Blocked: 5})
	if c != (turn.Counts{Done: 3, Failed: 3, Rejected: 4, Skipped: 5, Blocked: 6}) {
		t.Errorf("after adding: %+v", c)
	}
}

func TestACallExpectsItsResultOnce(t *testing.T) {
	for name, c := range map[string]struct {
		rec  dataflow.Record
		want bool
	}{
		"waiting": {dataflow.Record{Status: ideafile.Waiting}, false}, "asking": {dataflow.Record{Status: ideafile.Waiting, AwaitingLLM: true}, true}, "running": {dataflow.Record{Status: ideafile.Running}, true},
		"its result is there": {dataflow.Record{Status: ideafile.Running, ResultPending: true}, false}, "done": {dataflow.Record{Status: ideafile.Done}, false}, "failed": {dataflow.Record{Status: ideafile.Failed}, false},
	} {
		if c.rec.Expects() != c.want {
			t.Errorf("%s: not %v", name, c.want)
		}
	}
}

func TestAResultForTheWholeStateClaimsTheKeysItBrings(t *testing.T) {
	whole := refexpr.SinglePath(jsonval.Path{})
	for name, c := range map[string]struct {
		rec dataflow.Record
		at  string
		yes bool
	}{
		"before it is there it may bring any": {dataflow.Record{Call: ideafile.Call{OutputPath: whole}, Status: ideafile.Running}, "b.c", true},
		"what it brings":                      {dataflow.Record{Call: ideafile.Call{OutputPath: whole}, ResultPending: true, Value: modeltest.MustDecode(`{"a":1}`)}, "a.x", true},
		"what it does not bring":              {dataflow.Record{Call: ideafile.Call{OutputPath: whole}, ResultPending: true, Value: modeltest.MustDecode(`{"a":1}`)}, "b", false},
		"the whole itself":                    {dataflow.Record{Call: ideafile.Call{OutputPath: whole}, ResultPending: true, Value: modeltest.MustDecode(`{"a":1}`)}, "", true},
		"a merge reaches everywhere":          {dataflow.Record{Call: ideafile.Call{OutputPath: whole, Method: "merge"}, ResultPending: true, Value: modeltest.MustDecode(`{"a":1}`)}, "b", true},
		"no path claims nothing":              {dataflow.Record{}, "", false},
	} {
		p, _ := jsonval.ParsePath(c.at)
		if c.rec.Writes(p) != c.yes {
			t.Errorf("%s: writes at %q is not %v", name, c.at, c.yes)
		}
	}
}
