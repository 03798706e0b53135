package workflows_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"processidea/internal/longrun"
	"processidea/model/turn"
	"processidea/protocol"
)

// A server that asks to be left alone for an hour holds a process up: who asks is told who is waited for, in the
// server's words, and until when.
func TestAProcessSaysThatItWaitsForTheServerOfATool(t *testing.T) {
	t.Parallel()
	for name, config := range longrun.Rows(t, 1, map[string]string{"in one piece": `{}`, "in parts": `{"batch": 1}`}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			url := toolbox.handle("/"+t.Name(), func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Retry-After", "7200")
				http.Error(w, "come back when the stock is counted", http.StatusTooManyRequests)
			})
			s := newScenario(t, fmt.Sprintf(`{"config": %s, "schema": {"tools": {"count": %s}}, "context": [%s,
				{"type": "plan", "stage": "complete", "plan": [{"_tool": "count"}]}]}`, config, httpTool(url, ""), rows(1, 2)))
			s.start()
			var v protocol.ProcessView
			eventually(t, "the process says what it waits for", func() bool {
				v = s.processStatus()
				return len(v.HeldUp) > 0
			})
			h := v.HeldUp[0]
			if h.Cause != turn.CodeToolWaits || !strings.Contains(h.Message, "count waits") ||
				!strings.Contains(h.Message, "when the stock is counted") || time.Until(h.Next) < time.Hour {
				t.Errorf("%+v", h)
			}
			s.cancel()
		})
	}
}
