package client

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/store/blobs"
	"processidea/store/chain"
)

// What somebody decided is found in all records, the latest first, with what became of it; nothing of it is another's,
// or was done in their name beforehand.
func TestWhatAPersonDecidedIsListedWithWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	store, err := blobs.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	c := New(nil, "", store)
	began := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	minute, request := 0, 1
	did := func(kind, call, by string, more ...func(*approval.Decision)) turn.LogEntry {
		minute++
		d := approval.Decision{Kind: kind, CallID: call, DecidedBy: by, Tool: "pay", Reason: "so",
			DecidedAt: began.Add(time.Duration(minute) * time.Minute)}
		for _, do := range more {
			do(&d)
		}
		return turn.LogEntry{Decision: &d}
	}
	became := func(call string, status ideafile.CallStatus) turn.LogEntry {
		return turn.LogEntry{Outcome: &turn.CallOutcome{CallID: call, Status: status}}
	}
	shown := func(d *approval.Decision) { d.ShownParams = map[string]any{"amount": json.Number("7")} }
	seal := func(process string, at int, parent string, log ...turn.LogEntry) string {
		sealed, err := chain.New(store).Seal(t.Context(), chain.IdeaToSeal{ProcessID: process, IdeaNumber: at,
			ParentDigest: parent,
			Log:          log, Idea: map[string]any{"meta": map[string]any{"n": json.Number("1")}}})
		if err != nil {
			t.Fatal(err)
		}
		return sealed.Digest
	}
	first := seal("a", 1, "", did(Comment, "1.1", "Ann"), did(HandOver, "1.1", "Ann", shown),
		did(Approve, "1.2", "Ann", func(d *approval.Decision) { d.StandingOrderID = "small" }),
		did(Ask, "1.3", "ann", shown))
	seal("b", 1, "", did(Reject, "1.1", "Ann"), became("1.1", ideafile.CallRejected),
		did(approval.SteerApprovePlan, "", "Ann", func(d *approval.Decision) { d.PlanRequest, d.Tool = &request, "" }),
		did(approval.SteerPause, "", "Ann"), did(Approve, "1.9", "Ann", func(d *approval.Decision) {
			d.Account = policy.Account{Issuer: "elsewhere", Subject: "1"}
		}))
	seal("a", 2, first, did(Approve, "1.1", "Bob", shown), became("1.1", ideafile.CallDone),
		did(Amend, "1.4", "Ann", shown))
	seal("b/~part/1", 1, "", did(Reject, "1.7", "Ann")) // b has it, too
	seal("b/~part/1/~call/1.8@1", 1, "", did(Approve, "1.1", "Ann", shown))
	ann := policy.Identity{Name: "Ann", Account: policy.Account{Issuer: "here", Subject: "1"}}
	var got []string
	for skip := 0; skip < 6; skip += 2 {
		page, err := c.DecisionsBy(t.Context(), ann, skip, 2)
		if err != nil || page.TotalCount != 6 || fmt.Sprint(page.OrderApprovedCountByProcess) != "map[a:1]" {
			t.Fatal(page, err)
		}
		for _, d := range page.Decisions {
			text := strings.TrimSpace(fmt.Sprintf("%s %s %s %q", d.ProcessID, d.Kind, d.CallID, d.Sentence))
			if d.LatestOnSameCall != nil {
				text += " " + d.LatestOnSameCall.Kind + " by " + d.LatestOnSameCall.DecidedBy
			}
			if d.LatestOnSameCall != nil && d.LatestOnSameCall.Outcome != nil {
				text += ", " + string(d.LatestOnSameCall.Outcome.Status)
			}
			got = append(got, text)
		}
	}
	for skip, want := range map[int]int{6: 0, math.MaxInt: 0, -200: 6} { // as an address may ask
		page, err := c.DecisionsBy(t.Context(), ann, skip, math.MaxInt)
		if err != nil || page.TotalCount != 6 || len(page.Decisions) != want {
			t.Errorf("from %d: %d of %d, %v", skip, len(page.Decisions), page.TotalCount, err)
		}
	}
	want := []string{`b/~part/1/~call/1.8@1 approve 1.1 "Pay: 7" approve by Ann`,
		`a amend 1.4 "Pay: 7" amend by Ann`, `b approve-plan  ""`,
		`b reject 1.1 "Pay" reject by Ann, rejected`, `a ask 1.3 "Pay: 7"`,
		`a hand-over 1.1 "Pay: 7" approve by Bob, done`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
