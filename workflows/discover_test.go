package workflows_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
)

// hang has nobody answer until release is called.
func (s *mcpServer) hang(t *testing.T) (release func()) {
	inner, released := *s.now.Load(), make(chan struct{})
	s.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-released:
			inner.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	open := atomic.Bool{}
	release = func() {
		if open.CompareAndSwap(false, true) {
			close(released)
		}
	}
	t.Cleanup(release)
	return release
}

// several is an Idea with the server and instances, each of which adds numbers; config is more of its settings.
func (s *mcpServer) several(config string, instances ...string) string {
	var context strings.Builder
	for _, token := range instances {
		fmt.Fprintf(&context, `, {"type": "state", "_instance": %q, "state": {"n": 1}}`, token)
	}
	return fmt.Sprintf(`{"config": {"mcp": {"calc": {"url": %q}}%s},
	  "schema": {"tools": {"free": {"_activity": {"mcp": {"server": "calc", "tool": "add"}}, "_approval": false}}},
	  "context": [{"type": "text", "text": "Go."}%s]}`, s.url, config, context.String())
}

const addsForAll = `{"solution": {"calls": [{"_tool": "free", "_instance": "*", "a": 2, "b": "†state.n", "_outputPath": "sum"}]}}`

// heard waits until the process has accepted some signals, and has refused so many.
func (s *scenario) heard(refused int, accepted ...string) {
	s.t.Helper()
	if len(accepted) > 0 {
		s.areTaken(accepted...)
	}
	eventually(s.t, fmt.Sprintf("%d signals are refused", refused), func() bool {
		return s.processStatus().RefusalCount == refused
	})
}

func (s *scenario) isAsking() {
	s.t.Helper()
	eventually(s.t, "the servers are being asked", func() bool {
		d, err := s.client.DescribeWorkflowExecution(s.t.Context(), s.id, "")
		return err == nil && len(d.GetPendingActivities()) == 1
	})
}

func TestWhatPeopleSendWhileServersAreAskedIsHeardAtOnceOrDoneAfterwards(t *testing.T) {
	t.Parallel()
	server := newMCPServer(t)
	release := server.hang(t)
	s := newScenario(t, server.several("", "①"), addsForAll, nothingMore)
	run := s.start()
	s.isAsking()
	added := []any{map[string]any{"type": "state", "_instance": "②", "state": map[string]any{"n": 10}}}
	s.signal(s.id, approval.SteerAddInstances, map[string]any{"context": added, "by": "bo", "id": "added"})
	s.signal(s.id, approval.SteerAddInstances, map[string]any{"context": added, "by": "bo", "id": "twice"})
	s.signal(s.id, approval.SteerRevise, map[string]any{"context": []any{
		map[string]any{"type": "text", "text": "Mind the gap."},
		map[string]any{"type": "state", "_instance": "①", "state": map[string]any{"n": 5}}}, "by": "cy",
		"id": "revised"})
	s.signal(s.id, approval.SteerResume, map[string]any{"id": "too early"})
	s.signal(s.id, policy.Approve, map[string]any{"call": "1.1@①", "id": "approved"})
	s.signal(s.id, policy.Approve, []byte{1})
	s.signal(s.id, approval.SteerPause, map[string]any{"by": "ann", "id": "paused"})
	s.heard(3, "paused")
	if v := s.processStatus(); v.Status != loop.StatusPaused {
		t.Errorf("it is %s", v.Status)
	}
	release()
	s.heard(4, "added", "revised")
	v := s.processStatus()
	for n, want := range []string{"the process is not paused", "the process has not begun", "want one JSON object",
		"there is an instance ② already"} {
		if !strings.Contains(v.Refusals[n].RefusalReason, want) {
			t.Errorf("refused: %+v", v.Refusals[n])
		}
	}
	if len(s.llm.Requests()) > 0 || v.Status != loop.StatusPaused {
		t.Errorf("it is %s, after %d Requests", v.Status, len(s.llm.Requests()))
	}
	s.signal(s.id, approval.SteerResume, map[string]any{"by": "ann"})
	r := s.end(run)
	if asJSON(r.Instances["①"].State) != `{"n":5,"sum":{"sum":7}}` ||
		asJSON(r.Instances["②"].State) != `{"n":10,"sum":{"sum":12}}` {
		t.Errorf("%s", asJSON(r.Instances))
	}
	if !strings.Contains(s.prompt(1), "Mind the gap.") {
		t.Errorf("the LLM is not told:\n%s", s.prompt(1))
	}
	s.replays("①", "②")
}

// A Plan that runs directly starts with its instance: where people paused before there was one, it does not.
func TestAPauseWhileServersAreAskedHoldsAPlanThatRunsDirectly(t *testing.T) {
	t.Parallel()
	server := newMCPServer(t)
	release := server.hang(t)
	s := newScenario(t, strings.Replace(server.several("", "①"), `"text": "Go."}`,
		`"text": "Go."}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "count", "_outputPath": "counted"}]}`,
		1))
	s.idea = jsonval.DeepMerge(s.idea,
		map[string]any{"schema": map[string]any{"tools": map[string]any{"count": map[string]any{
			"_activity": map[string]any{"mcp": map[string]any{"server": "calc"}}, "_approval": false}}}}).(map[string]any)
	run := s.start()
	s.isAsking()
	s.signal(s.id, approval.SteerPause, map[string]any{"by": "ann", "id": "p"})
	s.heard(0, "p")
	release()
	eventually(t, "the instance knows its Plan", func() bool { return len(s.instance("①").Calls) == 1 })
	if c := s.instance("①").Calls[0]; c.Status != ideafile.CallWaiting || server.calls.Load() > 0 {
		t.Errorf("%+v after %d calls", c, server.calls.Load())
	}
	s.signal(s.id, approval.SteerResume, map[string]any{})
	if r := s.end(run); r.Calls.Done != 1 || server.calls.Load() != 1 {
		t.Errorf("%+v after %d calls", r.Calls, server.calls.Load())
	}
}

func TestAProcessIsCancelledWhileItsServersAreAsked(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{"whole": "", "split": `, "batch": 1`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newMCPServer(t)
			server.hang(t)
			s := newScenario(t, server.several(config, "①", "②"))
			run := s.start()
			s.isAsking()
			if err := s.client.CancelWorkflow(t.Context(), s.id, ""); err != nil {
				t.Fatal(err)
			}
			if err := run.Get(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "canceled") {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

func TestASplitProcessHearsPeopleWhileItsServersAreAskedAndWhenTheyAreDown(t *testing.T) {
	t.Parallel()
	server := newMCPServer(t)
	server.down()
	s := newScenario(t, server.several(`, "batch": 1`, "①", "②"))
	s.script(`{"when": "\"sum\":{\"sum\":", "solution": {"calls": []}}`,
		strings.Replace(addsForAll, `{"solution"`, `{"when": "Go.", "solution"`, 1))
	run := s.start()
	eventually(t, "the process is paused", func() bool { return s.processStatus().Status == loop.StatusPaused })
	if v := s.processStatus(); v.Error == nil || v.Error.Code != ideafile.CodeMCPUnreachable {
		t.Errorf("it is paused for %v", v.Error)
	}
	s.signal(s.id, approval.SteerPause, map[string]any{"by": "ann"})
	s.heard(1)
	server.describe("Adds two numbers.")
	release := server.hang(t)
	s.signal(s.id, approval.SteerResume, map[string]any{"id": "r"})
	s.heard(1, "r")
	s.signal(s.id, approval.SteerPause, map[string]any{"by": "bo", "id": "p"})
	s.signal(s.id, approval.SteerAddInstances, map[string]any{"id": "a", "context": []any{
		map[string]any{"type": "state", "_instance": "③", "state": map[string]any{"n": 10}}}})
	s.heard(1, "p", "a")
	release()
	s.signal(s.id, approval.SteerResume, map[string]any{})
	if r := s.end(run); asJSON(r.Instances["③"].State) != `{"n":10,"sum":{"sum":12}}` || r.Calls.Done != 3 {
		t.Errorf("%s", asJSON(r))
	}
}

func TestAProcessSaysWhichServersItAsksFromTheFirstMoment(t *testing.T) {
	t.Parallel()
	server := newMCPServer(t)
	release := server.hang(t)
	s := newScenario(t, server.several("", "①"), addsForAll, nothingMore)
	run := s.start()
	eventually(t, "the process says that it asks", func() bool {
		v, err := s.client.QueryWorkflow(t.Context(), s.id, "", protocol.QueryStatus)
		var view protocol.ProcessView
		return err == nil && v.Get(&view) == nil && len(view.WaitingFor) == 1 &&
			strings.HasPrefix(view.WaitingFor[0], "asking MCP server calc for tools")
	})
	release()
	if s.end(run); len(s.processStatus().WaitingFor) != 0 {
		t.Errorf("it still waits for %v", s.processStatus().WaitingFor)
	}
}
