package instance

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/protocol"
)

// This file runs pure Calls that are ready at the same time together, in one local activity. Each by itself would cost
// an event, and a pass of the workflow's code over all the others.

// executeCalls starts Calls that may run now, the pure ones together.
func (i *instance) executeCalls(ctx workflow.Context, list []dataflow.ReadyCall) {
	var pureCalls []dataflow.ReadyCall
	for _, r := range list {
		if canRunLocally(r) {
			pureCalls = append(pureCalls, r)
		} else {
			i.executeCall(ctx, r)
		}
	}
	if len(pureCalls) > 1 {
		i.executeBatch(ctx, pureCalls)
	} else if len(pureCalls) == 1 {
		i.executeCall(ctx, pureCalls[0])
	}
}

// executeBatch tries each of several pure Calls once. Calls that may be tried again then run by themselves.
func (i *instance) executeBatch(ctx workflow.Context, calls []dataflow.ReadyCall) {
	i.runningActivityCount += len(calls)
	in := make([]protocol.BatchCall, len(calls))
	var timeout time.Duration // of all, one after the other
	for n, r := range calls {
		in[n] = protocol.BatchCall{ExecuteInput: i.executeInput(r), Timeout: r.Tool.Timeout}
		timeout += r.Tool.Timeout
	}
	f := workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: timeout, ScheduleToCloseTimeout: timeout,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:     i.batchSummary(calls),
	}), protocol.ActivityExecuteBatch, in)
	i.inbox.OnFutureReady(f, func(f workflow.Future) {
		i.runningActivityCount -= len(calls)
		i.markChanged(ctx)
		for n, e := range batchResults(ctx, f, len(calls)) {
			i.onBatchCallDone(ctx, calls[n], e)
		}
	})
}

// batchResults returns the results of count Calls. If their activity failed, each is to be run again, since none ran.
func batchResults(ctx workflow.Context, f workflow.Future, count int) []protocol.BatchCallResult {
	results := make([]protocol.BatchCallResult, count)
	err := f.Get(ctx, &results)
	if err == nil && len(results) == count {
		return results
	}
	results = make([]protocol.BatchCallResult, count)
	for n := range results {
		results[n].IsRetryable = true
	}
	return results
}

// onBatchCallDone handles the result of one Call of a burst. The burst was the Call's first attempt.
func (i *instance) onBatchCallDone(ctx workflow.Context, r dataflow.ReadyCall, result protocol.BatchCallResult) {
	switch {
	case result.Fault != nil && result.Fault.Code == ideafile.CodeStoreUnavailable:
		i.executeAfterWait(ctx, r, r.Tool.MaxAttempts, protocol.ActivityAwaitStore, "the store")
	case result.IsRetryable && result.Fault == nil:
		i.executeCall(ctx, r)
	case result.IsRetryable && r.Tool.MaxAttempts > 1:
		i.executeWithAttempts(ctx, r, r.Tool.MaxAttempts-1)
	case result.Fault != nil:
		i.dataflow.FailCall(r.Record.ID, result.Fault)
	default:
		i.dataflow.SucceedCall(r.Record.ID, result.Value)
	}
}

func (i *instance) batchSummary(calls []dataflow.ReadyCall) string {
	return fmt.Sprintf("%s, and %d more pure Calls", callSummary(i.start.InstanceToken, calls[0].Record), len(calls)-1)
}
