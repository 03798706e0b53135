package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/blobs"
)

// ears is where a Request hands Calls on: of Temporal's client it needs signals alone.
type ears struct {
	client.Client
	mu   sync.Mutex
	sent []protocol.CallsSignal
}

func (e *ears) SignalWorkflow(_ context.Context, _, _, _ string, arg any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sent = append(e.sent, arg.(protocol.CallsSignal))
	return nil
}

// calls counts the Calls that were handed on, and says whether the instance was told that no more come.
func (e *ears) calls() (n int, last bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sent {
		n, last = n+len(s.Calls), last || s.Last
	}
	return n, last
}

const shoutIdea = `{"schema": {"tools": {"shout": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}},
	"context": [{"type": "text", "text": "Go."}]}`

// solutionText is a whole reply with one Call.
const solutionText = `{"calls":[{"_tool":"shout","text":"hi","_outputPath":"loud"}],"output":null}`

// newWorker is a worker's activities with an LLM behind a URL.
func newWorker(t testing.TB, l LLM) *Activities {
	t.Helper()
	store, err := blobs.Open(context.Background(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return &Activities{Store: store, LLM: l, Client: &ears{}}
}

// makeRequest runs one Request as a worker does.
func makeRequest(t testing.TB, a *Activities) (*turn.Reply, error) {
	t.Helper()
	return requestIn(t, a, newEnvironment())
}

func newEnvironment() *testsuite.TestActivityEnvironment {
	var s testsuite.WorkflowTestSuite
	s.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	return s.NewTestActivityEnvironment()
}

func requestIn(t testing.TB, a *Activities, env *testsuite.TestActivityEnvironment) (*turn.Reply, error) {
	t.Helper()
	env.SetDataConverter(protocol.DataConverter("inline"))
	env.RegisterActivityWithOptions(a.Request, activity.RegisterOptions{Name: protocol.ActivityRequest})
	idea, err := jsonval.DecodeObject([]byte(shoutIdea))
	if err != nil {
		t.Fatal(err)
	}
	setup := protocol.RequestSetup{Idea: idea, Bindings: map[string]ideafile.Binding{"shout": {Kind: ideafile.KindGo, Name: "shout"}}}
	brief := &turn.RequestInput{Process: "p", Number: 1, Turn: 1, Instances: []turn.InstanceInput{{State: map[string]any{}}}}
	result, err := env.ExecuteActivity(protocol.ActivityRequest, setup, brief)
	if err != nil {
		return nil, err
	}
	var reply turn.Reply
	if err := result.Get(&reply); err != nil {
		t.Fatal(err)
	}
	return &reply, nil
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

func (s *server) llm() LLM { return LLM{BaseURL: s.URL + "/v1", Key: "k", Name: "any"} }

// requests gives the bodies of what was asked so far.
func (s *server) requests() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]map[string]any(nil), s.asked...)
}

// replying makes one Request of a server that answers as h says.
func replying(t testing.TB, h http.HandlerFunc) (*turn.Reply, *ears, error) {
	t.Helper()
	a := newWorker(t, serve(t, h).llm())
	reply, err := makeRequest(t, a)
	return reply, a.Client.(*ears), err
}
