package approval_test

import (
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
)

// Whatever a signal asks for, it is by nobody whose name holds what nobody sees.
func TestNoSignalIsByANameThatNobodySees(t *testing.T) {
	t.Parallel()
	readers := map[string]func(map[string]any) error{
		approval.SteerDecide:   func(m map[string]any) error { _, err := approval.ReadDecisions(m); return err },
		approval.SteerAllow:    func(m map[string]any) error { _, err := approval.ReadStandingOrder(m); return err },
		approval.SteerDisallow: func(m map[string]any) error { _, _, err := approval.ReadOrderEnd(m); return err },
	}
	for _, kind := range policy.AllKinds() {
		readers[kind] = func(m map[string]any) error { _, err := approval.ReadDecision(kind, m); return err }
	}
	for _, kind := range []string{approval.SteerPause, approval.SteerResume, approval.SteerRevise, approval.SteerAdd} {
		readers[kind] = func(m map[string]any) error { _, err := approval.ReadSteering(kind, m); return err }
	}
	for kind, read := range readers {
		for name, why := range map[string]string{"ann\u200b": "invisible", "an\x00n": "invisible",
			"\u0430nn": "look alike"} {
			if err := read(map[string]any{"by": name}); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s by %+q: %v", kind, name, err)
			}
		}
	}
	for _, name := range []string{"x\u00ad", "\u202efinance"} {
		groups := map[string]any{"groups": []any{"finance", name}}
		if _, err := approval.ReadDecision(policy.Approve, groups); err == nil ||
			!strings.Contains(err.Error(), "invisible") {
			t.Errorf("of %+q: %v", name, err)
		}
	}
}
