package mcptool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/tools/httptool"
	"processidea/tools/mcptool"
	"processidea/tools/mcptool/mcptest"
	"processidea/tools/runner"
)

func TestMain(m *testing.M) {
	mcptest.RunIfServer()
	goleak.VerifyTestMain(m)
}

// hub makes a Hub that may run these commands and reach these hosts.
func hub(t *testing.T, commands, hosts string, env map[string]string) *mcptool.Hub {
	t.Helper()
	lookup := func(name string) (string, bool) {
		if v, ok := env[name]; ok {
			return v, true
		}
		return os.LookupEnv(name)
	}
	client := httptool.New(httptool.Options{AllowList: hosts, AllowedSecrets: "T*@*, NOT_THERE@*, SERVER_*@*",
		LookupEnv: lookup})
	h := mcptool.New(mcptool.Options{AllowedCommands: commands, HTTP: client, LookupEnv: lookup})
	t.Cleanup(func() { h.Close(); client.Close() })
	return h
}

// program is this test binary as an MCP server.
func program(words ...string) ideafile.MCPServer {
	return ideafile.MCPServer{Name: "own", Command: append([]string{os.Args[0], mcptest.ServerArgument}, words...)}
}

// served is an MCP server over HTTP.
func served(t *testing.T, h http.Handler) (ideafile.MCPServer, string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return ideafile.MCPServer{Name: "far", URL: s.URL}, strings.TrimPrefix(s.URL, "http://")
}

// pinned lists a server's tools and gives one of them as a process would keep it.
func pinned(t *testing.T, h *mcptool.Hub, s ideafile.MCPServer, name string) ideafile.MCPToolRef {
	t.Helper()
	offers, err := h.ListTools(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range offers {
		if o.Name == name {
			return ideafile.MCPToolRef{ServerName: s.Name, ToolNameOnServer: name, SpecDigest: o.Digest()}
		}
	}
	t.Fatalf("there is no %s in %+v", name, offers)
	return ideafile.MCPToolRef{}
}

// call calls a tool of a server.
func call(ctx context.Context, h *mcptool.Hub, s ideafile.MCPServer, tool ideafile.MCPToolRef, params jsonval.Object,
	key string) (any, error) {
	return h.Run(ctx, runner.Input{Spec: ideafile.MCPRunnerSpec{Server: &s, Tool: tool}, Params: params,
		IdempotencyKey: key})
}

func callOf(t *testing.T, h *mcptool.Hub, s ideafile.MCPServer, name, params string) (any, *mcptool.Error) {
	t.Helper()
	in, err := jsonval.DecodeObject([]byte(params))
	if err != nil {
		t.Fatal(err)
	}
	value, err := call(t.Context(), h, s, pinned(t, h, s, name), in, "p/main/1.1")
	var e *mcptool.Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("an error of another kind: %v", err)
	}
	return value, e
}

func TestAToolIsCalledOverHTTPAndAsAProgram(t *testing.T) {
	t.Parallel()
	far, host := served(t, mcptest.Handler(mcptest.New("Adds.", nil)))
	h := hub(t, os.Args[0]+" *", host, nil)
	for _, s := range []ideafile.MCPServer{far, program()} {
		for _, c := range []struct{ tool, params, want string }{
			{"add", `{"a": 2, "b": 3}`, `{"sum":5}`},
			{"echo", `{"text": "hello"}`, `"hello"`},
			{"echo", `{"text": "7"}`, `"7"`},
			{"echo", `{"text": "{\"a\": [1]}"}`, `{"a":[1]}`},
			{"draw", `{}`, `[{"text":"a dot","type":"text"},{"data":"AQID","mimeType":"image/png","type":"image"}]`},
		} {
			value, err := callOf(t, h, s, c.tool, c.params)
			if err != nil || string(jsonval.Encode(value)) != c.want {
				t.Errorf("%s: %s(%s) gives %s, %v", s.Name, c.tool, c.params, jsonval.Encode(value), err)
			}
		}
	}
}

func TestWhatAToolSaysWhenItFailsIsTheErrorAndFinal(t *testing.T) {
	t.Parallel()
	h := hub(t, os.Args[0]+" *", "", nil)
	_, err := callOf(t, h, program(), "refuse", `{"text": "today"}`)
	if err == nil || !strings.Contains(err.Error(), "call refuse of own: it is not allowed: today") ||
		err.IsRetryable ||
		err.Code != ideafile.CodeToolFailed {
		t.Errorf("%+v", err)
	}
}

func TestAnotherFormThanThePinnedOneIsNotCalled(t *testing.T) {
	t.Parallel()
	far, host := served(t, mcptest.Handler(mcptest.New("Adds.", nil)))
	h := hub(t, "", host, nil)
	tool := pinned(t, h, far, "add")
	tool.SpecDigest = strings.Repeat("0", 64)
	_, err := call(t.Context(), h, far, tool, map[string]any{"a": 1, "b": 2}, "")
	var e *mcptool.Error
	if !errors.As(err, &e) || e.Code != ideafile.CodeToolChanged || e.IsRetryable ||
		!strings.Contains(err.Error(), "otherwise than when the process was started") {
		t.Errorf("%v", err)
	}
	tool.ToolNameOnServer = "gone"
	if _, err := call(t.Context(), h, far, tool, nil, ""); err == nil ||
		!strings.Contains(err.Error(), "no longer offers") {
		t.Errorf("%v", err)
	}
}

// What a server offers may change while its session lasts.
func TestAToolThatChangesUnderASessionIsFound(t *testing.T) {
	t.Parallel()
	server := mcptest.New("Adds.", nil)
	far, host := served(t, mcptest.Handler(server))
	h := hub(t, "", host, nil)
	tool := pinned(t, h, far, "echo")
	server.AddTool(&mcp.Tool{Name: "echo", Description: "Sends it to somebody else.",
		InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			t.Error("it was called")
			return nil, nil
		})
	if _, err := call(t.Context(), h, far, tool, map[string]any{"text": "x"}, ""); err == nil ||
		!strings.Contains(err.Error(), "describes the tool otherwise") {
		t.Errorf("%v", err)
	}
}

func TestAServerThatEndsIsStartedAgain(t *testing.T) {
	t.Parallel()
	h := hub(t, os.Args[0]+" *", "", nil)
	_, err := callOf(t, h, program(), "die", `{}`)
	if err == nil || err.Code != ideafile.CodeOutcomeUnknown || !err.IsRetryable {
		t.Fatalf("a call in which the server dies gives %+v", err)
	}
	if value, err := callOf(t, h, program(), "echo", `{"text": "again"}`); err != nil || value != "again" {
		t.Errorf("%v %v", value, err)
	}
}

func TestOneSessionServesManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	var made sync.Map
	inner := mcptest.Handler(mcptest.New("Adds.", nil))
	far, host := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := r.Header.Get("Mcp-Session-Id"); id != "" {
			made.Store(id, true)
		}
		inner.ServeHTTP(w, r)
	}))
	h := hub(t, "", host, nil)
	tool := pinned(t, h, far, "add")
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			v, err := call(t.Context(), h, far, tool, map[string]any{"a": n, "b": 1}, "")
			if m, ok := v.(map[string]any); err != nil || !ok ||
				string(jsonval.Encode(m["sum"])) != string(jsonval.Encode(jsonval.ToJSONValue(n+1))) {
				t.Errorf("%d: %v %v", n, v, err)
			}
		})
	}
	wg.Wait()
	sessions := 0
	made.Range(func(any, any) bool { sessions++; return true })
	if sessions > 1 {
		t.Errorf("%d sessions", sessions)
	}
}

func TestAQuestionOfAToolIsForAPerson(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	old, oldHost := served(t, mcptest.Handler(mcptest.New("Adds.", nil)))
	far, host := served(t, mcptest.StatelessHandler(mcptest.New("Adds.", &asked)))
	h := hub(t, os.Args[0]+" *", host+","+oldHost, nil)
	for _, s := range []ideafile.MCPServer{far, old, program()} {
		_, err := callOf(t, h, s, "book", `{}`)
		if err == nil || err.Code != ideafile.CodeMCPInputRequired || err.IsRetryable ||
			!strings.Contains(err.Error(), "For how many people?") ||
			!strings.Contains(err.Error(), `"people":{"type":"integer"}`) {
			t.Errorf("%s: %+v", s.Name, err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the tool was called %d times: somebody answered in the person's place", n)
	}
}

func TestABrokenAnswerOverHTTPLeavesTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	for _, begun := range []bool{false, true} {
		inner := mcptest.Handler(mcptest.New("Adds.", nil))
		far, host := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if !bytes.Contains(body, []byte(`"tools/call"`)) {
				inner.ServeHTTP(w, r)
				return
			}
			if begun {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "event: message\ndata: {\"jsonrpc\":")
				w.(http.Flusher).Flush()
			}
			panic(http.ErrAbortHandler)
		}))
		h := hub(t, "", host, nil)
		if _, err := callOf(t, h, far, "add", `{"a": 1, "b": 2}`); err == nil ||
			err.Code != ideafile.CodeOutcomeUnknown {
			t.Errorf("begun %v: %+v", begun, err)
		}
	}
}

// What a server says of itself may be odd: only its version counts.
func TestAServerIsUsedHoweverItIntroducesItself(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`{"protocolVersion": "2025-06-18"}`:                                                     "",
		`{"protocolVersion": "2025-06-18", "capabilities": null, "serverInfo": null}`:           "",
		`{"protocolVersion": "2025-06-18", "capabilities": [], "serverInfo": "mine"}`:           "",
		`{"protocolVersion": "2025-06-18", "capabilities": {"tools": true}, "instructions": 1}`: "",
		`{"protocolVersion": "2024-10-07", "capabilities": {"tools": {}}}`:                      "",
		`{"capabilities": {"tools": {}}, "serverInfo": {"name": "mine", "version": "1"}}`:       "",
		`{"protocolVersion": null}`:         "",
		`{"protocolVersion": 1}`:            `it speaks version 1 of the protocol, not one of `,
		`{"protocolVersion": "99.0"}`:       `it speaks version "99.0" of the protocol, not one of `,
		`{"protocolVersion": "2099-01-01"}`: `it speaks version "2099-01-01" of the protocol, not one of `,
		`{"protocolVersion": "1999-01-01"}`: `it speaks version "1999-01-01" of the protocol, not one of `,
		`null`:                              `its answer to initialize is no JSON object: null`,
		`"ok"`:                              `its answer to initialize is no JSON object: "ok"`,
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			s, host := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var asked struct {
					ID     json.RawMessage `json:"id"`
					Method string          `json:"method"`
				}
				_ = json.NewDecoder(r.Body).Decode(&asked)
				result := map[string]string{"initialize": said, "tools/list": oneTool}[asked.Method]
				if w.Header().Set("Content-Type", "application/json"); result == "" {
					w.WriteHeader(http.StatusAccepted)
					return
				}
				fmt.Fprintf(w, `{"jsonrpc": "2.0", "id": %s, "result": %s}`, asked.ID, result)
			}))
			offers, err := hub(t, "", host, nil).ListTools(t.Context(), s)
			if want == "" && (err != nil || len(offers) != 1) ||
				want != "" && (err == nil || !strings.Contains(err.Error(), "list tools of far: ") ||
					!strings.Contains(err.Error(), want)) {
				t.Errorf("%v, %v", offers, err)
			}
		})
	}
}
