package devserver_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"processidea/internal/devserver"
	"processidea/internal/devserver/devtest"
)

func inFolder(t *testing.T) devserver.Options { return devserver.Options{Dir: t.TempDir(), UIPort: -1} }

func TestAWorkflowRuns(t *testing.T) {
	s := start(t, inFolder(t))
	c := dial(t, s)
	if err := openGreet(within(t), c, "one"); err != nil {
		t.Fatal(err)
	}
	finishGreet(t, c, "one", "world")
	if s.UIURL() != "" {
		t.Errorf("a server without UI has the UI address %s", s.UIURL())
	}
}

func TestASharedServerIsStoppedAndItsFolderRemoved(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s, stop, err := devtest.StartShared(nil)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := connect(s.Address(), s.Namespace()); err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
	for range 2 { // the second finds it there
		if err := devtest.AddNamespace(within(t), s.Address(), "another",
			map[string]enumspb.IndexedValueType{"Mood": enumspb.INDEXED_VALUE_TYPE_KEYWORD}); err != nil {
			t.Error(err)
		}
	}
	stop()
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

func TestTwoServersRunAtOnce(t *testing.T) {
	first, second := dial(t, start(t, inFolder(t))), dial(t, start(t, inFolder(t)))
	for _, c := range []client.Client{first, second} {
		if err := openGreet(within(t), c, "same id"); err != nil {
			t.Fatal(err)
		}
	}
	finishGreet(t, first, "same id", "first")
	finishGreet(t, second, "same id", "second")
}

func TestOneFolderHasOneServer(t *testing.T) {
	dir := t.TempDir()
	start(t, devserver.Options{Dir: dir, UIPort: -1})
	_, err := devserver.Start(within(t), devserver.Options{Dir: dir, UIPort: -1})
	wantError(t, err, "devserver: lock folder "+dir)
}

func TestStopTwiceIsFine(t *testing.T) {
	s := start(t, inFolder(t))
	s.Stop()
	s.Stop()
	l, err := net.Listen("tcp", s.Address())
	if err != nil {
		t.Fatalf("the port is still taken after Stop: %v", err)
	}
	_ = l.Close()
}

func TestACancelledStartLeavesNothingRunning(t *testing.T) {
	for _, moment := range []string{"", "Starting server for services", "frontend starting", "worker service started"} {
		t.Run("at "+moment, func(t *testing.T) {
			ctx, cancel := context.WithCancel(within(t))
			defer cancel()
			if moment == "" {
				cancel()
			}
			o := devserver.Options{Dir: t.TempDir(), Logger: slog.New(trigger{moment, cancel})}
			if _, err := devserver.Start(ctx, o); !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v, want %v", err, context.Canceled)
			}
			o.Logger = nil
			start(t, o)
		})
	}
}

// trigger is a log handler that acts on one message.
type trigger struct {
	message string
	act     func()
}

func (h trigger) Handle(_ context.Context, r slog.Record) error {
	if r.Message == h.message {
		h.act()
	}
	return nil
}

func (h trigger) Enabled(context.Context, slog.Level) bool { return true }
func (h trigger) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h trigger) WithGroup(string) slog.Handler            { return h }

// TestATaskIsNotFailedForWhatComesMeanwhile lets a workflow take its time while as many events come as all Calls of an
// instance make that may end together: 200, of two events each.
func TestATaskIsNotFailedForWhatComesMeanwhile(t *testing.T) {
	const queue, signals = "busy", 400
	ctx := within(t)
	s := start(t, devserver.Options{Dir: t.TempDir(), UIPort: -1})
	c := dial(t, s)
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "busy", TaskQueue: queue,
		WorkflowTaskTimeout: 2 * time.Minute}, "anything")
	if err != nil {
		t.Fatal(err)
	}
	task, err := c.WorkflowService().PollWorkflowTaskQueue(ctx, &workflowservice.PollWorkflowTaskQueueRequest{
		Namespace: s.Namespace(), TaskQueue: &taskqueuepb.TaskQueue{Name: queue},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range signals {
		if err := c.SignalWorkflow(ctx, run.GetID(), "", "done", nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.WorkflowService().RespondWorkflowTaskCompleted(ctx,
		&workflowservice.RespondWorkflowTaskCompletedRequest{
			TaskToken: task.GetTaskToken(),
		}); err != nil {
		t.Errorf("the task was taken from its worker: %v", err)
	}
}
