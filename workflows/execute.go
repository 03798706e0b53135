package workflows

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
)

const maxDeaths = 10 // workers that one Call may outlive

// execute starts a Call's activity and takes its end into the Run.
func (i *instance) execute(ctx workflow.Context, r dataflow.ReadyCall) {
	i.executeUpTo(ctx, r, r.Tool.Attempts)
}

// executeUpTo executes a Call that has some of its attempts left.
func (i *instance) executeUpTo(ctx workflow.Context, r dataflow.ReadyCall, attempts int) {
	if r.Binding.Kind == ideafile.KindDelegate {
		i.delegate(ctx, r)
		return
	}
	i.running++
	in := i.input(r)
	summary := callSummary(i.own.Token, r.Record)
	if r.Binding.Simulated != nil {
		summary = "simulated: " + summary
	}
	var f workflow.Future
	if pure(r) {
		f = workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
			StartToCloseTimeout: r.Tool.Timeout,
			RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: int32(attempts)},
			Summary:             summary,
		}), protocol.ActivityExecute, in)
	} else {
		f = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: r.Tool.Timeout,
			HeartbeatTimeout:    protocol.HeartbeatTimeout,
			RetryPolicy:         callRetries(attempts),
			Summary:             summary,
		}), protocol.ActivityExecute, in)
	}
	i.inbox.when(f, func(f workflow.Future) { i.executed(ctx, r, f) })
}

// callRetries counts the tool's own failures. The death of a worker is none: it ends the activity at once, and the
// instance decides.
func callRetries(attempts int) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute,
		MaximumAttempts: int32(attempts), NonRetryableErrorTypes: []string{protocol.HeartbeatLost},
	}
}

func (i *instance) input(r dataflow.ReadyCall) protocol.ExecuteInput {
	in := protocol.ExecuteInput{
		Process: i.setup.Process, Token: i.own.Token, Call: r.Record.ID, Tool: r.Tool.Name, Binding: r.Binding,
		Params: r.Params, Scopes: r.Scopes, Landing: i.run.ResultContract(r.Record), Output: r.Tool.Source["_output"],
	}
	if spec, ok := r.Tool.Activity.(map[string]any); ok {
		in.HTTP = spec["http"]
	}
	in.MCP, in.Server = i.mcp(r.Tool)
	if jsonval.HasHandle(r.Params) {
		in.Form = r.Tool.Source
	}
	return in
}

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

func (i *instance) executed(ctx workflow.Context, r dataflow.ReadyCall, f workflow.Future) {
	i.running--
	i.event(ctx)
	id := r.Record.ID
	var value any
	err := f.Get(ctx, &value)
	switch {
	case err == nil:
		i.run.Succeed(id, value)
	case protocol.CodeOf(err) == ideafile.CodeInputWanted:
		i.run.RequireAnswer(id, protocol.FaultOf(err).Message)
	case protocol.CodeOf(err) == ideafile.CodeOutcomeUnknown && r.Tool.Attempts == 1:
		i.run.ReviewUnknownEffect(id, protocol.FaultOf(err).Message+"; the tool may have had its effect, and it must not run twice")
	case !protocol.WorkerLost(err):
		i.run.Fail(id, protocol.FaultOf(err))
	case r.Tool.Attempts == 1:
		i.run.ReviewUnknownEffect(id, "the worker was lost while the tool ran; it may have had its effect, and it must not run twice")
	case i.deaths[id] >= maxDeaths:
		i.run.Fail(id, &diag.Fault{Code: ideafile.CodeOutcomeUnknown, Message: fmt.Sprintf("%d workers were lost while the tool ran", maxDeaths)})
	default:
		i.deaths[id]++
		i.execute(ctx, r)
	}
}
