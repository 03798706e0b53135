package workflows_test

import (
	"strings"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/loop"
)

// An LLM that does not answer leads to the next one of the list, in every Request: in one piece and in parts. The Idea
// says who answered.
func TestTheNextLLMOfAListAnswersWhereTheFirstDoesNot(t *testing.T) {
	t.Parallel()
	const paidAlready = `{"when": "\"paid\":", "solution": {"calls": []}}`
	for name, batch := range map[string]string{"in one piece": `"batch": 9`, "in parts": `"batch": 1`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := newScenario(t, manyInstances(till, 2, 2, `{`+batch+`}`), paidAlready, payAll, payAll, payAll, payAll)
			config := s.idea["config"].(map[string]any)
			config["llm"] = []any{map[string]any{"model": "away", "server": "nowhere"}, map[string]any{"model": s.id}}
			r := s.end(s.start())
			if r.Status != loop.StatusCompleted || r.Calls.Done != 2 {
				t.Fatalf("%s %+v", r.Status, r.Calls)
			}
			if meta := jsonval.AsObject(s.sealedLast()["meta"]); name == "in one piece" &&
				!strings.Contains(asJSON(meta["llm"]), `"model":"`+s.id) {
				t.Errorf("the Idea says that %s answered", asJSON(meta["llm"]))
			}
		})
	}
}
