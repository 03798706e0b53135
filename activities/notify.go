package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"

	"processidea/activities/notify"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
)

// NotifyPeople notifies people of changes; it does nothing if the worker knows no address.
func (a *Activities) NotifyPeople(ctx context.Context, n approval.Notification) error {
	if a.NoticeSender == nil {
		return nil
	}
	// The id is the same on every attempt, so that a receiver can drop what it gets twice.
	err := a.NoticeSender.Send(ctx, "msg_"+activityKey(ctx), n, a.shownCallsByDigest(ctx, n.ProcessID))
	var sendError *notify.Error
	if errors.As(err, &sendError) && !sendError.IsRetryable {
		return nonRetryableError(ideafile.CodeToolFailed, err)
	}
	return err
}

// shownCallsByDigest describes the waiting Calls of a process, by digest, if notices contain descriptions.
func (a *Activities) shownCallsByDigest(ctx context.Context, processID string) map[string]shown.Call {
	if a.ListPendingApprovals == nil || !a.NoticeSender.DescribesCalls() {
		return nil
	}
	pendingApprovals, err := a.ListPendingApprovals(ctx, processID)
	if err != nil {
		activity.GetLogger(ctx).Warn("what waits could not be read, so the notice has only its ids", "error", err)
	}
	callByDigest := map[string]shown.Call{}
	for _, w := range pendingApprovals {
		callByDigest[w.Digest] = w.Call
	}
	return callByDigest
}
