package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"processidea/activities/blobs"
	"processidea/devserver"
	"processidea/model"
	"processidea/worker/engine"
	"processidea/worker/workertest"
	"processidea/workflows"
)

// example reads an example's Idea with its rows, and its replies.
func example(t *testing.T, name string) (idea map[string]any, replies string) {
	t.Helper()
	read := func(file string) string {
		data, err := os.ReadFile(filepath.Join(root, "examples", name, file))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return string(data)
	}
	idea, err := model.DecodeObject([]byte(read("idea.json")))
	if err != nil {
		t.Fatal(err)
	}
	messages, _ := idea["context"].([]any)
	for n, line := range strings.Split(strings.TrimSpace(read("instances.jsonl")), "\n") {
		if line == "" {
			continue
		}
		row, err := model.DecodeObject([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		row["_instance"] = fmt.Sprint(n + 1)
		messages = append(messages, row)
	}
	idea["context"] = messages
	return idea, read("replies.jsonl")
}

// bed is a Temporal server with a store and a worker, which is a process of its own.
type bed struct {
	client    client.Client
	namespace string
}

func newBed(t *testing.T, address, namespace string, env []string) *bed {
	t.Helper()
	dir := t.TempDir()
	store, err := blobs.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	o := client.Options{HostPort: address, Namespace: namespace, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))}
	c, err := client.Dial(engine.ClientOptions(o, store))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); _ = store.Close() })
	w := workertest.Start(t, append(env, "TEMPORAL_ADDRESS="+address, "TEMPORAL_NAMESPACE="+namespace, "PROCESSIDEA_STORE="+dir))
	await(t, "the worker is ready", func(context.Context) error {
		if status, why := w.Get("/readyz"); status != 200 {
			return errors.New(why)
		}
		return nil
	})
	return &bed{c, namespace}
}

// begin starts an example.
func (b *bed) begin(t *testing.T, name string) client.WorkflowRun {
	t.Helper()
	source, replies := example(t, name)
	idea, problems := model.ReadIdea(source)
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	run, _, err := engine.StartOrAttach(t.Context(), b.client, b.namespace, engine.StartProcess{
		ID: name, Idea: idea, Start: workflows.Start{Idea: source, Replies: replies}, File: name})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// come waits for what a process comes to.
func come(t *testing.T, run client.WorkflowRun) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var r model.Result
	if err := run.Get(ctx, &r); err != nil {
		t.Fatal(err)
	}
	return string(model.Encode(model.Normal(r)))
}

func TestProcessesComeToTheSameOnPostgreSQLAsOnTheEmbeddedServer(t *testing.T) {
	c := readCompose(t)
	here := map[string]string{"POSTGRES_SEEDS": "127.0.0.1"}
	here["DB_PORT"] = startDatabase(t, c.Services["temporal"].Environment["POSTGRES_USER"])
	setUp(t, c, here)
	setUp(t, c, here) // as with every start of the containers
	address := startTemporal(t, c, here)
	namespace := c.Services["worker"].Environment["TEMPORAL_NAMESPACE"]
	prepare(t, address, namespace)
	// The address and the store are this machine's, and so is where it listens.
	settings := c.environment(t, "worker", map[string]string{"PROCESSIDEA_LISTEN": "127.0.0.1:0"})
	production := newBed(t, address, namespace, settings)

	embedded, err := devserver.Start(t.Context(), devserver.Options{Dir: t.TempDir(), UIPort: -1, SearchAttributes: engine.SearchAttributes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(embedded.Stop)
	local := newBed(t, embedded.Address(), embedded.Namespace(), nil)

	names := []string{"sentiment", "moderation", "employees", "latent"}
	for _, name := range names {
		there, at := production.begin(t, name), local.begin(t, name)
		if got, want := come(t, there), come(t, at); got != want || !strings.Contains(got, `"status":"completed"`) {
			t.Errorf("%s: on PostgreSQL\n%s\nembedded\n%s", name, got, want)
		}
	}
	await(t, "they can be found by their status", func(ctx context.Context) error {
		n, err := production.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
			Namespace: namespace, Query: `IdeaStatus = "completed" AND IdeaPath IN ("sentiment", "moderation", "employees", "latent")`})
		if err == nil && n.GetCount() != int64(len(names)) {
			err = fmt.Errorf("%d are found", n.GetCount())
		}
		return err
	})
}
