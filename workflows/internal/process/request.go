package process

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/activity"
	"processidea/workflows/internal/mailbox"
)

// answerReportMargin is added to the time for an answer, so that the activity can report that the server is silent.
const answerReportMargin = 3 * time.Second

const startToCloseTimeoutErrorType = "TemporalTimeout:StartToClose"

// startRequest makes one Request. The activity hands each Call to its instance as the Call closes in the stream.
func (p *unsplitProcess) startRequest(ctx workflow.Context, input *turn.RequestInput) {
	p.ideaAtRequest = p.idea
	inputWithoutStates, deltaByToken := input.WithoutStates(p.requestBaseStates())
	f := p.askLLM(ctx, input, inputWithoutStates, protocol.RequestStates{BaseIdea: p.BaseIdea,
		DeltaByToken: deltaByToken})
	p.inbox.OnFutureReady(f, func(f workflow.Future) { p.onLLMReply(ctx, input, f) })
}

func (c *processCore) withRequestOptions(ctx workflow.Context, input *turn.RequestInput) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           c.requestTaskQueue(c.idea.Config.LLMs),
		StartToCloseTimeout: c.idea.Config.LLMs.AnswerTimeout() + answerReportMargin,
		HeartbeatTimeout:    activity.HeartbeatTimeout(ctx),
		Summary:             requestSummary(input),
		// Only failures before the first byte are retried: after it, a second answer would be a different Plan on top
		// of the first. The activity decides on the interval and when to give up, since its patience depends on the
		// worker, too.
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute,
			NonRetryableErrorTypes: []string{protocol.HeartbeatTimeoutErrorType, startToCloseTimeoutErrorType},
		},
	})
}

// requestBaseStates returns the States that a Request's activity can read by itself. These are the States of the
// chain's last Idea; before the first Idea, those of the process's own Idea when the Request was made.
func (p *unsplitProcess) requestBaseStates() map[string]any {
	if p.BaseIdea.IdeaNumber > 0 {
		return p.baseStates
	}
	return turn.InitialStates(ideafile.SplitMessagesByInstance(p.ideaAtRequest.Context), p.loop.InstanceTokens())
}

// requestSummary describes a Request. Except for a recheck, it begins with protocol.WaitingForLLMPrefix.
func requestSummary(input *turn.RequestInput) string {
	switch {
	case input.Recheck != nil:
		return fmt.Sprintf("recheck of Request %d: ask again about %d instances", input.RequestNumber,
			len(input.Instances))
	case len(input.Questions) > 0:
		return fmt.Sprintf("Request %d: %s", input.RequestNumber, input.QuestionSummary())
	case input.IsOutputOnly:
		return fmt.Sprintf("Request %d: the output", input.RequestNumber)
	case len(input.Instances) == 1:
		return fmt.Sprintf("Request %d: ask for a Plan", input.RequestNumber)
	}
	return fmt.Sprintf("Request %d: ask for a Plan for %d instances", input.RequestNumber, len(input.Instances))
}

// onLLMReply handles the end of a Request. A Request that was interrupted is closed at every instance that it covered:
// the solution is what they had accepted by then. Later Calls are refused, in case a worker that counted as lost still
// sends some.
func (p *unsplitProcess) onLLMReply(ctx workflow.Context, input *turn.RequestInput, f workflow.Future) {
	r := p.takeReply(ctx, f)
	if !r.IsComplete && p.setup.WithholdsCalls && loop.AsksForCalls(input) {
		r.Calls, r.CallFaults = nil, nil // what broke off is no Plan that a person could decide on
	}
	if !r.IsComplete {
		p.closeRequest(ctx, input,
			protocol.CloseRequestSignal{WillSendRest: r.CallsMayBeUndelivered(),
				MustReportCalls: p.loop.NeedsCallsFromInstances(&r)})
	}
	p.loop.ApplyReply(r)
	p.startRecheck(ctx)
	if r.IsComplete {
		p.holdOrDeliverPlan(ctx, input)
	}
}

// takeReply returns the reply of a Request that has ended, or one that says why its activity failed.
func (c *processCore) takeReply(ctx workflow.Context, f workflow.Future) (r turn.LLMReply) {
	err := f.Get(ctx, &r)
	c.setRequestNumberInFlight(0)
	if err == nil {
		return r
	}
	if protocol.IsWorkerLost(err) {
		return turn.LLMReply{IsWorkerLost: true,
			Fault: &diag.Fault{Code: turn.CodeWorkerLost, Message: "the worker that listened was lost"}}
	}
	var timeoutErr *temporal.TimeoutError
	if errors.As(err, &timeoutErr) {
		return turn.LLMReply{HasUndeliveredCalls: true,
			Fault: &diag.Fault{Code: turn.CodeEndlessReply, Message: "the reply took longer than a Request may"}}
	}
	return turn.LLMReply{IsNotRetryable: true, Fault: protocol.FaultOf(err)}
}

// closeRequest closes a Request at every instance that may have got Calls of it.
func (p *unsplitProcess) closeRequest(ctx workflow.Context, input *turn.RequestInput, s protocol.CloseRequestSignal) {
	if input.IsOutputOnly {
		return
	}
	s.RequestNumber = input.RequestNumber
	var list []protocol.SignalDelivery
	for _, token := range slices.Concat(input.InstanceTokens(), input.ReopenableTokens) {
		workflowID := protocol.InstanceID(p.processID, token)
		list = append(list, protocol.NewSignalDelivery(workflowID, protocol.SignalCloseRequest, s))
	}
	mailbox.DeliverSignalsAndWait(ctx, list)
}

// concludeRequest closes the Request in flight once it has ended and every instance has reported, and seals its Idea.
func (p *unsplitProcess) concludeRequest(ctx workflow.Context) {
	c := p.loop.ConcludeRequest()
	if c == nil {
		return
	}
	p.sendCalls(ctx, c.CallsToRedeliver, true)
	if len(c.Questions) == 0 {
		p.sealIdea(ctx, p.ideaAtRequest, protocol.SealInput{Brief: c.AllInstancesInput,
			Request: c.RequestNumber, Finished: c.Reply.SaysFinished,
			Notes: c.Reply.Notes, Log: c.LogBeforeRequest, Calls: c.Calls, Output: c.Reply.Output})
	}
}

// This file asks the LLM a second time for some of its answers. Whatever the outcome, the process goes on.

// recheckAttempts is how often a recheck is tried, since nobody waits for it as for a Request.
const recheckAttempts = 3

// startRecheck asks again for a part of the last answers, if the Idea says so.
func (p *unsplitProcess) startRecheck(ctx workflow.Context) {
	input := p.loop.StartRecheck()
	if input == nil {
		return
	}
	llms, setup := p.ideaAtRequest.Config.RecheckLLMs(), p.setup
	setup.Idea = p.ideaAtRequest.Source // what has been corrected since then was not in the first question
	inputWithoutStates, deltaByToken := input.WithoutStates(p.requestBaseStates())
	f := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           p.requestTaskQueue(llms),
		StartToCloseTimeout: llms.AnswerTimeout(), ScheduleToCloseTimeout: llms.AnswerTimeout() + time.Minute,
		HeartbeatTimeout: activity.HeartbeatTimeout(ctx), Summary: requestSummary(input),
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumAttempts: recheckAttempts},
	}), protocol.ActivityRequestLLM, setup, inputWithoutStates,
		protocol.RequestStates{BaseIdea: p.BaseIdea, DeltaByToken: deltaByToken})
	p.inbox.OnFutureReady(f, func(f workflow.Future) { p.onRecheckReply(ctx, input, f) })
}

// onRecheckReply handles the end of a recheck: it sends the Calls that waited for it, and makes people review Calls
// whose second answer differed and that have not run.
func (p *unsplitProcess) onRecheckReply(ctx workflow.Context, input *turn.RequestInput, f workflow.Future) {
	var r turn.LLMReply
	if err := f.Get(ctx, &r); err != nil {
		workflow.GetLogger(ctx).Warn("an answer could not be asked for a second time", "request", input.RequestNumber,
			"error", err)
		r.Fault = protocol.FaultOf(err)
	}
	p.loop.MarkInstancesGone(p.sendCalls(ctx, p.loop.ApplyRecheck(input, r), false))
}
