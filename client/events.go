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

// EventKind tells Events apart: EventStatus, EventUnseen and EventEnded.
type EventKind string

// The kinds of Events.
const (
	// EventStatus: the process stands otherwise than before. Event.Status says how. The first Event is mostly one.
	// While Calls wait for a person (Status.Awaiting) it is repeated, with Options.Live several times a second, even if
	// it says nothing new: one Call may have taken the place of another.
	EventStatus EventKind = "status"
	// EventUnseen: the process cannot be asked. Event.Err says why; it wraps ErrNoWorker or ErrUnreachable. It is
	// repeated while that lasts.
	EventUnseen EventKind = "unseen"
	// EventEnded: the process has ended. Event.Result says how; nothing comes after it.
	EventEnded EventKind = "ended"
)

// Event is something that was seen of a process.
type Event struct {
	Kind   EventKind
	Status Status      // of EventStatus: Status.Awaiting counts the Calls that wait for a person
	Result loop.Result // of EventEnded, with every value whole
	Err    error       // of EventUnseen
	Since  time.Time   // of EventUnseen: when the process was last seen, or Events was called
}

// Events follows the process until it has ended, through pauses and through times in which no server answers. It ends
// when the loop is left, when ctx is done (with its error), or after EventEnded; an error comes last, as from Result.
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
		ended := p.watchEnd(ctx)
		seen := p.watchStatus(ctx, func(err error) { ended <- ending{err: err} })
		for {
			select {
			case e := <-ended:
				yield(Event{Kind: EventEnded, Result: e.result}, e.err)
				return
			case <-ctx.Done():
				yield(Event{}, ctx.Err())
				return
			case e := <-seen:
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

type ending struct {
	result loop.Result
	err    error
}

// watchEnd waits for the end of the process, whatever happens to the server in between.
func (p *Process) watchEnd(ctx context.Context) chan ending {
	ended := make(chan ending, 2)
	var r loop.Result
	safego.Go("client.events.end", func() (err error) {
		r, err = p.Result(ctx)
		for IsUnreachable(err) && ctx.Err() == nil {
			pause(ctx, pollEvery)
			r, err = p.Result(ctx)
		}
		return err
	}, func(err error) {
		if ctx.Err() == nil {
			ended <- ending{r, err}
		}
	})
	return ended
}

// watchStatus asks again and again where the process stands, and passes on what is new. Failed is told why it cannot.
func (p *Process) watchStatus(ctx context.Context, failed func(error)) <-chan Event {
	events := make(chan Event)
	safego.Go("client.events.status", func() error {
		var last *Status
		seen, untilNext := time.Now(), p.untilWorthAsking()
		for ; ctx.Err() == nil; untilNext(ctx, last == nil) {
			v, err := p.Status(ctx)
			event := Event{Kind: EventStatus, Status: v}
			switch {
			case err != nil:
				event = Event{Kind: EventUnseen, Err: p.client.unseen(ctx, p.id, err), Since: seen}
				last = nil // once it is seen again, that is new
			case last != nil && v.Awaiting == 0 && reflect.DeepEqual(*last, v):
				seen = time.Now()
				continue
			default:
				seen, last = time.Now(), &v
			}
			select {
			case events <- event:
			case <-ctx.Done():
			}
		}
		return nil
	}, func(err error) {
		if err != nil {
			failed(err)
		}
	})
	return events
}

// untilWorthAsking returns what waits until it is time to ask the process again; unseen says that it could not be asked
// just now.
func (p *Process) untilWorthAsking() func(ctx context.Context, unseen bool) {
	pacing := pace.New()
	look := func(ctx context.Context) bool {
		info, err := p.describe(ctx)
		// What is wrong with a server that cannot describe it, asking says.
		return err != nil || pacing.IsWorthAsking(time.Now(),
			pace.Sight{Run: info.GetExecution().GetRunId(), Events: info.GetHistoryLength(),
				Status: string(statusOf(info)), Awaiting: awaitingOf(info)})
	}
	failures := 0
	return func(ctx context.Context, unseen bool) {
		switch {
		case p.client.live:
			pause(ctx, pollEvery)
			return
		case unseen:
			failures++
			pause(ctx, pace.UntilNextAttempt(failures))
			return
		}
		failures = 0
		pause(ctx, pollEvery)
		for ctx.Err() == nil && !look(ctx) {
			pause(ctx, pacing.UntilNextLook())
		}
	}
}

// unseen says why a process cannot be asked: it tells a worker that does not answer from a server that does not either,
// and one that is not there from one that cannot go on.
func (c *Client) unseen(ctx context.Context, process string, cause error) error {
	if down := c.health(ctx); down != nil {
		return kind.Errorf(ErrUnreachable, "the server does not answer: %w", down)
	}
	switch h := c.whyUnseen(ctx, process, cause); {
	case h == nil:
		return kind.Errorf(ErrNoWorker, "a worker serves the task queue %s, and does not answer yet: %w",
			protocol.TaskQueue, cause)
	case h.Cause == turn.CodeNoWorker:
		return kind.Errorf(ErrNoWorker, "no worker answers on task queue %s: %w", protocol.TaskQueue, cause)
	default:
		return kind.Errorf(ErrNoWorker, "%s; %s: %w", h.Message, h.Mend, cause)
	}
}
