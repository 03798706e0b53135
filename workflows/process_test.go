package workflows_test

import (
	"testing"

	"processidea/model/approval"
	"processidea/model/loop"
	"processidea/model/turn"
)

func TestAProcessWithOneInstanceRunsItsCallsAndSettles(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{
		"schema": {"tools": {"shout": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
			"output": {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}},
		"context": [{"type": "text", "text": "Shout it."}, {"type": "state", "text": "hello"}]}`,
		`{"solution": {"calls": [{"_tool": "shout", "text": "†state.text", "_outputPath": "loud"}], "output": null}}`,
		`{"solution": {"calls": [], "output": {"said": "HELLO"}}}`,
	)
	r := s.finish()
	want :=
		`{"calls":{"blocked":0,"done":1,"failed":0,"rejected":0,"skipped":0},"error":null,"failures":[],"ideas":2,` +
			`"instances":{"":{"state":{"loud":"HELLO","text":"hello"},"status":"settled"}},"output":{"said":"HELLO"},` +
			`"process":"` + s.id + `","quality":null,"requests":2,"status":"completed",`
	if got := asJSON(r); got[:len(want)] != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestASignalThatDoesNotFitChangesNothingAndIsKept(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"status": 401}`, `{"solution": {"calls": []}}`)
	run := s.start()
	eventually(t, "the process pauses", func() bool { return s.processStatus().Status == loop.StatusPaused })
	for _, payload := range []any{"text", []int{1}, map[string]any{"limit": 7},
		map[string]any{"limits": map[string]any{"requests": -1}}, nil, []byte{1, 2}} {
		if err := temporalClient.SignalWorkflow(t.Context(), s.id, "", approval.SteerResume, payload); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all are refused", func() bool { return len(s.processStatus().Refusals) == 6 })
	if v := s.processStatus(); v.Status != loop.StatusPaused {
		t.Errorf("%+v", v)
	}
	if err := temporalClient.SignalWorkflow(t.Context(), s.id, "", approval.SteerResume,
		map[string]any{"limits": map[string]any{"requests": 9}}); err != nil {
		t.Fatal(err)
	}
	if err := run.Get(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

func TestReachingALimitPausesAndAHigherOneLetsItGoOn(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"config": {"limits": {"requests": 1}}, "schema": {"tools": {"shout": `+textTool+`}},
		"context": [{"type": "state", "text": "hi"}]}`,
		`{"solution": {"calls": [{"_tool": "shout", "text": "†state.text", "_outputPath": "loud"}]}}`,
		`{"solution": {"calls": []}}`)
	run := s.start()
	eventually(t, "the process pauses", func() bool { return s.processStatus().Status == loop.StatusPaused })
	if f := s.processStatus().Error; f.Code != turn.CodeLimitReached {
		t.Errorf("%+v", f)
	}
	if err := temporalClient.SignalWorkflow(t.Context(), s.id, "", approval.SteerResume,
		map[string]any{"limits": map[string]any{"requests": 2}}); err != nil {
		t.Fatal(err)
	}
	var r loop.ProcessResult
	if err := run.Get(t.Context(), &r); err != nil || r.RequestCount != 2 {
		t.Errorf("%v %+v", err, r)
	}
}
