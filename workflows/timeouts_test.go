package workflows_test

import (
	"net/http"
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// A timeout that leaves less than three seconds for heartbeats once stopped the whole worker, and with it this test's
// program.

func TestAToolMayHaveAShortTimeout(t *testing.T) {
	t.Parallel()
	for _, timeout := range []string{`"2s"`, `"500ms"`, `"3s"`, `3.5`} {
		t.Run(strings.Trim(timeout, `"`), func(t *testing.T) {
			t.Parallel()
			tool := strings.Replace(textTool, `{`, `{"_timeout": `+timeout+`, `, 1)
			s := newScenario(t, `{"schema": {"tools": {"shout": `+tool+
				`}}, "context": [{"type": "text", "text": "Go."}]}`,
				`{"solution": {"calls": [{"_tool": "shout", "text": "quick", "_outputPath": "a"}]}}`, nothingMore)
			if r := s.finish(); r.Status != loop.StatusCompleted || asJSON(r.Instances[""].State) != `{"a":"QUICK"}` {
				t.Errorf("%s with %s", r.Status, asJSON(r.Instances[""].State))
			}
		})
	}
}

func TestAToolThatExceedsAShortTimeoutFailsAlone(t *testing.T) {
	t.Parallel()
	url := toolbox.handle("/never/"+t.Name(), func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`, "ask": {"type": "object", "properties": {}, "_timeout": "500ms", "_retry": {"attempts": 1},
		"_activity": {"http": {"url": "`+url+`"}}}}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "ask", "_outputPath": "a"}, {"_tool": "shout", "text": "beside it", "_outputPath": "b"}]}}`, nothingMore)
	if r := s.finish(); r.Calls.Failed != 1 || r.Calls.Done != 1 ||
		asJSON(r.Instances[""].State) != `{"b":"BESIDE IT"}` {
		t.Errorf("%s with %+v and %s", r.Status, r.Calls, asJSON(r.Instances[""].State))
	}
}

// Whoever is quicker says what is wrong: the worker, that the LLM is away, or Temporal, that the reply took too long.
func TestAnLLMThatExceedsAShortTimeoutHoldsItsProcessUpAndNoOther(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"config": {"llm": {"timeout": "1s"}}, "context": [{"type": "text", "text": "Go."}]}`)
	llm.byName.Store(s.id, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	s.start()
	eventually(t, "it is said why the process waits", func() bool {
		v := s.processStatus()
		isPaused := v.Error != nil && v.Error.Code == turn.CodeBadReplies &&
			strings.Contains(v.Error.Message, "the reply took longer than a Request may")
		return isPaused || len(v.HoldUps) == 1 && strings.Contains(v.HoldUps[0].Message, "it has sent nothing for")
	})
	s.script(nothingMore)
	eventually(t, "it completes once the LLM is back", func() bool {
		v := s.processStatus()
		if v.Status == loop.StatusPaused {
			s.signal(s.id, approval.SteerResume, map[string]any{"by": "ann"})
		}
		return v.Status == loop.StatusCompleted
	})
}
