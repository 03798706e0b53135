package workflows

import (
	"slices"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"
)

// This file holds in which order signals are taken: that of history, across their names. The SDK gives every name a channel
// of its own, and where several signals come before one workflow task, as they do while the worker is busy or away, nothing
// says any more whether somebody paused and resumed, or resumed and paused.

// InOrder notes the names of signals as they come. Every worker of these workflows has it, and every replay.
func InOrder() interceptor.WorkerInterceptor { return &inOrder{} }

type inOrder struct {
	interceptor.WorkerInterceptorBase
}

func (*inOrder) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	n := &noting{}
	n.Next = next
	return n
}

type noting struct {
	interceptor.WorkflowInboundInterceptorBase
	arrivals arrivals
}

func (n *noting) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return n.Next.ExecuteWorkflow(workflow.WithValue(ctx, arrivalsKey{}, &n.arrivals), in)
}

func (n *noting) HandleSignal(ctx workflow.Context, in *interceptor.HandleSignalInput) error {
	n.arrivals.names = append(n.arrivals.names, in.SignalName)
	return n.Next.HandleSignal(ctx, in)
}

// arrivals are the names of signals that have come to a workflow and were not taken yet, the earliest first.
type arrivals struct{ names []string }

type arrivalsKey struct{}

func arrivalsOf(ctx workflow.Context) *arrivals {
	if a, ok := ctx.Value(arrivalsKey{}).(*arrivals); ok {
		return a
	}
	panic("workflows: the worker lacks the interceptor InOrder")
}

// changeInOrder names the change from the order of names to that of history, for workflows that were under way then.
const changeInOrder = "signals in the order of history"

// next takes the name of the signal that is to be taken now, where the SDK offers one of some name. Those of names that
// nobody hears are passed over.
func (a *arrivals) next(ctx workflow.Context, offered string, heard func(name string) bool) string {
	earliest := slices.IndexFunc(a.names, heard)
	if a.names[earliest] != offered && workflow.GetVersion(ctx, changeInOrder, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		earliest = slices.Index(a.names, offered)
	}
	name := a.names[earliest]
	a.names = slices.Delete(a.names, earliest, earliest+1)
	return name
}
