package client

import (
	"context"

	"processidea/learn/past"
)

// FinishedRun reads the whole chain of a process, and of its parts if it was split. The error wraps ErrNotFound if
// there is no chain.
func (a *Archive) FinishedRun(ctx context.Context, id string) (past.Run, error) {
	if _, err := a.Chain(id).length(ctx, "read"); err != nil {
		return past.Run{}, err
	}
	return a.finishedRun(ctx, id, "read")
}
