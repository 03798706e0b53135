package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/client/ideafiles"
	"processidea/gateway/access"
	"processidea/gateway/server"
)

// ideasFolder has two processes that need no LLM, one of which a person must look at, and one that is broken.
func ideasFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	asked := func(policy string) string {
		return `{"meta": {"path": "asked"}, "schema": {"tools": {"note": {"type": "object", "properties": {"text": {"type": "string"}, "title": {"type": "string"}},
			"required": ["text"], "_outputPath": "†state.noted", "_approval": ` + policy + `}}},
			"context": [{"type": "text", "text": "Write down what the customer says."}, {"type": "input", "schema": {"type": "object",
				"properties": {"text": {"$ref": "#/$defs/line"}, "n": {"type": "number"}}, "required": ["text"], "$defs": {"line": {"type": "string", "maxLength": 99}}}},
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "note", "text": "†input.text"}]}]}`
	}
	for name, text := range map[string]string{
		"quick note.json": noteIdea, "asked.json": asked("true"), "signed.json": asked(`{"proof": "signed"}`),
		"broken.json": `{"contxt": 1}`, "README.md": "no Idea",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func agentsOf(t *testing.T, approvals bool) func(*server.Options) {
	dir := ideasFolder(t)
	return func(o *server.Options) {
		o.Agents = server.AgentOptions{IdeaFolder: dir, AllowDecisions: approvals,
			Tools: ideafiles.WorkerTools{HasOtherWorkers: true}}
	}
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// agent is a client of the official SDK.
type agent struct {
	*testing.T
	*sdk.ClientSession
}

func (h *house) agent() *agent {
	h.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil)
	s, err := c.Connect(context.Background(), &sdk.StreamableClientTransport{
		Endpoint: h.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(h.token)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { s.Close() })
	return &agent{h.T, s}
}

// call calls a tool and gives what it answered; failed says whether it is an error.
func (a *agent) call(name, args string) (text string, failed bool) {
	a.Helper()
	r, err := a.CallTool(a.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		a.Fatalf("%s: %v", name, err)
	}
	for _, c := range r.Content {
		text += c.(*sdk.TextContent).Text
	}
	return text, r.IsError
}

func (a *agent) object(name, args string) (m map[string]any) {
	a.Helper()
	text, failed := a.call(name, args)
	if err := json.Unmarshal([]byte(text), &m); err != nil || failed {
		a.Fatalf("%s: %s", name, text)
	}
	return m
}

// waiting gives the Call of a process that waits for a person, once there is one of another digest than before.
func (a *agent) waiting(process, before string) (call map[string]any) {
	a.Helper()
	eventually(a, "a Call waits", func() bool {
		for _, v := range a.object("list_approvals", `{"process": "`+process+`"}`)["approvals"].([]any) {
			call = v.(map[string]any)
		}
		return call["digest"] != nil && call["digest"] != before
	})
	return call
}

func (a *agent) tools() (names []string) {
	a.Helper()
	list, err := a.ListTools(a.Context(), nil)
	if err != nil {
		a.Fatal(err)
	}
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names
}

func TestAnAgentStartsLooksForksAndSimulates(t *testing.T) {
	h := open(t, agentsOf(t, false))
	a := h.agent()
	want := []string{"diff_ideas", "fork_process", "get_process", "list_approvals", "list_ideas", "list_processes",
		"show_idea", "simulate",
		"start_asked", "start_quick-note", "start_signed"}
	if got := a.tools(); !slices.Equal(got, want) {
		t.Errorf("there are %q", got)
	}
	r := a.object("start_quick-note",
		`{"id": "agents-note", "input": {"text": "hello", "n": 12345678901234567890}, "wait": 60}`)
	if r["status"] != "completed" || r["process"] != "agents-note" {
		t.Fatalf("%v", r)
	}
	if again := a.object("start_quick-note",
		`{"id": "agents-note", "input": {"text": "hello", "n": 12345678901234567890}}`); again["process"] != "agents-note" {
		t.Errorf("%v", again)
	}
	if text, failed := a.call("start_quick-note", `{"id": "agents-note", "input": {"text": "other"}}`); !failed ||
		!strings.Contains(text, "another file") {
		t.Errorf("%s", text)
	}
	if idea, _ := a.call("show_idea", `{"process": "agents-note"}`); !strings.Contains(idea, "12345678901234567890") ||
		!strings.Contains(idea, `"ann"`) {
		t.Error(idea)
	}
	if list := a.object("list_ideas", `{"process": "agents-note"}`)["ideas"].([]any); len(list) < 2 {
		t.Errorf("%v", list)
	}
	if d, failed := a.call("diff_ideas", `{"process": "agents-note", "from": 1, "to": 2}`); failed ||
		!strings.Contains(d, "noted") {
		t.Error(d)
	}
	fork := a.object("fork_process", `{"process": "agents-note", "at": 1, "wait": 60}`)
	if fork["process"] != "agents-note-fork-1" || fork["status"] != "completed" {
		t.Errorf("%v", fork)
	}
	simulated := a.object("simulate", `{"idea": "asked"}`)
	if simulated["status"] != "completed" || simulated["simulated"] == nil || simulated["approvals"] != 1.0 {
		t.Errorf("%v", simulated)
	}
	eventually(t, "the list has them", func() bool {
		text, _ := a.call("list_processes", `{"path": "hooked"}`)
		return strings.Contains(text, "agents-note-fork-1")
	})
	for _, args := range []string{`null`, `{}`, `{"path": null}`} {
		if text, failed := a.call("list_processes", args); failed {
			t.Errorf("%s: %s", args, text)
		}
	}
	for args, want := range map[string]string{
		`{"inptu": {}}`:  "inptu",
		`{"input": 7}`:   "input",
		`{"wait": 3600}`: "60",
		`{"id": "a/b"}`:  "must not contain /",
		`{"input": {}, "instances": [{"text": "a"}]}`: "exclude each other",
	} {
		if text, failed := a.call("start_quick-note", args); !failed || !strings.Contains(text, want) {
			t.Errorf("%s: %s", args, text)
		}
	}
	if text, failed := a.call("start_asked", `{"input": {"n": 1}}`); !failed || !strings.Contains(text, "text") {
		t.Errorf("an input without what it must have: %s", text)
	}
	if text, failed := a.call("get_process", `{"process": "nobody"}`); !failed ||
		!strings.Contains(text, "no process has this id") {
		t.Error(text)
	}
	if !strings.Contains(h.log.String(), "broken.json") {
		t.Error("the log does not say which file is left out")
	}
}

// A process that takes long answers with its id, and is asked for by it.
func TestAnAgentDecidesOnlyWhereItIsAllowed(t *testing.T) {
	h := open(t, agentsOf(t, true))
	a := h.agent()
	if !slices.Contains(a.tools(), "decide") {
		t.Fatalf("%q", a.tools())
	}
	id := a.object("start_asked", `{"input": {"text": "pay", "n": 1}, "wait": 0}`)["process"].(string)
	waits := a.waiting(id, "")
	eventually(t, "the agent is told to come back", func() bool {
		text, _ := a.call("get_process", `{"process": "`+id+`"}`)
		return strings.Contains(text, "people decide on what list_approvals shows")
	})
	decide := func(kind, digest, more string) (string, bool) {
		return a.call("decide", `{"process": "`+id+`", "call": "`+waits["call"].(string)+`", "digest": "`+digest+
			`", "decision": "`+kind+`"`+more+`}`)
	}
	if text, failed := decide("approve", strings.Repeat("0", 64), ""); !failed ||
		!strings.Contains(text, "no Call with this digest") {
		t.Error(text)
	}
	if text, failed := decide("reject", waits["digest"].(string), ""); !failed ||
		!strings.Contains(text, "needs a reason") {
		t.Error(text)
	}
	if text, failed := decide("amend", waits["digest"].(string),
		`, "params": {"title": "as asked"}, "reason": "it was asked for"`); failed {
		t.Fatal(text)
	}
	// The policy is asked again about what was amended.
	waits = a.waiting(id, waits["digest"].(string))
	if text, failed := decide("approve", waits["digest"].(string), ""); failed {
		t.Fatal(text)
	}
	r := a.object("get_process", `{"process": "`+id+`", "wait": 60}`)
	if idea, _ := a.call("show_idea", `{"process": "`+id+`"}`); r["status"] != "completed" ||
		!strings.Contains(idea, "an agent decided: it was asked for") ||
		!strings.Contains(idea, `"title":"as asked"`) {
		t.Errorf("%v %s", r, idea)
	}

	signed := a.object("start_signed", `{"input": {"text": "pay", "n": 1}, "wait": 0}`)["process"].(string)
	call := a.waiting(signed, "")
	args := `{"process": "` + signed + `", "call": "` + call["call"].(string) + `", "digest": "` +
		call["digest"].(string) + `", "decision": "approve"}`
	if text, failed := a.call("decide", args); !failed || !strings.Contains(text, "needs a signed decision") {
		t.Error(text)
	}
	h.post("/api/processes/"+signed+"/cancel", nil).is(204)

	off := open(t, agentsOf(t, false)).agent()
	if _, err := off.CallTool(t.Context(),
		&sdk.CallToolParams{Name: "decide", Arguments: json.RawMessage(args)}); err == nil {
		t.Error("an agent decides where that is not switched on")
	}
}

// looker is a guard that lets everybody look, and do nothing else.
type looker struct{}

func (looker) Identify(*http.Request) (*access.Person, error) {
	return &access.Person{Name: "eve", Rights: []access.Right{access.Look}}, nil
}

func TestAnAgentHasTheRightsOfItsToken(t *testing.T) {
	h := open(t, agentsOf(t, true), func(o *server.Options) { o.Guard = looker{} })
	for _, name := range h.agent().tools() {
		if strings.HasPrefix(name, "start_") || name == "decide" || name == "fork_process" || name == "simulate" {
			t.Errorf("who may look alone has the tool %s", name)
		}
	}
	h = open(t, agentsOf(t, true))
	h.token = ""
	body := `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`
	h.ask("POST", "/mcp", body).problem(401, "no-token")
	h.token = "another-token-of-enough-characters"
	h.ask("POST", "/mcp", body).problem(401, "bad-token")
	h.token = token
	h.ask("POST", "/mcp", body, "Origin", "https://evil.example").problem(403, "foreign-page")
	h.ask("POST", "/mcp", body, "Host", "evil.example").problem(421, "foreign-host")
	if a := h.ask("POST", "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "`+strings.Repeat("x", 5<<20)+`"}`, "Accept",
		"application/json, text/event-stream"); a.status != 413 {
		t.Errorf("a large body is answered %d", a.status)
	}
}
