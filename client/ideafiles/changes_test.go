package ideafiles_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/client/ideafiles"
	"processidea/model/jsonval"
)

// A fork that names an LLM asks that one alone: also where the Idea had a list of them.
func TestAForkThatNamesAnLLMAsksNoOther(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"config":{"llm":[{"model":"a","timeout":"9s"},{"model":"b"}]}}`: `{"config":{"llm":{"model":"new","timeout":"9s"}}}`,
		`{"config":{"llm":{"model":"a","temperature":0}}}`:                `{"config":{"llm":{"model":"new","temperature":0}}}`,
		`{}`: `{"config":{"llm":{"model":"new"}}}`,
	} {
		idea, err := jsonval.DecodeObject([]byte(given))
		if err != nil {
			t.Fatal(err)
		}
		changed, err := ideafiles.ForkChanges{LLMName: "new"}.Apply(idea)
		if got := string(jsonval.Encode(changed)); err != nil || got != want {
			t.Errorf("%s became %s, %v; want %s", given, got, err, want)
		}
	}
}

// What belongs to the chain is taken from nobody who forks: neither by a file nor by what comes over the wire.
func TestAForkSaysNothingOfWhoStartedOrDecidedBefore(t *testing.T) {
	t.Parallel()
	const kept = `{"meta":{"causedBy":{"①":["eve"]},"decided":[{"by":"sam","call":"1.1"}],"origin":{"at":1},"path":"%s","startedBy":["sam"]}}`
	for _, meta := range []string{
		`{"path": "new", "startedBy": [], "decided": [], "causedBy": {}, "origin": {}}`,
		`{"path": "new", "startedBy": null, "decided": null, "causedBy": null, "origin": null}`,
		`{"path": "new", "startedBy": ["zed"], "decided": [{"call": "1.1", "by": "zed"}], "causedBy": {"①": [], "②": ["zed"]}, "origin": 7}`,
	} {
		given, err := jsonval.DecodeObject([]byte(`{"meta": ` + meta + `}`))
		if err != nil {
			t.Fatal(err)
		}
		idea, err := jsonval.DecodeObject([]byte(fmt.Sprintf(kept, "old")))
		if err != nil {
			t.Fatal(err)
		}
		changed, err := ideafiles.ForkChanges{AddedIdea: given}.Apply(idea)
		if got, want := string(jsonval.Encode(changed)), fmt.Sprintf(kept, "new"); err != nil || got != want {
			t.Errorf("%s made %s, %v; want %s", meta, got, err, want)
		}
	}
	idea := map[string]any{"meta": map[string]any{"path": "p"}}
	changed, err := ideafiles.ForkChanges{
		AddedIdea: map[string]any{"meta": map[string]any{"decided": []any{}, "startedBy": []any{"zed"}}}}.Apply(idea)
	if got := string(jsonval.Encode(changed)); err != nil || got != `{"meta":{"path":"p"}}` {
		t.Errorf("%s %v", got, err)
	}
}

// A Call that takes another one back uses that one's key: only undo writes such Calls, and a fork keeps those that it
// finds.
func TestAForkAddsNoCallThatTakesAnotherBack(t *testing.T) {
	t.Parallel()
	idea := func(plans ...string) map[string]any {
		o, err := jsonval.DecodeObject([]byte(`{"context": [` + strings.Join(plans, ", ") + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	plan := func(id string) string {
		return `{"type": "plan", "plan": [{"_tool": "cancel", "id": "` + id +
			`", "_undoes": {"process": "p", "call": "0.1"}}]}`
	}
	kept := ideafiles.ForkChanges{AddedIdea: idea(`{"type": "text", "text": "Go on."}`)}
	if _, err := kept.Apply(idea(plan("a"))); err != nil {
		t.Error(err)
	}
	_, err := ideafiles.ForkChanges{AddedIdea: idea(plan("b"))}.Apply(idea(plan("a")))
	if err == nil || !strings.Contains(err.Error(), ".plan[0]._undoes: only undo writes this") {
		t.Error(err)
	}
}

// A fork at the Idea of the last Request makes it again: whom it ended is at work, unless something but the LLM is
// changed, or the solution is taken over.
func TestAForkFindsThoseWhomTheLastRequestEndedAtWork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes ideafiles.ForkChanges
		atWork  bool
	}{
		"nothing":      {ideafiles.ForkChanges{}, true},
		"the LLM":      {ideafiles.ForkChanges{LLMName: "new"}, true},
		"the solution": {ideafiles.ForkChanges{KeepsSolution: true}, false},
		"a value":      {ideafiles.ForkChanges{ValuesToSet: []string{"b:x=1"}}, false},
		"another":      {ideafiles.ForkChanges{InstanceTokensToReopen: []string{"b"}}, false},
		"an input":     {ideafiles.ForkChanges{InputFileOrJSON: `{"x": 1}`}, false},
	} {
		idea, err := jsonval.DecodeObject([]byte(`{"meta": {"ended": ["a"]}, "context": [
			{"type": "state", "_instance": "a", "state": {}, "_status": "failed", "_error": {"code": "x", "message": "y"}},
			{"type": "state", "_instance": "b", "state": {}, "_status": "settled"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		changed, err := c.changes.Apply(idea)
		if err != nil {
			t.Fatal(err)
		}
		a := jsonval.AsObject(changed["context"].([]any)[0])
		if atWork := a["_status"] == nil && a["_error"] == nil; atWork != c.atWork {
			t.Errorf("%s is changed: %s", name, jsonval.Encode(a))
		}
		b := jsonval.AsObject(changed["context"].([]any)[1])
		if isChanged := name == "a value" || name == "another"; (b["_status"] == nil) != isChanged {
			t.Errorf("%s is changed: %s", name, jsonval.Encode(b))
		}
		if _, has := jsonval.AsObject(changed["meta"])["ended"]; has {
			t.Errorf("%s is changed: the fork says whom a Request of another process ended", name)
		}
	}
}
