package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"processidea/activities/notify"
	"processidea/model/approval"
	"processidea/model/ideafile"
)

// NotifyPeople notifies people of changes; it does nothing if the worker knows no address.
func (a *Activities) NotifyPeople(ctx context.Context, n approval.Notification) error {
	if a.NoticeSender == nil {
		return nil
	}
	// The id is the same on every attempt, so that a receiver can drop what it gets twice.
	err := a.NoticeSender.Send(ctx, "msg_"+activityKey(ctx), n, a.describedCallsByDigest(ctx, n))
	var sendError *notify.Error
	if errors.As(err, &sendError) && !sendError.IsRetryable {
		return nonRetryableError(ideafile.CodeToolFailed, err)
	}
	return err
}

// maxDescribeTime leaves time to send a notice with ids alone.
const maxDescribeTime = 5 * time.Second

// describedCallsByDigest describes the Calls of a notice, by digest, if notices contain descriptions.
func (a *Activities) describedCallsByDigest(ctx context.Context,
	n approval.Notification) map[string]notify.DescribedCall {
	if a.ListPendingApprovals == nil || !a.NoticeSender.DescribesCalls() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxDescribeTime)
	defer cancel()
	pendingApprovals, err := a.ListPendingApprovals(ctx, n.ProcessID)
	if err != nil {
		activity.GetLogger(ctx).Warn("what waits could not be read, so the notice has only its ids", "error", err)
	}
	callByDigest := map[string]notify.DescribedCall{}
	for _, w := range pendingApprovals {
		callByDigest[w.Digest] = notify.DescribedCall{Call: w.Call, Remarks: w.Remarks}
	}
	for _, d := range n.NoLongerWaiting {
		if decidedCall, err := a.DescribeDecidedCall(ctx, n.ProcessID, d.CallID); err == nil {
			callByDigest[d.Digest] = notify.DescribedCall{Call: decidedCall}
		}
	}
	return callByDigest
}
