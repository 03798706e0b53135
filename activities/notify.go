package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"go.temporal.io/sdk/activity"

	"processidea/activities/notify"
	"processidea/model/approval"
	"processidea/model/ideafile"
)

// NotifyPeople tells people what has changed for them; nobody, if the worker knows no address.
func (a *Activities) NotifyPeople(ctx context.Context, n approval.Notices) error {
	if a.Notices == nil {
		return nil
	}
	info := activity.GetInfo(ctx)
	// The id is the same on every attempt, so that a receiver can drop what it gets twice.
	sum := sha256.Sum256([]byte(info.WorkflowExecution.ID + "/" + info.WorkflowExecution.RunID + "/" + info.ActivityID))
	err := a.Notices.Send(ctx, "msg_"+hex.EncodeToString(sum[:16]), n)
	var failed *notify.Error
	if errors.As(err, &failed) && !failed.Retry {
		return nonRetryableError(ideafile.CodeToolFailed, err)
	}
	return err
}
