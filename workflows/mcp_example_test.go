package workflows_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/tools/mcptool/mcptest"
	"processidea/tools/mcptool/npmtest"
)

const exampleDesk = "/tmp/process-idea-desk"

// The example reads and writes files through a server that others wrote.
func TestTheExampleOfMCPWritesItsFileOnceAPersonHasSeenIt(t *testing.T) {
	program := npmtest.Program(t, npmtest.Filesystem, "mcp-server-filesystem")
	desk, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.CopyFS(filepath.Join(desk, "desk"), os.DirFS("../examples/mcp/desk"))
	}
	if err != nil {
		t.Fatal(err)
	}
	desk = filepath.Join(desk, "desk")
	idea, replies := example(t, "mcp")
	text := strings.ReplaceAll(asJSON(idea), exampleDesk, desk)
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(replies, exampleDesk, desk)), "\n")
	s := newScenario(t, text, lines...)
	files := jsonval.Normal(append(program, desk))
	s.idea = jsonval.Merge(s.idea, map[string]any{"config": map[string]any{"mcp": map[string]any{"files": map[string]any{"command": files}}}}).(map[string]any)
	run := s.start()
	a := s.waitsFor(1)[0]
	if _, err := os.Stat(filepath.Join(desk, "actions.md")); a.Tool != "files_write_file" || err == nil {
		t.Errorf("before anybody decides: %+v, %v", a, err)
	}
	s.decide(ideafile.Approve, a.Call, "")
	if r := s.end(run); r.Calls.Done != 3 || r.Requests != 3 {
		t.Errorf("%+v after %d Requests\n%s", r.Calls, r.Requests, s.story())
	}
	if p := s.prompt(2); !strings.Contains(p, "Tomás: the present host stays.") {
		t.Errorf("the LLM has not read the notes:\n%s", p)
	}
	if written, err := os.ReadFile(filepath.Join(desk, "actions.md")); err != nil || !strings.Contains(string(written), "- Bo calls the customer") {
		t.Errorf("%q %v", written, err)
	}
}

// A program of the official SDK, run by the worker: the same without npm.
func TestAnMCPServerThatTheWorkerRunsServesAProcess(t *testing.T) {
	s := newScenario(t, `{"config": {"mcp": {"calc": {"command": `+asJSON([]string{os.Args[0], mcptest.Argument, "Adds two numbers."})+`, "tools": ["add"]}}},
	  "context": [{"type": "text", "text": "Go."}]}`, adds, nothingMore)
	run := s.start()
	s.waitsFor(1)
	s.decide(ideafile.Approve, "1.1", "")
	if got := asJSON(s.end(run).Instances[""].State); got != `{"sum":{"sum":5}}` {
		t.Errorf("the State is %s", got)
	}
}
