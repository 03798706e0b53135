package workflows_test

import (
	"errors"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"processidea/model/jsonval"
	"processidea/protocol"
)

// file gives the scenario an Idea file for its delegates, which asks the scenario's LLM.
func (s *scenario) file(key, idea string) {
	s.t.Helper()
	source, err := jsonval.DecodeObject([]byte(idea))
	if err != nil {
		s.t.Fatal(err)
	}
	config, _ := source["config"].(map[string]any)
	source["config"] = jsonval.DeepMerge(config, map[string]any{"llm": map[string]any{"model": s.id}})
	if s.files == nil {
		s.files = map[string]any{}
	}
	s.files[key] = source
}

// promptWith is all that the LLM was told in the Request that holds a text.
func (s *scenario) promptWith(text string) string {
	s.t.Helper()
	for n := range s.llm.Requests() {
		if p := s.prompt(n + 1); strings.Contains(p, text) {
			return p
		}
	}
	s.t.Fatalf("no Request holds %q\n%s", text, s.story())
	return ""
}

const (
	reviewTool = `"review": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "_delegate": "review.json",
		"_scopes": ["state.style"], "_output": {"type": "string"}}`
	reviewFile = `{"schema": {"output": {"type": "string"}}, "context": [{"type": "text", "text": "You are a reviewer."}]}`
	callReview = `{"when": "Write it.", "solution": {"calls": [{"_tool": "review", "text": "†state.draft", "_outputPath": "verdict"}]}}`
	reviewed   = `{"when": "\"verdict\":", "solution": {"calls": []}}`
)

func reviewing(t *testing.T, tool string, replies ...string) *scenario {
	s := newScenario(t, `{"schema": {"tools": {`+tool+`}}, "context": [{"type": "text", "text": "Write it."},
		{"type": "state", "draft": "some words", "style": "terse", "secret": "hush"}, {"type": "input", "budget": "a million"}]}`, replies...)
	s.file("review.json", reviewFile)
	return s
}

func TestADelegateSeesItsParametersAndScopesAndNothingElse(t *testing.T) {
	t.Parallel()
	s := reviewing(t, reviewTool, reviewed,
		`{"when": "You are a reviewer.", "solution": {"calls": [], "output": "fine"}}`, callReview)
	r := s.finish()
	if got := asJSON(
		r.Instances[""].State); got != `{"draft":"some words","secret":"hush","style":"terse","verdict":"fine"}` {
		t.Errorf("%s\n%s", got, s.story())
	}
	seen := s.promptWith("You are a reviewer.")
	for _, want := range []string{`†input: {"text":"some words"}`, `{"style":"terse"}`} {
		if !strings.Contains(seen, want) {
			t.Errorf("it is not told %s:\n%s", want, seen)
		}
	}
	for _, hidden := range []string{"hush", "a million", "draft", "Write it."} {
		if strings.Contains(seen, hidden) {
			t.Errorf("it is told %q:\n%s", hidden, seen)
		}
	}
}

func TestAnAnonymousDelegateIsTheToolItself(t *testing.T) {
	t.Parallel()
	s := reviewing(t, strings.Replace(strings.Replace(reviewTool, "review.json", "anonymous", 1), `"_delegate"`,
		`"description": "Judges a text.", "_delegate"`, 1),
		reviewed, `{"when": "You are this tool: review. Judges a text.", "solution": {"calls": [], "output": "so so"}}`,
		callReview)
	if got := asJSON(s.finish().Instances[""].State); !strings.Contains(got, `"verdict":"so so"`) ||
		strings.Contains(s.promptWith("You are this tool"), "hush") {
		t.Error(got)
	}
}

func TestADelegateHandsBackValuesForWhatItMayWrite(t *testing.T) {
	t.Parallel()
	s := reviewing(t, strings.Replace(reviewTool, `"_scopes"`, `"_writes": ["state.note", "state.style"], "_scopes"`,
		1)+`, "shout": `+textTool, reviewed,
		`{"when": "\"note\":", "solution": {"calls": [], "output": "fine"}}`,
		`{"when": "You are a reviewer.", "solution": {"calls": [{"_tool": "shout", "text": "mind the gap", "_outputPath": "note"}, {"_tool": "shout", "text": "x", "_outputPath": "other"}]}}`, callReview)
	s.file("review.json", strings.Replace(reviewFile, `"schema": {`, `"schema": {"tools": {"shout": `+textTool+`}, `,
		1))
	if got := asJSON(
		s.finish().Instances[""].State); got != `{"draft":"some words","note":"MIND THE GAP","secret":"hush","style":"terse","verdict":"fine"}` {
		t.Errorf("%s\n%s", got, s.story())
	}
}

func TestADelegateThatFailsIsARuntimeErrorOfItsCall(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"it fails":                `{"context": [{"type": "plan", "stage": "complete", "plan": []}, {"type": "state", "schema": {"type": "object", "required": ["never"]}, "state": {}}]}`,
		"its output is no string": `{"schema": {"output": {"type": "object"}}, "context": [{"type": "plan", "stage": "complete", "plan": [], "output": {}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := reviewing(t, reviewTool, `{"when": "1.1 review(", "solution": {"calls": []}}`, callReview)
			s.file("review.json", file)
			r := s.finish()
			if r.Calls.Failed != 1 || !strings.Contains(s.prompt(2), "- 1.1 review: ") {
				t.Errorf("%+v\n%s", r.Calls, s.story())
			}
		})
	}
}

// underWay is a process whose delegate waits for a person.
func underWay(t *testing.T) (*scenario, string) {
	s := reviewing(t, reviewTool, `{"when": "1.1 review(", "solution": {"calls": []}}`,
		`{"when": "You are a reviewer.", "solution": {"calls": [{"_tool": "shout", "text": "well", "_outputPath": "note"}]}}`, callReview)
	s.file("review.json", strings.Replace(reviewFile, `"schema": {`,
		`"schema": {"tools": {"shout": `+strings.Replace(textTool, `"type"`, `"_approval": true, "type"`, 1)+`}, `, 1))
	s.start()
	id := protocol.DelegateID(s.id, "1.1")
	of := *s
	of.id = id
	of.waitsFor(1)
	return s, id
}

func TestACancelledProcessTakesItsDelegatesAlong(t *testing.T) {
	t.Parallel()
	s, id := underWay(t)
	if err := s.client.CancelWorkflow(t.Context(), s.id, ""); err != nil {
		t.Fatal(err)
	}
	var cancelled *temporal.CanceledError
	if err := s.client.GetWorkflow(t.Context(), id, "").Get(t.Context(), nil); !errors.As(err, &cancelled) {
		t.Errorf("the delegate ended with %v", err)
	}
}

func TestADelegateThatIsTerminatedFailsItsCall(t *testing.T) {
	t.Parallel()
	s, id := underWay(t)
	if err := s.client.TerminateWorkflow(t.Context(), id, "", "for a test"); err != nil {
		t.Fatal(err)
	}
	if r := s.end(s.client.GetWorkflow(t.Context(), s.id, "")); r.Calls.Failed != 1 ||
		!strings.Contains(s.promptWith("1.1 review("), "delegate_failed") {
		t.Errorf("%+v\n%s", r.Calls, s.story())
	}
}

// What the LLM was told in the example is the proof of what its delegates see.
func TestTheDelegatesOfTheResearchSeeTheirScopesAlone(t *testing.T) {
	t.Parallel()
	idea, replies := example(t, "research")
	s := newScenario(t, asJSON(idea), strings.Split(strings.TrimSpace(replies), "\n")...)
	s.file("researcher.json", asJSON(delegatesOf(t, "research").Files["researcher.json"]))
	if r := s.finish(); r.RequestCount != 0 || !strings.Contains(asJSON(r.Output), "A History of the Window Tax") {
		t.Errorf("%s after %d Requests", asJSON(r.Output), r.RequestCount)
	}
	for who, c := range map[string]struct{ told, hidden []string }{
		"You are a researcher.": {[]string{"Why do old houses", "about to buy an old house"},
			[]string{"No jargon", "Brandt", "4,200"}},
		"You are this tool: critique": {[]string{"Glass was dear", "No jargon"},
			[]string{"Brandt", "4,200", "Why do old houses", "about to buy"}},
	} {
		seen := s.promptWith(who)
		for _, text := range c.told {
			if !strings.Contains(seen, text) {
				t.Errorf("%s it is not told %q:\n%s", who, text, seen)
			}
		}
		for _, text := range c.hidden {
			if strings.Contains(seen, text) {
				t.Errorf("%s it is told %q:\n%s", who, text, seen)
			}
		}
	}
}
