package workflows_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"processidea/internal/longrun"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/tools/mcptool/mcptest"
)

// A server that is asked too often has not read the Call, which goes on when the server takes it: also one that may run
// only once, and also where the server asks for more time than an attempt has.
func TestACallWithOneAttemptWaitsForAServerThatHasNotReadIt(t *testing.T) {
	t.Parallel()
	// busy answers what is to be refused with 429 at first, and counts it.
	busy := func(asked *atomic.Int32, refusals int32, after string, next http.Handler) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			isCall := !bytes.Contains(body, []byte(`"jsonrpc"`)) || bytes.Contains(body, []byte(`"tools/call"`))
			if isCall && asked.Add(1) <= refusals {
				w.Header().Set("Retry-After", after)
				http.Error(w, "slowly", http.StatusTooManyRequests)
				return
			}
			next.ServeHTTP(w, r)
		}
	}
	for name, c := range map[string]struct {
		config    string
		instances int
		every     int
	}{
		"HTTP":                      {`{}`, 1, 0},
		"HTTP, no Call is to spare": {`{"limits": {"calls": 2}}`, 2, 0},
		"HTTP, in parts":            {`{"batch": 1, "limits": {"calls": 2}}`, 2, 0},
		"HTTP, continued as new":    {`{"limits": {"calls": 1}}`, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			done := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") })
			url := toolbox.handle("/"+t.Name(), busy(&asked, 3, "1", done))
			s := newScenario(t, fmt.Sprintf(`{"config": %s, "schema": {"tools": {"count": %s}}, "context": [%s,
				{"type": "plan", "stage": "complete", "plan": [{"_tool": "count", "_instance": "*", "_outputPath": "said"}]}]}`,
				c.config, httpTool(url, `, "_retry": {"attempts": 1}`), rows(1, c.instances)))
			s.every = c.every
			r := s.finish()
			if r.Calls.Done != c.instances || asked.Load() != int32(3+c.instances) {
				t.Errorf("%+v after %d requests\n%s", r.Calls, asked.Load(), s.story())
			}
		})
	}
	t.Run("MCP", func(t *testing.T) {
		t.Parallel()
		var asked atomic.Int32
		server := newMCPServer(t)
		server.serve(busy(&asked, 1, "6", mcptest.Handler(mcptest.New("Adds.", &server.calls))))
		s := newScenario(t, server.idea(`{"free": {"_activity": {"mcp": {"server": "calc", "tool": "add"}},
			"_approval": false, "_timeout": "5s"}}`), strings.Replace(adds, "calc_add", "free", 1), nothingMore)
		r := s.finish()
		if got := asJSON(r.Instances[""].State); got != `{"sum":{"sum":5}}` || asked.Load() != 2 {
			t.Errorf("%s after %d calls\n%s", got, asked.Load(), s.story())
		}
	})
}

// A server that asks to be left alone for an hour holds a process up: who asks is told who is waited for, in the
// server's words, and until when.
func TestAProcessSaysThatItWaitsForTheServerOfATool(t *testing.T) {
	t.Parallel()
	for name, config := range longrun.SampleRows(t, 1, map[string]string{"in one piece": `{}`, "in parts": `{"batch": 1}`}) {
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
				return len(v.HoldUps) > 0
			})
			h := v.HoldUps[0]
			if h.CauseCode != turn.CodeToolBusy || !strings.Contains(h.Message, "count waits") ||
				!strings.Contains(h.Message, "when the stock is counted") || time.Until(h.NextAttempt) < time.Hour {
				t.Errorf("%+v", h)
			}
			s.cancel()
		})
	}
}

// An instance that an operator ends waits for nothing any more, and its process does not say so.
func TestAProcessDoesNotWaitForTheServerOfACallThatIsGone(t *testing.T) {
	t.Parallel()
	url := toolbox.handle("/"+t.Name(), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7200")
		http.Error(w, "slowly", http.StatusServiceUnavailable)
	})
	s := newScenario(t, fmt.Sprintf(`{"schema": {"tools": {"count": %s, "shout": {"type": "object", "_approval": true,
		"properties": {"text": {"type": "string"}}}}}, "context": [%s, {"type": "plan", "stage": "complete", "plan": [
		{"_tool": "count", "_instance": "1"}, {"_tool": "shout", "_instance": "2", "text": "hi"}]}]}`, httpTool(url, ""), rows(1, 2)))
	s.start()
	s.waitsFor(1)
	eventually(t, "the process says what it waits for", func() bool { return len(s.processStatus().HoldUps) > 0 })
	if err := s.client.TerminateWorkflow(t.Context(), protocol.InstanceID(s.id, "1"), "", "it takes too long"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the process waits for a person alone", func() bool {
		v := s.processStatus()
		return v.Status == loop.StatusRunning && len(v.HoldUps) == 0
	})
	s.cancel()
}

// What the Calls of one worker wait for is withdrawn by that worker alone, and is not forgotten where the process
// continues as new. Of several the longest wait is said.
func TestWhatTheCallsOfOneWorkerWaitForIsWithdrawnByNoOther(t *testing.T) {
	t.Parallel()
	for name, every := range map[string]int{"one run": 0, "many runs": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A Call at work: once all wait for people, the process knows that no Call waits for a server.
			url := toolbox.handle("/"+t.Name(), func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // else nobody sees that the other side is gone
				<-r.Context().Done()
			})
			s := newScenario(t, fmt.Sprintf(`{"schema": {"tools": {"look": %s}}, "context": [{"type": "plan",
				"stage": "complete", "plan": [{"_tool": "look"}]}]}`, httpTool(url, `, "_timeout": "1h"`)))
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
				told := protocol.WorkerHoldUpSignal{Cause: turn.CodeToolBusy, WorkerID: step.worker}
				if step.hours > 0 {
					told.HoldUp = &turn.HoldUp{CauseCode: turn.CodeToolBusy, Message: step.worker + " waits",
						NextAttempt: time.Now().Add(step.hours * time.Hour)}
				}
				if err := s.client.SignalWorkflow(t.Context(), s.id, "", protocol.SignalWorkerHoldUp, told); err != nil {
					t.Fatal(err)
				}
				eventually(t, fmt.Sprintf("step %d says %q", n, step.says), func() bool {
					return slices.Equal(step.says, jsonval.Map(s.processStatus().HoldUps,
						func(h turn.HoldUp) string { return h.Message }))
				})
			}
			s.cancel()
		})
	}
}
