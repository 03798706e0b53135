package devserver_test

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"processidea/internal/devserver"
)

const (
	queue = "devserver-test"
	// Far more than anything here takes, so that a broken server is an error and no hanging test.
	patience = 2 * time.Minute
)

// TestMain runs the tests, or what a test asked its own binary to do in another process.
func TestMain(m *testing.M) {
	if act := os.Getenv(actVariable); act != "" {
		os.Exit(acts[act](os.Getenv(dirVariable)))
	}
	os.Exit(m.Run())
}

// greet waits for a name and answers it.
func greet(ctx workflow.Context) (string, error) {
	var name string
	workflow.GetSignalChannel(ctx, "name").Receive(ctx, &name)
	return "hello " + name, nil
}

// mark sets a search attribute from within a workflow, where the history part of the server
// checks it rather than the frontend.
func mark(ctx workflow.Context, name, value string) error {
	return workflow.UpsertTypedSearchAttributes(ctx, keyword(name).ValueSet(value))
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// start runs a server until the test is over, or until the test stops it.
func start(t *testing.T, o devserver.Options) *devserver.Server {
	t.Helper()
	s, err := devserver.Start(within(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// dial returns a client, with a worker behind it, both of which go before the server does.
func dial(t *testing.T, s *devserver.Server) client.Client {
	t.Helper()
	c, err := connect(s.Address(), s.Namespace())
	if err != nil {
		t.Fatal(err)
	}
	w := worker.New(c, queue, worker.Options{WorkerStopTimeout: time.Second})
	w.RegisterWorkflow(greet)
	w.RegisterWorkflow(mark)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Stop()
		c.Close()
	})
	return c
}

func connect(address, namespace string) (client.Client, error) {
	return client.Dial(client.Options{
		HostPort:  address,
		Namespace: namespace,
		Logger:    log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
}

// openGreet starts a greet workflow that waits for its name.
func openGreet(ctx context.Context, c client.Client, id string) error {
	_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: queue}, "greet")
	return err
}

// finishGreet tells the greet workflow a name and checks what it answers.
func finishGreet(t *testing.T, c client.Client, id, name string) {
	t.Helper()
	ctx := within(t)
	if err := c.SignalWorkflow(ctx, id, "", "name", name); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := c.GetWorkflow(ctx, id, "").Get(ctx, &got); err != nil {
		t.Fatal(err)
	}
	if want := "hello " + name; got != want {
		t.Errorf("workflow %s answered %q, want %q", id, got, want)
	}
}
