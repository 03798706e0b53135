package archive

import (
	"fmt"
	"strings"
	"testing"

	"processidea/client"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/store/ideadiff"
)

func TestADecisionTellsTheGroupsAndWhetherOthersMustDecideToo(t *testing.T) {
	two := policy.DeciderRules{{Groups: []string{"finance"}, RequiredApprovalCount: 2}}
	for want, d := range map[string]approval.Decision{
		"ann of finance, one of 2 required": {Kind: "approve", DecidedBy: "ann", Groups: []string{"finance"},
			Deciders: two},
		"ann of finance, because late": {Kind: "reject", DecidedBy: "ann", Groups: []string{"finance"},
			Deciders: two, Reason: "late"},
		"ann":      {Kind: "approve", DecidedBy: "ann"},
		"a person": {Kind: "approve"},
		"the standing order o of ann, at which nobody looked, because dull": {Kind: "approve", DecidedBy: "ann",
			StandingOrderID: "o", Reason: "dull"},
	} {
		if got := deciderText(d) + proofAndReasonText(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := decisionText(d); !strings.HasPrefix(got, "decided by "+deciderText(d)+": "+d.Kind) {
			t.Errorf("blame: %q", got)
		}
		if got := (valueFormat{}).decisionsText([]client.RecordedDecision{{Decision: d}}); !strings.Contains(got,
			"  "+d.Kind+" by "+want) {
			t.Errorf("decisions: %q", got)
		}
	}
}

func TestWhatDiffersIsPrintedWholeWhereThatIsWanted(t *testing.T) {
	long := strings.Repeat("long ", 100)
	d := &client.Diff{Diff: &ideadiff.Diff{Process: "p", IdeaNumberA: 1, IdeaNumberB: 2}}
	d.Changes = append(d.Changes, ideadiff.Change{Kind: ideadiff.Changed, Path: "a", From: long, To: long + "er"})
	if got := (valueFormat{}).diffText(d); strings.Contains(got, long) {
		t.Errorf("it is not cut: %s", got)
	}
	want := fmt.Sprintf("~ a  %q → %q", long, long+"er")
	if got := (valueFormat{isUncut: true}).diffText(d); !strings.Contains(got, want) {
		t.Errorf("it is cut: %s", got)
	}
}
