package activities

import (
	"context"
	"errors"
	"fmt"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/protocol"
	"processidea/store/blobs"
)

// CombineBlobs updates values in the store by a Call's result. An update needs their content, which workflows do not
// see.
func (a *Activities) CombineBlobs(ctx context.Context, in protocol.CombineInput) ([]any, error) {
	defer Heartbeat(ctx)()
	ctx, release := a.MemoryBudget.Begin(ctx)
	defer release()
	combined := make([]any, len(in.Updates))
	for n, u := range in.Updates {
		var err error
		if combined[n], err = a.combineBlob(ctx, in, u); err != nil {
			return nil, err
		}
	}
	return combined, nil
}

func (a *Activities) combineBlob(ctx context.Context, in protocol.CombineInput, u statelog.Update) (any, error) {
	tooLarge := nonRetryableError(ideafile.CodeBadOutput,
		fmt.Errorf("what is stored and the result together have more than %d MB", jsonval.MaxResolvedBytes>>20))
	const copies = 2 // the existing values, and the combined ones
	restored, err := a.restoreWithin(ctx, []any{u.Old, u.Value}, jsonval.MaxResolvedBytes, copies, tooLarge)
	switch {
	case errors.Is(err, blobs.ErrMissing), errors.Is(err, blobs.ErrChanged), errors.Is(err, blobs.ErrMismatch):
		return nil, nonRetryableError(ideafile.CodeBadOutput, fmt.Errorf("what is stored cannot be read: %w", err))
	case err != nil:
		return nil, err
	}
	u.Old, u.Value = restored.([]any)[0], restored.([]any)[1]
	value, err := u.Combine(in.OutputMethod, in.Contract)
	if err != nil {
		return nil, nonRetryableError(ideafile.CodeBadOutput, err)
	}
	return a.offload(ctx, value, len(u.Path) == 0)
}
