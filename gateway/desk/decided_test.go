package desk

import (
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
)

func TestADeputyIsNamedUnderNoStandingOrder(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		approval.SteerDeputy: "ann", policy.Approve: "ann, by a standing order",
	} {
		if got := whoDecided(approval.Decision{Kind: kind, DecidedBy: "ann", OrderID: "o"}); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
