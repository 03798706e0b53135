package workflows_test

import (
	"context"
	"strings"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"processidea/activities"
	"processidea/protocol"
	"processidea/rehearsal"
	"processidea/workflows"
)

// Here time is skipped: the hour that the instance waits is none.
func TestAnInstanceEndsWhenItsProcessIsGone(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{workflows.InOrder()}})
	env.RegisterWorkflow(workflows.Instance)
	looks := 0
	env.RegisterActivityWithOptions(func(_ context.Context, p protocol.ProcessRef) (bool, error) {
		looks++
		return looks == 3 && p.ID == "p" && p.FirstRunID == "first", nil
	}, activity.RegisterOptions{Name: protocol.ActivityGone})
	env.ExecuteWorkflow(protocol.InstanceType, protocol.InstanceSetup{Process: "p", FirstRunID: "first"}, protocol.InstanceOwn{}, (*workflows.CarriedInstance)(nil))
	if err := env.GetWorkflowError(); err == nil || !strings.Contains(err.Error(), "the process is gone") || looks != 3 {
		t.Errorf("after %d looks: %v", looks, err)
	}
}

func TestAProcessIsGoneWhenItWasTerminatedOrItsIDIsAnothers(t *testing.T) {
	asked := make(chan struct{})
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}]}`)
	s.options = []rehearsal.Option{rehearsal.Gate(func(ctx context.Context, _, sent int) {
		if sent == 0 {
			close(asked)
		}
		<-ctx.Done()
	})}
	s.script(`{"solution": {"calls": []}}`)
	run := s.start()
	<-asked
	a := &activities.Activities{Client: temporalClient}
	gone := func(p protocol.ProcessRef) bool {
		t.Helper()
		is, err := a.Gone(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	here := protocol.ProcessRef{ID: s.id, FirstRunID: run.GetRunID()}
	if gone(here) || !gone(protocol.ProcessRef{ID: s.id, FirstRunID: "another"}) || !gone(protocol.ProcessRef{ID: "nobody"}) {
		t.Error("a process that runs is told from others by its first run")
	}
	if err := temporalClient.TerminateWorkflow(t.Context(), s.id, "", "test"); err != nil {
		t.Fatal(err)
	}
	if !gone(here) {
		t.Error("a terminated process is still there")
	}
	if err := temporalClient.TerminateWorkflow(t.Context(), s.id+"/main", "", "test"); err != nil {
		t.Fatal(err)
	}
}
