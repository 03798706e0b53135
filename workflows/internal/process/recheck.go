package process

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/activity"
)

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
	stateless, changes := input.WithoutStates(p.requestBaseStates())
	f := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           p.requestTaskQueue(llms),
		StartToCloseTimeout: llms.AnswerTimeout(), ScheduleToCloseTimeout: llms.AnswerTimeout() + time.Minute,
		HeartbeatTimeout: activity.HeartbeatTimeout(ctx), Summary: requestSummary(input),
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumAttempts: recheckAttempts},
	}), protocol.ActivityRequest, setup, stateless, protocol.RequestStates{Base: p.BaseIdea, Changes: changes})
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
	p.loop.MarkGone(p.sendCalls(ctx, p.loop.ApplyRecheck(input, r), false))
}
