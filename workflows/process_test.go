package workflows_test

import (
	"testing"
)

func TestAProcessWithOneInstanceRunsItsCallsAndSettles(t *testing.T) {
	s := newScenario(t, `{
		"schema": {"tools": {"shout": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
			"output": {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}},
		"context": [{"type": "text", "text": "Shout it."}, {"type": "state", "text": "hello"}]}`,
		`{"solution": {"calls": [{"_tool": "shout", "text": "†state.text", "_outputPath": "loud"}], "output": null}}`,
		`{"solution": {"calls": [], "output": {"said": "HELLO"}}}`,
	)
	r := s.finish()
	want := `{"calls":{"blocked":0,"done":1,"failed":0,"rejected":0,"skipped":0},"error":null,"ideas":2,` +
		`"instances":{"":{"state":{"loud":"HELLO","text":"hello"},"status":"settled"}},"output":{"said":"HELLO"},` +
		`"process":"` + s.id + `","requests":2,"status":"completed",`
	if got := asJSON(r); got[:len(want)] != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
