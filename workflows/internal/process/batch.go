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

// askLLM makes a Request: immediately, or through the LLM's batch interface if the Idea says so. bare is the input
// without States, as it is sent.
func (c *processCore) askLLM(ctx workflow.Context, input, bare *turn.RequestInput,
	states protocol.RequestStates) workflow.Future {
	c.beginRequest(input.RequestNumber)
	if !c.asksByBatch() {
		return workflow.ExecuteActivity(c.withRequestOptions(ctx, input), protocol.ActivityRequest, c.setup,
			bare, states)
	}
	answered, set := workflow.NewFuture(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		answer, err := c.waitForBatch(ctx, input.RequestNumber, bare, states)
		if err != nil {
			set.SetError(err)
			return
		}
		set.Chain(workflow.ExecuteActivity(c.withRequestOptions(ctx, input), protocol.ActivityRequest, c.setup, bare,
			states, answer))
	})
	return answered
}

// asksByBatch reports whether the LLM is asked by batches. Scripted and made-up replies are immediate.
func (c *processCore) asksByBatch() bool {
	return c.idea.Config.LLMs.ByBatch() && c.asksLLM()
}

// asksLLM reports whether an LLM answers, rather than a script or made-up replies.
func (c *processCore) asksLLM() bool {
	faked := c.idea.Simulation != nil && c.idea.Simulation.LLMRepliesFrom != ideafile.FakedByLLM
	return c.setup.Replies == "" && !faked
}

// requestQueue returns the task queue of Requests to these LLMs; empty means the process's own. The rate of
// protocol.RequestQueue is that of the LLM without a server name.
func (c *processCore) requestQueue(llms ideafile.LLMs) string {
	own := func(one ideafile.LLM) bool { return one.Server == "" }
	if c.asksLLM() && !llms.ByBatch() && slices.ContainsFunc(llms, own) {
		return protocol.RequestQueue
	}
	return ""
}

// waitForBatch sends a Request as a batch and waits until it is answered. The history has the batch's id before the
// wait begins.
func (c *processCore) waitForBatch(ctx workflow.Context, number int, bare *turn.RequestInput,
	states protocol.RequestStates) (protocol.BatchAnswer, error) {
	var sent protocol.SentBatch
	sending := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Minute, HeartbeatTimeout: activity.HeartbeatTimeout(ctx),
		Summary: fmt.Sprintf("%s%d: send it as a batch", protocol.WaitingForLLM, number),
		// the activity itself decides when to give up
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
	})
	err := workflow.ExecuteActivity(sending, protocol.ActivitySendBatch, c.setup, bare, states).Get(ctx, &sent)
	if err != nil {
		return protocol.BatchAnswer{}, err
	}
	var answer protocol.BatchAnswer
	waiting := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 2 * time.Minute, ScheduleToCloseTimeout: c.idea.Config.LLMs.Timeout(),
		Summary: fmt.Sprintf("%s%d: wait for the batch %s", protocol.WaitingForLLM, number, sent.ID),
		// until ScheduleToCloseTimeout
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
	})
	err = workflow.ExecuteActivity(waiting, protocol.ActivityReadBatch, sent).Get(ctx, &answer)
	return answer, err
}
