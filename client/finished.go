package client

import (
	"context"

	"processidea/learn/past"
)

// FinishedRun reads the whole chain of a process and, where it was split, those of its parts. The error wraps
// ErrNotFound for one without a chain.
func (a *Archive) FinishedRun(ctx context.Context, id string) (past.Run, error) {
	if _, err := a.Chain(id).length(ctx, "read"); err != nil {
		return past.Run{}, err
	}
	return a.finishedRun(ctx, id, "read")
}
