package workflows_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
)

// What Tools need of a worker and it lacks is said before anything has an effect, all at once: of the process's own
// Tools and of those of its delegates.
func TestWhatAWorkerLacksIsSaidBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	for name, config := range longrun.SampleRows(t, 1, map[string]string{"in one piece": ``, "in parts": `"batch": 1, `}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reached atomic.Int32
			url := toolbox.handle("/"+t.Name(), func(w http.ResponseWriter, _ *http.Request) {
				reached.Add(1)
				fmt.Fprint(w, `"done"`)
			})
			far := `{"type": "object", "_activity": {"http": {"url": "https://far.example/x", "headers": {"X": "$env:NOT_THERE"}}}}`
			s := newScenario(t, fmt.Sprintf(`{"config": {%s"mcp": {"odd": {"command": ["no-such-program"], "tools": []}}}, "schema": {"tools": {"near": %s, "far": %s,
				"ask": {"type": "object", "_delegate": "asked.json"}}}, "context": [%s,
				{"type": "plan", "stage": "complete", "plan": [{"_tool": "near"}]}]}`, config, httpTool(url, ""), far, rows(1, 2)))
			s.file(
				"asked.json",
				`{"schema": {"tools": {"farther": {"type": "object", "_activity": {"http": {"url": "https://farther.example/x"}}}}}}`)
			s.start()
			var v protocol.ProcessView
			eventually(t, "it is paused", func() bool {
				v = s.processStatus()
				return v.Status == loop.StatusPaused && v.Error != nil
			})
			for _, want := range []string{"far.example:443", "farther.example:443", "NOT_THERE",
				"PROCESSIDEA_HTTP_ALLOW", "PROCESSIDEA_TOOL_SECRETS", "(farther)", "Nothing has run"} {
				if v.Error.Code != ideafile.CodeToolAccessDenied || !strings.Contains(v.Error.Message, want) {
					t.Errorf("%q is missing in %+v", want, v.Error)
				}
			}
			s.signal(s.id, approval.SteerResume, map[string]any{"id": "again"})
			eventually(t, "it is asked again, and paused", func() bool {
				return s.became(s.id, "again")[0] == approval.ActAccepted && s.processStatus().Status == loop.StatusPaused
			})
			if n := reached.Load(); n > 0 {
				t.Errorf("a Tool ran %d times", n)
			}
			s.cancel()
		})
	}
}
