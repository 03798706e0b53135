package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"processidea/llm"
	"processidea/model/turn"
)

var errNoRequestSlot = &llm.Error{Code: turn.CodeRateLimited, IsRetryable: true, IsHeldBack: true,
	Message: "this worker can make no more Requests at once",
	Remedy:  "it goes on by itself; a higher --max-requests allows more at once"}

// sendInSlot makes a Request in one of the worker's slots for Requests, and reports its outcome to the observer.
func (a *Activities) sendInSlot(
	ctx context.Context, input *turn.RequestInput, sendRequest func(*RequestAttempt) (*turn.LLMReply, error),
) (reply *turn.LLMReply, err error) {
	attempt := &RequestAttempt{
		ProcessID: input.ProcessID, RequestNumber: input.RequestNumber, InstanceCount: len(input.Instances),
		AttemptNumber: int(activity.GetInfo(ctx).Attempt), StartedAt: time.Now(),
	}
	defer func() { a.observeRequestEnd(attempt, reply, err) }()
	release, err := a.acquireRequestSlot(ctx)
	attempt.SlotWaitTime, attempt.StartedAt = time.Since(attempt.StartedAt), time.Now()
	if err != nil {
		return nil, translateShutdownError(ctx, err)
	}
	defer release()
	reply, err = sendRequest(attempt)
	if err == nil && !reply.IsComplete && isWorkerStopping(ctx) {
		err = worker.ErrWorkerShutdown
	}
	return reply, translateShutdownError(ctx, err)
}

// acquireRequestSlot waits for a slot, for at most half of the time that the Request has: a later start would leave too
// little time to read a reply. Without a slot, Temporal tries again, perhaps with another worker.
func (a *Activities) acquireRequestSlot(ctx context.Context) (release func(), err error) {
	if a.RequestSlots == nil {
		return func() {}, nil
	}
	waitCtx, cancel := context.WithTimeout(ctx, time.Until(activity.GetInfo(ctx).Deadline)/2)
	defer cancel()
	if err := a.RequestSlots.Acquire(waitCtx, 1); err != nil {
		return nil, errNoRequestSlot
	}
	return func() { a.RequestSlots.Release(1) }, nil
}
