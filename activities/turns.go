package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"processidea/model/turn"
)

var errNoTurn = errors.New("as many Requests as this worker makes at once were under way all the time")

// inTurn makes a Request when it is its turn, and tells the observer what became of it.
func (a *Activities) inTurn(ctx context.Context, brief *turn.RequestInput, ask func(*RequestSeen) (*turn.Reply, error)) (reply *turn.Reply, err error) {
	seen := &RequestSeen{
		Process: brief.Process, Number: brief.Number, Instances: len(brief.Instances),
		Attempt: int(activity.GetInfo(ctx).Attempt), Began: time.Now(),
	}
	defer func() { a.endRequest(seen, reply, err) }()
	leave, err := a.takeTurn(ctx)
	seen.Waited, seen.Began = time.Since(seen.Began), time.Now()
	if err != nil {
		return nil, unreported(ctx, err)
	}
	defer leave()
	reply, err = ask(seen)
	if err == nil && !reply.Complete && cutOff(ctx) {
		err = worker.ErrWorkerShutdown
	}
	return reply, unreported(ctx, err)
}

// takeTurn waits until this worker may make one more Request, at most half of the time that the Request has: with the
// other half it could not be heard. Temporal then tries again, perhaps with another worker.
func (a *Activities) takeTurn(ctx context.Context) (leave func(), err error) {
	if a.Turns == nil {
		return func() {}, nil
	}
	waiting, cancel := context.WithTimeout(ctx, time.Until(activity.GetInfo(ctx).Deadline)/2)
	defer cancel()
	if err := a.Turns.Acquire(waiting, 1); err != nil {
		return nil, temporal.NewApplicationError(errNoTurn.Error(), turn.CodeLLMUnreachable)
	}
	return func() { a.Turns.Release(1) }, nil
}
