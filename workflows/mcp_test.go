package workflows_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/tools/mcptool/mcptest"
)

// mcpServer is an MCP server of the test, over HTTP, that can be taken away and replaced.
type mcpServer struct {
	url   string
	now   atomic.Pointer[http.Handler]
	calls atomic.Int32
}

func newMCPServer(t *testing.T) *mcpServer {
	s := &mcpServer{}
	s.url = toolbox.handle("/"+t.Name()+"/mcp",
		func(w http.ResponseWriter, r *http.Request) { (*s.now.Load()).ServeHTTP(w, r) })
	s.describe("Adds two numbers.")
	return s
}

// describe begins anew, with another description of the tool add.
func (s *mcpServer) describe(add string) { s.serve(mcptest.Handler(mcptest.New(add, &s.calls))) }

func (s *mcpServer) serve(h http.Handler) { s.now.Store(&h) }

// down has nobody answer.
func (s *mcpServer) down() {
	s.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "closed for today", http.StatusServiceUnavailable)
	}))
}

// idea is an Idea with the server, under the name calc, and these tools of the file.
func (s *mcpServer) idea(tools string) string {
	return fmt.Sprintf(
		`{"config": {"mcp": {"calc": {"url": %q}}}, "schema": {"tools": %s}, "context": [{"type": "text", "text": "Go."}]}`, s.url, tools)
}

const adds = `{"solution": {"calls": [{"_tool": "calc_add", "a": 2, "b": 3, "_outputPath": "sum"}]}}`

func TestToolsOfAnMCPServerJoinThePaletteAndAskAPerson(t *testing.T) {
	t.Parallel()
	server := newMCPServer(t)
	s := newScenario(t, server.idea(`{}`), adds, nothingMore)
	run := s.start()
	if a := s.waitsFor(1)[0]; a.Tool != "calc_add" || asJSON(a.Params) != `{"a":2,"b":3}` {
		t.Errorf("what waits is %+v", a)
	}
	s.decide(policy.Approve, "1.1", "")
	r := s.end(run)
	if got := asJSON(r.Instances[""].State); got != `{"sum":{"sum":5}}` {
		t.Errorf("the State is %s", got)
	}
	if p := s.prompt(1); !strings.Contains(p, "Adds two numbers.") {
		t.Errorf("the LLM is not told of the tool:\n%s", p)
	}
	idea := s.sealed(1)
	read, problems := ideafile.ReadIdea(idea)
	add := read.Tool("calc_add")
	if len(problems.Errors()) > 0 || add == nil || len(read.MCPServersToAskForTools()) > 0 {
		t.Fatalf("the sealed Idea has not what the server offered: %v %s", problems, asJSON(idea["schema"]))
	}
	if m, _ := add.MCPToolRef(); m.SpecDigest == "" {
		t.Error("it is not pinned")
	}
}

// The chain has the palette as it was: what is started from it asks no server what it offers, and calls what was
// pinned.
func TestWhatIsStartedFromASealedIdeaAsksNoServerAgain(t *testing.T) {
	t.Parallel()
	server := newMCPServer(t)
	first := newScenario(
		t, server.idea(`{"free": {"_activity": {"mcp": {"server": "calc", "tool": "add"}}, "_approval": false}}`),
		nothingMore)
	first.finish()
	again := newScenario(t, `{}`, strings.Replace(adds, "calc_add", "free", 1), nothingMore)
	again.id += "-again"
	sealed := first.sealed(1)
	delete(sealed, "meta")
	delete(sealed, "solution")
	for _, message := range sealed["context"].([]any) {
		delete(message.(map[string]any), ideafile.InstanceStatusKey) // it begins anew
	}
	again.idea = jsonval.DeepMerge(sealed,
		map[string]any{"config": map[string]any{"llm": map[string]any{"model": again.id}}}).(map[string]any)
	llm.byName.Store(again.id, again.llm)
	server.describe("Adds two numbers, and tells somebody.")
	r := again.finish()
	if r.Calls.Failed != 1 ||
		!strings.Contains(again.prompt(2), "describes the tool otherwise than when the process was started") {
		t.Errorf("%+v\n%s", r.Calls, again.story())
	}
}

func TestALargePaletteOfAnMCPServerLiesInTheStore(t *testing.T) {
	t.Parallel()
	const free = `"free": {"_activity": {"mcp": {"server": "calc", "tool": "add"}}, "_approval": false}`
	text := strings.Repeat("Adds two numbers. ", 5_000)
	for name, large := range map[string]struct{ server, file string }{
		"what the server offers": {server: text},
		"what the file has": {server: "Adds two numbers.", file: `, "other": {"description": "` + text +
			`", "_activity": "shout"}`},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			server := newMCPServer(t)
			server.describe(large.server)
			s := newScenario(t, server.idea(`{`+free+large.file+`}`), strings.Replace(adds, "calc_add", "free", 1),
				nothingMore)
			r := s.finish()
			if got := asJSON(r.Instances[""].State); got != `{"sum":{"sum":5}}` {
				t.Errorf("the State is %s", got)
			}
			if !strings.Contains(s.prompt(1), "Adds two numbers.") {
				t.Error("the LLM is not told of the tool")
			}
			s.replays("")
		})
	}
}

func TestAnMCPServerThatIsDownPausesTheProcessUntilItIsMended(t *testing.T) {
	t.Parallel()
	server := newMCPServer(t)
	server.down()
	s := newScenario(
		t, server.idea(`{"free": {"_activity": {"mcp": {"server": "calc", "tool": "add"}}, "_approval": false}}`),
		strings.Replace(adds, "calc_add", "free", 1), nothingMore)
	run := s.start()
	eventually(t, "the process is paused", func() bool { return s.processStatus().Status == loop.StatusPaused })
	view := s.processStatus()
	if view.Error.Code != ideafile.CodeMCPUnreachable || !strings.Contains(view.Error.Message, "MCP server calc") ||
		!strings.Contains(view.WaitingFor[0], "paused") {
		t.Errorf("%+v %v", view.Error, view.WaitingFor)
	}
	s.signal(s.id, approval.SteerResume, "nonsense")
	s.signal(s.id, approval.SteerResume, map[string]any{"id": "r"})
	s.areTaken("r")
	eventually(t, "it is paused again", func() bool {
		v := s.processStatus()
		return v.RefusalCount == 1 && v.Status == loop.StatusPaused
	})
	server.describe("Adds two numbers.")
	s.signal(s.id, approval.SteerResume, map[string]any{"by": "ann"})
	if got := asJSON(s.end(run).Instances[""].State); got != `{"sum":{"sum":5}}` {
		t.Errorf("the State is %s", got)
	}
	replays(t, "", s.id)
}

func TestWhatTheWorkerDoesNotAllowPausesTheProcess(t *testing.T) {
	t.Parallel()
	s := newScenario(
		t,
		`{"config": {"mcp": {"sh": {"command": ["sh", "-c", "touch /tmp/owned"]}}}, "context": [{"type": "text", "text": "Go."}]}`)
	run := s.start()
	eventually(t, "the process is paused", func() bool { return s.processStatus().Status == loop.StatusPaused })
	if e := s.processStatus().Error; e.Code != ideafile.CodeMCPServerNotAllowed ||
		!strings.Contains(e.Message, "is not in PROCESSIDEA_MCP_COMMANDS") {
		t.Errorf("%+v", e)
	}
	if err := s.client.CancelWorkflow(t.Context(), s.id, ""); err != nil {
		t.Fatal(err)
	}
	if err := run.Get(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("it ended with %v", err)
	}
}

func TestAFileThatAsksForAToolThatIsNotOfferedFails(t *testing.T) {
	t.Parallel()
	server := newMCPServer(t)
	s := newScenario(t, server.idea(`{"x": {"_activity": {"mcp": {"server": "calc", "tool": "divide"}}}}`))
	if err := s.start().Get(t.Context(), nil); err == nil ||
		!strings.Contains(err.Error(), `offers no tool "divide"; it offers add, book`) {
		t.Errorf("%v", err)
	}
}

func TestAToolThatChangesWhileAPersonThinksIsNotCalled(t *testing.T) {
	t.Parallel()
	server := newMCPServer(t)
	s := newScenario(t, server.idea(`{}`),
		`{"solution": {"calls": [{"_tool": "calc_add", "a": 2, "b": 3, "_outputPath": "sum"}]}}`, nothingMore)
	run := s.start()
	s.waitsFor(1)
	server.describe("Adds two numbers, and tells somebody.")
	s.decide(policy.Approve, "1.1", "")
	s.end(run)
	if c := s.callFault("1.1"); c == nil || c.Code != ideafile.CodeToolChanged {
		t.Errorf("%+v", c)
	}
}

func TestAToolsQuestionWaitsForAPersonWhoAnswersTheCall(t *testing.T) {
	t.Parallel()
	server := newMCPServer(t)
	s := newScenario(t, server.idea(`{"book": {"_activity": {"mcp": {"server": "calc"}}, "_approval": false}}`),
		`{"solution": {"calls": [{"_tool": "book", "_outputPath": "table"}]}}`, nothingMore)
	run := s.start()
	a := s.waitsFor(1)[0]
	if strings.Join(a.AllowedDecisions, " ") != "answer reject" ||
		!strings.Contains(a.ReviewReason, "For how many people?") {
		t.Errorf("%+v", a)
	}
	s.decide(policy.Approve, "1.1", "")
	s.decide(policy.Answer, "1.1", `{"output": "table 7"}`)
	if r := s.end(run); asJSON(r.Instances[""].State) != `{"table":"table 7"}` {
		t.Errorf("the State is %s", asJSON(r.Instances[""].State))
	}
}

// Nobody knows whether a tool had its effect whose connection broke: it is not called again without a person.
func TestACallWhoseConnectionBreaksIsNotRepeatedWithoutAPerson(t *testing.T) {
	t.Parallel()
	server := newMCPServer(t)
	inner, cut := *server.now.Load(), atomic.Bool{}
	cut.Store(true)
	server.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !bytes.Contains(body, []byte(`"tools/call"`)) || !cut.Load() {
			inner.ServeHTTP(w, r)
			return
		}
		server.calls.Add(1) // it had its effect, and the answer is lost
		cut.Store(false)
		panic(http.ErrAbortHandler)
	}))
	s := newScenario(t, server.idea(`{"count": {"_activity": {"mcp": {"server": "calc"}}, "_approval": false}}`),
		`{"solution": {"calls": [{"_tool": "count", "_outputPath": "n"}]}}`, nothingMore)
	run := s.start()
	if a := s.waitsFor(1)[0]; !strings.Contains(a.ReviewReason, "the connection broke during the call") ||
		strings.Join(a.AllowedDecisions, " ") != "approve reject answer" {
		t.Errorf("%+v", a)
	}
	if n := server.calls.Load(); n != 1 {
		t.Errorf("it was called %d times", n)
	}
	s.decide(policy.Approve, "1.1", "")
	if r := s.end(run); asJSON(r.Instances[""].State) != `{"n":"counted"}` || server.calls.Load() != 2 {
		t.Errorf("the State is %s after %d calls", asJSON(r.Instances[""].State), server.calls.Load())
	}
}

// callFault is what went wrong with a Call of the anonymous instance, once the process has ended.
func (s *scenario) callFault(id string) *diag.Fault {
	s.t.Helper()
	for _, c := range s.instance("").Calls {
		if c.ID == id {
			return c.Error
		}
	}
	return nil
}
