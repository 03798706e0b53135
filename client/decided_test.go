package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
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
	orderApprovals, err := c.OrderApprovals(t.Context(), began)
	if err != nil || fmt.Sprint(orderApprovals) != "[{a Ann pay 1}]" {
		t.Error(orderApprovals, err)
	}
	orderApprovals, err = c.OrderApprovals(t.Context(), began.Add(time.Hour))
	if len(orderApprovals) > 0 || err != nil {
		t.Error(orderApprovals, err)
	}
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

// A decided Call's address is kept in messages and records: it leads somewhere after Temporal has deleted the process,
// and while no worker answers.
func TestADecidedCallIsFoundInTheRecordIfItsProcessDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for _, workflowType := range []string{"none", protocol.ProcessType} {
		p := (&fakeTemporal{kind: workflowType, status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING}).on(t)
		at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
		act := func(kind, callID, by string, minute int) *approval.Decision {
			return &approval.Decision{Kind: kind, CallID: callID, DecidedBy: by, Tool: "pay", Reason: "so",
				DecidedAt:   at.Add(time.Duration(minute) * time.Minute),
				ShownParams: map[string]any{"amount": json.Number("7")}}
		}
		ended := act(Approve, "1.2@①", "Bob", 3)
		ended.WaitingSince = at
		log := []turn.LogEntry{{Decision: act(Ask, "1.1@①", "Ann", 1)}, {Decision: act(Reject, "1.1@①", "Bob", 2)},
			{Outcome: &turn.CallOutcome{CallID: "1.1@①", Status: ideafile.CallRejected}}, {Decision: ended},
			{Decision: act(Approve, "1.3@①", "Bob", 4)}, {Decision: act(Ask, "1.4@①", "Ann", 5)}}
		_, err := p.client.archive.chainStore.Seal(t.Context(), chain.IdeaToSeal{ProcessID: "p", IdeaNumber: 1,
			Log: log, Idea: map[string]any{"meta": map[string]any{}}})
		if err != nil {
			t.Fatal(err)
		}
		for callID, want := range map[string]string{"1.1@1": "Pay: 7, rejected: ask by Ann, reject by Bob",
			"1.2@①": "Pay: 7, : approve by Bob"} {
			d, err := p.DecidedCall(t.Context(), callID)
			var acts []string
			for _, one := range d.Decisions {
				acts = append(acts, one.Kind+" by "+one.DecidedBy)
			}
			got := fmt.Sprintf("%s, %s: %s", d.Sentence, d.Status, strings.Join(acts, ", "))
			if err != nil || got != want || d.Tool != "pay" || !d.IsFromRecord {
				t.Errorf("%s: %s %+v %v", callID, got, d, err)
			}
		}
		for _, callID := range []string{"1.3@①", "1.4@①", "1.5@①", "1.1@②"} { // one of two, asked, unknown
			if d, err := p.DecidedCall(t.Context(), callID); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %+v %v", callID, d, err)
			}
		}
	}
}
