package workflows_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"processidea/model/loop"
)

// built builds the example as its user would, in its own module.
func built(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "custom-worker")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "examples", "custom-worker")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build in %s: %v\n%s\nif modules are missing there: go build -mod=mod", build.Dir, err, said)
	}
	return program
}

func TestAWorkerThatAUserBuildsRunsTheUsersTools(t *testing.T) {
	c := newCrash(t)
	worker := exec.CommandContext(t.Context(), built(t), "--listen", "")
	worker.Env = append(os.Environ(), "TEMPORAL_ADDRESS="+server.Address(), "TEMPORAL_NAMESPACE="+c.id, "PROCESSIDEA_STORE="+storeDir,
		envLLM+"="+llmURL+"/v1")
	var log strings.Builder
	worker.Stderr = &log
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	idea, replies := example(t, "custom-worker")
	s := newScenario(t, asJSON(idea), strings.Split(strings.TrimSpace(replies), "\n")...)
	r := c.finish(c.start(s))
	want := `{"chairs":40,"lamps":3,"reserved":{"chair":{"article":"chair","count":2,"left":38},"lamp":{"article":"lamp","count":1,"left":2}}}`
	if got := asJSON(r.Instances[""].State); got != want || r.Status != loop.StatusCompleted {
		t.Errorf("%s with %s", r.Status, got)
	}
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := worker.Wait(); err != nil || !strings.Contains(log.String(), "stopped") {
		t.Errorf("the worker ended with %v:\n%s", err, log.String())
	}
}
