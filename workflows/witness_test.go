package workflows_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	people "processidea/client"
	"processidea/store/chain"
)

// Whoever can write the store can write a chain anew, each digest right. Temporal's history shows it, of a process in
// one piece and in parts.
func TestAChainThatWasWrittenAnewIsFoundByTemporalsHistory(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{"whole": "", "in parts": `"config": {"batch": 2, "gather": "5m"}, `} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atLength(t)
			s := newScenario(t, `{`+config+`"schema": {"tools": {"shout": `+textTool+
				`}}, "context": [{"type": "text", "text": "Go."}, `+rows(1, 3)+`]}`)
			s.scripted = oneForAll + "\n" + `{"solution": {"calls": []}}`
			s.finish()
			copied, dir := copyStore(t)
			chains, c := chain.New(copied), people.New(temporalClient, server.Namespace(), copied)
			report, err := c.VerifyWithTemporal(t.Context(), s.id, nil)
			if err != nil || !report.IsIntact || report.WitnessedIdeaCount != report.IdeaCount ||
				report.Created.IsZero() {
				t.Fatalf("%+v, %v", report, err)
			}

			ideas := report.IdeaCount
			place := func(at int) string { return filepath.Join(dir, filepath.FromSlash(chain.ManifestName(s.id, at))) }
			last, err := chains.Load(t.Context(), s.id, ideas)
			if err != nil {
				t.Fatal(err)
			}
			parent, _ := last["meta"].(map[string]any)["parent"].(string)
			if err := os.Remove(place(ideas)); err != nil {
				t.Fatal(err)
			}
			if report, err = c.VerifyWithTemporal(t.Context(), s.id, nil); err != nil || len(report.Broken) != 1 ||
				!strings.Contains(report.Broken[0].Problem, fmt.Sprintf("Idea %d is missing", ideas)) {
				t.Errorf("an Idea was taken away: %+v, %v", report, err)
			}

			last["context"] = []any{}
			if _, err := chain.New(copied).Seal(t.Context(),
				chain.IdeaToSeal{ProcessID: s.id, IdeaNumber: ideas, ParentDigest: parent, Idea: last,
					Created: time.Now()}); err != nil {
				t.Fatal(err)
			}
			if report, err = chains.Verify(t.Context(), s.id); err != nil || !report.IsIntact {
				t.Fatalf("the forged chain is not whole in itself, so that the test shows nothing: %+v, %v", report,
					err)
			}
			if report, err = c.VerifyWithTemporal(t.Context(), s.id, nil); err != nil || len(report.Broken) != 1 ||
				report.Broken[0].FirstIdea != ideas ||
				!strings.Contains(report.Broken[0].Problem, "Temporal's history has ") {
				t.Errorf("an Idea was written anew: %+v, %v", report, err)
			}
		})
	}
}
