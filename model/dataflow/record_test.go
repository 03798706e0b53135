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
	t.Parallel()
	for status, ended := range map[ideafile.CallStatus]bool{
		ideafile.CallWaiting: false, ideafile.CallAwaitingApproval: false, ideafile.CallRunning: false,
		ideafile.CallDone:   true,
		ideafile.CallFailed: true, ideafile.CallRejected: true, ideafile.CallSkipped: true, ideafile.CallBlocked: true,
	} {
		if status.IsFinal() != ended {
			t.Errorf("%s: ended is not %v", status, ended)
		}
	}
}

func TestEveryEndIsCountedOnceAndNothingElse(t *testing.T) {
	t.Parallel()
	var c turn.CallCounts
	for _, s := range []ideafile.CallStatus{ideafile.CallWaiting, ideafile.CallAwaitingApproval, ideafile.CallRunning,
		ideafile.CallDone, ideafile.CallFailed, ideafile.CallRejected, ideafile.CallSkipped, ideafile.CallBlocked,
		ideafile.CallDone} {
		c.Increment(s)
	}
	if c != (turn.CallCounts{Done: 2, Failed: 1, Rejected: 1, Skipped: 1, Blocked: 1}) {
		t.Errorf("got %+v", c)
	}
	c.Add(turn.CallCounts{Done: 1, Failed: 2, Rejected: 3, Skipped: 4, Blocked: 5})
	if c != (turn.CallCounts{Done: 3, Failed: 3, Rejected: 4, Skipped: 5, Blocked: 6}) {
		t.Errorf("after adding: %+v", c)
	}
}

func TestACallExpectsItsResultOnce(t *testing.T) {
	t.Parallel()
	for phase, want := range map[string]bool{
		"waiting": false, "adapting": false, "adapted": false, "reviewing": false, "approved": false, "askingLLM": true,
		"running": true, "resultPending": false, "ended": false,
	} {
		rec := dataflow.CallRecord{}.In(phase)
		if rec.Expects() != want {
			t.Errorf("%s: not %v", phase, want)
		}
	}
}

func TestAResultForTheWholeStateClaimsTheKeysItBrings(t *testing.T) {
	t.Parallel()
	whole := refexpr.NewOutputPath(jsonval.Path{})
	for name, c := range map[string]struct {
		rec dataflow.CallRecord
		at  string
		yes bool
	}{
		"before it is there it may bring any": {
			dataflow.CallRecord{Call: ideafile.Call{OutputPath: whole}}.In("running"), "b.c", true},
		"what it brings": {dataflow.CallRecord{Call: ideafile.Call{OutputPath: whole},
			PendingResult: modeltest.MustDecodeJSON(`{"a":1}`)}.In("resultPending"), "a.x", true},
		"what it does not bring": {dataflow.CallRecord{Call: ideafile.Call{OutputPath: whole},
			PendingResult: modeltest.MustDecodeJSON(`{"a":1}`)}.In("resultPending"), "b", false},
		"the whole itself": {dataflow.CallRecord{Call: ideafile.Call{OutputPath: whole},
			PendingResult: modeltest.MustDecodeJSON(`{"a":1}`)}.In("resultPending"), "", true},
		"a merge reaches everywhere": {
			dataflow.CallRecord{Call: ideafile.Call{OutputPath: whole, OutputMethod: "merge"},
				PendingResult: modeltest.MustDecodeJSON(`{"a":1}`)}.In("resultPending"), "b", true},
		"no path claims nothing": {dataflow.CallRecord{}, "", false},
	} {
		p, _ := jsonval.ParsePath(c.at)
		if c.rec.Writes(p) != c.yes {
			t.Errorf("%s: writes at %q is not %v", name, c.at, c.yes)
		}
	}
}
