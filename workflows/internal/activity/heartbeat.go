package activity

import (
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"processidea/protocol"
)

// NewInterceptor is an interceptor of a worker that gives a time other than protocol.HeartbeatTimeout to its workflows.
func NewInterceptor(timeout time.Duration) interceptor.WorkerInterceptor {
	return &workerInterceptor{heartbeatTimeout: timeout}
}

type workerInterceptor struct {
	interceptor.WorkerInterceptorBase
	heartbeatTimeout time.Duration
}

func (w *workerInterceptor) InterceptWorkflow(_ workflow.Context,
	next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	n := &workflowInterceptor{heartbeatTimeout: w.heartbeatTimeout}
	n.Next = next
	return n
}

type workflowInterceptor struct {
	interceptor.WorkflowInboundInterceptorBase
	heartbeatTimeout time.Duration
}

type heartbeatTimeoutKey struct{}

func (n *workflowInterceptor) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return n.Next.ExecuteWorkflow(workflow.WithValue(ctx, heartbeatTimeoutKey{}, n.heartbeatTimeout), in)
}

// HeartbeatTimeout is after how long without a heartbeat an activity that is scheduled now counts as lost.
func HeartbeatTimeout(ctx workflow.Context) time.Duration {
	if timeout, ok := ctx.Value(heartbeatTimeoutKey{}).(time.Duration); ok {
		return timeout
	}
	return protocol.HeartbeatTimeout
}
