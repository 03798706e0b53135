package telemetry

import (
	"errors"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/loop"
	"processidea/protocol"
)

// Interceptor exports processes when they end. It only observes: it issues no commands, and ignores replays.
func (t *Traces) Interceptor() interceptor.WorkerInterceptor {
	return &tracingWorkerInterceptor{traces: t}
}

type tracingWorkerInterceptor struct {
	interceptor.WorkerInterceptorBase
	traces *Traces
}

func (o *tracingWorkerInterceptor) InterceptWorkflow(ctx workflow.Context,
	next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	if workflow.GetInfo(ctx).WorkflowType.Name != protocol.ProcessType {
		return next
	}
	w := &tracingProcessInterceptor{traces: o.traces}
	w.Next = next
	return w
}

type tracingProcessInterceptor struct {
	interceptor.WorkflowInboundInterceptorBase
	traces *Traces
}

// ExecuteWorkflow exports a run that has ended. A run that is evicted from the worker's memory does not return.
func (w *tracingProcessInterceptor) ExecuteWorkflow(ctx workflow.Context,
	in *interceptor.ExecuteWorkflowInput) (any, error) {
	out, err := w.Next.ExecuteWorkflow(ctx, in)
	if !workflow.IsReplaying(ctx) {
		info := workflow.GetInfo(ctx)
		w.traces.exportProcessRun(processRun{
			processID: info.WorkflowExecution.ID, runID: info.WorkflowExecution.RunID,
			isFirstRun: info.FirstRunID == info.WorkflowExecution.RunID,
			ideaPath:   ideaPath(in.Args), startedAt: info.WorkflowStartTime, endedAt: workflow.Now(ctx),
			outcome: outcomeOf(err),
		})
	}
	return out, err
}

// ideaPath returns the path of the Idea that a process was started with.
func ideaPath(args []any) string {
	if len(args) == 0 {
		return ""
	}
	start, _ := args[0].(protocol.ProcessStart)
	meta, _ := start.Idea["meta"].(map[string]any)
	path, _ := meta["path"].(string)
	return path
}

// outcomeContinued is the outcome of a run whose process goes on in another.
const outcomeContinued = "continued_as_new"

func outcomeOf(err error) string {
	var app *temporal.ApplicationError
	switch {
	case err == nil:
		return string(loop.StatusCompleted)
	case workflow.IsContinueAsNewError(err):
		return outcomeContinued
	case temporal.IsCanceledError(err):
		return string(loop.StatusCancelled)
	case errors.As(err, &app) && app.Type() != "":
		return app.Type()
	}
	return string(loop.StatusFailed)
}
