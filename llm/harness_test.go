package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/prompt"
	"processidea/model/turn"
)

const shoutIdea = `{"schema": {"tools": {"shout": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}},
	"context": [{"type": "text", "text": "Go."}]}`

// solutionText is a whole reply with one Call.
const solutionText = `{"calls":[{"_tool":"shout","text":"hi","_outputPath":"loud"}],"output":null}`

func newClient(t testing.TB, config Config) *Client {
	t.Helper()
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// question is a Request as the Idea above makes it.
func question(t testing.TB) Request {
	t.Helper()
	source, err := jsonval.DecodeObject([]byte(shoutIdea))
	if err != nil {
		t.Fatal(err)
	}
	idea, _ := ideafile.ReadIdea(source)
	bindings := map[string]ideafile.ToolBinding{"shout": {Kind: ideafile.KindGo, GoFunctionName: "shout"}}
	brief := &turn.RequestInput{ProcessID: "p", RequestNumber: 1, TurnNumber: 1,
		Instances: []turn.InstanceInput{{State: map[string]any{}}}}
	return Request{
		Messages: prompt.Render(idea, bindings, brief, nil), ResponseFormat: prompt.ResponseFormatFor(idea, bindings, brief),
		RateLimitKey: "p/1",
		OnCall:       func(int, json.RawMessage) {},
	}
}

// replied is a Reply with the Calls that were handed out.
type replied struct {
	*Reply
	Whole bool
	Calls []string
}

// makeRequest makes one Request.
func makeRequest(t testing.TB, c *Client) (*replied, error) {
	t.Helper()
	r, got := question(t), &replied{}
	r.OnCall = func(_ int, raw json.RawMessage) { got.Calls = append(got.Calls, string(raw)) }
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	reply, err := c.Stream(ctx, r)
	got.Reply, got.Whole = reply, err == nil && reply.IncompleteFault == nil
	return got, err
}

// server answers as h says, and remembers what it was asked.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []map[string]any
}

func serve(t testing.TB, h http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(data))
		body := map[string]any{}
		_ = json.Unmarshal(data, &body)
		s.mu.Lock()
		s.asked = append(s.asked, body)
		s.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) config() Config { return Config{BaseURL: s.URL + "/v1", APIKey: "k", Model: "any"} }

// requests gives the bodies of what was asked so far.
func (s *server) requests() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]map[string]any(nil), s.asked...)
}

// replying makes one Request of a server that answers as h says.
func replying(t testing.TB, h http.HandlerFunc) (*replied, error) {
	t.Helper()
	return makeRequest(t, newClient(t, serve(t, h).config()))
}

// refused is the error of a Request that got no reply.
func refused(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no refusal", err)
	}
	return e
}
