package plangraph_test

import (
	"maps"
	"strings"
	"testing"

	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// What another process has undone is drawn so, although the Ideas of this one call it done.
func TestACallThatAnotherProcessHasUndoneIsUndone(t *testing.T) {
	t.Parallel()
	idea := jsonval.AsObject(modeltest.DecodeJSON(t, `{"context": [{"type": "state", "_instance": "①", "state": {}},
		{"type": "state", "_instance": "②", "state": {}}, {"type": "plan", "stage": "complete",
		"plan": [{"_tool": "book"}, {"_tool": "write"}], "record": {"0.1": "done", "0.2": "done"}}]}`))
	got := plangraph.CountCallStatuses([]any{call("book", "a"), call("write", "b")}, idea, nil,
		map[string]bool{"0.1@②": true})
	want := []map[ideafile.CallStatus]int{{ideafile.CallDone: 1, ideafile.CallUndone: 1}, {ideafile.CallDone: 2}}
	for n := range want {
		if !maps.Equal(got[n], want[n]) {
			t.Errorf("Call %d is %v", n+1, got[n])
		}
	}
	undoing := map[string]any{"_tool": "cancel", "_undoes": map[string]any{"process": "p", "call": "0.1"}}
	calls := []any{call("book", "a"), call("write", "b"), undoing}
	for _, drawn := range []string{plangraph.RenderMermaid(calls, got...), plangraph.RenderDOT(calls, got...)} {
		if !strings.Contains(drawn, "1 done, 1 undone") || strings.Contains(drawn, "2 done") ||
			!strings.Contains(drawn, "undoes 0.1") {
			t.Errorf("it is drawn as %s", drawn)
		}
	}
}
