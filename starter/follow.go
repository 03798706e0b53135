package main

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/client"

	"processidea/model/loop"
	"processidea/protocol"
)

const (
	pollEvery    = 300 * time.Millisecond
	queryTimeout = 3 * time.Second
	// silence is how long a server may not answer before it counts as unreachable.
	silence = 15 * time.Second
)

var (
	errInterrupted = &exit{code: exitInterrupted}
	// errAbandoned says that the program went away whose server was used.
	errAbandoned = errors.New("the program that ran the server is gone")
)

// follower watches a process until there is something to say about it.
type follower struct {
	*session
	id       string
	progress *progress
	over     <-chan time.Time // the end of the wait; nil: for ever
	through  bool             // pauses are watched through
	heard    time.Time        // when the server last answered
	person   *person          // at the terminal; nil: nobody
}

// follow gives the process's Result once it has ended or paused, or as it stands when the wait is over.
func (f *follower) follow(ctx context.Context) (loop.Result, error) {
	defer f.progress.clear()
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	ended, views := f.watchEnd(watch), f.watchStatus(watch)
	f.heard = time.Now()
	for {
		select {
		case e := <-ended:
			return e.result, e.err
		case <-ctx.Done():
			return loop.Result{}, errInterrupted
		case <-f.over:
			return f.look(ctx, f.id)
		case line, ok := <-f.person.heard():
			if !ok {
				f.person = nil // nothing more will be typed
				continue
			}
			if err := f.person.answer(ctx, line); err != nil {
				return loop.Result{}, err
			}
		case v := <-views:
			if err := f.listen(v); err != nil {
				return loop.Result{}, err
			}
			if v.err == nil {
				f.person.offer(ctx, v.view, f.progress.clear)
			}
			if !f.person.busy() {
				f.progress.show(v)
			}
			if v.err == nil && v.view.Status == loop.StatusPaused && !f.through {
				return f.withStates(ctx, v.view.Result)
			}
		}
	}
}

// listen notices a server that does not answer any more.
func (f *follower) listen(v sight) error {
	switch {
	case v.down == nil:
		f.heard = time.Now()
	case f.embedded && !f.own && f.abandoned():
		return errAbandoned
	case time.Since(f.heard) > silence:
		return noServer("follow process %s: %w", f.id, v.down)
	}
	return nil
}

type ending struct {
	result loop.Result
	err    error
}

// watchEnd waits for the end of the process, whatever happens to the server in between.
func (f *follower) watchEnd(ctx context.Context) <-chan ending {
	ended := make(chan ending, 1)
	go func() {
		r, err := f.end(ctx, f.id)
		for unreachable(err) && ctx.Err() == nil {
			pause(ctx, pollEvery)
			r, err = f.end(ctx, f.id)
		}
		if ctx.Err() == nil {
			ended <- ending{r, err}
		}
	}()
	return ended
}

// sight is what was seen of a process at one moment.
type sight struct {
	view protocol.ProcessView
	err  error // why there is no view
	down error // why the server does not answer either
}

// watchStatus asks again and again where the process stands.
func (f *follower) watchStatus(ctx context.Context) <-chan sight {
	views := make(chan sight)
	go func() {
		for ctx.Err() == nil {
			var v sight
			if v.view, v.err = f.status(ctx, f.id); v.err != nil {
				v.down = f.health(ctx)
			}
			select {
			case views <- v:
			case <-ctx.Done():
			}
			pause(ctx, pollEvery)
		}
	}()
	return views
}

// health says why the server does not answer.
func (s *session) health(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	_, err := s.CheckHealth(ctx, &client.CheckHealthRequest{})
	return err
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
