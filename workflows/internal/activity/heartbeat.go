package activity

import (
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"processidea/protocol"
)

// NewHeartbeatInterceptor returns a worker's interceptor that gives its workflows a timeout other than
// protocol.HeartbeatTimeout.
func NewHeartbeatInterceptor(timeout time.Duration) interceptor.WorkerInterceptor {
	return &heartbeatWorkerInterceptor{heartbeatTimeout: timeout}
}

type heartbeatWorkerInterceptor struct {
	interceptor.WorkerInterceptorBase
	heartbeatTimeout time.Duration
}

func (w *heartbeatWorkerInterceptor) InterceptWorkflow(_ workflow.Context,
	next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	n := &heartbeatWorkflowInterceptor{heartbeatTimeout: w.heartbeatTimeout}
	n.Next = next
	return n
}

type heartbeatWorkflowInterceptor struct {
	interceptor.WorkflowInboundInterceptorBase
	heartbeatTimeout time.Duration
}

type heartbeatTimeoutKey struct{}

func (n *heartbeatWorkflowInterceptor) ExecuteWorkflow(ctx workflow.Context,
	in *interceptor.ExecuteWorkflowInput) (any, error) {
	return n.Next.ExecuteWorkflow(workflow.WithValue(ctx, heartbeatTimeoutKey{}, n.heartbeatTimeout), in)
}

// HeartbeatTimeout returns how long an activity that is scheduled now may go without a heartbeat before it counts as
// lost.
func HeartbeatTimeout(ctx workflow.Context) time.Duration {
	if timeout, ok := ctx.Value(heartbeatTimeoutKey{}).(time.Duration); ok {
		return timeout
	}
	return protocol.HeartbeatTimeout
}
