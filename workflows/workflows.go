package workflows

import (
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"processidea/protocol"
	"processidea/workflows/internal/activity"
	"processidea/workflows/internal/instance"
	"processidea/workflows/internal/limits"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/process"
)

// Register registers the workflows under the names in histories.
func Register(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(process.Run, workflow.RegisterOptions{Name: protocol.ProcessType})
	r.RegisterWorkflowWithOptions(instance.Run, workflow.RegisterOptions{Name: protocol.InstanceType})
	r.RegisterWorkflowWithOptions(limits.Run, workflow.RegisterOptions{Name: protocol.LimitType})
}

// Interceptors returns what every worker of these workflows and every replayer needs: signals are kept in the order of
// history across their names, and activities count as lost after heartbeatTimeout without a heartbeat.
func Interceptors(heartbeatTimeout time.Duration) []interceptor.WorkerInterceptor {
	return []interceptor.WorkerInterceptor{mailbox.NewSignalOrderInterceptor(),
		activity.NewHeartbeatInterceptor(heartbeatTimeout)}
}

// MaxRunningCalls bounds how many Calls of one instance run at the same time.
const MaxRunningCalls = instance.MaxRunningCalls
