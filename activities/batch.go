package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"

	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
)

// SendLLMBatch sends a Request through the LLM's batch interface. The batch's key is derived from this activity, so
// that another attempt finds the batch that an earlier one has sent.
func (a *Activities) SendLLMBatch(ctx context.Context, setup protocol.RequestSetup, input *turn.RequestInput,
	states protocol.RequestStates) (batch *protocol.SentLLMBatch, err error) {
	err = a.runRequestAttempt(ctx, setup, input, states, func(ctx context.Context) (err error) {
		if err = a.awaitDailyBudget(ctx); err == nil {
			batch, err = a.sendLLMBatchOnce(ctx, setup, input)
		}
		return err
	})
	if err == nil {
		a.reportRequestResumed(ctx, batch.RequestNumber)
	}
	return batch, err
}

func (a *Activities) sendLLMBatchOnce(ctx context.Context, setup protocol.RequestSetup,
	input *turn.RequestInput) (*protocol.SentLLMBatch, error) {
	r, err := a.newRequest(ctx, setup, input)
	if err != nil {
		return nil, err
	}
	defer r.stopScriptedLLM()
	candidate := r.llmCandidates[0]
	client, err := candidate.configuredClient()
	if err != nil {
		return nil, err
	}
	r.llmRequest.Settings = candidate.settings
	batch := &protocol.SentLLMBatch{Server: candidate.settings.Server, RequestKey: "request-" + activityKey(ctx),
		RequestNumber: input.RequestNumber}
	if batch.ID, err = client.SendBatch(ctx, r.llmRequest, batch.RequestKey); err != nil {
		return nil, err
	}
	return batch, nil
}

// activityKey is the same for all attempts of an activity, and different for each activity.
func activityKey(ctx context.Context) string {
	i := activity.GetInfo(ctx)
	return jsonval.Digest(i.WorkflowExecution.ID + "\n" + i.WorkflowExecution.RunID + "\n" + i.ActivityID)[:32]
}

// ReadLLMBatch returns the answer of a batch. While the server is at work, ReadLLMBatch fails with the time after which
// Temporal retries it, so that the wait occupies no worker.
func (a *Activities) ReadLLMBatch(ctx context.Context, batch protocol.SentLLMBatch) (*protocol.LLMBatchAnswer, error) {
	client, err := a.llmCandidates(ideafile.LLMs{{Server: batch.Server}})[0].configuredClient()
	if err != nil {
		return nil, llmError(err)
	}
	completion, err := client.ReadBatch(ctx, batch.ID, batch.RequestKey)
	var e *llm.Error
	if errors.As(err, &e) && e.IsRetryable && !e.IsBatchPending {
		activity.RecordHeartbeat(ctx, true) // for the next attempt
		return nil, a.retryOrFail(ctx, batch.RequestNumber, turn.NoPatienceLimit, err)
	}
	a.reportResumedAfterHoldUp(ctx, batch.RequestNumber)
	if err != nil {
		return nil, llmError(err)
	}
	return &protocol.LLMBatchAnswer{Completion: string(completion)}, nil
}
