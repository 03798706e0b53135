package mcptool_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/ideafile/mcppalette"
	"processidea/model/jsonval"
	"processidea/tools/mcptool/mcptest"
)

const oneTool = `{"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}`

// plain is a server of an older protocol that answers with these texts, by method. Requests whose answer begins with a
// status are refused with it, and with the rest as the text.
func plain(answer func(method string, params json.RawMessage) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		var status int
		result := answer(asked.Method, asked.Params)
		if n, _ := fmt.Sscanf(result, "%d", &status); n == 1 {
			if status == http.StatusTooManyRequests {
				w.Header().Set("Retry-After", "1")
			}
			http.Error(w, strings.TrimSpace(result[3:]), status)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		switch {
		case asked.Method == "initialize":
			result = `{"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "plain", "version": "1"}}`
		case result == "":
			fmt.Fprintf(w, `{"jsonrpc": "2.0", "id": %s, "error": {"code": -32601, "message": "no such method"}}`,
				asked.ID)
			return
		case asked.Method != "initialize" && r.Header.Get("MCP-Protocol-Version") != "2025-06-18":
			http.Error(w, "which protocol?", http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc": "2.0", "id": %s, "result": %s}`, asked.ID, result)
	})
}

// plainly has a server that lists these tools and answers a call so.
func plainly(list, call string) http.Handler {
	return plain(func(method string, _ json.RawMessage) string {
		return map[string]string{"initialize": "{}", "tools/list": list, "tools/call": call}[method]
	})
}

func TestNumbersOfAServerAreKeptToTheDigit(t *testing.T) {
	t.Parallel()
	const id = `9007199254740993`
	for name, c := range map[string]struct{ call, want string }{
		"structured": {`{"content": [], "structuredContent": {"id": ` + id + `, "cents": 0.10}}`,
			`{"cents":0.10,"id":` + id + `}`},
		"in a text": {`{"content": [{"type": "text", "text": "{\"id\": ` + id + `}"}]}`, `{"id":` + id + `}`},
		"in a block": {`{"content": [{"type": "image", "data": "", "mimeType": "image/png", "_meta": {"id": ` +
			id + `}}]}`, `"id":` + id},
		"beside own meta": {`{"_meta": {"x": 1}, "content": [], "structuredContent": [` + id + `]}`, `[` + id + `]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, host := served(t, plainly(oneTool, c.call))
			got, err := callOf(t, hub(t, "", host, nil), s, "look", `{}`)
			if err != nil || !strings.Contains(string(jsonval.Encode(got)), c.want) {
				t.Errorf("%s, %v", jsonval.Encode(got), err)
			}
		})
	}
	s, host := served(t, plainly(`{"tools": [{"name": "look", "inputSchema": {"type": "object", "properties": {
		"id": {"maximum": `+id+`, "enum": [`+id+`], "const": `+id+`}}}, "outputSchema": {"type": "object", "minProperties": 1, "default": `+id+`}}]}`, ``))
	offers, err := hub(t, "", host, nil).List(t.Context(), s)
	if err != nil || len(offers) != 1 ||
		strings.Count(string(jsonval.Encode(jsonval.ToJSONValue(offers[0]))), id) != 4 {
		t.Errorf("%+v, %v", offers, err)
	}
}

// A number that no float64 holds at all would end as infinity somewhere: the Call fails.
func TestAResultThatCannotBeReadFailsTheCall(t *testing.T) {
	t.Parallel()
	s, host := served(t, plainly(oneTool, `{"content": [], "structuredContent": {"n": 1e999}}`))
	if _, err := callOf(t, hub(t, "", host, nil), s, "look", `{}`); err == nil ||
		!strings.Contains(err.Error(), "1e999") {
		t.Error(err)
	}
}

func TestWhatAServerRefusesUnreadHasNotRun(t *testing.T) {
	t.Parallel()
	for status, code := range map[string]string{
		"401": ideafile.CodeMCPRefused, "403": ideafile.CodeMCPRefused, "500": ideafile.CodeOutcomeUnknown,
	} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			s, host := served(t, plainly(oneTool, status+" the token has run out"))
			_, err := callOf(t, hub(t, "", host, nil), s, "look", `{}`)
			if err == nil || err.Code != code ||
				(code == ideafile.CodeMCPRefused && !strings.Contains(err.Error(), "the token has run out")) {
				t.Errorf("%+v", err)
			}
		})
	}
	for _, method := range []string{"initialize", "tools/list"} { // servers look at tokens at the first request
		var asked atomic.Int32
		s, host := served(t, plain(func(asks string, _ json.RawMessage) string {
			if asks == method {
				asked.Add(1)
				return "401 not for you"
			}
			return map[string]string{"initialize": "{}"}[asks]
		}))
		refusal(t, hub(t, "", host, nil), s, "status 401: not for you")
		if n := asked.Load(); n != 1 {
			t.Errorf("%s was asked %d times", method, n)
		}
	}
}

func TestAServerThatIsAskedTooOftenIsAskedAgain(t *testing.T) {
	t.Parallel()
	var calls, lists atomic.Int32
	s, host := served(t, plain(func(method string, _ json.RawMessage) string {
		switch {
		case method == "tools/list" && lists.Add(1) == 1, method == "tools/call" && calls.Add(1) < 3:
			return "429 slowly"
		case method == "tools/list":
			return oneTool
		case method == "tools/call":
			return `{"content": [{"type": "text", "text": "done"}]}`
		}
		return map[string]string{"initialize": "{}"}[method]
	}))
	if got, err := callOf(t, hub(t, "", host, nil), s, "look", `{}`); err != nil || got != "done" || calls.Load() != 3 {
		t.Errorf("%v, %v, %d calls", got, err, calls.Load())
	}
}

func TestAListThatNeverEndsIsRefused(t *testing.T) {
	t.Parallel()
	var pages atomic.Int32
	for want, cursor := range map[string]func() string{
		`the cursor "a" comes again`: func() string { return "a" },
		"more than 200 pages":        func() string { return fmt.Sprint(pages.Add(1)) },
	} {
		s, host := served(t, plain(func(method string, _ json.RawMessage) string {
			return map[string]string{"initialize": "{}", "tools/list": fmt.Sprintf(`{"tools": [], "nextCursor": %q}`,
				cursor())}[method]
		}))
		refusal(t, hub(t, "", host, nil), s, want)
	}
	if n := pages.Load(); n > 300 {
		t.Errorf("%d pages were asked for", n)
	}
}

// What Zod, Pydantic and others write is used as far as it can be, and what is left out is said.
func TestAServersSchemaIsUsedAsFarAsItCanBe(t *testing.T) {
	t.Parallel()
	list := `{"tools": [
	  {"name": "mail", "description": "` + strings.Repeat("x", 1<<20) + `", "inputSchema": {"type": "object", "required": ["to"],
	    "properties": {"to": {"type": "string", "pattern": "^(?!\\.)[a-z]+@[a-z.]+$"}, "_meta": {"type": "object"}, "item": {"$ref": "https://shop.example/item.json"},
	      "pattern": {"type": "string"}},
	    "$defs": {"item": {"$id": "https://shop.example/item.json", "type": "object", "properties": {"n": {"$ref": "#/$defs/count"}}, "$defs": {"count": {"type": "integer"}}}}}},
	  {"name": "mail", "inputSchema": {"type": "object"}},
	  {"name": "odd", "inputSchema": {"type": "object", "required": ["_x"], "properties": {"_x": {}}}}]}`
	s, host := served(t, plainly(list, `{"content": [{"type": "text", "text": "sent"}]}`))
	h := hub(t, "", host, nil)
	offers, err := h.List(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, tools := range []string{"", `, "tools": ["mail"]`} {
		idea, ps := ideafile.ParseIdea([]byte(`{"config": {"mcp": {"far": {"url": "` + s.URL + `"` + tools + `}}}}`))
		if len(ps.Errors()) > 0 {
			t.Fatal(ps)
		}
		f := mcppalette.ResolveTools(idea, map[string][]mcppalette.ToolSpec{"far": offers})
		after, ps := ideafile.ReadIdea(f.AddToIdeaSource(idea.Source))
		if len(f.Problems) > 0 || len(ps.Errors()) > 0 {
			t.Fatal(f.Problems, ps)
		}
		mail := after.Tool("far_mail")
		for params, fits := range map[string]bool{
			`{"to": ".a@b.c", "item": {"n": 1}, "pattern": "x"}`: true, `{"to": "a", "item": {"n": "one"}}`: false,
			`{}`: false,
		} {
			if err := mail.ParamsSchema.Validate(mustDecode(t, params)); (err == nil) != fits {
				t.Errorf("%s: %v", params, err)
			}
		}
		notes := strings.Join(after.MCPNotes(), "\n")
		for _, want := range []string{
			`tool mail: only the server checks the pattern of to: ^(?!\.)[a-z]+@[a-z.]+$`,
			"optional parameter _meta is left out",
			"mail: its description has 1048576 bytes and is cut at 8192", "mail: it is listed twice; the first counts",
		} {
			if !strings.Contains(notes, want) {
				t.Errorf("%q is missing in\n%s", want, notes)
			}
		}
		if tools == "" && !strings.Contains(notes,
			`odd: it is left out: the server's tool "odd" cannot be used: it requires the parameter _x`) {
			t.Error(notes)
		}
	}
	if got, failed := callOf(t, h, s, "mail", `{"to": "a@b.c"}`); failed != nil || got != "sent" {
		t.Errorf("%v, %v", got, failed)
	}
	if _, err := hub(t, os.Args[0]+" *", "", nil).List(t.Context(), program(mcptest.Argument)); err != nil {
		t.Error(err)
	}
}

func mustDecode(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonval.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
