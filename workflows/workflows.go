package workflows

import (
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile/limit"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/workflows/internal/activity"
	"processidea/workflows/internal/instance"
	"processidea/workflows/internal/limits"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/process"
)

// ProcessWorkflow asks the LLM once for all instances, receives the outcomes of its Calls from each, and asks again,
// until every instance has settled or failed. It returns the process's result; if an instance failed, it fails with the
// result as details.
func ProcessWorkflow(ctx workflow.Context, start protocol.ProcessStart,
	carried *process.ContinueAsNewInput) (*loop.Result, error) {
	return process.Run(ctx, start, carried)
}

// InstanceWorkflow owns the State of one instance, accepts Calls as they close in the stream, runs each as soon as what
// it reads is there, and reports to its process when nothing runs any more. It lives as long as the instance does.
func InstanceWorkflow(
	ctx workflow.Context, setup protocol.InstanceSetup, start protocol.InstanceStart,
	carried *instance.ContinueAsNewInput,
) (*protocol.InstanceResult, error) {
	return instance.Run(ctx, setup, start, carried)
}

// LimitWorkflow keeps a limit that all workers share.
func LimitWorkflow(ctx workflow.Context, queue limit.Queue) error { return limits.Run(ctx, queue) }

// Register registers the workflows under the names in histories.
func Register(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(ProcessWorkflow, workflow.RegisterOptions{Name: protocol.ProcessType})
	r.RegisterWorkflowWithOptions(InstanceWorkflow, workflow.RegisterOptions{Name: protocol.InstanceType})
	r.RegisterWorkflowWithOptions(LimitWorkflow, workflow.RegisterOptions{Name: protocol.LimitType})
}

// NewSignalOrderInterceptor returns the interceptor that keeps signals in the order of history across their names.
// Every worker of these workflows and every replayer needs it.
func NewSignalOrderInterceptor() interceptor.WorkerInterceptor {
	return mailbox.NewSignalOrderInterceptor()
}

// NewHeartbeatInterceptor returns an interceptor that sets the time without a heartbeat after which activities count as
// lost. Without it, that time is protocol.HeartbeatTimeout.
func NewHeartbeatInterceptor(timeout time.Duration) interceptor.WorkerInterceptor {
	return activity.NewHeartbeatInterceptor(timeout)
}

// MaxRunningCalls bounds how many Calls of one instance run at the same time.
const MaxRunningCalls = instance.MaxRunningCalls
