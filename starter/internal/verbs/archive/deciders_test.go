package archive

import (
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
)

func TestADecisionTellsTheGroupsAndWhetherOthersMustDecideToo(t *testing.T) {
	two := policy.Rules{{Groups: []string{"finance"}, Count: 2}}
	for want, d := range map[string]approval.Decision{
		" by ann of finance, one of 2 who must": {Kind: "approve", DecidedBy: "ann", Groups: []string{"finance"}, Deciders: two},
		" by ann of finance, because late":      {Kind: "reject", DecidedBy: "ann", Groups: []string{"finance"}, Deciders: two, Reason: "late"},
		" by ann":                               {Kind: "approve", DecidedBy: "ann"},
	} {
		if got := byText(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
