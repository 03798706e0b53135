package client

import (
	"context"
	"time"

	"processidea/model/ideafile"
	"processidea/model/loop"
)

// tellingTime is how long it is waited for what instances did to reach their process; of a fork that cannot be told.
const tellingTime = 5 * time.Second

// Stop pauses the process, lets the Calls that run finish, and then cancels it: so all that it did is on record, and
// can be taken back.
func (p *Process) Stop(ctx context.Context, by By) error {
	if err := p.Rest(ctx, by); err != nil {
		return err
	}
	return p.Cancel(ctx)
}

// Rest pauses the process, if it is not, and waits until the Calls that run have finished.
func (p *Process) Rest(ctx context.Context, by By) error {
	v, err := p.Status(ctx)
	if err == nil && v.Status != loop.StatusPaused {
		err = p.Pause(ctx, by)
	}
	switch {
	case err != nil:
		return err
	case len(v.Parts) > 0: // they are told by it
		return p.eachOpenPart(ctx, func(part *Process) error { return part.untilAtRest(ctx) })
	}
	return p.untilAtRest(ctx)
}

// untilAtRest waits until the process is paused, or has ended, and none of its Calls runs.
func (p *Process) untilAtRest(ctx context.Context) error {
	var idle time.Time
	return p.until(ctx, func() (bool, error) {
		running, done, err := p.countCalls(ctx)
		if err != nil || running > 0 {
			return false, err
		}
		if idle.IsZero() {
			idle = time.Now()
		}
		v, err := p.Status(ctx)
		return err == nil && v.Status != loop.StatusRunning &&
			(v.Calls.Done >= done || time.Since(idle) > tellingTime), err
	})
}

// countCalls asks the instances how many of their Calls run, and are done.
func (p *Process) countCalls(ctx context.Context) (running, done int, err error) {
	instances, err := p.Instances(ctx)
	for _, i := range instances {
		for _, c := range i.Calls {
			switch c.Status {
			case ideafile.Running:
				running++
			case ideafile.Done:
				done++
			}
		}
	}
	return running, done, err
}

// eachOpenPart visits the parts of a process that was split that are at work.
func (p *Process) eachOpenPart(ctx context.Context, visit func(part *Process) error) error {
	v, err := p.Status(ctx)
	for n := 0; n < len(v.Parts) && err == nil; n++ {
		var open bool
		if open, err = p.client.isOpen(ctx, v.Parts[n].Process); open {
			err = visit(p.client.Process(v.Parts[n].Process))
		}
	}
	return err
}
