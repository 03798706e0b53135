package client

import (
	"context"
	"errors"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"processidea/internal/safego"
	"processidea/internal/safego/safegotest"
	"processidea/model/approval"
	"processidea/model/loop"
	"processidea/protocol"
)

// listing lists one process.
type listing struct{ *fakeTemporal }

func (listing) ListWorkflow(context.Context,
	*workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return &workflowservice.ListWorkflowExecutionsResponse{
		Executions: []*workflowpb.WorkflowExecutionInfo{{Execution: &commonpb.WorkflowExecution{WorkflowId: "p"}}}}, nil
}

// It is not parallel: every goroutine of the program sees the fault.
func TestAPanicIsTheErrorOfWhatWasAsked(t *testing.T) {
	of := map[string]loop.InstanceResult{"a": {}}
	for place, ask := range map[string]func(context.Context, *Process) error{
		"client.instances": func(ctx context.Context, p *Process) error { _, err := p.Instances(ctx); return err },
		"client.list": func(ctx context.Context, p *Process) error {
			return p.client.addLiveStatus(ctx, make([]ProcessSummary, 1))
		},
		"client.undone": func(ctx context.Context, p *Process) error {
			return p.client.addUndoingProcesses(ctx, make([]ProcessSummary, 1))
		},
		"client.resume": func(ctx context.Context, p *Process) error {
			return p.client.resumeEach(ctx, make([]ResumeOutcome, 1), Actor{})
		},
		"client.cases": func(ctx context.Context, p *Process) error {
			return p.addMissingApprovalContexts(ctx, make([]Approval, 1))
		},
		"client.waiting": func(ctx context.Context, p *Process) error {
			_,
				err := p.client.ListWaiting(ctx)
			return err
		},
		"client.countwaiting": func(ctx context.Context, p *Process) error {
			_, err := p.client.NewWaitingCallCounter().Count(ctx)
			return err
		},
		"client.plan": func(ctx context.Context, p *Process) error {
			_, err := p.livePlanOfParts(ctx, make([]protocol.PartView, 1))
			return err
		},
		"client.decisions": func(ctx context.Context, p *Process) error {
			b := &decisionBatch{process: p, sentDecisions: []sentDecision{{outcome: &DecisionOutcome{}}}}
			return b.setOutcomes(ctx, make([]approval.ActOutcome, 1))
		},
		"client.events.end": firstError, "client.events.status": firstError,
	} {
		t.Run(place, func(t *testing.T) {
			safegotest.Panic(t, place)
			f := &fakeTemporal{view: func() (any,
				error) {
				return Status{ProcessResult: loop.ProcessResult{Instances: of}}, nil
			}}
			p := f.on(t)
			p.client.temporal = listing{f}
			var panicked *safego.PanicError
			if err := ask(t.Context(), p); !errors.As(err, &panicked) || panicked.Label != place {
				t.Errorf("%v", err)
			}
		})
	}
}

func firstError(ctx context.Context, p *Process) error {
	for _, err := range p.Events(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}
