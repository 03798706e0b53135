package mcptool_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/model/ideafile"
	"processidea/tools"
	"processidea/tools/httptool"
	"processidea/tools/mcptool"
	"processidea/tools/mcptool/mcptest"
	"processidea/tools/runner"
)

func refusal(t *testing.T, h *mcptool.Hub, s ideafile.MCPServer, want string) {
	t.Helper()
	_, err := h.ListTools(t.Context(), s)
	var e *mcptool.Error
	if !errors.As(err, &e) || e.Code != ideafile.CodeMCPServerNotAllowed || e.IsRetryable ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%+v gives %v, want a refusal that says %q", s, err, want)
	}
}

// An Idea file that could choose the program, its arguments, or what loads into it, could run anything on the worker.
func TestNoProgramRunsThatTheWorkerDoesNotAllow(t *testing.T) {
	t.Parallel()
	exact := os.Args[0] + " " + mcptest.ServerArgument
	refusal(t, hub(t, "", "*", nil), program(), "is not in PROCESSIDEA_MCP_COMMANDS")
	refusal(t, hub(t, "other; "+exact, "", nil), program("and", "more"), "is not in PROCESSIDEA_MCP_COMMANDS")
	refusal(t, hub(t, exact, "", nil), ideafile.MCPServer{Name: "own", Command: []string{os.Args[0]}},
		"is not in PROCESSIDEA_MCP_COMMANDS")
	for _, entry := range []string{"*", "* *", "TOKEN=", "TOKEN=x npx", "=x npx", "TOKEN= =x"} {
		refusal(t, hub(t, exact+"; "+entry, "", nil), program(), fmt.Sprintf("entry %q names no program", entry))
	}
	for _, entry := range []string{"npx '/my data'", `"/my tools/npx" *`} {
		refusal(t, hub(t, exact+"; "+entry, "", nil), program(), "quotes do not join them")
	}
	preload := program()
	preload.Env = map[string]string{"LD_PRELOAD": "/tmp/x.so"}
	refusal(t, hub(t, exact, "", nil), preload,
		"the variable LD_PRELOAD may not be set: write LD_PRELOAD= before the command")
	own := program()
	own.Env = map[string]string{"TOKEN": "$env:PROCESSIDEA_KEYS"}
	refusal(t, hub(t, "TOKEN= "+exact, "", map[string]string{"PROCESSIDEA_KEYS": "k"}), own,
		"PROCESSIDEA_KEYS is not for tools")
	own.Env = map[string]string{"TOKEN": "$env:NOT_THERE"}
	refusal(t, hub(t, "TOKEN= "+exact, "", nil), own, "NOT_THERE is not set")
	if _, err := hub(t, exact, "", nil).ListTools(t.Context(), program()); err != nil {
		t.Errorf("the very command is refused: %v", err)
	}
}

func TestWhatARefusalSaysToListAdmitsTheCommand(t *testing.T) {
	t.Parallel()
	withEnv := program("and more", "; ls")
	withEnv.Env = map[string]string{"B": "2", "A": "1"}
	exact := os.Args[0] + " " + mcptest.ServerArgument
	for want, s := range map[string]ideafile.MCPServer{exact: program(), "A= B= " + exact + " *": withEnv} {
		refusal(t, hub(t, "", "*", nil), s, fmt.Sprintf("the command %q is not in", want))
		if _, err := hub(t, want, "", nil).ListTools(t.Context(), s); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestNoHostIsReachedThatTheWorkerDoesNotAllow(t *testing.T) {
	t.Parallel()
	far, host := served(t, mcptest.Handler(mcptest.New("Adds.", nil)))
	refusal(t, hub(t, "", "", nil), far, "no host is allowed: set PROCESSIDEA_HTTP_ALLOW")
	refusal(t, hub(t, "", "example.org", nil), far, "is not in PROCESSIDEA_HTTP_ALLOW")
	refusal(t, hub(t, "", "*", nil), far, "is not public")
	if _, err := hub(t, "", host, nil).ListTools(t.Context(), far); err != nil {
		t.Errorf("the very host is refused: %v", err)
	}
}

func TestAServerCannotSendItsClientElsewhere(t *testing.T) {
	t.Parallel()
	var reached bool
	_, other := served(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	far, host := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+other, http.StatusTemporaryRedirect)
	}))
	if _, err := hub(t, "", host+","+other, nil).ListTools(t.Context(), far); err == nil || reached ||
		!strings.Contains(err.Error(), "it redirects to http://"+other) {
		t.Errorf("it went there: %v", err)
	}
}

// Servers made with Starlette redirect from /mcp to /mcp/.
func TestAServerMaySendItsClientToAnotherPageOfItsOwn(t *testing.T) {
	t.Parallel()
	inner := mcptest.Handler(mcptest.New("Adds.", nil))
	for status, follows := range map[int]bool{307: true, 308: true, 302: false} {
		far, host := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/mcp/") {
				http.Redirect(w, r, "/mcp/", status)
				return
			}
			inner.ServeHTTP(w, r)
		}))
		far.URL += "/mcp"
		h := hub(t, "", host, nil)
		if !follows {
			_, err := h.ListTools(t.Context(), far)
			if err == nil || !strings.Contains(err.Error(), "it redirects to "+far.URL+"/;") {
				t.Errorf("%d: %v", status, err)
			}
		} else if v, err := callOf(t, h, far, "add", `{"a": 2, "b": 3}`); err != nil || fmt.Sprint(v) != "map[sum:5]" {
			t.Errorf("%d: %v, %v", status, v, err)
		}
	}
}

func TestAServerThatSpeaksNotOverHTTPSaysSo(t *testing.T) {
	t.Parallel()
	far, host := served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusMethodNotAllowed)
		fmt.Fprint(w, `{"detail":"Method Not Allowed"}`)
	}))
	_, err := hub(t, "", host, nil).ListTools(t.Context(), far)
	if err == nil ||
		!strings.Contains(err.Error(), `status 405: {"detail":"Method Not Allowed"}; its address may be another`) {
		t.Errorf("%v", err)
	}
}

// Not parallel: it sets variables of the process.
func TestAProgramIsGivenNoneOfTheWorkersSecrets(t *testing.T) {
	for name, value := range map[string]string{"OPENAI_API_KEY": "llm-secret-1",
		"TEMPORAL_API_KEY": "temporal-secret-1", "PROCESSIDEA_KEYS": "own-secret-1"} {
		t.Setenv(name, value)
	}
	s := program()
	s.Env = map[string]string{"TOKEN": "$env:SERVER_TOKEN", "LEVEL": "high"}
	h := hub(t, "TOKEN= LEVEL= "+os.Args[0]+" *", "", map[string]string{"SERVER_TOKEN": "the-servers-own-token"})
	value, err := callOf(t, h, s, "environment", `{}`)
	text, _ := value.(string)
	if err != nil || strings.Contains(text, "secret-1") || !strings.Contains(text, "LEVEL=high") ||
		!strings.Contains(text, "PATH=") {
		t.Errorf("%v %v", text, err)
	}
	if strings.Contains(text, "the-servers-own-token") || !strings.Contains(text, "TOKEN=[secret SERVER_TOKEN]") {
		t.Errorf("the secret stands in the result: %v", text)
	}
}

func TestAServerThatDoesNotStartSaysWhyWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	s := program()
	s.Env = map[string]string{"TOKEN": "$env:SERVER_TOKEN", "BROKEN": "1"}
	h := hub(t, "TOKEN= BROKEN= "+os.Args[0]+" *", "", map[string]string{"SERVER_TOKEN": "the-servers-own-token"})
	_, err := h.ListTools(t.Context(), s)
	var e *mcptool.Error
	if !errors.As(err, &e) || e.Code != ideafile.CodeMCPUnreachable || !e.IsRetryable {
		t.Fatalf("%+v", err)
	}
	if !strings.Contains(err.Error(), "it wrote: ready with [secret SERVER_TOKEN]") ||
		strings.Contains(err.Error(), "own-token") {
		t.Error(err)
	}
	missing := ideafile.MCPServer{Name: "m", Command: []string{"no-such-program-here"}}
	if _, err := hub(t, "no-such-program-here", "", nil).ListTools(t.Context(), missing); err == nil ||
		!strings.Contains(err.Error(), "no-such-program-here") {
		t.Error(err)
	}
}

func TestHeadersHoldSecretsThatAreStruckOut(t *testing.T) {
	t.Parallel()
	inner := mcptest.Handler(mcptest.New("Adds.", nil))
	far, host := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token-of-the-server" {
			http.Error(w, "who are you? not "+r.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	env := map[string]string{"T": "token-of-the-server", "WRONG": "another-token-of-it"}
	far.Headers = map[string]string{"Authorization": "Bearer $env:T"}
	h := hub(t, "", host, env)
	if value, err := callOf(t, h, far, "echo", `{"text": "I know token-of-the-server"}`); err != nil ||
		value != "I know [secret T]" {
		t.Errorf("%v %v", value, err)
	}
	far.Headers = map[string]string{"Authorization": "Bearer $env:WRONG"}
	if _, err := h.ListTools(t.Context(), far); err == nil || strings.Contains(err.Error(), "another-token") {
		t.Errorf("%v", err)
	}
}

func TestASecretIsToldToItsServerAlone(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	inner := mcptest.Handler(mcptest.New("Adds.", nil))
	far, host := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		inner.ServeHTTP(w, r)
	}))
	inHeader, inAddress, own := far, far, program()
	inHeader.Headers = map[string]string{"Authorization": "Bearer $env:T"}
	inAddress.URL += "/$env:T"
	own.Env = map[string]string{"TOKEN": "$env:T"}
	lookup := func(name string) (string, bool) {
		if name == "T" {
			return "the-very-secret", true
		}
		return os.LookupEnv(name)
	}
	for secrets, told := range map[string]struct{ far, own bool }{
		"T@*": {true, true}, "T@" + host: {true, false}, "T@localhost": {false, true}, "T@shop.example": {false, false},
	} {
		client := httptool.New(httptool.Options{AllowList: host, AllowedSecrets: secrets, LookupEnv: lookup})
		h := mcptool.New(mcptool.Options{AllowedCommands: "TOKEN= " + os.Args[0] + " *", HTTP: client,
			LookupEnv: lookup})
		for _, s := range []ideafile.MCPServer{inHeader, inAddress, own} {
			want := told.far
			if s.URL == "" {
				want = told.own
			}
			asked.Store(0)
			_, err := h.ListTools(t.Context(), s)
			if (err == nil) != want || s.URL != "" && (asked.Load() > 0) != want {
				t.Errorf("%s for %+v: %d requests, %v", secrets, s, asked.Load(), err)
			}
			if err != nil && (!strings.Contains(err.Error(), httptool.SecretsVariable) ||
				strings.Contains(err.Error(), "very-secret")) {
				t.Error(err)
			}
		}
		h.Close()
		client.Close()
	}
}

func TestWhatAServerSaysOfItsToolsHoldsNoSecret(t *testing.T) {
	t.Parallel()
	speaks := mcptest.New("Adds.", nil)
	speaks.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				return nil, errors.New("no tools for token-of-the-server")
			}
			return next(ctx, method, r)
		}
	})
	refuses := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		// The beginning that is quoted would end within the secret.
		http.Error(w, strings.Repeat("x", 990)+"token-of-the-server", http.StatusForbidden)
	})
	for want, handler := range map[string]http.Handler{
		"Adds for [secret T], [secret T].": mcptest.Handler(
			mcptest.New("Adds for token-of-the-server, TOKEN-OF-THE-SERVER.", nil)),
		"no tools for [secret T]": mcptest.Handler(speaks),
		"xxx[secret":              refuses,
	} {
		far, host := served(t, handler)
		far.Headers = map[string]string{"Authorization": "Bearer $env:T"}
		tools, err := hub(t, "", host, map[string]string{"T": "token-of-the-server"}).ListTools(t.Context(), far)
		if said := fmt.Sprint(tools, err); !strings.Contains(said, want) || strings.Contains(said, "token-of") {
			t.Errorf("want %q: %s", want, said)
		}
	}
}

func TestAServerThatNeverAnswersIsGivenUp(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	far, host := served(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(func() { close(release) })
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := hub(t, "", host, nil).ListTools(ctx, far)
	var e *mcptool.Error
	if !errors.As(err, &e) || e.Code != ideafile.CodeMCPUnreachable ||
		!strings.Contains(err.Error(), "deadline exceeded") {
		t.Errorf("%v", err)
	}
}

func TestAServerThatNobodyCallsIsLetGo(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	once := sync.OnceFunc(func() { close(closed) })
	inner := mcptest.Handler(mcptest.New("Adds.", nil))
	far, host := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner.ServeHTTP(w, r)
		if r.Method == http.MethodDelete {
			once()
		}
	}))
	client := httptool.New(httptool.Options{AllowList: host})
	defer client.Close()
	h := mcptool.New(mcptool.Options{HTTP: client, IdleTimeout: time.Millisecond})
	defer h.Close()
	if _, err := h.ListTools(t.Context(), far); err != nil {
		t.Fatal(err)
	}
	<-closed
	if _, err := h.ListTools(t.Context(), far); err != nil {
		t.Errorf("it is not spoken to again: %v", err)
	}
}

// Many programs greet or log where nothing but messages of the protocol may stand: dotenv, pino, console.log. Some
// begin with a byte order mark.
func TestWhatAServerSaysBesideItsMessagesIsLeftOut(t *testing.T) {
	t.Parallel()
	s := program()
	s.Env = map[string]string{"BANNER": "Welcome to odd 1.0\n\n[dotenv@17.2.2] injecting env (0) from .env\n" +
		`{"level":30,"req":{"id":1},"msg":"listening"}` + "\n{ port: 3,\n  host: 'x' }\n[]\n\uFEFF"}
	h := hub(t, "BANNER= "+os.Args[0]+" *", "", nil)
	if v, err := callOf(t, h, s, "add", `{"a": 2, "b": 3}`); err != nil || fmt.Sprint(v) != "map[sum:5]" {
		t.Errorf("%v, %v", v, err)
	}
}

func TestWhatAServerSaysInPlaceOfAnAnswerIsQuoted(t *testing.T) {
	t.Parallel()
	s := program()
	s.Env = map[string]string{"HANGS": "1", "TOKEN": "t", "BANNER": "Welcome to odd 1.0\n"}
	h := hub(t, "TOKEN= BANNER= HANGS= "+os.Args[0]+" *", "", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := h.ListTools(ctx, s); !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "may stand, it wrote: Welcome to odd 1.0") ||
		!strings.Contains(err.Error(), "it wrote: ready with t") {
		t.Error(err)
	}
}

func TestAResultThatIsTooLargeSaysSo(t *testing.T) {
	t.Parallel()
	h := hub(t, os.Args[0]+" *", "", nil)
	_, err := callOf(t, h, program(), "large", `{}`)
	if err == nil || err.IsRetryable || err.Code != ideafile.CodeBadOutput ||
		!strings.Contains(err.Error(), "larger than 16 MB") {
		t.Errorf("%v", err)
	}
	if value, err := callOf(t, h, program(), "echo", `{"text": "still there"}`); err != nil || value != "still there" {
		t.Errorf("%v, %v", value, err)
	}
}

// endless is a server that answers requests of one method with gigabytes, compressed to a thousandth.
func endless(method string) http.Handler {
	inner := mcptest.Handler(mcptest.New("Adds.", nil))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !strings.Contains(string(body), `"method":"`+method+`"`) {
			inner.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		event := []byte(
			`data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1,"message":"` +
				strings.Repeat("x", 10_000) + "\"}}\n\n")
		for sent := 0; r.Context().Err() == nil && sent < 4<<30; sent += len(event) {
			if _, err := z.Write(event); err != nil {
				return
			}
		}
	})
}

func TestAServerThatAnswersWithoutEndIsHungUpOn(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector, the messages of megabytes take minutes, and no goroutine more runs")
	}
	for _, method := range []string{"initialize", "tools/list", "tools/call"} {
		s, host := served(t, endless(method))
		h := hub(t, "", host, nil)
		_, err := h.ListTools(t.Context(), s)
		if method == "tools/call" {
			var failed *mcptool.Error
			if _, failed = callOf(t, h, s, "add", `{"a":1,"b":2}`); failed != nil {
				err = failed
			}
		}
		if err == nil || !strings.Contains(err.Error(), "larger than 16 MB") {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func TestAServerThatIsAskedTooOftenSaysForHowLong(t *testing.T) {
	t.Parallel()
	for _, busy := range []string{"tools/list", "tools/call"} {
		var lists atomic.Int32
		inner := plain(func(method string, _ json.RawMessage) string {
			if method == busy && (method == "tools/call" || lists.Add(1) > 1) { // the first is for the digest
				return "429 slowly"
			}
			return map[string]string{"initialize": "{}", "tools/list": oneTool}[method]
		})
		s, host := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7200")
			inner.ServeHTTP(w, r)
		}))
		h := hub(t, "", host, nil)
		look := pinned(t, h, s, "look")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := call(ctx, h, s, look, nil, "k")
		cancel()
		if runner.RetryDelay(err) != 2*time.Hour || !runner.IsThrottled(err) || tools.IsFinal(err) {
			t.Errorf("%s: %v, again after %s", busy, err, runner.RetryDelay(err))
		}
	}
}

// A proxy that asks for a login has passed nothing on. Of another page nobody knows who wrote it, and after what.
func TestALoginPageInPlaceOfAnAnswerHasRunNothing(t *testing.T) {
	t.Parallel()
	for page, code := range map[string]string{
		`<form><input name="p" type="password"></form>`: ideafile.CodeMCPServerNotAllowed,
		`<p>Thank you!</p>`:                             ideafile.CodeOutcomeUnknown,
	} {
		inner := plainly(oneTool, "")
		s, host := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if bytes.Contains(body, []byte(`"tools/call"`)) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_, _ = io.WriteString(w, "<html><body>"+page+"</body></html>")
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			inner.ServeHTTP(w, r)
		}))
		if _, err := callOf(t, hub(t, "", host, nil), s, "look", `{}`); err == nil || err.Code != code {
			t.Errorf("%s: %+v, want %s", page, err, code)
		}
	}
}
