package turn_test

import (
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/turn"
)

// Whatever a signal asks for, it is by nobody whose name holds what nobody sees.
func TestNoSignalIsByANameThatNobodySees(t *testing.T) {
	t.Parallel()
	readers := map[string]func(map[string]any) error{
		turn.SteerDecide:   func(m map[string]any) error { _, err := turn.ReadDecisions(m); return err },
		turn.SteerAllow:    func(m map[string]any) error { _, err := turn.ReadStandingOrder(m); return err },
		turn.SteerDisallow: func(m map[string]any) error { _, _, err := turn.ReadOrderEnd(m); return err },
	}
	for _, kind := range ideafile.AllDecisionKinds() {
		readers[kind] = func(m map[string]any) error { _, err := turn.ReadDecision(kind, m); return err }
	}
	for _, kind := range []string{turn.SteerPause, turn.SteerResume, turn.SteerRevise, turn.SteerAdd} {
		readers[kind] = func(m map[string]any) error { _, err := turn.ReadSteering(kind, m); return err }
	}
	for kind, read := range readers {
		for name, why := range map[string]string{"ann\u200b": "nobody sees", "an\x00n": "nobody sees", "\u0430nn": "look alike"} {
			if err := read(map[string]any{"by": name}); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s by %+q: %v", kind, name, err)
			}
		}
	}
	for _, name := range []string{"x\u00ad", "\u202efinance"} {
		if _, err := turn.ReadGroups([]any{"finance", name}); err == nil || !strings.Contains(err.Error(), "nobody sees") {
			t.Errorf("of %+q: %v", name, err)
		}
	}
}
