package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/blobs"
)

// ears is where a Request hands Calls on: of Temporal's client it needs signals alone.
type ears struct {
	client.Client
	mu    sync.Mutex
	sent  []protocol.CallsSignal
	held  []protocol.RequestHoldUpSignal
	waits []protocol.WorkerHoldUpSignal
}

func (e *ears) SignalWorkflow(_ context.Context, _, _, _ string, arg any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch s := arg.(type) {
	case protocol.CallsSignal:
		e.sent = append(e.sent, s)
	case protocol.RequestHoldUpSignal:
		e.held = append(e.held, s)
	case protocol.WorkerHoldUpSignal:
		e.waits = append(e.waits, s)
	}
	return nil
}

// calls counts the Calls that were handed on, and reports whether the instance was told that no more come.
func (e *ears) calls() (n int, last bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sent {
		n, last = n+len(s.Calls), last || s.IsLast
	}
	return n, last
}

const shoutIdea = `{"schema": {"tools": {"shout": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}},
	"context": [{"type": "text", "text": "Go."}]}`

// solutionText is a whole reply with one Call.
const solutionText = `{"calls":[{"_tool":"shout","text":"hi","_outputPath":"loud"}],"output":null}`

// newWorker is a worker's activities with an LLM behind a URL.
func newWorker(t testing.TB, config llm.Config) *Activities {
	t.Helper()
	asked, err := llm.New(config)
	if err != nil {
		t.Fatal(err)
	}
	store, err := blobs.Open(context.Background(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return &Activities{Store: store, LLM: asked, Client: &ears{}}
}

// makeRequest runs one Request as a worker does.
func makeRequest(t testing.TB, a *Activities) (*turn.LLMReply, error) {
	t.Helper()
	return requestIn(t, a, newEnvironment())
}

func newEnvironment() *testsuite.TestActivityEnvironment {
	var s testsuite.WorkflowTestSuite
	s.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	return s.NewTestActivityEnvironment()
}

func requestIn(t testing.TB, a *Activities, env *testsuite.TestActivityEnvironment) (*turn.LLMReply, error) {
	t.Helper()
	return requestByIdea(t, a, env, shoutIdea)
}

// requestOf runs one Request of an Idea.
func requestOf(t testing.TB, a *Activities, idea string) (*turn.LLMReply, error) {
	t.Helper()
	return requestByIdea(t, a, newEnvironment(), idea)
}

func requestByIdea(t testing.TB, a *Activities, env *testsuite.TestActivityEnvironment,
	text string, change ...func(*turn.RequestInput)) (*turn.LLMReply, error) {
	t.Helper()
	env.SetDataConverter(protocol.DataConverter())
	env.RegisterActivityWithOptions(a.SendRequest, activity.RegisterOptions{Name: protocol.ActivityRequestLLM})
	idea, err := jsonval.DecodeObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	setup := protocol.RequestSetup{Idea: idea,
		Bindings: map[string]ideafile.ToolBinding{"shout": {Kind: ideafile.KindGo, GoFunctionName: "shout"}}}
	input := &turn.RequestInput{ProcessID: "p", RequestNumber: 1, TurnNumber: 1,
		Instances: []turn.InstanceInput{{State: map[string]any{}}}}
	for _, change := range change {
		change(input)
	}
	result, err := env.ExecuteActivity(protocol.ActivityRequestLLM, setup, input)
	if err != nil {
		return nil, err
	}
	var reply turn.LLMReply
	if err := result.Get(&reply); err != nil {
		t.Fatal(err)
	}
	return &reply, nil
}

// server answers as h says.
type server struct{ *httptest.Server }

func serve(t testing.TB, h http.HandlerFunc) *server {
	t.Helper()
	s := &server{httptest.NewServer(h)}
	t.Cleanup(s.Close)
	return s
}

func (s *server) llm() llm.Config {
	return llm.Config{BaseURL: s.URL + "/v1", APIKey: "k", Model: "any"}
}

// streaming answers with a reply of this text.
func streaming(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		quoted, _ := json.Marshal(text)
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\ndata: [DONE]\n\n",
			quoted)
	}
}

// attempts is told of Requests alone.
type attempts struct{ requests []RequestAttempt }

func (a *attempts) ObserveRequest(r RequestAttempt) { a.requests = append(a.requests, r) }

func (*attempts) ObserveCall(ctx context.Context, _ CallAttempt) (context.Context, func(string)) {
	return ctx, func(string) {}
}

// refused is the error that Temporal is told of.
func refused(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		t.Fatalf("%v is no refusal", err)
	}
	return app
}

// executeIn runs one Call as a worker does.
func executeIn(t testing.TB, a *Activities, in protocol.ExecuteInput) (result any, err error) {
	t.Helper()
	env := newEnvironment()
	env.SetDataConverter(protocol.DataConverter())
	env.RegisterActivityWithOptions(a.ExecuteCall, activity.RegisterOptions{Name: protocol.ActivityExecute})
	value, err := env.ExecuteActivity(protocol.ActivityExecute, in)
	if err == nil {
		err = value.Get(&result)
	}
	return result, err
}
