package workflows_test

import (
	"strings"
	"testing"

	"processidea/model/loop"
	"processidea/protocol"
)

const (
	// goalIsWord gives three instances, and a goal that they do not start with.
	goalIsWord = `"context": [{"type": "state", "state": {}, "schema": {"type": "object", "properties": {"text": {"type": "string"}, "word": {"type": "string"}}, "required": ["word"]}},
		{"type": "state", "_instance": "a", "state": {"text": "x"}}, {"type": "state", "_instance": "b", "state": {"text": "y"}}, {"type": "state", "_instance": "c", "state": {"text": "z"}}]`
	// refuseOrShout plans a Call that fails, and its alternative.
	refuseOrShout = `{"solution": {"calls": [{"_tool": "refuse", "_instance": "*", "text": "†state.text", "_outputPath": "word"},
		{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "word"}]}}`
)

func ideaOfAlternatives(config string) string {
	return `{"config": ` + config + `, "schema": {"tools": {"shout": ` + textTool + `, "refuse": ` + textTool + `}}, ` +
		goalIsWord + `}`
}

func TestAGoalThatAnAlternativeReachedIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config   string
		requests int
		again    int // passes after which a workflow continues as new
	}{
		"in one process":       {config: `{}`, requests: 1},
		"in parts":             {config: `{"batch": 2}`, requests: 2},
		"over continue-as-new": {config: `{}`, requests: 1, again: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t, ideaOfAlternatives(c.config))
			s.scripted, s.every = `{"when": "What to do now", `+
				strings.TrimPrefix(strings.ReplaceAll(refuseOrShout, "\n", ""), "{"), c.again
			r := s.end(s.start())
			if r.Instances["b"].FailedCallCount == 0 || r.Status != loop.StatusCompleted ||
				r.RequestCount != c.requests ||
				r.Calls.Failed != 3 || r.Calls.Done != 3 ||
				asJSON(r.Instances["b"].State) != `{"text":"y","word":"Y"}` {
				t.Errorf("%s", asJSON(r))
			}
			for _, id := range []string{s.id, protocol.InstanceID(s.id, "b")} {
				if c.config != `{}` {
					break // a part has them
				}
				if err := replay(t, store, history(t, id)); err != nil {
					t.Errorf("%s: %s", id, err)
				}
			}
		})
	}
}

func TestAWiredOutputIsMadeOfTheInstancesThatHaveTheValue(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{"in one process": `{}`, "in parts": `{"batch": 2}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t, `{"config": `+config+`, "schema": {"tools": {"shout": `+textTool+
				`}, "output": {"type": "object"}}, `+goalIsWord+`}`)
			s.scripted = `{"when": "\"text\":\"x\"", "solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "word"}, {"_tool": "shout", "_instance": "a", "text": "†state.text", "_outputPath": "more"}], "output": {"all": "†state.more"}}}
				{"when": "\"text\":\"z\"", "solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "word"}, {"_tool": "shout", "_instance": "c", "text": "†state.text", "_outputPath": "more"}], "output": {"all": "†state.more"}}}`
			s.scripted = strings.ReplaceAll(s.scripted, "\n\t\t\t\t", "\n")
			want := map[string]string{`{}`: `{"all":{"a":"X"}}`, `{"batch": 2}`: `{"all":{"a":"X","c":"Z"}}`}[config]
			if r := s.end(s.start()); r.Status != loop.StatusCompleted || asJSON(r.Output) != want {
				t.Errorf("%s", asJSON(r))
			}
		})
	}
}
