package workflows_test

import (
	"strings"
	"testing"

	"processidea/model/loop"
	"processidea/protocol"
)

// What reads from a Call that is taken back, or was to come after it, does not run, whenever the process goes on.
func TestWhatComesAfterACallThatIsTakenBackDoesNotRun(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]bool{"resumed afterwards": false, "resumed meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &agency{}
			idea := a.journey(strings.ReplaceAll(t.Name(), " ", "-"), "", `{"type": "plan", "stage": "complete", "plan": [
				{"_tool": "book", "what": "flight", "_outputPath": "flight"}, {"_tool": "sign", "text": "†state.flight.id"},
				{"_tool": "sign", "text": "a", "_after": "†state.flight"}, {"_tool": "sign", "text": "b", "_after": "†call.0.1"}]}`)
			s := newScenario(t, strings.NewReplacer(`"onFailure": "undo"`, ``, `"whisper": {`, `"sign": {"type": "object",
				"properties": {"text": {"type": "string"}}, "_activity": "whisper", "_approval": true}, "whisper": {`).Replace(idea))
			hold, arrived := make(chan struct{}), make(chan struct{})
			a.before = func(path string) {
				if meanwhile && path == "/cancel" {
					close(arrived)
					<-hold
				}
			}
			run := s.start()
			s.waitsFor(3)
			if got := s.acts("pause", map[string]any{"by": "ann"}); got != "" {
				t.Fatal(got)
			}
			s.signal(s.id, "undo", map[string]any{"id": "u", "by": "ann"})
			if meanwhile {
				<-arrived
			} else {
				s.areTaken("u")
			}
			if got := s.acts("resume", map[string]any{"by": "ann"}); got != "" {
				t.Error(got)
			}
			close(hold)
			s.areTaken("u")
			eventually(t, "nothing waits", func() bool { return len(s.pending()) == 0 })
			_ = run.Get(t.Context(), nil) // nothing of it can be signed
			r := s.processStatus().Result
			if r.Status != loop.StatusFailed || r.Calls.Undone != 1 || r.Calls.Blocked != 3 || len(a.standing(t)) > 0 {
				t.Errorf("%s, %+v, and it stands: %q", r.Status, r.Calls, a.standing(t))
			}
			for _, id := range []string{s.id, protocol.InstanceID(s.id, "")} {
				if err := replay(t, store, history(t, id)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
