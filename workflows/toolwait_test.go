package workflows_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"processidea/internal/longrun"
	"processidea/model/jsonval"
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

// What the Calls of one worker wait for is withdrawn by that worker alone, and is not forgotten where the process
// continues as new. Of several the longest wait is said.
func TestWhatTheCallsOfOneWorkerWaitForIsWithdrawnByNoOther(t *testing.T) {
	t.Parallel()
	for name, every := range map[string]int{"one run": 0, "many runs": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t, `{"schema": {"tools": {"shout": {"type": "object", "_approval": true,
				"properties": {"text": {"type": "string"}}}}}, "context": [
				{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "hi"}]}]}`)
			s.every = every
			s.start()
			for n, step := range []struct {
				worker string
				hours  time.Duration // that are waited; 0: it is over
				says   []string
			}{
				{"a", 1, []string{"a waits"}}, {"b", 2, []string{"b waits"}}, {"b", 0, []string{"a waits"}},
				{"a", 0, nil},
			} {
				told := protocol.HoldUpSignal{Cause: turn.CodeToolWaits, Worker: step.worker}
				if step.hours > 0 {
					told.HeldUp = &turn.HeldUp{Cause: turn.CodeToolWaits, Message: step.worker + " waits",
						Next: time.Now().Add(step.hours * time.Hour)}
				}
				if err := s.client.SignalWorkflow(t.Context(), s.id, "", protocol.SignalHoldUp, told); err != nil {
					t.Fatal(err)
				}
				eventually(t, fmt.Sprintf("step %d says %q", n, step.says), func() bool {
					return slices.Equal(step.says, jsonval.Map(s.processStatus().HeldUp,
						func(h turn.HeldUp) string { return h.Message }))
				})
			}
			s.cancel()
		})
	}
}
