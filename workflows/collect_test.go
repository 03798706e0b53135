package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/chain"
)

// copyStore is the tests' store in a folder of its own, so that collecting there takes nothing from under other tests.
func copyStore(t *testing.T) (*blobs.Store, string) {
	t.Helper()
	dir := t.TempDir()
	err := filepath.WalkDir(storeDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(storeDir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another test was just writing it, under a name of its own
		}
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := blobs.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dir
}

// Temporal keeps large payloads in the same store as the chains: collecting must leave what its histories need.
//
// Not parallel: it reads every history of the namespace and copies the whole store, which grow while other tests run.
func TestCollectingLeavesWhatHistoriesNeedAndTakesTheChain(t *testing.T) {
	large := strings.Repeat("x", 2*blobs.InlineThreshold)
	s := newScenario(t, fmt.Sprintf(`{"schema": {"tools": {"shout": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}},
		"context": [{"type": "state", "text": %q}]}`, large),
		`{"solution": {"calls": [{"_tool": "shout", "text": "†state.text", "_outputPath": "loud"}], "output": null}}`,
		`{"solution": {"calls": [], "output": null}}`)
	s.finish()
	scheduled, err := store.Put(t.Context(), []byte("what "+t.Name()+" will start from"))
	if err != nil {
		t.Fatal(err)
	}
	handle, err := temporalClient.ScheduleClient().Create(t.Context(), client.ScheduleOptions{
		ID: s.id, Spec: client.ScheduleSpec{CronExpressions: []string{"@yearly"}}, Paused: true,
		Action: &client.ScheduleWorkflowAction{ID: s.id + "-", Workflow: protocol.ProcessType,
			TaskQueue: protocol.TaskQueue,
			Args:      []any{protocol.ProcessStart{Idea: map[string]any{"context": scheduled}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = handle.Delete(context.Background()) })
	copied, dir := copyStore(t)
	held, err := chain.ReadTemporal(t.Context(), temporalClient.WorkflowService(), server.Namespace(), nil)
	if err != nil || held.ExecutionCount < 2 {
		t.Fatalf("%+v, %v", held, err)
	}
	chains := chain.New(copied)
	if r, err := chains.Verify(t.Context(), s.id); err != nil || !r.IsIntact || r.IdeaCount == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	nobodys, err := copied.Put(t.Context(), []byte("nobody's"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := chains.Collect(t.Context(), chain.CollectRules{Cutoff: time.Now().Add(time.Hour), TemporalContents: held,
		ShouldRemove: true})
	if err != nil || c.CollectedValueCount == 0 || c.Retained.ValueCount == 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	if last, err := chains.LatestIdeaNumber(t.Context(), s.id); last != 0 || err != nil {
		t.Errorf("the chain stays: %d, %v", last, err)
	}
	fresh, err := blobs.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	if _, err := fresh.Get(t.Context(), nobodys); err == nil {
		t.Error("what nobody needs stays")
	}
	if _, err := fresh.Get(t.Context(), scheduled); err != nil {
		t.Errorf("what a schedule will start a process from is gone: %v", err)
	}
	for _, id := range []string{s.id, s.id + "/main"} {
		if err := replay(t, fresh, history(t, id)); err != nil {
			t.Errorf("the history of %s does not replay any more: %v", id, err)
		}
	}
	// Without the histories it would have gone: the test sees what it is about.
	blind, err := chains.Collect(t.Context(), chain.CollectRules{Cutoff: time.Now().Add(time.Hour)})
	if err != nil || blind.CollectedValueCount == 0 {
		t.Errorf("no history needs anything: %+v, %v", blind, err)
	}
}

// Everything that a process does leaves a chain that is whole, and that says which Call wrote what by the Request's
// Idea.
func TestAProcessLeavesAChainThatIsWhole(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}},
		"context": [{"type": "state", "_instance": "①", "text": "a"}, {"type": "state", "_instance": "②", "text": "b"}]}`,
		`{"solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "loud"}], "output": null}}`,
		`{"solution": {"calls": [], "output": null}}`)
	r := s.finish()
	chains := chain.New(store)
	report, err := chains.Verify(t.Context(), s.id)
	if err != nil || !report.IsIntact || report.IdeaCount != r.IdeaCount {
		t.Fatalf("%+v, %v", report, err)
	}
	links, err := chains.List(t.Context(), s.id)
	if err != nil || links[0].Request != 1 || links[0].Counts.Calls != 1 || links[0].Counts.Instances != 2 {
		t.Errorf("%+v, %v", links, err)
	}
	idea, err := chains.Load(t.Context(), s.id, r.IdeaCount)
	if err != nil {
		t.Fatal(err)
	}
	if _, problems := ideafile.ReadIdea(idea); len(problems.Errors()) > 0 {
		t.Errorf("the last Idea is no file that runs: %v", problems)
	}
}
