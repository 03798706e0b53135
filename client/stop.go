package client

import (
	"context"
	"time"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
)

// instanceReportGrace bounds the wait until the reports of instances have reached their process. In a fork the count of
// the process may never include all of them.
const instanceReportGrace = 5 * time.Second

// Stop pauses the process, lets running Calls finish, and then cancels it. So all that the process did is on record,
// and can be undone.
func (p *Process) Stop(ctx context.Context, actor Actor) error {
	if err := p.PauseAndWait(ctx, actor); err != nil {
		return err
	}
	return p.Cancel(ctx)
}

// PauseAndWait pauses the process, unless it is paused, and waits until its running Calls have finished.
func (p *Process) PauseAndWait(ctx context.Context, actor Actor) error {
	_, err := p.pauseAndWait(ctx, actor)
	return err
}

// pauseAndWait is PauseAndWait, and reports whether it paused the process.
func (p *Process) pauseAndWait(ctx context.Context, actor Actor) (hasPaused bool, err error) {
	v, err := p.Status(ctx)
	if err == nil && v.Status != loop.StatusPaused {
		err = p.Pause(ctx, actor)
		hasPaused = err == nil
	}
	switch {
	case err != nil:
		return hasPaused, err
	case len(v.Parts) > 0: // the whole pauses its parts
		return hasPaused, p.forEachOpenPart(ctx, func(part *Process) error { return part.waitUntilIdle(ctx) })
	}
	return hasPaused, p.waitUntilIdle(ctx)
}

// waitUntilIdle waits until the process is paused, or has ended, and none of its Calls runs.
func (p *Process) waitUntilIdle(ctx context.Context) error {
	var idleSince time.Time
	return p.pollUntilDone(ctx, func() (bool, error) {
		runningCount, doneCount, err := p.countCalls(ctx)
		if err != nil || runningCount > 0 {
			return false, err
		}
		if idleSince.IsZero() {
			idleSince = time.Now()
		}
		v, err := p.Status(ctx)
		return err == nil && v.Status != loop.StatusRunning &&
			(v.Calls.Done >= doneCount || time.Since(idleSince) > instanceReportGrace), err
	})
}

// countCalls counts the running and done Calls in the instances. A Call does not count as running if its delegate is
// idle, paused with the process.
func (p *Process) countCalls(ctx context.Context) (runningCount, doneCount int, err error) {
	v, err := p.Status(ctx)
	if err != nil {
		return 0, 0, err
	}
	instances, err := p.Instances(ctx)
	for token, i := range instances {
		instanceID, _, _ := protocol.ParseInstanceID(v.InstanceID(token))
		for _, c := range i.Calls {
			switch {
			case c.Status == ideafile.CallDone:
				doneCount++
			case c.Status == ideafile.CallRunning && !p.client.Process(protocol.DelegateID(instanceID,
				c.ID)).isAtRest(ctx):
				runningCount++
			}
		}
	}
	return runningCount, doneCount, err
}

// isAtRest reports whether the process exists, is paused, and has no running Call.
func (p *Process) isAtRest(ctx context.Context) bool {
	v, err := p.Status(ctx)
	if err != nil || v.Status != loop.StatusPaused {
		return false
	}
	runningCount, _, err := p.countCalls(ctx)
	return err == nil && runningCount == 0
}

// forEachOpenPart visits the open parts of a split process.
func (p *Process) forEachOpenPart(ctx context.Context, visit func(part *Process) error) error {
	v, err := p.Status(ctx)
	for n := 0; n < len(v.Parts) && err == nil; n++ {
		var stillOpen bool
		if stillOpen, err = p.client.isOpen(ctx, v.Parts[n].ProcessID); stillOpen {
			err = visit(p.client.Process(v.Parts[n].ProcessID))
		}
	}
	return err
}
