package workflows_test

import (
	"strings"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// Whoever orders an undo may have each of its Calls looked at, and must where Plans wait: one is answered, since it was
// taken back otherwise.
func TestAPersonAnswersForWhatAPausedProcessTakesBack(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{"in one piece": "", "in parts": `, "batch": 1`,
		"where Plans wait": `, "approval": {"plan": true}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &agency{keeps: "0.2@1"} // it would refuse
			idea := a.journey(strings.ReplaceAll(t.Name(), " ", "-"), config, rows(1, 2)+
				`,{"type": "plan", "stage": "complete", "plan": [{"_tool": "book", "what": "flight", "_outputPath": "flight"},
				{"_tool": "book", "what": "hotel", "from": "†state.flight.id", "_outputPath": "hotel"}, {"_tool": "sign", "text": "†state.hotel.id"}]}`)
			s := newScenario(t, strings.NewReplacer(`"onFailure": "undo", `, "", `"onFailure": "undo"`, "", `"whisper": {`,
				`"sign": {"type": "object", "properties": {"text": {"type": "string"}}, "_activity": "whisper", "_approval": true}, "whisper": {`).Replace(idea))
			s.start()
			plansWait := strings.Contains(config, "plan")
			if plansWait {
				s.decidePlan("approve-plan", s.planWaits(1)[0], nil)
			}
			s.waitsFor(2)
			for refused, payload := range map[string]string{
				"want true or false": `{"review": "yes", "by": "ann"}`, "": `{"by": "ann"}`,
			} {
				kind := "undo"
				if refused == "" {
					kind = "pause"
				}
				got := s.acts(kind, jsonval.AsObject(modeltest.DecodeJSON(t, payload)))
				if !strings.Contains(got, refused) {
					t.Errorf("%s is refused: %q", payload, got)
				}
			}
			s.signal(s.id, "undo", map[string]any{"id": "u", "by": "ann", "review": !plansWait})
			for _, one := range s.waitsFor(4) {
				if one.Tool == "cancel" &&
					(!strings.HasPrefix(one.CallID, "0.2~undo@") || !strings.Contains(one.ReviewReason, "takes back")) {
					t.Errorf("%+v waits", one)
				}
			}
			a.mu.Lock()
			for id := range a.stands { // somebody has phoned
				if strings.HasSuffix(id, "0.2@1") {
					delete(a.stands, id)
				}
			}
			a.mu.Unlock()
			s.decide("answer", "0.2~undo@1", `{"output": "by phone"}`)
			s.decide("approve", "0.2~undo@2", "")
			eventually(t, "what came before waits", func() bool {
				return len(s.pending()) == 4 && !strings.Contains(asJSON(s.pending()), "0.2~undo")
			})
			s.decide("approve", "0.1~undo@1", "")
			s.decide("reject", "0.1~undo@2", `{"reason": "it may fly"}`)
			if got := s.became(s.id, "u")[0]; !strings.Contains(got, "0.1@2 (book): 0.1~undo@2 (cancel), rejected") ||
				strings.Contains(got, "@1") {
				t.Error(got)
			}
			if got := a.standing(t); len(got) != 1 || !strings.HasSuffix(got[0], "0.1@2") || len(a.answers) != 6 {
				t.Errorf("it stands: %q after %v", got, a.answers)
			}
			s.cancel()
		})
	}
}
