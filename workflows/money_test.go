package workflows_test

import (
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/ideafile/price"
	"processidea/model/loop"
	"processidea/model/turn"
)

// A limit on what the LLM costs pauses a process in one piece and in parts, and a higher one lets it go on. What it
// cost stands in the result and in every Idea that a Request led to.
func TestALimitOfMoneyPausesAndAHigherOneLetsItGoOn(t *testing.T) {
	t.Parallel()
	for name, batch := range map[string]string{"in one piece": `"batch": 9`, "in parts": `"batch": 1`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := newScenario(t, manyInstances(till, 2, 2,
				`{"gather": "5m", `+batch+
					`, "settle": "asked", "prices": {"*": {"input": 1, "output": 2}}, "limits": {"money": 0.00000001}}`))
			s.scripted = strings.Join([]string{`{"when": "\"paid\":", "solution": {"calls": []}}`, payAll}, "\n")
			run := s.start()
			s.pausedWith(turn.CodeLimitReached, "the LLM has cost $0.00", "; the limit is $0.00000001")
			if n := len(till.seen()); n > 2 {
				t.Errorf("%d payments", n)
			}
			s.signal(s.id, approval.SteerResume, map[string]any{"limits": map[string]any{"money": 100}})
			r := s.end(run)
			if r.Status != loop.StatusCompleted || r.Usage.Cost <= 0 || r.Usage.UnpricedTokens != 0 ||
				r.Calls.Done != 2 {
				t.Errorf("%s %+v %+v", r.Status, r.Usage, r.Calls)
			}
			var shares price.Money
			for token, inst := range r.Instances {
				if shares += inst.Cost; inst.Cost <= 0 {
					t.Errorf("%s has no share of the cost", token)
				}
			}
			if shares != r.Usage.Cost {
				t.Errorf("the shares are %s, the whole %s", shares, r.Usage.Cost)
			}
			if u := r.Usage; u.Cost != price.Money(1000*u.PromptTokens+2000*u.CompletionTokens) {
				t.Errorf("%d and %d tokens cost %s", u.PromptTokens, u.CompletionTokens, u.Cost)
			}
		})
	}
}
