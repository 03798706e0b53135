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

// SendBatch sends a Request through the LLM's batch interface. The batch's key is derived from this activity, so that
// another attempt finds the batch that an earlier one has sent.
func (a *Activities) SendBatch(ctx context.Context, setup protocol.RequestSetup, input *turn.RequestInput,
	states protocol.RequestStates) (batch *protocol.SentBatch, err error) {
	err = a.runAttempt(ctx, setup, input, states, func(ctx context.Context) (err error) {
		if err = a.awaitDailyBudget(ctx); err == nil {
			batch, err = a.sendBatchOnce(ctx, setup, input)
		}
		return err
	})
	if err == nil {
		a.reportRequestResumed(ctx, batch.Request)
	}
	return batch, err
}

func (a *Activities) sendBatchOnce(ctx context.Context, setup protocol.RequestSetup,
	input *turn.RequestInput) (*protocol.SentBatch, error) {
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
	batch := &protocol.SentBatch{Server: candidate.settings.Server, Key: "request-" + activityKey(ctx),
		Request: input.RequestNumber}
	if batch.ID, err = client.SendBatch(ctx, r.llmRequest, batch.Key); err != nil {
		return nil, err
	}
	return batch, nil
}

// activityKey is the same for all attempts of an activity, and different for each activity.
func activityKey(ctx context.Context) string {
	i := activity.GetInfo(ctx)
	return jsonval.Digest(i.WorkflowExecution.ID + "\n" + i.WorkflowExecution.RunID + "\n" + i.ActivityID)[:32]
}

// ReadBatch returns the answer of a batch. While the server is at work, ReadBatch fails with the time after which
// Temporal retries it, so that the wait occupies no worker.
func (a *Activities) ReadBatch(ctx context.Context, batch protocol.SentBatch) (*protocol.BatchAnswer, error) {
	client, err := a.llmCandidates(ideafile.LLMs{{Server: batch.Server}})[0].configuredClient()
	if err != nil {
		return nil, llmError(err)
	}
	completion, err := client.ReadBatch(ctx, batch.ID, batch.Key)
	var e *llm.Error
	if errors.As(err, &e) && e.IsRetryable && !e.IsBatchPending {
		activity.RecordHeartbeat(ctx, true) // for the next attempt
		return nil, a.retryOrFail(ctx, batch.Request, turn.NoPatienceLimit, err)
	}
	a.reportResumedAfterHoldUp(ctx, batch.Request)
	if err != nil {
		return nil, llmError(err)
	}
	return &protocol.BatchAnswer{Completion: string(completion)}, nil
}
