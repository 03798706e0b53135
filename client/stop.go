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
	if err != nil {
		return err
	}
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
		return err == nil && (v.Calls.Done >= done || time.Since(idle) > tellingTime), err
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
