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
	states protocol.RequestStates) (sent *protocol.SentBatch, err error) {
	err = a.attempt(ctx, setup, input, states, func(ctx context.Context) (err error) {
		if err = a.awaitMoney(ctx); err == nil {
			sent, err = a.attemptBatch(ctx, setup, input)
		}
		return err
	})
	if err == nil {
		a.reportRequestResumed(ctx, sent.Request)
	}
	return sent, err
}

func (a *Activities) attemptBatch(ctx context.Context, setup protocol.RequestSetup,
	input *turn.RequestInput) (*protocol.SentBatch, error) {
	r, err := a.newRequest(ctx, setup, input)
	if err != nil {
		return nil, err
	}
	defer r.stop()
	asked := r.candidates[0]
	client, err := asked.configured()
	if err != nil {
		return nil, err
	}
	r.question.Settings = asked.settings
	sent := &protocol.SentBatch{Server: asked.settings.Server, Key: batchKey(activity.GetInfo(ctx)),
		Request: input.RequestNumber}
	if sent.ID, err = client.SendBatch(ctx, r.question, sent.Key); err != nil {
		return nil, err
	}
	return sent, nil
}

// batchKey is the same for all attempts of an activity, and different for each activity.
func batchKey(i activity.Info) string {
	return "request-" + jsonval.Digest(i.WorkflowExecution.ID + "\n" + i.WorkflowExecution.RunID + "\n" +
		i.ActivityID)[:32]
}

// ReadBatch returns the answer of a batch. While the server is at work, ReadBatch fails with the time after which
// Temporal retries it, so that the wait occupies no worker.
func (a *Activities) ReadBatch(ctx context.Context, sent protocol.SentBatch) (*protocol.BatchAnswer, error) {
	client, err := a.candidates(ideafile.LLMs{{Server: sent.Server}})[0].configured()
	if err != nil {
		return nil, llmError(err)
	}
	completion, err := client.ReadBatch(ctx, sent.ID, sent.Key)
	var e *llm.Error
	if errors.As(err, &e) && e.Retry && !e.IsBatchPending {
		activity.RecordHeartbeat(ctx, true) // for the next attempt
		return nil, a.retryOrFail(ctx, sent.Request, turn.Forever, err)
	}
	a.reportResumedIfHeldUp(ctx, sent.Request)
	if err != nil {
		return nil, llmError(err)
	}
	return &protocol.BatchAnswer{Completion: string(completion)}, nil
}
