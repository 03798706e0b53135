package workflows_test

import (
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"processidea/internal/longrun"
	"processidea/model/ideafile/limit"
	"processidea/protocol"
)

// A run takes 2,000 Updates: a limit continues as new before, with all turns and places.
func TestALimitOutlivesTheUpdatesOfARun(t *testing.T) {
	t.Parallel()
	longrun.SkipUnlessEnabled(t)
	id := protocol.LimitWorkflowID(t.Name())
	ask := func(q limit.TurnRequest) (turns []limit.TurnAnswer) {
		t.Helper()
		q.Rule.MaxConcurrentTurns = 1
		start := temporalClient.NewWithStartWorkflowOperation(client.StartWorkflowOptions{ID: id,
			TaskQueue: protocol.TaskQueue, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING},
			protocol.LimitType, limit.Queue{})
		h, err := temporalClient.UpdateWithStartWorkflow(t.Context(), client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: start,
			UpdateOptions: client.UpdateWorkflowOptions{UpdateName: protocol.UpdateLimitTurns,
				WaitForStage: client.WorkflowUpdateStageCompleted, Args: []any{q}}})
		if err == nil {
			err = h.Get(t.Context(), &turns)
		}
		if err != nil {
			t.Fatal(err)
		}
		return turns
	}
	if first := ask(limit.TurnRequest{WantedKeys: []string{"a"}}); !first[0].IsGranted {
		t.Fatal("the first has no turn")
	}
	for n := range 2100 {
		if b := ask(limit.TurnRequest{WantedKeys: []string{"b"}, HeldKeys: []string{"a"}}); b[0].IsGranted {
			t.Fatalf("the turn of another is forgotten after %d Updates", n)
		}
	}
	if b := ask(limit.TurnRequest{WantedKeys: []string{"c", "b"}, DoneKeys: []string{"a"}}); b[0].IsGranted || !b[1].IsGranted {
		t.Errorf("%+v", b)
	}
}
