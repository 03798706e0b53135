package workflows

import (
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model"
)

const (
	heartbeatTimeout = 5 * time.Second // after which a worker counts as lost
	maxDeaths        = 10              // workers that one Call may outlive
	heartbeatLost    = "TemporalTimeout:Heartbeat"
)

// execute starts a Call's activity and takes its end into the Run.
func (i *instance) execute(ctx workflow.Context, r model.Ready) {
	i.executeUpTo(ctx, r, r.Tool.Attempts)
}

// executeUpTo executes a Call that has some of its attempts left.
func (i *instance) executeUpTo(ctx workflow.Context, r model.Ready, attempts int) {
	if r.Binding.Kind == model.KindDelegate {
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
		}), ActivityExecute, in)
	} else {
		f = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: r.Tool.Timeout,
			HeartbeatTimeout:    heartbeatTimeout,
			RetryPolicy:         callRetries(attempts),
			Summary:             summary,
		}), ActivityExecute, in)
	}
	i.inbox.when(f, func(f workflow.Future) { i.executed(ctx, r, f) })
}

// callRetries counts the tool's own failures. The death of a worker is none: it ends the activity at once, and the
// instance decides.
func callRetries(attempts int) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute,
		MaximumAttempts: int32(attempts), NonRetryableErrorTypes: []string{heartbeatLost},
	}
}

func (i *instance) input(r model.Ready) ExecuteInput {
	in := ExecuteInput{
		Process: i.setup.Process, Token: i.own.Token, Call: r.Record.ID, Tool: r.Tool.Name, Binding: r.Binding,
		Params: r.Params, Scopes: r.Scopes, Landing: i.run.Landing(r.Record), Output: r.Tool.Source["_output"],
	}
	if spec, ok := r.Tool.Activity.(map[string]any); ok {
		in.HTTP = spec["http"]
	}
	in.MCP, in.Server = i.mcp(r.Tool)
	if model.HasHandle(r.Params) {
		in.Form = r.Tool.Source
	}
	return in
}

func callSummary(token string, rec *model.Record) string {
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

func (i *instance) executed(ctx workflow.Context, r model.Ready, f workflow.Future) {
	i.running--
	i.event(ctx)
	id := r.Record.ID
	var value any
	err := f.Get(ctx, &value)
	switch {
	case err == nil:
		i.run.Succeed(id, value)
	case codeOf(err) == model.CodeInputWanted:
		i.run.Wants(id, faultOf(err).Message)
	case codeOf(err) == model.CodeUnknown && r.Tool.Attempts == 1:
		i.run.Unsure(id, faultOf(err).Message+"; the tool may have had its effect, and it must not run twice")
	case !workerLost(err):
		i.run.Fail(id, faultOf(err))
	case r.Tool.Attempts == 1:
		i.run.Unsure(id, "the worker was lost while the tool ran; it may have had its effect, and it must not run twice")
	case i.deaths[id] >= maxDeaths:
		i.run.Fail(id, &model.Fault{Code: model.CodeUnknown, Message: fmt.Sprintf("%d workers were lost while the tool ran", maxDeaths)})
	default:
		i.deaths[id]++
		i.execute(ctx, r)
	}
}

// codeOf gives the code of what an activity said; empty where it said nothing.
func codeOf(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Type()
	}
	return ""
}

// workerLost says whether an activity ended because nobody heard of its worker any more.
func workerLost(err error) bool {
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout) && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT
}

// faultOf words an activity's error for the LLM and for people.
func faultOf(err error) *model.Fault {
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return &model.Fault{Code: model.CodeToolFailed, Message: "it took longer than its timeout allows"}
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		code := app.Type()
		if code == "" {
			code = model.CodeToolFailed
		}
		return &model.Fault{Code: code, Message: app.Message()}
	}
	return &model.Fault{Code: model.CodeToolFailed, Message: err.Error()}
}
