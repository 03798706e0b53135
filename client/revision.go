package client

import "context"

// Revision says how far a process has come, without a worker: while it stays the same, so does the Status.
type Revision struct {
	Run    string // the run of the workflow
	Events int64  // of that run's history
	Ended  bool
}

// Revision asks Temporal how far the process has come. The error wraps ErrNotFound if there is no such process.
func (p *Process) Revision(ctx context.Context) (Revision, error) {
	info, err := p.describe(ctx)
	if err != nil {
		return Revision{}, err
	}
	return Revision{Run: info.GetExecution().GetRunId(), Events: info.GetHistoryLength(),
		Ended: info.GetCloseTime() != nil}, nil
}
