package workflows_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"processidea/activities"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/worker/holdups"
)

// Temporal alone knows of it; who asks it knows for which process.
func TestAnActivityThatSomebodyPausesInTemporalHoldsItsProcessUp(t *testing.T) {
	t.Parallel()
	answers := make(chan struct{})
	url := toolbox.handle("/"+t.Name(), func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-answers:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, "done")
	})
	s := newScenario(t, fmt.Sprintf(`{"config": {"batch": 1}, "schema": {"tools": {"count": %s}}, "context": [%s,
		{"type": "plan", "stage": "complete", "plan": [{"_tool": "count", "_outputPath": "said"}]}]}`,
		httpTool(url, ""), rows(1, 2)))
	run := s.start()
	part := protocol.PartID(s.id, 1)
	instance := protocol.InstanceID(part, "1")
	var called *workflowpb.PendingActivityInfo
	eventually(t, "the Call is under way", func() bool {
		d, err := s.client.DescribeWorkflowExecution(t.Context(), instance, "")
		for _, a := range d.GetPendingActivities() {
			if called = a; a.GetActivityType().GetName() == protocol.ActivityExecute {
				return err == nil
			}
		}
		return false
	})
	service := s.client.WorkflowService()
	if _, err := service.PauseActivityExecution(t.Context(), &workflowservice.PauseActivityExecutionRequest{
		Namespace: s.namespace, WorkflowId: instance, ActivityId: called.GetActivityId(), Reason: "the shop moves",
	}); err != nil {
		t.Fatal(err)
	}
	found := func() []turn.HoldUp {
		all, err := holdups.HoldUpsInTemporal(t.Context(), s.client, activities.Names())
		if err != nil {
			t.Fatal(err)
		}
		return all[part]
	}
	eventually(t, "it is found", func() bool { return len(found()) == 1 })
	h := found()[0]
	if h.CauseCode != turn.CodeTemporalPaused || !strings.Contains(h.Message, "Execute of "+instance) {
		t.Errorf("%+v", h)
	}
	if err := s.client.SignalWorkflow(t.Context(), part, "", protocol.SignalWorkerHoldUp,
		protocol.WorkerHoldUpSignal{Cause: h.CauseCode, HoldUp: &h}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the whole process says so", func() bool {
		v := s.processStatus()
		return len(v.HoldUps) == 1 && v.HoldUps[0].CauseCode == turn.CodeTemporalPaused &&
			v.HoldUps[0].ProcessID == part
	})
	if _, err := service.UnpauseActivityExecution(t.Context(), &workflowservice.UnpauseActivityExecutionRequest{
		Namespace: s.namespace, WorkflowId: instance, ActivityId: called.GetActivityId(),
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is over", func() bool { return len(found()) == 0 })
	close(answers)
	s.end(run)
}
