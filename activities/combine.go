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

// UpdateBlobs updates values in the store by a Call's result. An update needs their content, which workflows do not
// see.
func (a *Activities) UpdateBlobs(ctx context.Context, in protocol.BlobUpdateInput) ([]any, error) {
	defer StartHeartbeats(ctx)()
	ctx, release := a.MemoryBudget.WithReservation(ctx)
	defer release()
	updatedValues := make([]any, len(in.Updates))
	for n, u := range in.Updates {
		var err error
		if updatedValues[n], err = a.updateBlob(ctx, in, u); err != nil {
			return nil, err
		}
	}
	return updatedValues, nil
}

func (a *Activities) updateBlob(ctx context.Context, in protocol.BlobUpdateInput, u statelog.Update) (any, error) {
	tooLargeErr := nonRetryableError(ideafile.CodeBadOutput,
		fmt.Errorf("what is stored and the result together have more than %d MB", jsonval.MaxResolvedBytes>>20))
	const copies = 2 // the existing values, and the combined ones
	restoredInputs, err := a.restoreWithin(ctx, []any{u.OldValue, u.ResultValue}, jsonval.MaxResolvedBytes, copies,
		tooLargeErr)
	switch {
	case errors.Is(err, blobs.ErrMissing), errors.Is(err, blobs.ErrChanged), errors.Is(err, blobs.ErrMismatch):
		return nil, nonRetryableError(ideafile.CodeBadOutput, fmt.Errorf("what is stored cannot be read: %w", err))
	case err != nil:
		return nil, err
	}
	u.OldValue, u.ResultValue = restoredInputs.([]any)[0], restoredInputs.([]any)[1]
	value, err := u.Combine(in.OutputMethod, in.ResultContract)
	if err != nil {
		return nil, nonRetryableError(ideafile.CodeBadOutput, err)
	}
	return a.offloadLargeValues(ctx, value, len(u.Path) == 0)
}
