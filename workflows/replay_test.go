package workflows_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	"processidea/model/loop"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/workflows"
)

// record writes new recordings of the examples' histories: `make histories`. Old ones are kept, they are the histories
// of processes that somebody may still be running.
var record = flag.Bool("record", false, "record the examples' histories under testdata")

const (
	recordings    = "testdata/histories"
	recordedBlobs = "testdata/store"
)

func replayer(t *testing.T, s *blobs.Store) worker.WorkflowReplayer {
	t.Helper()
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		// The run itself has the worker's time limit. A replay is about order: its own second is too short where many
		// tests run at once.
		DisableDeadlockDetection: true,
		DataConverter:            protocol.DataConverter(), ExternalStorage: s.ExternalStorage(),
		Interceptors: workflows.Interceptors(protocol.HeartbeatTimeout),
	})
	if err != nil {
		t.Fatal(err)
	}
	workflows.Register(r)
	return r
}

// replay runs a history through today's workflow code, under the id that it was made with: children are named by it.
func replay(t *testing.T, s *blobs.Store, h *historypb.History) error {
	t.Helper()
	id := h.Events[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowId()
	return replayer(t, s).ReplayWorkflowHistoryWithOptions(quiet{}, h, worker.ReplayWorkflowHistoryOptions{
		OriginalExecution: workflow.Execution{ID: id},
	})
}

// replays checks that a process that has just run replays, and one of its instances too.
func replays(t *testing.T, name, process string) {
	t.Helper()
	for _, id := range []string{process, oneInstance(name, process)} {
		if err := replay(t, store, history(t, id)); err != nil {
			t.Errorf("replay %s: %v", id, err)
		}
	}
}

func oneInstance(name, process string) string {
	switch name {
	case "sentiment":
		return process + "/1"
	case "moderation", "ripening":
		return process + "/1"
	case "refunds":
		return process + "/13"
	case "employees":
		return process + "/employee_B"
	case "weather":
		return process + "/Bergen"
	}
	return process + "/main"
}

func recordHistories(t *testing.T, name string, r loop.ProcessResult) {
	t.Helper()
	recordHistory(t, name+"-process", r.ProcessID)
	recordHistory(t, name+"-instance", oneInstance(name, r.ProcessID))
}

// keep records the histories of a scenario's process and of others whose ids begin with its own, when recordings are
// made.
func (s *scenario) keep(name string, below ...string) {
	s.t.Helper()
	if !*record || s.t.Name() != s.id { // in a round of another test
		return
	}
	recordHistory(s.t, name+"-process", s.id)
	for _, id := range below {
		recordHistory(s.t, name+strings.ReplaceAll(id, "/", "-"), s.id+id)
	}
}

func recordHistory(t *testing.T, name, id string) {
	t.Helper()
	data, err := protojson.Marshal(history(t, id))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data)
	_ = z.Close()
	if err := os.WriteFile(filepath.Join(recordings, name+".json.gz"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	keepBlobs(t, string(data))
}

// keepBlobs copies what a history refers to in the store beside the recordings.
func keepBlobs(t *testing.T, text string) {
	t.Helper()
	kept, err := blobs.Open(t.Context(), recordedBlobs)
	if err != nil {
		t.Fatal(err)
	}
	for _, digest := range claimsIn(t, text) {
		data, err := store.Get(t.Context(), digest)
		if err == nil {
			_, err = kept.Put(t.Context(), data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestRecordedHistoriesReplay(t *testing.T) {
	t.Parallel()
	s, err := blobs.Open(t.Context(), recordedBlobs)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(recordings + "/*.json.gz")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			if err := replay(t, s, readRecording(t, file)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestADoctoredHistoryDoesNotReplay(t *testing.T) {
	t.Parallel()
	s, err := blobs.Open(t.Context(), recordedBlobs)
	if err != nil {
		t.Fatal(err)
	}
	h := readRecording(t, recordings+"/sentiment-process.json.gz")
	for _, e := range h.Events {
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil {
			a.ActivityType.Name = "Another"
		}
	}
	if err := replay(t, s, h); err == nil || !strings.Contains(err.Error(), "nondeterminis") {
		t.Errorf("got %v", err)
	}
}

func readRecording(t *testing.T, file string) *historypb.History {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	h := &historypb.History{}
	if err := protojson.Unmarshal(data, h); err != nil {
		t.Fatal(err)
	}
	return h
}
