package mcptool_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/tools/mcptool"
	"processidea/tools/mcptool/mcptest"
	"processidea/tools/runner"
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
			if status == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "" {
				w.Header().Set("Retry-After", "1")
			}
			http.Error(w, strings.TrimSpace(result[3:]), status)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		switch {
		case asked.Method == "initialize":
			result = mcptest.OddInitializedJSON
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
	offers, err := hub(t, "", host, nil).ListTools(t.Context(), s)
	if err != nil || len(offers) != 1 ||
		strings.Count(string(jsonval.Encode(jsonval.ToJSONValue(offers[0]))), id) != 4 {
		t.Errorf("%+v, %v", offers, err)
	}
}

// A text is read as its Tool wants it, and not as what it looks like.
func TestATextOfAServerIsReadAsItsToolWantsIt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ wanted, text, want string }{
		{`{"type": "string"}`, `{"a": 1}`, `"{\"a\": 1}"`},
		{`{"type": "string"}`, `[1]`, `"[1]"`},
		{`{"type": "string"}`, `12`, `"12"`},
		{`{"type": "string"}`, `null`, `"null"`},
		{`{"type": "integer"}`, `9007199254740993`, `9007199254740993`},
		{`{"type": "integer"}`, `007`, `"007"`},
		{`{"type": "boolean"}`, `true`, `true`},
		{`{"type": ["string", "integer"]}`, `12`, `"12"`},
		{`{"type": "object"}`, ` {"a": 1}`, `{"a":1}`},
		{`{}`, `{"a": 1}`, `{"a":1}`},
	} {
		quoted := jsonval.EncodeToString(row.text)
		s, host := served(t, plainly(oneTool, `{"content": [{"type": "text", "text": `+quoted+`}]}`))
		h := hub(t, "", host, nil)
		schema, err := jsonschema.CompileSchema(modeltest.MustDecodeJSON(row.wanted))
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.Run(t.Context(), runner.Input{
			Spec:         ideafile.MCPRunnerSpec{Server: &s, Tool: pinned(t, h, s, "look")},
			FitsAsResult: func(v any) bool { return schema.Validate(v) == nil }})
		if err != nil || string(jsonval.Encode(got)) != row.want {
			t.Errorf("%s of %s: %s, %v", row.wanted, row.text, jsonval.Encode(got), err)
		}
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
	mendable := map[int]bool{401: true, 402: true, 403: true, 407: true}
	for status := 300; status <= 500; status++ {
		if http.StatusText(status) == "" || status == 304 || // it has no text
			status == 425 || status == 429 { // these are sent again
			continue
		}
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			code := ideafile.CodeToolFailed
			switch {
			case mendable[status]:
				code = ideafile.CodeMCPServerNotAllowed
			case status == 500:
				code = ideafile.CodeOutcomeUnknown
			}
			for _, said := range []string{"top up", `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"top up"}}`} {
				s, host := served(t, plainly(oneTool, fmt.Sprint(status, " ", said)))
				_, err := callOf(t, hub(t, "", host, nil), s, "look", `{}`)
				if err == nil || status != 500 && (err.Code != code || !strings.HasSuffix(err.Error(), ": top up")) ||
					status == 500 && said == "top up" && err.Code != code {
					t.Errorf("%s: %+v", said, err)
				}
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

// The server was started again: it knows none of its sessions.
func TestASessionThatTheServerHasForgottenIsBegunAgain(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]string{
		"by the specification":                    "404 gone",
		"as Python's SDK says it":                 `404 {"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Session not found"}}`,
		"as TypeScript's says it":                 `400 {"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`,
		"as TypeScript's says it of its only one": `400 {"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`,
		"as gone": "410 gone", "as a caller whom it does not know": "401 who are you?",
	} {
		for _, at := range []string{"tools/list", "tools/call"} {
			t.Run(name+" "+at, func(t *testing.T) {
				t.Parallel()
				var begun, forgotten, calls atomic.Int32
				inner := plain(func(method string, _ json.RawMessage) string {
					switch method {
					case "initialize":
						begun.Add(1)
					case "tools/list", "tools/call":
						if method == "tools/call" {
							calls.Add(1)
						}
						if method == at && begun.Load() == 1 && forgotten.Add(1) > 1 {
							return refusal
						}
						return map[string]string{"tools/list": oneTool,
							"tools/call": `{"content": [{"type": "text", "text": "done"}]}`}[method]
					}
					return map[string]string{"initialize": "{}"}[method]
				})
				s, host := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Mcp-Session-Id", "session")
					inner.ServeHTTP(w, r)
				}))
				h := hub(t, "", host, nil)
				for range 2 {
					if got, err := callOf(t, h, s, "look", `{}`); err != nil || got != "done" {
						t.Fatalf("%v, %v", got, err)
					}
				}
				if begun.Load() != 2 {
					t.Errorf("%d sessions were begun", begun.Load())
				}
			})
		}
	}
}

// Python writes NaN, and some servers write Latin-1. The others' calls at that server go on.
func TestAnAnswerThatCannotBeReadFailsItsCallAlone(t *testing.T) {
	t.Parallel()
	const result = `"result": {"content": [], "structuredContent": {"ratio": %s}}`
	odd := map[string]string{
		"NaN":        `{"jsonrpc": "2.0", "id": ID, ` + fmt.Sprintf(result, "NaN") + `}`,
		"id last":    `{` + fmt.Sprintf(result, "-Infinity") + `, "jsonrpc": "2.0", "id": ID}`,
		"Latin-1":    `{"jsonrpc": "2.0", "id": ID, ` + fmt.Sprintf(result, "\"M\xfcller\"") + `}`,
		"text error": `{"jsonrpc": "2.0", "id": ID, "error": "too much"}`,
		"text code":  `{"jsonrpc": "2.0", "id": ID, "error": {"code": "E1", "message": "too much"}}`,
	}
	for name, answer := range odd {
		for _, kind := range []string{"application/json", "text/event-stream; charset=utf-8", ""} {
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				h, s := oddServer(t, kind, answer)
				look := pinned(t, h, s, "look")
				neighbour := make(chan string)
				go func() {
					v, err := call(t.Context(), h, s, look, nil, "k")
					neighbour <- fmt.Sprint(v, err)
				}()
				_, err := callOf(t, h, s, "odd", `{}`)
				if err == nil || err.Code != ideafile.CodeBadOutput || err.IsRetryable ||
					!strings.Contains(err.Error(), "the server's answer cannot be read: ") {
					t.Errorf("%+v", err)
				}
				if got := <-neighbour; got != "done<nil>" {
					t.Errorf("the neighbour: %s", got)
				}
			})
		}
	}
}

// oddServer has an odd answer given by a program, or, of a kind of content, by a server over HTTP.
func oddServer(t *testing.T, kind, answer string) (*mcptool.Hub, ideafile.MCPServer) {
	t.Helper()
	if kind != "" {
		s, host := served(t, oddly(kind, answer))
		return hub(t, "", host, nil), s
	}
	s := program()
	s.Env = map[string]string{"ODD": answer}
	return hub(t, "ODD= "+os.Args[0]+" *", "", nil), s
}

// oddly is a server as mcptest has one: look is answered after odd.
func oddly(kind, odd string) http.Handler {
	called := make(chan struct{})
	once := sync.OnceFunc(func() { close(called) })
	inner := plainly(mcptest.OddToolsJSON, `{"content": [{"type": "text", "text": "done"}]}`)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var asked struct {
			ID     json.RawMessage       `json:"id"`
			Params struct{ Name string } `json:"params"`
		}
		_ = json.Unmarshal(body, &asked)
		switch asked.Params.Name {
		case "look":
			<-called
		case "odd":
			text := strings.ReplaceAll(odd, "ID", string(asked.ID))
			if w.Header().Set("Content-Type", kind); strings.HasPrefix(kind, "text/event-stream") {
				text = ": here it comes\r\n\r\ndata: ping\r\n\r\nid: 7\r\nevent: message\r\ndata: " + text + "\r\n\r\n"
			}
			if strings.HasSuffix(kind, "ends=CR") {
				text = strings.ReplaceAll(text, "\r\n", "\r")
			}
			_, _ = io.WriteString(w, text)
			once()
			return
		}
		inner.ServeHTTP(w, r)
	})
}

func TestAnAnswerIsThatOfItsCallHoweverItSaysSo(t *testing.T) {
	t.Parallel()
	for _, quoted := range []string{`"ID"`, `"ID.0"`, `ID.0`, `ID, "error": null`,
		`ID, "error": null, "method": null, "params": null`} {
		answer := `{"jsonrpc": "2.0", "id": ` + quoted + `, "result": {"structuredContent": {"n": 9007199254740993}}}`
		for _, kind := range []string{"application/json", "text/event-stream", ""} {
			h, s := oddServer(t, kind, answer)
			v, err := callOf(t, h, s, "odd", `{}`)
			if got := string(jsonval.Encode(v)); err != nil || got != `{"n":9007199254740993}` {
				t.Errorf("%s %s: %s, %v", quoted, kind, got, err)
			}
		}
	}
}

// Servers of older protocols answer with a list, and some leave the version out, or say that they send a text.
func TestAnAnswerIsFoundInWhatTheServerSends(t *testing.T) {
	t.Parallel()
	const result = `"result": {"structuredContent": {"n": 9007199254740993}}}`
	const answer = `{"jsonrpc": "2.0", "id": ID, ` + result
	const log = `{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}`
	for _, said := range []string{answer, "[" + answer + "]", "[" + log + ", " + answer + "]", `{"id": ID, ` + result,
		`{"jsonrpc": 2.0, "id": ID, ` + result} {
		for _, kind := range []string{"application/json", "text/event-stream", "text/event-stream; ends=CR",
			"text/plain", "application/octet-stream", ""} {
			t.Run(said+" "+kind, func(t *testing.T) {
				t.Parallel()
				h, s := oddServer(t, kind, said)
				v, err := callOf(t, h, s, "odd", `{}`)
				if got := string(jsonval.Encode(v)); err != nil || got != `{"n":9007199254740993}` {
					t.Errorf("%s, %v", got, err)
				}
			})
		}
	}
}

// Programs log lines of JSON where their answers stand, with the id of the request that they work at.
func TestALineOfALogIsNoAnswer(t *testing.T) {
	t.Parallel()
	const answer = `{"jsonrpc": "2.0", "id": ID, "result": {"structuredContent": {"n": 1}}}`
	for _, log := range []string{
		`{"id": ID, "level": "info", "msg": "looking"}`,
		`{"level": "info", "msg": "looking", "id": ID}`,
		`{"id": ID, "method": "tools/call", "msg": "looking"}`,
		`{"id": ID, "level": "error", "error": {"code": 7, "message": "disk is slow"}}`,
		`{"id": ID, "level": "error", "error": "disk is slow"}`,
		`{"id": ID, "took": NaN}`,
		`{"jsonrpc": "2.0", "id": ID, "level": "info"}`,
		`{"level": "debug", "sent": {"jsonrpc": "2.0", "id": ID, "result": {"content": []}}}`,
		`[{"id": ID, "level": "info"}]`,
		`looking for {"id": ID, "result": {}} now`,
	} {
		h, s := oddServer(t, "", log+"\n"+answer)
		if v, err := callOf(t, h, s, "odd", `{}`); err != nil || string(jsonval.Encode(v)) != `{"n":1}` {
			t.Errorf("%s: %v, %v", log, v, err)
		}
	}
	h, s := oddServer(t, "", "looking for {it} ... 100% "+answer)
	if v, err := callOf(t, h, s, "odd", `{}`); err != nil || string(jsonval.Encode(v)) != `{"n":1}` {
		t.Errorf("behind other text: %v, %v", v, err)
	}
}

func TestAnErrorIsThatOfItsCallAndSaysAllThatTheServerSays(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`"id": ID, "error": {"code": -32602, "message": "Invalid params", "data": {"day": "no date"}}`: `Invalid params: {"day": "no date"}`,
		`"id": ID, "error": {"code": -32602, "message": "Invalid params", "data": ""}`:                 `Invalid params`,
		`"id": ID, "error": {"code": -32000, "message": ""}`:                                           `error -32000`,
		`"id": null, "error": {"code": -32600, "message": "no such tenant"}`:                           `no such tenant`,
		`"id": "server-error", "error": {"code": -32600, "message": "no such tenant"}`:                 `no such tenant`,
	} {
		for _, kind := range []string{"application/json", "text/event-stream"} {
			if kind != "application/json" && strings.Contains(said, "server-error") {
				continue // in a stream it could be another request's
			}
			h, s := oddServer(t, kind, `{"jsonrpc": "2.0", `+said+`}`)
			if _, err := callOf(t, h, s, "odd", `{}`); err == nil || err.Code != ideafile.CodeToolFailed ||
				!strings.HasSuffix(err.Error(), ": "+want) {
				t.Errorf("%s %s: %+v", kind, said, err)
			}
		}
	}
	h, s := oddServer(t, "application/json", `{"jsonrpc": "2.0", "id": 9999, "result": {"content": []}}`)
	if _, err := callOf(t, h, s, "odd", `{}`); err == nil || err.Code != ideafile.CodeBadOutput ||
		!strings.Contains(err.Error(), "it answers another request") {
		t.Errorf("%+v", err)
	}
}

// The server has run the tool, whatever its answer looks like.
func TestAResultIsReadAsTheServerSaysIt(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`{"content": [{"type": "future", "n": 9007199254740993}]}`:                           `[{"n":9007199254740993,"type":"future"}]`,
		`{"content": [{"type": "image", "data": "data:image/png,x"}]}`:                       `[{"data":"data:image/png,x","type":"image"}]`,
		`{"content": [{"type": "text", "text": "ok", "annotations": {"priority": "high"}}]}`: `"ok"`,
		`{"content": [{"type": "text", "text": "ok"}], "isError": "false"}`:                  `"ok"`,
		`{"content": [{"type": "text", "text": "ok"}], "_meta": []}`:                         `"ok"`,
		`{"content": {"type": "text", "text": "ok"}}`:                                        `"ok"`,
		`{"content": "ok"}`:                                                 `"ok"`,
		`{"toolResult": {"id": 9007199254740993}}`:                          `{"toolResult":{"id":9007199254740993}}`,
		`{"_meta": {"a": 1}}`:                                               `""`,
		`{"content": null, "structuredContent": {"a": 1.10}}`:               `{"a":1.10}`,
		`{"content": [{"type": "text", "text": "no"}], "isError": true}`:    "no",
		`{"content": [], "structuredContent": {"a": 1}, "isError": "true"}`: `{"a":1}`,
		`{"content": [], "structuredContent": {"a": 1e400}}`:                `the result cannot be read: `,
		`{"content": [], "structuredContent": {"a": "\ud800"}}`:             `\ud800 at byte 44 is half of a character`,
		`null`: `the result cannot be read: it is no JSON object`,
		`"ok"`: `the result cannot be read: it is no JSON object`,
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			s, host := served(t, plainly(oneTool, said))
			v, err := callOf(t, hub(t, "", host, nil), s, "look", `{}`)
			got := string(jsonval.Encode(v))
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, want) || err != nil && err.Code == ideafile.CodeOutcomeUnknown {
				t.Errorf("%s, want %s (%+v)", got, want, err)
			}
		})
	}
}

// The SDK has errors of its own under these codes. Servers use them too.
func TestAnErrorWithACodeOfTheSDKIsTheServers(t *testing.T) {
	t.Parallel()
	for code := -32006; code <= -32000; code++ {
		answer := fmt.Sprintf(`{"jsonrpc": "2.0", "id": ID, "error": {"code": %d, "message": "not today"}}`, code)
		s, host := served(t, oddly("application/json", answer))
		if _, err := callOf(t, hub(t, "", host, nil), s, "odd", `{}`); err == nil ||
			err.Code != ideafile.CodeToolFailed || !strings.HasSuffix(err.Error(), ": not today") {
			t.Errorf("%d: %+v", code, err)
		}
	}
}
