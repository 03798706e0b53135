package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"

	"processidea/connect"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/worker/workertest"
)

// bed is a Temporal server with a store. Its workers are processes of their own.
type bed struct {
	client    client.Client
	namespace string
	store     *blobs.Store
	env       []string // of its workers
}

// newBed opens the store at a place, a folder or a bucket's URL.
func newBed(t *testing.T, address, namespace, place string, env []string) *bed {
	t.Helper()
	store, err := blobs.Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	o := client.Options{HostPort: address, Namespace: namespace,
		Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))}
	c, err := client.Dial(connect.ClientOptions(o, store))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); _ = store.Close() })
	return &bed{c, namespace, store, append(env, "TEMPORAL_ADDRESS="+address, "TEMPORAL_NAMESPACE="+namespace,
		"PROCESSIDEA_STORE="+place)}
}

// work runs a worker until it is told to stop. Killed, it would leave the next one waiting for what it had taken.
func (b *bed) work(t *testing.T, program string, args ...string) (stop func()) {
	t.Helper()
	w := workertest.StartProgram(t, program, b.env, args...)
	await(t, "the worker is ready", func(context.Context) error {
		if status, why := w.Get("/readyz"); status != 200 {
			return errors.New(why)
		}
		return nil
	})
	return func() { w.Signal(syscall.SIGTERM); w.Wait() }
}

// begin starts an example.
func (b *bed) begin(t *testing.T, id, name string, idea *ideafile.Idea,
	start protocol.ProcessStart) client.WorkflowRun {
	t.Helper()
	run, _, err := connect.StartOrAttachProcess(t.Context(), b.client, b.namespace,
		connect.StartSpec{ID: id, Idea: idea, Start: start, ContentDigest: name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// come decides on all that waits for a person, and gives what a process comes to.
func (b *bed) come(t *testing.T, run client.WorkflowRun) (r loop.ProcessResult) {
	t.Helper()
	decided := map[string]bool{}
	await(t, run.GetID()+" ends", func(ctx context.Context) error {
		d, err := b.client.DescribeWorkflow(ctx, run.GetID(), "")
		if err != nil || d.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
			return err
		}
		status, _ := d.TypedSearchAttributes.GetKeyword(statusKey)
		if status == string(loop.StatusPaused) {
			t.Fatalf("%s is paused", run.GetID())
		}
		awaiting, _ := d.TypedSearchAttributes.GetInt64(awaitingKey)
		if awaiting > 0 { // a query asks more of a server that is busy
			b.decide(t, run.GetID(), decided)
		}
		return fmt.Errorf("it is %s, and %d Calls wait", status, awaiting)
	})
	if err := run.Get(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

var (
	statusKey   = temporal.NewSearchAttributeKeyKeyword(protocol.AttributeStatus)
	awaitingKey = temporal.NewSearchAttributeKeyInt64(protocol.AttributePendingDecisions)
)

// idle reports whether the process waits for people alone. Decisions taken only then are the same in every run.
func idle(v protocol.ProcessView) bool {
	for _, i := range v.Instances {
		if i.Status == ideafile.InstanceWorking {
			return false
		}
	}
	return true
}

// decide decides on all that waits, each once, when nothing else is left to be done: the first is rejected where there
// are several.
func (b *bed) decide(t *testing.T, id string, decided map[string]bool) {
	t.Helper()
	var status protocol.ProcessView
	if err := b.ask(t.Context(), id, protocol.QueryStatus, &status); err != nil || !idle(status) {
		return
	}
	var v protocol.ProcessApprovals
	if err := b.ask(t.Context(), id, protocol.QueryApprovals, &v); err != nil {
		return // it is asked again
	}
	for n, a := range v.Approvals {
		if decided[a.Digest] {
			continue
		}
		decided[a.Digest] = true
		kind := policy.Approve
		if n == 0 && len(v.Approvals) > 1 {
			kind = policy.Reject
		}
		payload := map[string]any{"call": a.CallID, "digest": a.Digest, "by": "ann", "reason": "it was used"}
		if err := b.client.SignalWorkflow(t.Context(), id, "", kind, payload); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *bed) ask(ctx context.Context, id, query string, answer any) error {
	v, err := b.client.QueryWorkflow(ctx, id, "", query)
	if err != nil {
		return err
	}
	return v.Get(answer)
}

// finds waits until an example can be found as everybody looks for it: by its path, and by where it stands.
func (b *bed) finds(t *testing.T, id, path string) {
	t.Helper()
	await(t, "it can be found", func(ctx context.Context) error {
		n, err := b.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
			Namespace: b.namespace, Query: fmt.Sprintf(`WorkflowId = %q AND IdeaStatus = "completed" AND IdeaPath = %q`,
				id, path)})
		if err == nil && n.GetCount() != 1 {
			err = fmt.Errorf("%d are found", n.GetCount())
		}
		return err
	})
}

// lost lists the activities that were begun again, or given up, because nobody heard of their worker.
func (b *bed) lost(t *testing.T, r loop.ProcessResult) (list []string) {
	t.Helper()
	ids := []string{r.ProcessID}
	for token := range r.Instances {
		ids = append(ids, protocol.InstanceID(r.ProcessID, token))
	}
	for _, id := range ids {
		events := b.client.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			if f := e.GetActivityTaskTimedOutEventAttributes().GetFailure(); f != nil {
				list = append(list, id+": "+f.GetMessage())
			}
			if f := e.GetActivityTaskStartedEventAttributes().GetLastFailure(); f.GetTimeoutFailureInfo() != nil {
				list = append(list, id+": "+f.GetMessage())
			}
		}
	}
	return list
}
