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

// serverSilenceTimeout is how long a server may not answer before it counts as unreachable.
const serverSilenceTimeout = 15 * time.Second

// ErrServerAbandoned means that the program that ran the used server has ended.
var ErrServerAbandoned = errors.New("the program that ran the server is gone")

// Follower watches a process until it ends or pauses, or until the wait is over.
type Follower struct {
	Session       *server.Session
	Process       *client.Process
	Progress      *Progress
	WaitExpired   <-chan time.Time // the end of the wait; nil: never
	IgnoresPauses bool             // a pause does not end following
	Person        *Person          // the person at the terminal; nil: nobody
	// LLMUnreachableTimeout is how long an LLM's server that has never answered the process may be unreachable, since
	// its address may be wrong; 0: for ever.
	LLMUnreachableTimeout  time.Duration
	llmUnreachableDeadline <-chan time.Time // the end of LLMWait; nil: the LLM's server is not away

	lastStatus         *client.Status // as it was last seen
	lastServerAnswerAt time.Time      // when the server last answered
}

// eventOrError is one step of the events of a process.
type eventOrError struct {
	event client.Event
	err   error
}

// Follow returns the process's Result once it has ended or paused, or its current Result when the wait is over. The
// error is ErrServerAbandoned if the program that ran the used server has ended.
func (f *Follower) Follow(ctx context.Context) (loop.ProcessResult, error) {
	defer f.Progress.Clear()
	watchCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := f.watchEvents(watchCtx)
	f.lastServerAnswerAt = time.Now()
	for {
		select {
		case s := <-events:
			if s.err != nil || s.event.Kind == client.EventEnded {
				return s.event.Result, s.err
			}
			if err := f.handleEvent(ctx, s.event); err != nil {
				return loop.ProcessResult{}, err
			}
			if f.isPaused() {
				return f.Process.WithStates(ctx, *f.lastStatus)
			}
			f.updateLLMDeadline()
		case <-f.llmUnreachableDeadline:
			return f.snapshot(ctx)
		case <-ctx.Done():
			return loop.ProcessResult{}, ctx.Err()
		case <-f.WaitExpired:
			return f.snapshot(ctx)
		case line, ok := <-f.Person.typedLines():
			if !ok {
				f.dropPerson()
				continue
			}
			if err := f.Person.handleTypedLine(ctx, line); err != nil {
				return loop.ProcessResult{}, err
			}
		}
	}
}

// dropPerson goes on without the person, of whom nothing more is read.
func (f *Follower) dropPerson() {
	if err := f.Person.inputError; err != nil {
		f.Progress.Clear()
		f.Session.Place.Note("what is typed here is not read any more: %s; to see what waits: %s approvals %s", err,
			print.ProgramName, print.ShellQuote(f.Process.ID()))
	}
	f.Person = nil
}

func (f *Follower) watchEvents(ctx context.Context) <-chan eventOrError {
	events := make(chan eventOrError)
	send := func(event client.Event, err error) (delivered bool) {
		select {
		case events <- eventOrError{event, err}:
			return true
		case <-ctx.Done():
			return false
		}
	}
	safego.Go("starter.follow", func() error {
		for event, err := range f.Process.Events(ctx) {
			if !send(event, err) {
				break
			}
		}
		return nil
	}, func(err error) {
		if err != nil {
			send(client.Event{}, err)
		}
	})
	return events
}

// handleEvent shows an Event, and notices a server that no longer answers.
func (f *Follower) handleEvent(ctx context.Context, e client.Event) error {
	switch {
	case e.Kind == client.EventStatus:
		f.lastStatus, f.lastServerAnswerAt = &e.Status, time.Now()
		f.Person.askNext(ctx, e.Status, f.Progress.Clear)
	case !errors.Is(e.Err, client.ErrUnreachable):
		f.lastStatus, f.lastServerAnswerAt = nil, time.Now()
	case f.Session.IsEmbedded && !f.Session.RunsServer && f.Session.Place.IsServerAbandoned():
		return ErrServerAbandoned
	case time.Since(laterTime(f.lastServerAnswerAt, e.LastSeenAt)) > serverSilenceTimeout:
		return exit.Unreachablef("follow process %s: %w", f.Process.ID(), e.Err)
	default:
		f.lastStatus = nil
	}
	if !f.Person.isAsking() {
		f.Progress.Show(e)
	}
	return nil
}

func laterTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (f *Follower) isPaused() bool {
	return f.lastStatus != nil && f.lastStatus.Status == loop.StatusPaused && !f.IgnoresPauses
}

// updateLLMDeadline starts LLMWait when an LLM's server that has never answered the process becomes unreachable.
func (f *Follower) updateLLMDeadline() {
	neverAnswered := func(h turn.HoldUp) bool { return h.HasNeverWorked && h.CauseCode == turn.CodeLLMUnreachable }
	switch isLLMUnreachable := f.lastStatus != nil && slices.ContainsFunc(f.lastStatus.HoldUps, neverAnswered); {
	case !isLLMUnreachable:
		f.llmUnreachableDeadline = nil
	case f.llmUnreachableDeadline == nil && f.LLMUnreachableTimeout > 0:
		f.llmUnreachableDeadline = time.After(f.LLMUnreachableTimeout)
	}
}

// snapshot returns the current Result at the end of the wait. A missing worker is no error then.
func (f *Follower) snapshot(ctx context.Context) (loop.ProcessResult, error) {
	r, err := f.Process.Snapshot(ctx)
	if errors.Is(err, client.ErrNoWorker) {
		f.Session.Place.Note("%s", err)
		err = nil
	}
	return r, err
}
