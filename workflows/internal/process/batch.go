package process

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/activity"
)

// askLLM makes a Request: immediately, or through the LLM's batch interface if the Idea says so. inputWithoutStates is
// the input without States, as it is sent.
func (c *processCore) askLLM(ctx workflow.Context, input, inputWithoutStates *turn.RequestInput,
	states protocol.RequestStates) workflow.Future {
	c.setRequestNumberInFlight(input.RequestNumber)
	if !c.sendsRequestsByBatch() {
		return workflow.ExecuteActivity(c.withRequestOptions(ctx, input), protocol.ActivityRequestLLM, c.setup,
			inputWithoutStates, states)
	}
	future, settable := workflow.NewFuture(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		batchAnswer, err := c.sendAndAwaitBatch(ctx, input.RequestNumber, inputWithoutStates, states)
		if err != nil {
			settable.SetError(err)
			return
		}
		settable.Chain(workflow.ExecuteActivity(c.withRequestOptions(ctx, input), protocol.ActivityRequestLLM, c.setup,
			inputWithoutStates, states, batchAnswer))
	})
	return future
}

// sendsRequestsByBatch reports whether the LLM is asked by batches. Scripted and made-up replies are immediate.
func (c *processCore) sendsRequestsByBatch() bool {
	return c.idea.Config.LLMs.UsesBatch() && c.asksRealLLM()
}

// asksRealLLM reports whether an LLM answers, rather than a script or made-up replies.
func (c *processCore) asksRealLLM() bool {
	isFaked := c.idea.Simulation != nil && c.idea.Simulation.LLMRepliesFrom != ideafile.FakedByLLM
	return c.setup.ScriptedReplies == "" && !isFaked
}

// requestTaskQueue returns the task queue of Requests to these LLMs; empty means the process's own. The rate of
// protocol.RequestTaskQueue is that of the LLM without a server name.
func (c *processCore) requestTaskQueue(llms ideafile.LLMs) string {
	usesDefaultServer := func(llmSettings ideafile.LLM) bool { return llmSettings.Server == "" }
	if c.asksRealLLM() && !llms.UsesBatch() && slices.ContainsFunc(llms, usesDefaultServer) {
		return protocol.RequestTaskQueue
	}
	return ""
}

// sendAndAwaitBatch sends a Request as a batch and waits until it is answered. The history has the batch's id before
// the wait begins.
func (c *processCore) sendAndAwaitBatch(ctx workflow.Context, requestNumber int, inputWithoutStates *turn.RequestInput,
	states protocol.RequestStates) (protocol.LLMBatchAnswer, error) {
	var batch protocol.SentLLMBatch
	sendCtx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Minute, HeartbeatTimeout: activity.HeartbeatTimeout(ctx),
		Summary: fmt.Sprintf("%s%d: send it as a batch", protocol.WaitingForLLMPrefix, requestNumber),
		// the activity itself decides when to give up
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
	})
	err := workflow.ExecuteActivity(sendCtx, protocol.ActivitySendLLMBatch, c.setup, inputWithoutStates,
		states).Get(ctx, &batch)
	if err != nil {
		return protocol.LLMBatchAnswer{}, err
	}
	var answer protocol.LLMBatchAnswer
	waitCtx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 2 * time.Minute, ScheduleToCloseTimeout: c.idea.Config.LLMs.Timeout(),
		Summary: fmt.Sprintf("%s%d: wait for the batch %s", protocol.WaitingForLLMPrefix, requestNumber, batch.ID),
		// until ScheduleToCloseTimeout
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
	})
	err = workflow.ExecuteActivity(waitCtx, protocol.ActivityReadLLMBatch, batch).Get(ctx, &answer)
	return answer, err
}
