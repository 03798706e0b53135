package workflows_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"processidea/internal/longrun"
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
	t.Run("HTTP", func(t *testing.T) {
		t.Parallel()
		var asked atomic.Int32
		done := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") })
		url := toolbox.handle("/"+t.Name(), busy(&asked, 3, "1", done))
		s := newScenario(t, fmt.Sprintf(`{"schema": {"tools": {"count": %s}}, "context": [{"type": "plan",
			"stage": "complete", "plan": [{"_tool": "count", "_outputPath": "said"}]}]}`,
			httpTool(url, `, "_retry": {"attempts": 1}`)))
		r := s.finish()
		if got := asJSON(r.Instances[""].State); got != `{"said":"done"}` || asked.Load() != 4 {
			t.Errorf("%s after %d requests\n%s", got, asked.Load(), s.story())
		}
	})
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
