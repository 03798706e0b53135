package process

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// refusedProcess is a process that ended before anything of it started, since its Idea has errors.
type refusedProcess struct {
	processID string
	fault     diag.Fault
}

// answerQueriesAsFailed returns err. If err says that the Idea has errors, queries report from now on a failed process
// without instances, since none was started.
func answerQueriesAsFailed(ctx workflow.Context, err error) error {
	var failed *temporal.ApplicationError
	if !errors.As(err, &failed) || failed.Type() != turn.CodeInvalidIdea {
		return err
	}
	processID := workflow.GetInfo(ctx).WorkflowExecution.ID
	c := &processCore{processID: processID}
	c.logStatus(ctx, loop.StatusFailed, &diag.Fault{Code: turn.CodeInvalidIdea, Message: failed.Message()})
	r := refusedProcess{processID, diag.Fault{Code: turn.CodeInvalidIdea, Message: failed.Message()}}
	if registerErr := c.registerQueries(ctx, r, "", "instances"); registerErr != nil {
		return registerErr
	}
	return err
}

func (r refusedProcess) view() protocol.ProcessView {
	return protocol.ProcessView{
		ProcessResult: loop.ProcessResult{
			ProcessID: r.processID, Status: loop.StatusFailed, Instances: map[string]loop.InstanceResult{},
			Error: &r.fault,
		},
		WaitingFor: []string{}, Refusals: []approval.Fate{},
	}
}

func (refusedProcess) approvals() protocol.ProcessApprovals {
	return protocol.ProcessApprovals{Approvals: []protocol.Approval{}}
}

func (refusedProcess) callCounts() []turn.PlannedCallCounts { return []turn.PlannedCallCounts{} }

func (refusedProcess) plans() []protocol.PlanView { return nil }

func (refusedProcess) addApprovalContexts([]protocol.Approval) {}
