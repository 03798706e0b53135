package instance

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/workflows/internal/lifecycle"
)

// This file runs Calls.

// MaxRunning is how many Calls of one instance run at once. Over two thousand pending activities would leave the workflow
// stuck, and over 4 MB of commands in one task would end it: two hundred with payloads below the store's threshold
// stay far below both.
const MaxRunning = 200

const maxWorkerLosses = 10 // that one Call may outlive

// startReady runs every Call that may run now, as many at once as are good for the workflow.
//
// Before a Call starts that has waited for a person it is checked that the process is still there: nobody tells the instances
// of a process that was terminated, and nothing may run for it any more.
func (i *instance) startReady(ctx workflow.Context) {
	if i.held {
		return
	}
	i.queue = append(i.queue, i.dataflow.Advance()...)
	i.changed = false
	if len(i.queue) > 0 && i.ownersUnchecked {
		i.ownersUnchecked = false
		i.orphaned = lifecycle.AnyGone(ctx, i.setup.BelongsTo())
		if i.orphaned {
			return
		}
	}
	room := MaxRunning - i.running - len(i.delegates)
	if room > 0 && !i.shouldContinueAsNew(ctx) {
		next := i.queue[:min(room, len(i.queue))]
		i.queue = i.queue[len(next):]
		i.executeAll(ctx, next)
	}
	if i.changed { // a delegate could not be started
		i.startReady(ctx)
	}
}

// execute starts a Call's activity, or its delegate. Its end comes in through the inbox.
func (i *instance) execute(ctx workflow.Context, r dataflow.ReadyCall) {
	i.executeUpTo(ctx, r, r.Tool.Attempts)
}

// executeUpTo executes a Call that has some of its attempts left.
func (i *instance) executeUpTo(ctx workflow.Context, r dataflow.ReadyCall, attempts int) {
	if r.Binding.Kind == ideafile.KindDelegate {
		i.startDelegate(ctx, r)
		return
	}
	i.running++
	in, summary := i.executeInput(r), callSummary(i.own.Token, r.Record)
	if r.Binding.Simulated != nil {
		summary = "simulated: " + summary
	}
	var f workflow.Future
	if isPure(r) {
		f = workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
			StartToCloseTimeout: r.Tool.Timeout,
			RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: int32(attempts)},
			Summary:             summary,
		}), protocol.ActivityExecute, in)
	} else {
		f = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: r.Tool.Timeout,
			HeartbeatTimeout:    protocol.HeartbeatTimeout,
			RetryPolicy:         callRetryPolicy(attempts),
			Summary:             summary,
		}), protocol.ActivityExecute, in)
	}
	i.inbox.OnReady(f, func(f workflow.Future) { i.onExecuted(ctx, r, f) })
}

// isPure reports whether a Call depends on nothing but what stands in the workflow: nothing is lost if it runs twice.
func isPure(r dataflow.ReadyCall) bool { return r.Binding.Pure && !jsonval.HasHandle(r.Params) }

// callRetryPolicy counts the Tool's own failures. The loss of a worker is none: it ends the activity at once, and the instance
// decides.
func callRetryPolicy(attempts int) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute,
		MaximumAttempts: int32(attempts), NonRetryableErrorTypes: []string{protocol.HeartbeatLost},
	}
}

func (i *instance) executeInput(r dataflow.ReadyCall) protocol.ExecuteInput {
	in := protocol.ExecuteInput{
		Process: i.setup.Process, Token: i.own.Token, Call: r.Record.ID, Tool: r.Tool.Name, Binding: r.Binding,
		Params: r.Params, Scopes: r.Scopes, Landing: i.dataflow.ResultContract(r.Record), Output: r.Tool.Source["_output"],
		Spec: r.Tool.RunSpec(r.Binding, i.setup.Servers),
	}
	if jsonval.HasHandle(r.Params) {
		in.Form = r.Tool.Source
	}
	return in
}

// onExecuted takes the end of a Call's activity. Whether the Tool had its effect is not known if its worker was lost, or if
// the Tool says so: one that may run once only is left to a person then.
func (i *instance) onExecuted(ctx workflow.Context, r dataflow.ReadyCall, f workflow.Future) {
	i.running--
	i.markChanged(ctx)
	id := r.Record.ID
	var value any
	err := f.Get(ctx, &value)
	switch {
	case err == nil:
		i.dataflow.Succeed(id, value)
	case protocol.CodeOf(err) == ideafile.CodeInputWanted:
		i.dataflow.RequireAnswer(id, protocol.FaultOf(err).Message)
	case protocol.CodeOf(err) == ideafile.CodeOutcomeUnknown && r.Tool.Attempts == 1:
		i.dataflow.ReviewUnknownEffect(id, protocol.FaultOf(err).Message+"; the tool may have had its effect, and it must not run twice")
	case !protocol.WorkerLost(err):
		i.dataflow.Fail(id, protocol.FaultOf(err))
	case r.Tool.Attempts == 1:
		i.dataflow.ReviewUnknownEffect(id, "the worker was lost while the tool ran; it may have had its effect, and it must not run twice")
	case i.workerLosses[id] >= maxWorkerLosses:
		i.dataflow.Fail(id, &diag.Fault{Code: ideafile.CodeOutcomeUnknown, Message: fmt.Sprintf("%d workers were lost while the tool ran", maxWorkerLosses)})
	default:
		i.workerLosses[id]++
		i.execute(ctx, r)
	}
}

// callSummary is what the Temporal UI shows of a Call: ② analyzeSentiment → sentiment.
func callSummary(token string, rec *dataflow.Record) string {
	s := rec.Tool
	if token != "" {
		s = token + " " + s
	}
	if len(rec.OutputPath) > 0 {
		path := rec.OutputPath.String()
		if path == "" {
			path = "†state"
		}
		s += " → " + path
	}
	if r := []rune(s); len(r) > 100 {
		return string(r[:99]) + "…"
	}
	return s
}
