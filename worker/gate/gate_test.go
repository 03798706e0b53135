package gate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/connect"
	"processidea/internal/devserver/devtest"
	"processidea/internal/safego/safegotest"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/tools"
	"processidea/tools/builtin"
	"processidea/tools/kinds"
	"processidea/worker/engine"
	"processidea/worker/gate"
)

const asked = `{"schema": {"tools": {"note": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "_outputPath": "†state.noted", "_approval": true}}},
	"context": [{"type": "input", "text": "hello"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "note", "text": "†input.text"}]}]}`

// site is a Temporal server with workers of a version that is not current, and a folder of Idea files.
type site struct {
	*testing.T
	temporal sdk.Client
	gate.Options
}

func newSite(t *testing.T, files map[string]string) *site {
	t.Helper()
	if testing.Short() {
		t.Skip("it has a server of its own")
	}
	server, stop, err := devtest.StartShared(connect.SearchAttributeTypes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	store, err := blobs.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	temporal, err := sdk.Dial(connect.ClientOptions(sdk.Options{HostPort: server.Address(),
		Namespace: server.Namespace(),
		Logger:    sdklog.NewStructuredLogger(quiet)}, store))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(temporal.Close)
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	known := tools.NewRegistry()
	builtin.Register(known, nil)
	return &site{t, temporal, gate.Options{
		Temporal: temporal, Namespace: server.Namespace(), Store: store, IdeaFolder: folder,
		Tools: ideafiles.WorkerTools{Registry: kinds.NewKnownTools(known, nil)}, MaxHistories: 50, Log: quiet,
	}}
}

// work starts a worker of a version; empty: of none.
func (s *site) work(build string) {
	s.Helper()
	var v connect.WorkerVersion
	if build != "" {
		v = connect.WorkerVersion{Deployment: "tests", BuildID: build}
	}
	w, err := engine.NewWorker(s.temporal, engine.Dependencies{Store: s.Store, Version: v, StopTimeout: time.Second})
	if err != nil {
		s.Fatal(err)
	}
	s.Version = v
	gate.Register(w, s.Options)
	if err := w.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(w.Stop)
}

// pass runs the gate, as a controller does: on the version that it is about.
func (s *site) pass() (r gate.Report, err error) {
	s.Helper()
	o := sdk.StartWorkflowOptions{ID: "gate-" + s.Name(), TaskQueue: protocol.TaskQueue}
	if s.Version != (connect.WorkerVersion{}) {
		o.VersioningOverride = &sdk.PinnedVersioningOverride{
			Version: worker.WorkerDeploymentVersion{DeploymentName: s.Version.Deployment, BuildID: s.Version.BuildID},
		}
	}
	ctx, cancel := context.WithTimeout(s.Context(), 3*time.Minute)
	defer cancel()
	var run sdk.WorkflowRun
	for { // a version is known once its worker has polled
		if run, err = s.temporal.ExecuteWorkflow(ctx, o, gate.WorkflowType); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		s.Fatal(err)
	}
	err = run.Get(ctx, &r)
	return r, err
}

func (s *site) start(id string) *client.Process {
	s.Helper()
	idea, err := client.ParseIdea([]byte(asked))
	if err != nil {
		s.Fatal(err)
	}
	p, err := client.New(s.temporal, s.Namespace, s.Store).Start(s.Context(),
		client.StartOptions{ID: id, Idea: idea, StartedBy: "ann"})
	if err != nil {
		s.Fatal(err)
	}
	return p
}

// A version that nothing is given to yet is asked itself, and its simulations run on it.
func TestAVersionThatFitsPassesBeforeItIsCurrent(t *testing.T) {
	s := newSite(t, map[string]string{"asked.json": asked, "notes.txt": "no Idea"})
	s.work("new")
	r, err := s.pass()
	if err != nil || r.IdeaCount != 1 || r.HistoryCount == 0 || len(r.Problems) > 0 {
		t.Errorf("%+v %v", r, err)
	}
}

// A run that no worker has answered yet, as each is for a moment when it starts or continues as new, refuses nothing.
func TestAHistoryThatNoWorkerAnsweredPasses(t *testing.T) {
	s := newSite(t, map[string]string{"asked.json": asked})
	for _, id := range []string{"started", "signaled"} {
		run, err := s.temporal.ExecuteWorkflow(t.Context(), sdk.StartWorkflowOptions{ID: id, TaskQueue: "nobody"},
			protocol.ProcessType, protocol.ProcessStart{Idea: map[string]any{}})
		if err == nil && id == "signaled" {
			err = s.temporal.SignalWorkflow(t.Context(), id, run.GetRunID(), "any", nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.work("")
	if r, err := s.pass(); err != nil || len(r.Problems) > 0 {
		t.Errorf("%+v %v", r, err)
	}
}

func TestAPanicOfItsHeartbeatsEndsNoWorker(t *testing.T) {
	s := newSite(t, map[string]string{"asked.json": asked})
	safegotest.Panic(t, "activities.heartbeat")
	s.work("")
	if r, err := s.pass(); err != nil || r.IdeaCount != 1 || len(r.Problems) > 0 {
		t.Errorf("%+v %v", r, err)
	}
}

func TestAVersionIsRefusedWithWhatDoesNotFit(t *testing.T) {
	unknown := strings.Replace(asked, `"_outputPath"`, `"_activity": "isNoLongerThere", "_outputPath"`, 1)
	s := newSite(t, map[string]string{"asked.json": asked, "unknown.json": unknown, "broken.json": `{"contxt": []}`})
	other := worker.New(s.temporal, "elsewhere", worker.Options{})
	other.RegisterWorkflowWithOptions(func(ctx workflow.Context, _ json.RawMessage) error {
		return workflow.Sleep(ctx, time.Millisecond)
	},
		workflow.RegisterOptions{Name: protocol.ProcessType})
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Stop()
	s.work("")
	p := s.start("waits")
	for list, err := p.Approvals(t.Context()); len(list) == 0; list, err = p.Approvals(t.Context()) {
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	run, err := s.temporal.ExecuteWorkflow(t.Context(),
		sdk.StartWorkflowOptions{ID: "made-by-other-code", TaskQueue: "elsewhere"}, protocol.ProcessType,
		protocol.ProcessStart{Idea: map[string]any{}})
	if err == nil {
		err = run.Get(t.Context(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.pass()
	if err == nil {
		t.Fatal("it passes")
	}
	for _, says := range []string{"unknown.json", "isNoLongerThere", "broken.json", "contxt",
		"the history of made-by-other-code", "does not replay", "3 problems"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("it does not say %q: %v", says, err)
		}
	}
	if strings.Contains(fmt.Sprint(err), "history of waits") {
		t.Errorf("a process that waits does not replay: %v", err)
	}
}
