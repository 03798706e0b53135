package mailbox

import (
	"slices"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"
)

// This file restores the order in which signals arrived, across their names. The SDK gives every name a channel of its
// own. When several signals arrive before one workflow task, as they do while the worker is busy or away, their
// channels do not show whether somebody paused and resumed, or resumed and paused.

// NewSignalOrderInterceptor notes the names of signals in the order of history. Every worker of these workflows and
// every replayer needs it.
func NewSignalOrderInterceptor() interceptor.WorkerInterceptor { return &signalOrderInterceptor{} }

type signalOrderInterceptor struct {
	interceptor.WorkerInterceptorBase
}

func (*signalOrderInterceptor) InterceptWorkflow(_ workflow.Context,
	next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	n := &arrivalRecorder{}
	n.Next = next
	return n
}

type arrivalRecorder struct {
	interceptor.WorkflowInboundInterceptorBase
	arrivals signalArrivals
}

func (n *arrivalRecorder) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return n.Next.ExecuteWorkflow(workflow.WithValue(ctx, arrivalsContextKey{}, &n.arrivals), in)
}

func (n *arrivalRecorder) HandleSignal(ctx workflow.Context, in *interceptor.HandleSignalInput) error {
	n.arrivals.unhandledSignalNames = append(n.arrivals.unhandledSignalNames, in.SignalName)
	n.arrivals.arrivedCount++
	return n.Next.HandleSignal(ctx, in)
}

// signalArrivals are the names of the signals that have arrived and were not handled yet, the earliest first.
type signalArrivals struct {
	unhandledSignalNames []string
	arrivedCount         int // all signals that have arrived, handled or not
}

type arrivalsContextKey struct{}

func signalArrivalsOf(ctx workflow.Context) *signalArrivals {
	if a, ok := ctx.Value(arrivalsContextKey{}).(*signalArrivals); ok {
		return a
	}
	panic("mailbox: the worker lacks the interceptor workflows.Interceptors")
}

// takeNextSignalName removes and returns the name of the signal to handle now. The selector has offered a signal of the
// name offered. Signals without a handler are skipped.
func (a *signalArrivals) takeNextSignalName(ctx workflow.Context, readyName string,
	hasHandler func(name string) bool) string {
	index := slices.IndexFunc(a.unhandledSignalNames, hasHandler)
	if a.unhandledSignalNames[index] != readyName && !IsPatched(ctx, "signals in the order of history") {
		index = slices.Index(a.unhandledSignalNames, readyName)
	}
	name := a.unhandledSignalNames[index]
	a.unhandledSignalNames = slices.Delete(a.unhandledSignalNames, index, index+1)
	return name
}
