package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"go.temporal.io/sdk/activity"

	"processidea/activities/notify"
	"processidea/model"
)

// Notify tells people what has changed for them. A worker that knows nobody to tell tells nobody.
func (a *Activities) Notify(ctx context.Context, n model.Notices) error {
	if a.Notices == nil {
		return nil
	}
	info := activity.GetInfo(ctx)
	// The same on every attempt: whoever gets it twice can tell.
	sum := sha256.Sum256([]byte(info.WorkflowExecution.ID + "/" + info.WorkflowExecution.RunID + "/" + info.ActivityID))
	err := a.Notices.Send(ctx, "msg_"+hex.EncodeToString(sum[:16]), n)
	var failed *notify.Error
	if errors.As(err, &failed) && !failed.Retry {
		return final(model.CodeToolFailed, err)
	}
	return err
}
