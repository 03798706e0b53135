package workflows_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/internal/longrun"
	"processidea/model/loop"
	"processidea/store/chain"
)

const forTheFirstAndTheThird = `{"_tool": "shout", "_instance": ["1", "3"], "text": "†state.text", "_outputPath": "loud"}`

func wantLoudInTheFirstAndTheThird(t *testing.T, r loop.ProcessResult) {
	t.Helper()
	if r.Status != loop.StatusCompleted || r.Calls.Done != 2 {
		t.Errorf("%s %+v", r.Status, r.Calls)
	}
	for token, i := range r.Instances {
		want := fmt.Sprintf(`{"text":"t%s"}`, token)
		if token == "1" || token == "3" {
			want = fmt.Sprintf(`{"loud":"T%s","text":"t%s"}`, token, token)
		}
		if asJSON(i.State) != want {
			t.Errorf("%s has %s", token, asJSON(i.State))
		}
	}
}

func TestACallForSomeInstancesRunsInThoseAlone(t *testing.T) {
	t.Parallel()
	plan := `{"type": "plan", "stage": "complete", "plan": [` + forTheFirstAndTheThird + `]}, `
	for name, c := range longrun.SampleRows(t, 2, map[string]struct {
		config, plan string
		instances    int
		replies      []string
	}{
		"by a Plan":              {`{}`, plan, 3, nil},
		"by a Plan, in parts":    {`{"batch": 2}`, plan, 3, nil},
		"by a Plan of a hundred": {`{}`, plan, 101, nil},
		"by the LLM": {`{}`, "", 3, []string{`{"when": "Calls so far", "solution": {"calls": []}}`,
			`{"solution": {"calls": [` + forTheFirstAndTheThird + `]}}`}},
		"by a Plan that is staged": {`{}`, strings.Replace(plan, "complete", "optimal", 1), 3,
			[]string{`{"solution": {"calls": []}}`}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.instances > 100 {
				longrun.SkipUnlessEnabled(t)
			}
			s := newScenario(t, `{"config": `+c.config+`, "schema": {"tools": {"shout": `+textTool+
				`}}, "context": [{"type": "text", "text": "Go."}, `+c.plan+rows(1, c.instances)+`]}`,
				c.replies...)
			wantLoudInTheFirstAndTheThird(t, s.finish())
		})
	}
}

func TestAnIdeaThatIsRunAgainGivesItsCallForSomeInstancesToThoseAlone(t *testing.T) {
	t.Parallel()
	const nothingIsLeft = `{"when": "Calls so far", "solution": {"calls": []}}`
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}, `+
		rows(1, 3)+`]}`,
		nothingIsLeft, `{"solution": {"calls": [`+forTheFirstAndTheThird+`]}}`)
	wantLoudInTheFirstAndTheThird(t, s.finish())
	idea, err := chain.New(store).Load(t.Context(), s.id, 1)
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine the second one is asked about while the others still work.
	s.script(nothingIsLeft, nothingIsLeft, nothingMore, nothingMore)
	s.id, s.idea, s.withCalls = s.id+"-again", idea, true
	wantLoudInTheFirstAndTheThird(t, s.finish())
}
