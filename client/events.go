package client

import (
	"context"
	"iter"
	"reflect"
	"time"

	"processidea/client/internal/kind"
	"processidea/client/internal/pace"
	"processidea/internal/safego"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// EventKind is the kind of an Event: EventStatus, EventNoAnswer or EventEnded.
type EventKind string

// The kinds of Events.
const (
	// EventStatus: the status of the process has changed; Event.Status has the new one. The first Event is usually of
	// this kind. While Calls wait for a person (Status.PendingDecisionCount) it is repeated even if nothing is new,
	// since one Call may have replaced another; with Options.PollsFrequently that happens several times a second.
	EventStatus EventKind = "status"
	// EventNoAnswer: the process does not answer. Event.Err says why; it wraps ErrNoWorker or ErrUnreachable. It is
	// repeated until the process answers.
	EventNoAnswer EventKind = "unseen"
	// EventEnded: the process has ended. Event.Result has the result; no Event follows.
	EventEnded EventKind = "ended"
)

// Event is one observation of a process.
type Event struct {
	Kind EventKind
	// for EventStatus: Status.PendingDecisionCount counts the Calls that wait for a person
	Status     Status
	Result     loop.ProcessResult // for EventEnded, with every value whole
	Err        error              // for EventNoAnswer
	LastSeenAt time.Time          // for EventNoAnswer: when the process was last seen, or Events was called
}

// Events follows the process until it has ended, through pauses and through times in which no server answers. It stops
// when the caller leaves the loop, when ctx is done (with its error), or after EventEnded. An error comes last, as from
// Result.
//
//	for event, err := range p.Events(ctx) {
//		if err != nil {
//			return err
//		}
//		…
//	}
func (p *Process) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		endResults := p.watchEnd(ctx)
		statusEvents := p.watchStatus(ctx, func(err error) { endResults <- endResult{err: err} })
		for {
			select {
			case e := <-endResults:
				yield(Event{Kind: EventEnded, Result: e.result}, e.err)
				return
			case <-ctx.Done():
				yield(Event{}, ctx.Err())
				return
			case e := <-statusEvents:
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

type endResult struct {
	result loop.ProcessResult
	err    error
}

// watchEnd waits for the end of the process, even while the server is unreachable.
func (p *Process) watchEnd(ctx context.Context) chan endResult {
	endResults := make(chan endResult, 2)
	var r loop.ProcessResult
	safego.Go("client.events.end", func() (err error) {
		r, err = p.Result(ctx)
		for IsUnreachable(err) && ctx.Err() == nil {
			Sleep(ctx, pollInterval)
			r, err = p.Result(ctx)
		}
		return err
	}, func(err error) {
		if ctx.Err() == nil {
			endResults <- endResult{r, err}
		}
	})
	return endResults
}

// watchStatus queries the status of the process repeatedly, and sends each change. If it cannot go on, it calls failed.
func (p *Process) watchStatus(ctx context.Context, onFailure func(error)) <-chan Event {
	events := make(chan Event)
	safego.Go("client.events.status", func() error {
		var last *Status
		lastSeenAt, waitForNext := time.Now(), p.newPollWaiter()
		for ; ctx.Err() == nil; waitForNext(ctx, last == nil) {
			v, err := p.Status(ctx)
			event := Event{Kind: EventStatus, Status: v}
			switch {
			case err != nil:
				_, cause := p.client.explainUnreachable(ctx, p.id, err)
				event = Event{Kind: EventNoAnswer, Err: cause, LastSeenAt: lastSeenAt}
				last = nil // the next answer counts as new
			case last != nil && v.PendingDecisionCount == 0 && reflect.DeepEqual(*last, v):
				lastSeenAt = time.Now()
				continue
			default:
				lastSeenAt, last = time.Now(), &v
			}
			select {
			case events <- event:
			case <-ctx.Done():
			}
		}
		return nil
	}, func(err error) {
		if err != nil {
			onFailure(err)
		}
	})
	return events
}

// newPollWaiter returns a function that waits until the next query is worthwhile. Its argument says whether the last
// one failed.
func (p *Process) newPollWaiter() func(ctx context.Context, gotNoAnswer bool) {
	pacing := pace.New()
	shouldQuery := func(ctx context.Context) bool {
		info, err := p.describe(ctx)
		// If the server cannot describe the process, the query reports why.
		return err != nil || pacing.ShouldQuery(time.Now(),
			pace.Observation{RunID: info.GetExecution().GetRunId(), EventCount: info.GetHistoryLength(),
				Status: string(statusKnownToTemporal(info)), AwaitingCallCount: awaitingCallCount(info)})
	}
	failureCount := 0
	return func(ctx context.Context, gotNoAnswer bool) {
		switch {
		case p.client.pollsFrequently:
			Sleep(ctx, pollInterval)
			return
		case gotNoAnswer:
			failureCount++
			Sleep(ctx, pace.RetryDelay(failureCount))
			return
		}
		failureCount = 0
		Sleep(ctx, pollInterval)
		for ctx.Err() == nil && !shouldQuery(ctx) {
			Sleep(ctx, pacing.DelayToNextDescribe())
		}
	}
}

// explainUnreachable says why a process does not answer: the server is unreachable, no worker runs, or a worker runs
// but cannot continue the process. It also returns what holds the process up, as far as that can be told.
func (c *Client) explainUnreachable(ctx context.Context, processID string, cause error) (*turn.HoldUp, error) {
	if healthErr := c.checkHealth(ctx); healthErr != nil {
		return nil, kind.Errorf(ErrUnreachable, "the server does not answer: %w", healthErr)
	}
	h := c.explainNoAnswer(ctx, processID, cause)
	if h == nil {
		return nil, kind.Errorf(ErrNoWorker, "a worker serves the task queue %s but does not answer yet: %w",
			protocol.TaskQueue, cause)
	}
	return h, kind.Errorf(ErrNoWorker, "%s; %s: %w", h.Message, h.Remedy, cause)
}
