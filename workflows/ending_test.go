package workflows_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"processidea/activities"
	"processidea/internal/rehearsal"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/workflows"
)

// What a task decides may be decided again, otherwise, where the task is lost. An end cannot be taken back. The task
// that decides it sets a timer, and a later one tells it.
func TestAnInstanceIsToldOfItsEndInATaskBehindTheOneThatDecides(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"whisper": `+textTool+`}}, "context": [{"type": "state", "a": 1}]}`,
		`{"solution": {"calls": [{"_tool": "whisper", "text": "A", "_outputPath": "b"}]}}`, nothingMore)
	s.finish()
	tasks, decided, told := 0, 0, 0
	for _, e := range history(t, s.id).Events {
		summary := string(e.GetUserMetadata().GetSummary().GetData())
		switch e.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			tasks++
		case enumspb.EVENT_TYPE_TIMER_STARTED:
			if strings.Contains(summary, "certain who has ended") {
				decided = tasks
			}
		case enumspb.EVENT_TYPE_MARKER_RECORDED:
			if strings.Contains(summary, "signal "+protocol.SignalEndInstance) {
				told = tasks
			}
		}
	}
	if decided == 0 || told <= decided {
		t.Errorf("task %d decides it, task %d tells it", decided, told)
	}
}

// closed says how an instance's workflow has ended; empty: it has not.
func (s *scenario) closed(token string) string {
	s.t.Helper()
	d, err := s.client.DescribeWorkflowExecution(s.t.Context(), protocol.InstanceID(s.id, token), "")
	if err != nil {
		s.t.Fatal(err)
	}
	if status := d.GetWorkflowExecutionInfo().GetStatus(); status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return status.String()
	}
	return ""
}

// oneOfMany begins a process of twenty instances, the first of which settles; the others wait for a person. One is less
// than is told at once of that many.
func oneOfMany(t *testing.T) *scenario {
	t.Helper()
	atLength(t)
	s := newScenario(t, manyInstances(newTill(t), 20, 1, `{"gather": "5m"}`), payAll, nothingMore)
	s.start()
	s.waitsFor(19)
	eventually(t, "the first settles", func() bool {
		for _, i := range s.processStatus().Instances {
			if i.Status == ideafile.InstanceSettled {
				return true
			}
		}
		return false
	})
	return s
}

func (s *scenario) cancel() {
	s.t.Helper()
	if err := s.client.CancelWorkflow(s.t.Context(), s.id, ""); err != nil {
		s.t.Fatal(err)
	}
}

func TestAnInstanceThatHasEndedIsClosedWhileOthersWaitForPeople(t *testing.T) {
	t.Parallel()
	s := oneOfMany(t)
	eventually(t, "the first is closed", func() bool { return s.closed("i0") == "Completed" })
	if status := s.processStatus().Status; status != loop.StatusRunning || s.closed("i1") != "" {
		t.Errorf("the process is %s, another instance %q", status, s.closed("i1"))
	}
	s.cancel()
}

// One that Temporal cancels before it is told that it has reached its goal is as closed as the others.
func TestACancelledProcessLeavesNoInstanceOpen(t *testing.T) {
	t.Parallel()
	s := oneOfMany(t)
	s.cancel()
	for n := range 20 {
		token := fmt.Sprintf("i%d", n)
		eventually(t, token+" is closed", func() bool { return s.closed(token) != "" })
	}
}

// Here time is skipped: the hour that the instance waits is none.
func TestAnInstanceEndsWhenItsProcessIsGone(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: workflows.Interceptors(protocol.HeartbeatTimeout)})
	workflows.Register(env)
	looks := 0
	env.RegisterActivityWithOptions(func(_ context.Context, p protocol.ProcessRef) (bool, error) {
		looks++
		return looks == 3 && p.ID == "p" && p.FirstRunID == "first", nil
	}, activity.RegisterOptions{Name: protocol.ActivityIsProcessGone})
	env.ExecuteWorkflow(protocol.InstanceType, protocol.InstanceSetup{ProcessID: "p", ProcessFirstRunID: "first"},
		protocol.InstanceStart{}, nil)
	if err := env.GetWorkflowError(); err == nil || !strings.Contains(err.Error(), "the process is gone") ||
		looks != 3 {
		t.Errorf("after %d looks: %v", looks, err)
	}
}

func TestAProcessIsGoneWhenItWasTerminatedOrItsIDIsAnothers(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [{"type": "text", "text": "Go."}]}`)
	s.options = []rehearsal.Option{rehearsal.WithGate(func(ctx context.Context, _, sent int) {
		if sent == 0 {
			close(asked)
		}
		<-ctx.Done()
	})}
	s.script(`{"solution": {"calls": []}}`)
	run := s.start()
	<-asked
	eventually(t, "its instance has started too", func() bool {
		_, err := temporalClient.DescribeWorkflowExecution(t.Context(), s.id+"/main", "")
		return err == nil
	})
	a := &activities.Activities{Client: temporalClient}
	gone := func(p protocol.ProcessRef) bool {
		t.Helper()
		is, err := a.IsProcessGone(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	here := protocol.ProcessRef{ID: s.id, FirstRunID: run.GetRunID()}
	if gone(here) || !gone(protocol.ProcessRef{ID: s.id, FirstRunID: "another"}) ||
		!gone(protocol.ProcessRef{ID: "nobody"}) {
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

func TestNothingRunsForAProcessThatWasTerminated(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"pay": `+till.pay("true")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "n": 1}]}}`, nothingMore)
	s.start()
	s.waitsFor(1)
	if err := temporalClient.TerminateWorkflow(t.Context(), s.id, "", "test"); err != nil {
		t.Fatal(err)
	}
	s.signal(s.id+"/main", policy.Approve, map[string]any{"call": "1.1"})
	err := temporalClient.GetWorkflow(t.Context(), s.id+"/main", "").Get(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "the process is gone") || len(till.seen()) != 0 {
		t.Errorf("%v, %d payments", err, len(till.seen()))
	}
	s.keep("terminated", "/main")
}
