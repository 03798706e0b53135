package approval_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"processidea/model/approval"
)

func became(l *approval.FateLog, id string) string { return l.Outcomes([]string{id}, true)[0].Status }

func TestTheLastHundredRefusalsAreListedAndAllAreCounted(t *testing.T) {
	t.Parallel()
	var l approval.FateLog
	for n := range 250 {
		id := fmt.Sprint(n)
		l.MarkUnderWay(id)
		l.RecordFate(approval.Fate{ID: id, Signal: "pause"})
		l.RecordFate(approval.Fate{Signal: "resume", RefusalReason: id})
	}
	list := l.Refusals()
	if l.RefusedCount != 250 || len(list) != 100 || list[0].RefusalReason != "150" || list[99].RefusalReason != "249" {
		t.Errorf("%d, the last %d, from %s", l.RefusedCount, len(list), list[0].RefusalReason)
	}
	if list := new(approval.FateLog).Refusals(); list == nil || len(list) > 0 {
		t.Errorf("of none, %v", list)
	}
}

func TestAnActKeepsTheFateThatItWasGivenFirst(t *testing.T) {
	t.Parallel()
	var l approval.FateLog
	for range 2 { // the same signal, sent twice
		l.MarkUnderWay("a")
	}
	if became(&l, "a") != approval.ActUnderWay || l.AreOutcomesKnown([]string{"a"}, true) {
		t.Errorf("%+v", l)
	}
	taken := l.RecordFate(approval.Fate{ID: "a", Votes: approval.VoteCount{Have: 1, Want: 2}})
	if !taken || !l.RecordFate(approval.Fate{ID: "a", RefusalReason: "it waits no longer"}) {
		t.Error("one is not kept")
	}
	l.MarkUnderWay("a")
	o := l.Outcomes([]string{"a"}, true)[0]
	if o.Status != approval.ActAccepted || o.Votes.Have != 1 || l.RefusedCount != 1 || len(l.UnderWayIDs) > 0 {
		t.Errorf("%+v, %+v", o, l)
	}
}

func TestOfWhatWasTakenAndNobodyCanAskForNothingIsKept(t *testing.T) {
	t.Parallel()
	var l approval.FateLog
	l.MarkUnderWay("")
	for _, id := range []string{"", "order:x", "~whole"} {
		if l.RecordFate(approval.Fate{ID: id}) {
			t.Errorf("%q is kept", id)
		}
	}
	if len(l.Latest)+len(l.UnderWayIDs) > 0 {
		t.Errorf("%+v", l)
	}
}

// An act that has not been handled yet may still come: only then can it be told from one that is too long ago, or was
// never sent.
func TestWhoAsksForAnActTooLongAgoIsToldSo(t *testing.T) {
	t.Parallel()
	var l approval.FateLog
	for n := range 5001 {
		id := fmt.Sprint(n)
		l.MarkUnderWay(id)
		l.RecordFate(approval.Fate{ID: id, RefusalReason: map[bool]string{true: "no"}[n%2 == 1]})
	}
	if o := l.Outcomes([]string{"0"}, true)[0]; o.Status != approval.ActUnknown || o.RefusalReason == "" {
		t.Errorf("%+v", o)
	}
	if l.AreOutcomesKnown([]string{"1", "0"}, false) || !l.AreOutcomesKnown([]string{"1", "0"}, true) ||
		!l.AreOutcomesKnown([]string{"1"}, false) {
		t.Error("what may still come is waited for, and no more")
	}
	if became(&l, "1") != approval.ActRefused || became(&l, "5000") != approval.ActAccepted || len(l.Latest) != 5000 {
		t.Errorf("%s, %s of %d", became(&l, "1"), became(&l, "5000"), len(l.Latest))
	}
}

// The next run of a workflow is given them as JSON; so was it once, when there were refusals alone.
func TestFatesTravel(t *testing.T) {
	t.Parallel()
	var l, next approval.FateLog
	for _, id := range []string{"a", "b", "c"} {
		l.MarkUnderWay(id)
	}
	l.RecordFate(approval.Fate{ID: "a", Votes: approval.VoteCount{Have: 1, Want: 1}})
	l.RecordFate(approval.Fate{ID: "b", RefusalReason: "no"})
	data, err := json.Marshal(l)
	if err == nil {
		err = json.Unmarshal(data, &next)
	}
	ids := []string{"a", "b", "c", "d"}
	if err != nil || !slices.Equal(l.Outcomes(ids, true), next.Outcomes(ids, true)) || next.RefusedCount != 1 {
		t.Errorf("%s: %+v, %v", data, next.Outcomes(ids, true), err)
	}
	var old approval.FateLog
	before := `{"last": [{"id": "x", "signal": "pause", "reason": "no", "at": "2026-01-01T00:00:00Z"}], "count": 7}`
	err = json.Unmarshal([]byte(before), &old)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if err != nil || became(&old, "x") != approval.ActRefused || old.RefusedCount != 7 ||
		!old.Refusals()[0].ReceivedAt.Equal(at) {
		t.Errorf("%+v, %v", old, err)
	}
}

func TestTheIdOfAnActIsThatOfItsPayload(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal  string
		payload map[string]any
		want    approval.Fate
	}{
		{"approve", map[string]any{"id": "a", "call": "1.1", "by": "ann"},
			approval.Fate{ID: "a", CallID: "1.1", SentBy: "ann"}},
		{"allow", map[string]any{"id": "order", "act": "a"}, approval.Fate{ID: "a"}},
		{"allow", map[string]any{"id": "order"}, approval.Fate{ID: "order"}},
		{"pause", map[string]any{"id": 7}, approval.Fate{}},
		{"pause", nil, approval.Fate{}},
	} {
		c.want.Signal = c.signal
		if got := approval.NewFate(c.signal, c.payload, time.Time{}); got != c.want {
			t.Errorf("%s %v: %+v", c.signal, c.payload, got)
		}
	}
}

func TestAQuestionNamesFromOneToTwoThousandActs(t *testing.T) {
	t.Parallel()
	for _, bad := range [][]string{nil, {""}, {"a", ""}, make([]string, 2001), {string(make([]rune, 201))}} {
		if approval.CheckActIDs(bad) == nil {
			t.Errorf("%d ids are taken", len(bad))
		}
	}
	if err := approval.CheckActIDs([]string{"a", "é"}); err != nil {
		t.Error(err)
	}
}
