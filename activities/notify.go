package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"go.temporal.io/sdk/activity"

	"processidea/activities/notify"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// Notify tells people what has changed for them. A worker that knows nobody to tell tells nobody.
func (a *Activities) Notify(ctx context.Context, n turn.Notices) error {
	if a.Notices == nil {
		return nil
	}
	info := activity.GetInfo(ctx)
	// The same on every attempt: whoever gets it twice can tell.
	sum := sha256.Sum256([]byte(info.WorkflowExecution.ID + "/" + info.WorkflowExecution.RunID + "/" + info.ActivityID))
	err := a.Notices.Send(ctx, "msg_"+hex.EncodeToString(sum[:16]), n)
	var failed *notify.Error
	if errors.As(err, &failed) && !failed.Retry {
		return final(ideafile.CodeToolFailed, err)
	}
	return err
}
