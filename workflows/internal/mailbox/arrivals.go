package mailbox

import (
	"slices"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"
)

// This file restores the order in which signals arrived, across their names. The SDK gives every name a channel of its own:
// when several signals arrive before one workflow task, as they do while the worker is busy or away, nothing tells any more
// whether somebody paused and resumed, or resumed and paused.

// InOrder notes the names of signals in the order of history. Every worker of these workflows and every replayer needs it.
func InOrder() interceptor.WorkerInterceptor { return &inOrder{} }

type inOrder struct {
	interceptor.WorkerInterceptorBase
}

func (*inOrder) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	n := &arrivalRecorder{}
	n.Next = next
	return n
}

type arrivalRecorder struct {
	interceptor.WorkflowInboundInterceptorBase
	arrivals arrivals
}

func (n *arrivalRecorder) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return n.Next.ExecuteWorkflow(workflow.WithValue(ctx, arrivalsKey{}, &n.arrivals), in)
}

func (n *arrivalRecorder) HandleSignal(ctx workflow.Context, in *interceptor.HandleSignalInput) error {
	n.arrivals.names = append(n.arrivals.names, in.SignalName)
	return n.Next.HandleSignal(ctx, in)
}

// arrivals are the names of the signals that have arrived and were not handled yet, the earliest first.
type arrivals struct{ names []string }

type arrivalsKey struct{}

func arrivalsOf(ctx workflow.Context) *arrivals {
	if a, ok := ctx.Value(arrivalsKey{}).(*arrivals); ok {
		return a
	}
	panic("mailbox: the worker lacks the interceptor InOrder")
}

// next takes the name of the signal to handle now, given that the selector offers one of the name offered. Signals without
// a handler are passed over.
func (a *arrivals) next(ctx workflow.Context, offered string, isHandled func(name string) bool) string {
	earliest := slices.IndexFunc(a.names, isHandled)
	if a.names[earliest] != offered && !handlesInOrderOfHistory(ctx) {
		earliest = slices.Index(a.names, offered)
	}
	name := a.names[earliest]
	a.names = slices.Delete(a.names, earliest, earliest+1)
	return name
}
