package rehearsal

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// post sends a body as it is, and returns the whole answer.
func post(t *testing.T, server *Server, body string) (int, string) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := c.Post(server.URL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	solution, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(solution)
}

func TestARequestThatCannotBeReadIsRefusedAndLogged(t *testing.T) {
	t.Parallel()
	server := start(t, two)
	for _, body := range []string{``, `{`, `[]`, `{"messages": "hi"}`, `{"model": "m"}`,
		`{"messages": [{"content": 5}]}`,
		`{"messages": [{"content": [5]}]}`} {
		if status, solution := post(t, server, body); status != 400 ||
			!strings.Contains(solution, "rehearsal: read request: ") {
			t.Errorf("%s was answered with %d %s", body, status, solution)
		}
	}
	for _, seen := range server.Requests() {
		if seen.EndReason != EndRefused || seen.RequestNumber != 0 {
			t.Errorf("logged as request %d that ended %q", seen.RequestNumber, seen.EndReason)
		}
	}
	ask(t, server, "a").want(t, "first", "stop")
}

func TestOnlyTheCompletionsEndpointIsServed(t *testing.T) {
	t.Parallel()
	handler := NewHandler(parse(t, two))
	for method, path := range map[string]string{"GET": "/v1/chat/completions", "POST": "/v1/completions"} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(method, path, strings.NewReader(`{}`)))
		if answer.Code != 404 || !strings.Contains(answer.Body.String(), "no such endpoint") {
			t.Errorf("%s %s was answered with %d %s", method, path, answer.Code, answer.Body)
		}
	}
	if n := len(handler.Requests()); n != 0 {
		t.Errorf("%d requests were logged", n)
	}
}

func TestAStreamIsEventsThatEndWithDone(t *testing.T) {
	t.Parallel()
	server := start(t, `{"raw": "12345"}`)
	_, solution := post(t, server, `{"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]}`)
	events := strings.Split(strings.TrimSuffix(solution, "\n\n"), "\n\n")
	if len(events) != 5 || events[4] != "data: [DONE]" {
		t.Fatalf("the stream was %q", events)
	}
	var deltas []string
	for _, event := range events[:4] {
		var chunk struct {
			Object  string
			Choices []struct{ Delta json.RawMessage }
			Usage   json.RawMessage
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &chunk); err != nil {
			t.Fatal(err)
		}
		if chunk.Object != "chat.completion.chunk" || chunk.Usage != nil {
			t.Errorf("chunk %s", event)
		}
		deltas = append(deltas, string(chunk.Choices[0].Delta))
	}
	want := `{"role":"assistant","content":""} {"content":"1234"} {"content":"5"} {}`
	if got := strings.Join(deltas, " "); got != want {
		t.Errorf("deltas %s, want %s", got, want)
	}
}

func TestUsageIsNullInEveryChunkButTheLast(t *testing.T) {
	t.Parallel()
	server := start(t, `{"raw": "12345"}`)
	_, solution := post(t, server,
		`{"model": "m", "stream": true, "stream_options": {"include_usage": true}, "messages": [{"content": "hi"}]}`)
	if strings.Count(solution, `"usage":null`) != 4 ||
		strings.Count(solution, `"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}`) != 1 {
		t.Errorf("the stream was %s", solution)
	}
}

func TestTheBareHandlerServesWithoutAServer(t *testing.T) {
	t.Parallel()
	var handler http.Handler = NewHandler(parse(t, two))
	answer := httptest.NewRecorder()
	body := `{"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]}`
	handler.ServeHTTP(answer, httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body)))
	if answer.Code != 200 || !strings.Contains(answer.Body.String(), "firs") {
		t.Errorf("answered with %d %s", answer.Code, answer.Body)
	}
}
