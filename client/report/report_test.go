package report

import (
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/model/approval"
	"processidea/model/approval/proof"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/modeltest"
	"processidea/store/chain"
	"processidea/store/proofs"
)

func TestEachDecisionSaysInWordsWhoTookItAndHowThatIsProved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d           approval.Decision
		what, proof string
		who         string
	}{
		{approval.Decision{Kind: "approve", CallID: "1.1", Tool: "pay", DecidedBy: "ann", Groups: []string{"finance"}},
			"approved 1.1 pay", "declared", "ann of finance"},
		{approval.Decision{Kind: "approve", CallID: "1.1", DecidedBy: "ann",
			Signature: &proof.SignatureInfo{KeyThumbprint: "K1", Issuer: "https://i", ID: "J"}}, "approved 1.1",
			"signed: key K1, issuer https://i, proof J", "ann"},
		{approval.Decision{Kind: "approve", CallID: "1.1", DecidedBy: "ann", StandingOrderID: "small"}, "approved",
			"under the standing order small; declared", "ann"},
		{approval.Decision{Kind: "reject", CallID: "1.1", DecidedBy: approval.DecidedByTimeout}, "rejected 1.1", "",
			"nobody: the deadline had passed"},
		{approval.Decision{Kind: "pause", DecidedBy: approval.DecidedByProcess}, "paused the process", "",
			"the process itself"},
		{approval.Decision{Kind: "approve", CallID: "1.1", DecidedBy: ideafile.SimulatedDecider}, "approved", "",
			"nobody: it is a simulation"},
		{approval.Decision{Kind: "amend", CallID: "\u202e1", DecidedBy: "a\u0000b"}, "changed ⟨U+202E⟩1", "declared",
			"a⟨U+0000⟩b"},
	} {
		got := DescribeDecisions([]client.RecordedDecision{{Decision: c.d}})[0]
		if !strings.HasPrefix(got.Summary, c.what) || !strings.HasPrefix(got.Proof, c.proof) || c.proof == "" &&
			got.Proof != "" || got.Decider != c.who {
			t.Errorf("%+v: %+v", c.d, got)
		}
	}
}

func TestAStandingOrderSaysWhatItAllows(t *testing.T) {
	t.Parallel()
	o := approval.StandingOrder{ID: "small", Tool: "pay",
		ParamsCondition: map[string]any{"properties": map[string]any{}},
		MaxCalls:        5, Until: time.Now()}
	all := DescribeDecisions([]client.RecordedDecision{{Decision: approval.Decision{Kind: "approve", CallID: "1.1"}},
		{Decision: approval.Decision{Kind: approval.SteerGiveStandingOrder, DecidedBy: "ann", Order: &o}}})
	orders := FilterOrderDecisions(all)
	if len(orders) != 1 || !strings.Contains(orders[0].Details[0].Text,
		`small: Calls of pay are approved whose parameters fit {"properties":{}}, 5 Calls at most, until`) {
		t.Errorf("%+v", orders)
	}
}

func TestSignaturesThatNobodyCheckedAreNotSaidToBeRight(t *testing.T) {
	t.Parallel()
	for counts, want := range map[proofs.Counts]string{
		{}: "People decided on no Call.", {Declared: 1}: "decided once", {Signed: 2}: "were not checked",
		{Signed: 2, Proven: 2}: "Every signature was checked again",
	} {
		if got := ProofSummary(&chain.Report{Decisions: counts}); !strings.Contains(got, want) ||
			want != "Every signature was checked again" && strings.Contains(got, "Every") {
			t.Errorf("%+v: %s", counts, got)
		}
	}
}

func TestAStateIsReportedAsItsSchemaSaysWithWhatIsForOperators(t *testing.T) {
	t.Parallel()
	idea, problems := ideafile.ReadIdea(modeltest.MustDecodeJSON(`{"schema": {"tools": {}}, "context": [{"type": "state",
		"state": {},
		"schema": {"properties": {
			"cents": {"title": "Amount", "_display": "money", "currency": "EUR", "minorUnits": true},
			"bank": {"_display": "hidden", "properties": {"swift": {}}}}}}]}`).(map[string]any))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	b := newFactBuilder(100, 1000, nil)
	f := b.BuildAt(nil, "", shown.NewPresenter(idea).StateFormat(),
		modeltest.MustDecodeJSON(`{"cents": 229900, "bank": {"swift": "GENODEF1"}}`))
	var got []string
	for _, one := range append(f.Facts, f.Facts[0].Facts...) {
		got = append(got, one.Name+" "+one.Text)
	}
	text := strings.Join(got, ", ")
	if !strings.Contains(text, "Amount 2,299.00 EUR") || !strings.Contains(text, "GENODEF1") {
		t.Error(text)
	}
}

func TestABrokenRecordIsReportedToo(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	r := &Report{Check: &chain.Report{Broken: []chain.BrokenItem{{FirstIdea: 3, Item: "i7",
		Problem: "its digest is another"}}}}
	err := reportTemplate.Execute(&b, r)
	if err != nil || !strings.Contains(b.String(), "Idea 3: its digest is another <code>i7</code>") {
		t.Errorf("%v %s", err, b.String())
	}
}

func TestANameOfAProcessIsOneWordOfACommandLine(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"refund-17": "refund-17", "a/1.2@x": "a/1.2@x", "a; rm b": "'a; rm b'",
		"it's": `'it'\''s'`, "-x": "'-x'"} {
		if got := shellQuote(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
