package workflows

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"processidea/model/runresult"
	"processidea/protocol"
	"processidea/workflows/internal/instance"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/process"
)

// Process asks the LLM once for all instances, hears from each what became of its Calls, and asks again, until every instance
// has settled or failed. It returns the process's result; one in which an instance failed fails, with the result as details.
func Process(ctx workflow.Context, start protocol.Start, carried *process.ContinueAsNewInput) (*runresult.Result, error) {
	return process.Run(ctx, start, carried)
}

// Instance owns the State of one instance, accepts Calls as they close in the stream, runs each as soon as what it reads is
// there, and reports to its process when nothing runs any more. It lives as long as the instance does.
func Instance(
	ctx workflow.Context, setup protocol.InstanceSetup, own protocol.InstanceOwn, carried *instance.ContinueAsNewInput,
) (*protocol.InstanceResult, error) {
	return instance.Run(ctx, setup, own, carried)
}

// Register registers the workflows under the names that stand in histories.
func Register(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(Process, workflow.RegisterOptions{Name: protocol.ProcessType})
	r.RegisterWorkflowWithOptions(Instance, workflow.RegisterOptions{Name: protocol.InstanceType})
}

// InOrder is an interceptor that every worker of these workflows needs, and every replayer: it keeps signals in the order of
// history across their names.
func InOrder() interceptor.WorkerInterceptor { return mailbox.NewSignalOrderInterceptor() }

// MaxRunning is how many Calls of one instance run at once at most.
const MaxRunning = instance.MaxRunning
