package terminal

import (
	"context"
	"errors"
	"slices"
	"time"

	"processidea/client"
	"processidea/internal/safego"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

// silenceTimeout is how long a server may not answer before it counts as unreachable.
const silenceTimeout = 15 * time.Second

// ErrAbandoned means that the program that ran the used server has ended.
var ErrAbandoned = errors.New("the program that ran the server is gone")

// Follower watches a process until it ends or pauses, or until the wait is over.
type Follower struct {
	Session       *server.Session
	Process       *client.Process
	Progress      *Progress
	WaitEnds      <-chan time.Time // the end of the wait; nil: never
	ThroughPauses bool             // a pause does not end following
	Person        *Person          // the person at the terminal; nil: nobody
	// LLMWait is how long an LLM's server that has never answered the process may be unreachable, since its address may
	// be wrong; 0: for ever.
	LLMWait     time.Duration
	llmDeadline <-chan time.Time // the end of LLMWait; nil: the LLM's server is not away

	status   *client.Status // as it was last seen
	answered time.Time      // when the server last answered
}

// eventOrError is one step of the events of a process.
type eventOrError struct {
	event client.Event
	err   error
}

// Follow returns the process's Result once it has ended or paused, or its current Result when the wait is over. The
// error is ErrAbandoned if the program that ran the used server has ended.
func (f *Follower) Follow(ctx context.Context) (loop.Result, error) {
	defer f.Progress.Clear()
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	events := f.events(watch)
	f.answered = time.Now()
	for {
		select {
		case s := <-events:
			if s.err != nil || s.event.Kind == client.EventEnded {
				return s.event.Result, s.err
			}
			if err := f.handleEvent(ctx, s.event); err != nil {
				return loop.Result{}, err
			}
			if f.paused() {
				return f.Process.WithStates(ctx, *f.status)
			}
			f.watchLLM()
		case <-f.llmDeadline:
			return f.snapshot(ctx)
		case <-ctx.Done():
			return loop.Result{}, ctx.Err()
		case <-f.WaitEnds:
			return f.snapshot(ctx)
		case line, ok := <-f.Person.typedLines():
			if !ok {
				f.leavePerson()
				continue
			}
			if err := f.Person.answer(ctx, line); err != nil {
				return loop.Result{}, err
			}
		}
	}
}

// leavePerson goes on without the person, of whom nothing more is read.
func (f *Follower) leavePerson() {
	if err := f.Person.inputError; err != nil {
		f.Progress.Clear()
		f.Session.Place.Note("what is typed here is not read any more: %s; to see what waits: %s approvals %s", err,
			print.Program, print.Quote(f.Process.ID()))
	}
	f.Person = nil
}

func (f *Follower) events(ctx context.Context) <-chan eventOrError {
	out := make(chan eventOrError)
	tell := func(event client.Event, err error) (delivered bool) {
		select {
		case out <- eventOrError{event, err}:
			return true
		case <-ctx.Done():
			return false
		}
	}
	safego.Go("starter.follow", func() error {
		for event, err := range f.Process.Events(ctx) {
			if !tell(event, err) {
				break
			}
		}
		return nil
	}, func(err error) {
		if err != nil {
			tell(client.Event{}, err)
		}
	})
	return out
}

// handleEvent shows an Event, and notices a server that no longer answers.
func (f *Follower) handleEvent(ctx context.Context, e client.Event) error {
	switch {
	case e.Kind == client.EventStatus:
		f.status, f.answered = &e.Status, time.Now()
		f.Person.askNext(ctx, e.Status, f.Progress.Clear)
	case !errors.Is(e.Err, client.ErrUnreachable):
		f.status, f.answered = nil, time.Now()
	case f.Session.Embedded && !f.Session.RunsServer && f.Session.Place.Abandoned():
		return ErrAbandoned
	case time.Since(later(f.answered, e.Since)) > silenceTimeout:
		return exit.Unreachablef("follow process %s: %w", f.Process.ID(), e.Err)
	default:
		f.status = nil
	}
	if !f.Person.busy() {
		f.Progress.Show(e)
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (f *Follower) paused() bool {
	return f.status != nil && f.status.Status == loop.StatusPaused && !f.ThroughPauses
}

// watchLLM starts LLMWait when an LLM's server that has never answered the process becomes unreachable.
func (f *Follower) watchLLM() {
	untried := func(h turn.HeldUp) bool { return h.Untried && h.Cause == turn.CodeLLMUnreachable }
	switch away := f.status != nil && slices.ContainsFunc(f.status.HeldUp, untried); {
	case !away:
		f.llmDeadline = nil
	case f.llmDeadline == nil && f.LLMWait > 0:
		f.llmDeadline = time.After(f.LLMWait)
	}
}

// snapshot returns the current Result at the end of the wait. A missing worker is no error then.
func (f *Follower) snapshot(ctx context.Context) (loop.Result, error) {
	r, err := f.Process.Snapshot(ctx)
	if errors.Is(err, client.ErrNoWorker) {
		f.Session.Place.Note("%s", err)
		err = nil
	}
	return r, err
}
