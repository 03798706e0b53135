package llm

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3/option"

	"processidea/model/turn"
)

// opens asks a server once and gives what came of it.
func opens(t *testing.T, l Config, h http.HandlerFunc) error {
	t.Helper()
	s := httptest.NewServer(h)
	defer s.Close()
	if l.BaseURL == "" {
		l.BaseURL = s.URL + "/v1"
	}
	_, err := newClient(t, l).Stream(t.Context(), question(t))
	return err
}

// What is quoted of a page is shortened once the key is out of it: half a key would not be found.
func TestAPageThatRepeatsTheKeyIsQuotedWithoutIt(t *testing.T) {
	t.Parallel()
	const key = "sk-t0p-secret-of-many"
	for _, before := range []int{0, 485, 495} {
		for _, kind := range []string{"text/html", "text/event-stream"} {
			err := opens(t, Config{APIKey: key}, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", kind)
				_, _ = fmt.Fprintf(w, "%s%s\n\n", strings.Repeat("x", before),
					strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			})
			if err == nil || strings.Contains(err.Error(), key[:5]) || !strings.Contains(err.Error(), "xx") && before > 0 {
				t.Errorf("%s, after %d characters: %v", kind, before, err)
			}
		}
	}
}

func TestWhatTheServerAnswersSaysWhetherToAskAgain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		status int
		body   string
		again  bool
	}{
		"a bad request":         {400, `{"error": {"message": "bad"}}`, false},
		"a wrong key":           {401, `{"error": {"message": "no"}}`, false},
		"forbidden for a while": {403, `{}`, true}, // as gateways say that a quota is used up
		"no such thing":         {404, `{}`, false},
		"a time-out":            {408, `{}`, true},
		"a conflict":            {409, `{}`, true},
		"unprocessable":         {422, `{}`, false},
		"too many requests":     {429, `{"error": {"message": "slow down", "code": "rate_limit"}}`, true},
		"an exhausted quota":    {429, `{"error": {"message": "pay", "code": "insufficient_quota"}}`, false},
		"the server's fault":    {500, `oops`, true},
		"overloaded":            {529, `{"error": "overloaded"}`, true},
		"a bare string":         {401, `{"error": "no such key"}`, false},
		"unavailable for long":  {503, `{}`, true},
	} {
		err := opens(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(row.status)
			_, _ = w.Write([]byte(row.body))
		})
		if e := refused(t, err); e.IsRetryable != row.again {
			t.Errorf("%s: %v", name, err)
		} else if row.again && (e.RetryAfter < 89*time.Second || e.RetryAfter > 91*time.Second) {
			t.Errorf("%s: again after %s", name, e.RetryAfter)
		}
	}
}

// A server that accepts a Request and sends no reply has failed, not the LLM: it is asked again, later.
func TestAServerThatSendsNoReplySaysWhyAndIsAskedAgain(t *testing.T) {
	t.Parallel()
	whole := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, text)
		}
	}
	for name, row := range map[string]struct {
		h    http.HandlerFunc
		want string
	}{
		"null choices": {
			whole(`{"choices": null, "error_type": "overloaded", "error_message": "come back later"}`),
			"come back later"},
		"null choices in events": {
			streaming(chunks(`{"choices":null,"error_type":"overloaded","error_message":"come back later"}`)),
			"come back later"},
		"a type alone": {whole(`{"choices": null, "error_type": "overloaded"}`), "overloaded"},
		"in the choice": {whole(`{"choices": [{"index": 0, "error": {"code": 502, "message": "upstream is gone"}, "finish_reason": "error",
			"message": {"role": "assistant", "content": ""}}]}`), "upstream is gone"},
		"in the choice of an event": {
			streaming(chunks(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`,
				`{"choices":[{"index":0,"delta":{},"error":{"message":"upstream is gone"},"finish_reason":"error"}]}`)),
			"upstream is gone"},
		"no reason": {whole(`{"choices": [{"index": 0, "finish_reason": "error", "message": {}}]}`),
			"does not say why"},
		"it gives up": {streaming(chunks(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"abort"}]}`, done)), "gave up on the reply (finish_reason: abort)"},
		"its own reason": {streaming(chunks(`{"choices":[{"index":0,"delta":{},"finish_reason":"malformed_function_call"}]}`)),
			"an empty answer (finish_reason: malformed_function_call)"},
		"no choices":   {whole(`{"choices": [], "usage": {"prompt_tokens": 3}}`), "empty answer"},
		"choices null": {whole(`{"choices": null}`), "empty answer"},
		"no content": {
			whole(
				`{"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": null}}]}`), "empty answer"},
		"reasoning only": {
			whole(
				`{"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": null, "reasoning_content": "{\"calls\": []}"}}]}`),
			"an empty answer, with reasoning only"},
		"reasoning in parts": {streaming(chunks(`{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[]}]}}]}`,
			finished)), "an empty answer, with reasoning only"},
		"reasoning in details": {streaming(chunks(`{"choices":[{"index":0,"delta":{"reasoning_details":[{"text":"Hm."}]}}]}`,
			finished)), "an empty answer, with reasoning only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := replying(t, row.h)
			if e := refused(t, err); !e.IsRetryable || e.Code != turn.CodeLLMUnreachable ||
				!strings.Contains(e.Message, row.want) {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestASecondObjectInAReplyIsTold(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"at once":           solutionText + `{"calls": []}`,
		"behind some words": solutionText + "\n\nWait, that is wrong:\n```json\n{\n \"calls\": []}\n```",
		"each in its own fence": "```json\n" + solutionText +
			"\n```\nNo:\n```json\n{\"output\": 1, \"calls\": []}\n```",
	} {
		for _, pieces := range [][]string{{text}, strings.SplitAfter(text, "{")} {
			var events []string
			for _, piece := range pieces {
				events = append(events, delta(piece))
			}
			reply, err := replying(t, streaming(chunks(append(events, finished)...)))
			if err != nil || len(reply.Calls) != 1 || reply.IncompleteFault == nil ||
				!strings.Contains(reply.IncompleteFault.Message, "another one") {
				t.Errorf("%s: %v, %+v", name, err, reply)
			}
		}
	}
}

func TestAKeyThatTheServerRepeatsStandsInNoError(t *testing.T) {
	t.Parallel()
	for status, body := range map[int]string{
		401: `{"error": {"message": "Incorrect API key provided: sk-t0p\u002dsecret-of-many"}}`,
		500: `no use for sk-t0p-secret-of-many`, 400: `{"error": "sk-t0p-secret-of-many?"}`,
	} {
		err := opens(t, Config{APIKey: "sk-t0p-secret-of-many"}, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer sk-t0p-secret-of-many" {
				t.Error(r.Header)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		})
		if text := fmt.Sprintf("%v %+v %#v", err, err, err); (strings.Contains(text, "secret") &&
			!strings.Contains(text, "[secret OPENAI_API_KEY]")) ||
			strings.Contains(text, "t0p") {
			t.Errorf("%d: %s", status, text)
		}
	}
}

func TestAServerThatCannotBeReachedIsAskedAgain(t *testing.T) {
	t.Parallel()
	err := opens(t, Config{BaseURL: "http://127.0.0.1:1/v1"}, nil)
	if e := refused(t, err); !e.IsRetryable || e.Code != turn.CodeLLMUnreachable {
		t.Errorf("%v", err)
	}
}

func TestRetryAfterIsSecondsOrADateAndAnHourAtMost(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0.5": 500 * time.Millisecond, "7": 7 * time.Second, "-3": 0, "soon": 0, "86400": time.Hour,
		"Sun, 01 Nov 2026 12:02:00 GMT": 2 * time.Minute, "Sun, 01 Nov 2026 11:00:00 GMT": 0,
	} {
		r := &http.Response{Header: http.Header{"Retry-After": {text}}}
		if got := retryAfter(r, now); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Not parallel: it sets a variable of the process.
func TestAnEmptyBaseURLInTheEnvironmentCountsAsUnset(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	x := newClient(t, Config{APIKey: "k"}).newExchange(question(t))
	var asked string
	x.headerOptions = append(x.headerOptions, withMiddleware(func(r *http.Request) { asked = r.URL.String() }))
	_, _ = x.openStream(t.Context())
	if asked != "https://api.openai.com/v1/chat/completions" {
		t.Errorf("asked %q", asked)
	}
}

// Not parallel: it sets a variable of the process.
func TestAServerWithoutAKeyIsSentNone(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "somebody else's")
	sent := "nothing"
	_ = opens(t, Config{}, func(w http.ResponseWriter, r *http.Request) { sent = r.Header.Get("Authorization") })
	if sent != "" {
		t.Errorf("sent %q", sent)
	}
}

func TestAnAddressThatIsNoneIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"": true, "http://127.0.0.1:11434/v1": true, "https://h/openai/v1/": true, "https://h": true,
		"localhost:8000/v1": false, "h.example/v1": false, "http://": false, "ftp://h": false, "http://h:x/": false, "http://h:99999/v1": false,
		"https://h/v1/chat/completions": false, "https://h/v1?api-version=1": false, "https://h/v1#x": false,
		"https://h/v1/chat/completions/": false,
	} {
		l := Config{BaseURL: address, APIKey: "k"}
		if err := l.Check(); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
		if ok {
			continue
		}
		if _, err := New(l); err == nil {
			t.Errorf("a client of %q is made", address)
		}
	}
}

func TestAKeyOrModelOfSeveralLinesIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Config{"OPENAI_API_KEY": {APIKey: "k\nk2"},
		"OPENAI_MODEL": {APIKey: "k", Model: "a\x00b"}} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), "llm: read "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// withMiddleware sees a request and keeps it from leaving the machine.
func withMiddleware(see func(*http.Request)) option.RequestOption {
	return option.WithMiddleware(func(r *http.Request, _ option.MiddlewareNext) (*http.Response, error) {
		see(r)
		return nil, errors.New("not sent")
	})
}
