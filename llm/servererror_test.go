package llm

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"processidea/model/turn"
)

// refusing answers with a status and a body.
func refusing(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestAServersErrorIsReadInEveryFormItComesIn(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		h     http.HandlerFunc
		words string
		again bool
	}{
		"OpenAI": {
			refusing(
				401,
				`{"error":{"message":"no such key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`),
			"answered 401: no such key. Mend its key at the worker", false},
		"a bare string": {refusing(404, `{"error":"model \"x\" not found"}`),
			`answered 404: model "x" not found. See that OPENAI_BASE_URL is its address`, false},
		"another path": {refusing(404, "404 page not found\n"), "that it has the model any; then resume the process", false},
		"Spring": {refusing(401, `{"status":401,"error":"Unauthorized","message":"the token is old","path":"/v1"}`),
			"answered 401: the token is old. Mend its key", false},
		"OAuth": {refusing(400, `{"error":"invalid_request","error_description":"no such tenant"}`),
			"answered 400: no such tenant", false},
		"LM Studio, another path": {refusing(200, `{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`),
			"answered 404: Unexpected endpoint or method. (POST /chat/completions). See that OPENAI_BASE_URL", false},
		"Groq, without room": {refusing(498, `{"error":{"message":"no room"}}`), "answered 498: no room", true},
		"a flag":             {refusing(500, `{"error":true,"message":"no GPU"}`), "answered 500: no GPU", true},
		"a flag, 200":        {refusing(200, `{"error":true,"message":"no GPU"}`), "answered 500: no GPU", true},
		"a long code":        {refusing(500, `{"error":{"code":20240101000000017}}`), "answered 500: 20240101000000017", true},
		"in a stream, a flag": {streaming(chunks(`{"error":true,"code":404,"message":"no such model"}`)),
			"answered 404: no such model", false},
		"in a stream, without its key": {streaming(chunks(`{"code":401,"message":"no such key","data":null}`, done)),
			"answered 401: no such key. Mend its key", false},
		"in a stream, a list": {streaming(chunks(`{"choices":[]}`, `{"success":false,"errors":[{"message":"no route"}]}`)),
			"answered 500: no route", true},
		"a bare string, busy": {refusing(503, `{"error":"loading"}`), "answered 503: loading", true},
		"vLLM": {
			refusing(400, `{"object":"error","message":"too long","type":"BadRequestError","code":400}`),
			"answered 400: too long", false},
		"FastAPI": {refusing(422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`),
			"field required", false},
		"FastAPI, a text": {refusing(403, `{"detail":"Not authenticated"}`),
			"answered 403: Not authenticated. Mend its key at the worker (OPENAI_API_KEY)", false},
		"Google": {
			refusing(429, `[{"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED"}}]`),
			"answered 429: Resource exhausted", true},
		"Google, accepted": {refusing(200, `[{"error":{"code":429,"message":"Resource exhausted"}}]`),
			"answered 429: Resource exhausted", true},
		"Apigee": {refusing(400, `{"fault":{"faultstring":"no such path"}}`), "answered 400: no such path", false},
		"Cloudflare": {refusing(500, `{"success":false,"errors":[{"code":7000,"message":"no route"}]}`),
			"answered 500: no route", true},
		"MiniMax": {refusing(200, `{"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`),
			"answered 429: insufficient balance", false},
		"MiniMax, busy": {refusing(200, `{"base_resp":{"status_code":1002,"status_msg":"rate limit"}}`),
			"answered 500: rate limit", true},
		"words of no known form": {refusing(400, `{"why":"too long"}`), `answered 400: {"why":"too long"}`, false},
		"thoughts, and no more": {streaming(chunks(delta("<think>Hm.</think>\n"), finished, done)),
			"sent an empty answer, with reasoning only", true},
		"plain text": {refusing(502, "Bad gateway\n"), "answered 502: Bad gateway", true},
		"nothing":    {refusing(500, ""), "answered 500: Internal Server Error", true},
		"null":       {refusing(500, `{"error":null}`), "answered 500", true},
		"no credit": {refusing(402, `{"error":{"code":402,"message":"Insufficient credits"}}`),
			"answered 402: Insufficient credits", false},
		"a quota by its code": {refusing(429, `{"error":{"message":"pay","code":"insufficient_quota"}}`),
			"answered 429: pay", false},
		"a quota by its type": {refusing(429, `{"error":{"message":"pay","type":"insufficient_quota"}}`),
			"answered 429: pay", false},
		"in a stream": {streaming(chunks(`{"error":{"code":401,"message":"no such key"}}`)),
			"answered 401: no such key", false},
		"in a stream, busy": {streaming(": wait\n\n" + chunks(`{"error":{"code":429,"message":"slow down"}}`)),
			"answered 429: slow down", true},
		"in a stream, TGI": {streaming(chunks(`{"error":{"message":"too long","http_status_code":422}}`)),
			"answered 422: too long", false},
		"in a stream, by its status": {streaming(chunks(`{"error":{"message":"slow down","status":429}}`)),
			"answered 429: slow down", true},
		"in a stream, its quota": {streaming(chunks(`{"error":{"code":"insufficient_quota","message":"pay"}}`)),
			"answered 429: pay", false},
		"in a stream, by its kind": {streaming(chunks(
			`{"error":{"type":"invalid_request_error","message":"maximum context length"}}`)),
			"answered 400: maximum context length", false},
		"in a stream, by its code": {streaming(chunks(
			`{"error":{"type":"invalid_request_error","code":"invalid_api_key","message":"no such key"}}`)),
			"answered 401: no such key. Mend its key", false},
		"in a stream, Anthropic": {streaming("event: error\ndata: " +
			`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n\n"),
			"answered 529: Overloaded", true},
		"Moonshot": {refusing(429,
			`{"error":{"message":"your account is suspended","type":"exceeded_current_quota_error"}}`),
			"answered 429: your account is suspended", false},
		"no bill paid": {refusing(429, `{"error":{"message":"not active","code":"billing_not_active"}}`),
			"answered 429: not active", false},
		"another address": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				http.Redirect(w, r, "https://u:p@llm.example/v1/chat/completions?x=1", http.StatusMovedPermanently)
			}
		}, "is at another address: it redirects to https://llm.example/v1. Set OPENAI_BASE_URL to that", false},
		"in a stream, no code": {streaming(chunks(`{"error":"oops"}`)), "answered 500: oops", true},
		"in an event": {streaming("event: error\ndata: {\"message\":\"oops\"}\n\n"),
			"answered 500: oops", true},
		"in a whole answer":      {streaming(`{"error":{"message":"bad","code":400}}`), "answered 400: bad", false},
		"no answer at all":       {streaming(""), "empty response", true},
		"done, and nothing else": {streaming(chunks(done)), "empty response", true},
		"a page": {refusing(200, "<!DOCTYPE html>\n<p>Log in: here</p>\n"),
			`gives no reply: 200 OK of type "text/html; charset=utf-8": a text came in place of a reply: ` +
				`<!DOCTYPE html> <p>Log in: here</p>. See that `, false},
		"a page, said to be a stream": {streaming("<html>\r\n<title>Log in</title>\n\n</html>"),
			`of type "text/event-stream": a text came in place of a reply: <html> <title>Log in</title> </html>`, true},
		"a page without an end": {streaming(strings.Repeat("<p>Log in</p>\n", 1<<16)), "<p>Log in</p> <p>Log in<…",
			true},
		"a page in one line": {streaming("<p>" + strings.Repeat("x", 1<<20)), "xxx…", true},
		"a page behind a role": {streaming(chunks(`{"choices":[{"delta":{"role":"assistant"}}]}`) +
			"<html>Log in</html>\n"), "sent an empty answer, with this text: <html>Log in</html>", true},
		"a proxy's sentence": {streaming("upstream connect error or disconnect before headers"),
			"a text came in place of a reply: upstream connect error", true},
		"an error without its key": {refusing(200, `{"code":50505,"message":"Model overloaded","data":null}`),
			"answered 500: Model overloaded", true},
		"a wrong key, without its key": {refusing(200, `{"code":401,"message":"no such key","data":null}`),
			"answered 401: no such key. Mend its key", false},
		"AWS": {refusing(403, `{"Message":"User is not authorized."}`),
			"answered 403: User is not authorized. Mend its key", false},
		"OpenRouter": {refusing(400, `{"error":{"message":"Provider returned error","code":400,`+
			`"metadata":{"raw":"max_tokens is too large","provider_name":"x"}}}`),
			"answered 400: Provider returned error: max_tokens is too large", false},
		"Azure's gateway": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "20")
			refusing(403, `{"statusCode":403,"message":"Out of call volume quota."}`)(w, r)
		}, "answered 403: Out of call volume quota.", true},
		"an event that is no JSON": {streaming("data: {\"choices\":[{\"logprobs\":[-Infinity]}]}\n\n"),
			"gives no reply: an event is no JSON: ", true},
		"an event that is a sentence": {streaming("data: no GPU is left\n\n"), ": no GPU is left", true},
		"Groq, in a stream": {streaming(chunks(`{"choices":[{"delta":{},"finish_reason":"error"}],` +
			`"x_groq":{"id":"req_1","error":"over capacity"}}`)), "answered 500: over capacity", true},
		"Groq, in a stream, an object": {streaming(chunks(`{"choices":[],"x_groq":{"error":{"message":"slow down",` +
			`"type":"tokens","code":"rate_limit_exceeded"}}}`)), "answered 429: slow down", true},
		"MiniMax, in a stream": {streaming(chunks(`{"id":"x","base_resp":{"status_code":1002,"status_msg":"rate limit"}}`)),
			"answered 500: rate limit", true},
		"Anthropic's own interface": {refusing(200, `{"type":"message","content":[{"type":"text","text":"hi"}]}`),
			`gives no reply: the answer is no completion: {"type":"message"`, true},
		"another answer": {refusing(200, `{"models":[]}`), `gives no reply: the answer is no completion: {"models":[]}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := replying(t, row.h)
			e := refused(t, err)
			if e.IsRetryable != row.again || !strings.Contains(e.Error(), row.words) {
				t.Errorf("%v", err)
			}
			code := turn.CodeLLMError
			if row.again || name == "a page" { // of which nothing is the LLM's
				code = turn.CodeLLMUnreachable
			}
			if e.Code != code {
				t.Errorf("code %s", e.Code)
			}
			if len(reply.Calls) > 0 {
				t.Error("something was handed on")
			}
		})
	}
}

func TestTheServerSaysWhenToAskAgain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		header, value string
		least, most   time.Duration
	}{
		"seconds": {"Retry-After", "90", 90 * time.Second, 90 * time.Second},
		"a date": {"Retry-After", time.Now().Add(30 * time.Minute).UTC().Format(http.TimeFormat),
			20 * time.Minute, 30 * time.Minute},
		"milliseconds":  {"Retry-After-Ms", "2500", 2500 * time.Millisecond, 2500 * time.Millisecond},
		"a date, past":  {"Retry-After", "Sun, 01 Nov 2020 12:02:00 GMT", 0, 0},
		"a day":         {"Retry-After", "86400", time.Hour, time.Hour},
		"what is none":  {"Retry-After", "soon", 0, 0},
		"beyond floats": {"Retry-After", "1e400", 0, time.Hour},
	} {
		_, err := replying(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(row.header, row.value)
			refusing(429, `{"error":{"message":"slow down"}}`)(w, r)
		})
		if d := refused(t, err).RetryAfter; d < row.least || d > row.most {
			t.Errorf("%s: again after %s", name, d)
		}
	}
	for text, want := range map[string]time.Duration{
		"Please retry after 23 seconds.": 23 * time.Second, "Please retry after 1 second. To": time.Second,
		"please retry after 250 milliseconds": 250 * time.Millisecond, "Please try again in 7.66s.": 7660 * time.Millisecond,
		"Please try again in 1m30s. Visit": 90 * time.Second, "Try again in 2 minutes": 2 * time.Minute,
		"Please try again in 6ms.": 6 * time.Millisecond, "Please retry after 86400 seconds.": time.Hour,
		"retry after some seconds": 0, "Please retry after 23 sectors": 0,
	} {
		_, err := replying(t, refusing(429, `{"error":{"code":"429","message":"Over the limit. `+text+`"}}`))
		if d := refused(t, err).RetryAfter; d != want {
			t.Errorf("%s: again after %s", text, d)
		}
	}
	const google = `{"error":{"code":429,"message":"slow down","details":[{"retryDelay":"17s"}]}}`
	for name, h := range map[string]http.HandlerFunc{
		"as Google says it": refusing(429, "["+google+"]"), "in a stream": streaming(chunks(google)),
	} {
		_, err := replying(t, h)
		if d := refused(t, err).RetryAfter; d != 17*time.Second {
			t.Errorf("%s: again after %s", name, d)
		}
	}
}

func TestAKeyThatAServerRepeatsIsStruckOut(t *testing.T) {
	t.Parallel()
	s := serve(t, refusing(401, `{"error":{"message":"Incorrect API key: sk-very-secret-key-1."}}`))
	l := s.config()
	l.APIKey = "sk-very-secret-key-1"
	if _, err := makeRequest(t, newClient(t, l)); !strings.Contains(refused(t, err).Error(),
		"Incorrect API key: [secret OPENAI_API_KEY].") {
		t.Errorf("%v", err)
	}
	s = serve(t, streaming(chunks(delta(`{"calls":[`), `{"error":{"message":"key sk-very-secret-key-1 expired"}}`)))
	l.BaseURL = s.URL
	if reply, err := makeRequest(t, newClient(t, l)); err != nil || strings.Contains(reply.IncompleteFault.Message,
		"sk-very") || !strings.Contains(reply.IncompleteFault.Message, "expired") {
		t.Errorf("%v %+v", err, reply)
	}
}

// choosy refuses requests of whose body complains says something, and answers the others.
func choosy(complains func(body map[string]any) (status int, text string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body := map[string]any{}
		_ = json.NewDecoder(r.Body).Decode(&body)
		if status, text := complains(body); text != "" {
			refusing(status, text)(w, r)
			return
		}
		streaming(chunks(spoken(solutionText)...))(w, r)
	}
}

func formatOf(body map[string]any) string {
	f, _ := body["response_format"].(map[string]any)
	kind, _ := f["type"].(string)
	return kind
}

func TestWhatAServerDoesNotTakeIsAskedForInAnotherWay(t *testing.T) {
	t.Parallel()
	not := func(kinds ...string) func(body map[string]any) (int, string) {
		return func(body map[string]any) (int, string) {
			for _, k := range kinds {
				if formatOf(body) == k {
					return 400, fmt.Sprintf(`{"error":{"message":"'response_format.type' %s is not supported"}}`, k)
				}
			}
			return 0, ""
		}
	}
	says := func(status int, text string) func(body map[string]any) (int, string) {
		return func(body map[string]any) (int, string) {
			if formatOf(body) == "json_schema" {
				return status, text
			}
			return 0, ""
		}
	}
	has := func(key, text string) func(body map[string]any) (int, string) {
		return func(body map[string]any) (int, string) {
			if _, ok := body[key]; ok {
				return 400, text
			}
			return 0, ""
		}
	}
	for name, row := range map[string]struct {
		complains func(map[string]any) (int, string)
		formats   string // of the requests, in order
	}{
		"it takes all":          {not(), "json_schema"},
		"it refuses the schema": {not("json_schema"), "json_schema json_object"},
		"it refuses both":       {not("json_schema", "json_object"), "json_schema json_object none"},
		"it says so in a bare string": {says(400, `{"error":"json_schema is not supported"}`),
			"json_schema json_object"},
		"it says so in plain text": {says(400, `unknown field: response_format`), "json_schema json_object"},
		"it says so with a 422": {
			says(
				422,
				`{"detail":[{"loc":["body","response_format","json_schema"],"msg":"extra fields not permitted"}]}`),
			"json_schema json_object"},
		"it cannot make a grammar": {
			says(400, `{"error":{"code":400,"message":"Failed to parse grammar","type":"invalid_request_error"}}`),
			"json_schema json_object"},
		"its words are Google's": {says(400, `[{"error":{"code":400,"message":"The specified schema produces a `+
			`constraint that has too many states for serving.","status":"INVALID_ARGUMENT"}}]`),
			"json_schema json_object"},
		"its LLM does not keep to it": {says(400, `{"error":{"message":"Failed to generate JSON.",`+
			`"type":"invalid_request_error","code":"json_validate_failed","failed_generation":""}}`),
			"json_schema json_object"},
		"it says so in a stream": {func(body map[string]any) (int, string) {
			if formatOf(body) == "json_schema" {
				return 200, chunks(`{"error":{"type":"invalid_request_error","message":"no json_schema here"}}`)
			}
			return 0, ""
		}, "json_schema json_object"},
		"it says so with a 500": {says(500, `{"error":{"code":500,"message":"failed to parse grammar"}}`),
			"json_schema json_object"},
		"it says so with a 501": {says(501, `{"error":"structured output is not implemented"}`),
			"json_schema json_object"},
		"it knows no stream options": {
			has("stream_options", `{"error":{"message":"Unknown parameter: stream_options"}}`),
			"json_schema json_schema"},
		"it knows no completion limit": {
			has("max_completion_tokens",
				`{"error":{"message":"Unrecognized request argument supplied: max_completion_tokens"}}`),
			"json_schema"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, choosy(row.complains))
			reply, err := makeRequest(t, newClient(t, s.config()))
			if err != nil || !reply.Whole || len(reply.Calls) != 1 {
				t.Fatalf("%v %+v", err, reply)
			}
			var formats []string
			for _, body := range s.requests() {
				format := formatOf(body)
				if format == "" {
					format = "none"
				}
				formats = append(formats, format)
				messages := fmt.Sprint(body["messages"])
				if told := strings.Contains(messages,
					`"additionalProperties":false`); told != (format != "json_schema") {
					t.Errorf("%s: the schema stands in the prompt: %v", format, told)
				}
				if body["stream"] != true {
					t.Error("no stream is asked for")
				}
			}
			if got := strings.Join(formats, " "); got != row.formats {
				t.Errorf("asked %s", got)
			}
		})
	}
}

func TestAServerOfTheOldLimitGetsTheOldLimit(t *testing.T) {
	t.Parallel()
	s := serve(t, choosy(func(body map[string]any) (int, string) {
		if body["max_completion_tokens"] != nil {
			return 400, `{"error":{"message":"Unsupported parameter: 'max_completion_tokens'"}}`
		}
		return 0, ""
	}))
	r := question(t)
	r.Settings.MaxTokens = 77
	if _, err := newClient(t, s.config()).Stream(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if all := s.requests(); len(all) != 2 || all[1]["max_tokens"] != 77.0 || all[1]["max_completion_tokens"] != nil {
		t.Errorf("%v", all)
	}
}

func TestABadRequestForAnotherReasonIsAskedOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, refusing(400, `{"error":{"message":"maximum context length is 4096 tokens"}}`))
	if _, err := makeRequest(t, newClient(t, s.config())); refused(t, err).IsRetryable || len(s.requests()) != 1 {
		t.Errorf("%v after %d requests", err, len(s.requests()))
	}
	// One that complains of everything is not asked for ever.
	s = serve(t, refusing(400, `{"error":{"message":"response_format stream_options max_completion_tokens"}}`))
	if _, err := makeRequest(t, newClient(t, s.config())); refused(t, err).IsRetryable || len(s.requests()) != 4 {
		t.Errorf("%v after %d requests", err, len(s.requests()))
	}
}
