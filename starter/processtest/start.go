package processtest

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/connect"
	"processidea/internal/devserver"
	"processidea/internal/rehearsal"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/store/blobs"
	"processidea/tools"
	"processidea/tools/kinds"
	"processidea/worker/engine"
)

// Start starts the process of an Idea file, or of a folder with idea.json (or .yaml) and, beside it, replies.jsonl and
// instances.jsonl. Everything is removed when the test is over. An error in the files fails the test.
func Start(t testing.TB, path string, options ...Option) *Process {
	t.Helper()
	s := &startSettings{fakes: tools.NewRegistry(), envVars: map[string]string{}, restTimeout: time.Minute}
	for _, o := range options {
		o(s)
	}
	p := &Process{t: t, restTimeout: s.restTimeout}
	dependencies := engine.Dependencies{Getenv: s.getenv, PromptRecorder: p.recordRequest,
		Limits:      engine.EmbeddedLimits,
		StopTimeout: time.Second}.With(s.additions)
	dependencies.Tools.IncludeOrReplace(s.fakes)
	dependencies.Tools.SetOnResult(p.recordCallAttempt)
	d, err := s.loadDefinition(t, path, ideafiles.WorkerTools{
		Registry: kinds.NewKnownTools(dependencies.Tools, dependencies.Runners), CheckReplies: rehearsal.CountReplies,
	})
	if err != nil {
		t.Fatalf("processtest: %v", err)
	}
	p.isDelegateTool = delegateToolNames(d)
	c := startEngine(t, dependencies)
	p.Process, err = c.Start(t.Context(),
		client.StartOptions{ID: d.Source.Name(), Idea: d.Idea, ScriptedReplies: d.RepliesText,
			DelegateFiles: d.DelegateFiles})
	if err != nil {
		t.Fatalf("processtest: %v", err)
	}
	p.client = c
	p.awaitResultInBackground()
	return p
}

// Run starts a process and waits for its end.
func Run(t testing.TB, path string, options ...Option) loop.ProcessResult {
	t.Helper()
	return Start(t, path, options...).Result()
}

// getenv is the worker's environment. It hides Process Idea's and the LLM's variables of the test program's own
// environment.
func (s *startSettings) getenv(name string) string {
	if v, ok := s.envVars[name]; ok || strings.HasPrefix(name, "PROCESSIDEA_") || strings.HasPrefix(name, "OPENAI_") {
		return v
	}
	return os.Getenv(name)
}

// startEngine runs a server and a worker until the test is over.
func startEngine(t testing.TB, dependencies engine.Dependencies) *client.Client {
	t.Helper()
	tempFolder := t.TempDir()
	server, err := devserver.Start(t.Context(),
		devserver.Options{Dir: tempFolder, UIPort: -1, SearchAttributes: connect.SearchAttributeTypes})
	if err != nil {
		t.Fatalf("processtest: %v", err)
	}
	t.Cleanup(server.Stop)
	store, err := blobs.Open(t.Context(), filepath.Join(tempFolder, "store"))
	if err != nil {
		t.Fatalf("processtest: %v", err)
	}
	t.Cleanup(func() { _ = store.Close() })
	logger := &warningLog{}
	t.Cleanup(func() {
		if text := logger.String(); t.Failed() && text != "" {
			t.Logf("the worker said:\n%s", text)
		}
	})
	dependencies.Log = slog.New(slog.NewTextHandler(logger, &slog.HandlerOptions{Level: slog.LevelWarn}))
	temporal, err := sdk.DialContext(t.Context(), connect.ClientOptions(sdk.Options{
		HostPort: server.Address(), Namespace: server.Namespace(), Logger: log.NewStructuredLogger(dependencies.Log),
	}, store))
	if err != nil {
		t.Fatalf("processtest: %v", err)
	}
	t.Cleanup(temporal.Close)
	dependencies.Store = store
	w, err := engine.NewWorker(temporal, dependencies)
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		t.Fatalf("processtest: %v", err)
	}
	t.Cleanup(w.Stop)
	return client.New(temporal, server.Namespace(), store)
}

// warningLog collects the worker's warnings.
type warningLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (c *warningLog) Write(line []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(line)
}

func (c *warningLog) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// delegateToolNames are the names of the Tools that run processes.
func delegateToolNames(d *ideafiles.Definition) map[string]bool {
	isDelegateTool := map[string]bool{}
	addDelegateTools := func(idea jsonval.Object) {
		for name, v := range toolsOfIdea(idea) {
			if tool, _ := v.(jsonval.Object); tool["_delegate"] != nil {
				isDelegateTool[name] = true
			}
		}
	}
	addDelegateTools(d.Idea)
	for _, file := range d.DelegateFiles {
		idea := jsonval.AsObject(file)
		addDelegateTools(idea)
	}
	return isDelegateTool
}

// context returns a context that ends with the test, or after the timeout.
func (p *Process) context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(p.t.Context(), p.restTimeout)
}
