package examples_test

import (
	"testing"

	"processidea/learn/harden"
	"processidea/learn/past"
	"processidea/model/check"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
)

const hardened = "hardened-moderation"

// hardenedResult runs the hardened Plan over rows with no LLM.
func hardenedResult(t *testing.T, of string) loop.ProcessResult {
	t.Helper()
	idea, err := jsonval.DecodeObject(read(t, hardened, "idea.json"))
	if err != nil {
		t.Fatal(err)
	}
	context := idea["context"].([]any)
	for n, row := range rows(t, of) {
		row["_instance"] = token(n)
		context = append(context, row)
	}
	idea["context"] = context
	whole, problems := ideafile.ReadIdea(idea)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p := start(t, whole, nil, "")
	if errs := check.Check(whole, p.bindings).Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	p.runPlans()
	return p.through()
}

func TestTheHardenedPlanComesToWhatTheLLMsRunCameToWithNoRequest(t *testing.T) {
	planned, _ := decided(t)
	r := hardenedResult(t, "moderation")
	if got, want := states(r), states(planned); got != want || r.RequestCount != 0 || r.Calls != planned.Calls {
		t.Errorf("after %d requests, calls %+v: %s\nwant %s", r.RequestCount, r.Calls, got, want)
	}
}

func TestTheHardenedPlanJudgesNewComments(t *testing.T) {
	r := hardenedResult(t, hardened)
	for n, want := range []string{"allow", "allow", "remove", "remove", "remove"} {
		got, _ := jsonval.ValueAt(r.Instances[token(n)].State, jsonval.Path{"decision", "decision"})
		if got != want {
			t.Errorf("comment %d: %v, want %s", n+1, got, want)
		}
	}
	if r.Status != loop.StatusCompleted || r.RequestCount != 0 {
		t.Errorf("%s after %d requests", r.Status, r.RequestCount)
	}
}

// The file is what harden makes of the run: nobody has written into it by hand.
func TestTheHardenedIdeaIsWhatHardenMakesOfTheRun(t *testing.T) {
	idea, replies := parsed(t, "moderation")
	p := start(t, idea, replies, "")
	var ideas []map[string]any
	p.sealed = func(i map[string]any) { ideas = append(ideas, i) }
	r := p.through()
	ended := map[string]any{}
	for k, v := range ideas[0] {
		ended[k] = v
	}
	ended["context"] = endedContext(ideas[0], r)
	ended["solution"] = map[string]any{"calls": []any{}, "output": r.Output}
	made, err := harden.Harden([]past.RecordedProcess{{ProcessID: "m", Ideas: append(ideas, ended)}}, p.bindings, true)
	if err != nil {
		t.Fatal(err)
	}
	want, err := jsonval.DecodeObject(read(t, hardened, "idea.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []map[string]any{want, made.Idea} {
		delete(i["meta"].(map[string]any), "hardened") // digests and times are those of one run
	}
	if !jsonval.Equal(want, made.Idea) || len(made.Differences) > 0 {
		t.Errorf("it makes %s\nnaming %v", jsonval.Encode(made.Idea), made.Differences)
	}
}

// endedContext is the context of the Idea that is sealed at the end: the final States, and every Call done.
func endedContext(first map[string]any, r loop.ProcessResult) []any {
	var context []any
	for _, raw := range first["context"].([]any) {
		m := raw.(map[string]any)
		if token, ok := m["_instance"].(string); ok {
			m = map[string]any{"type": "state", "_instance": token, "_status": "settled",
				"state": r.Instances[token].State, "schema": m["schema"]}
		}
		context = append(context, m)
	}
	calls, _ := jsonval.ValueAt(first, jsonval.Path{"solution", "calls"})
	record := map[string]any{}
	for n := range calls.([]any) {
		record[ideafile.FormatCallID(1, n+1, "")] = "done"
	}
	return append(context, map[string]any{"type": "plan", "plan": calls, "record": record})
}
