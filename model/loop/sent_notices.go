package loop

import (
	"sort"

	"processidea/model/approval"
	"processidea/model/jsonval"
)

// SentNotices has the notices that were sent to people about Calls that wait for them, by digest.
type SentNotices map[string]approval.Notice

// TakeChanges returns the changes since its last call.
func (s SentNotices) TakeChanges(l *Loop) approval.Notification {
	notices := approval.Notification{ProcessID: l.ProcessID, ProcessPath: l.Idea.ProcessPath,
		NewlyWaiting: []approval.Notice{}, NoLongerWaiting: []approval.Notice{}}
	isDigestWaiting := map[string]bool{}
	for _, inst := range l.Instances {
		for _, p := range inst.PendingApprovals {
			isDigestWaiting[p.Digest] = true
			oldNotice, wasWaiting := s[p.Digest]
			newNotice := p.Notice(inst.Token)
			switch {
			case !wasWaiting:
				notices.NewlyWaiting = append(notices.NewlyWaiting, newNotice)
				// nobody was notified before, and the people it was escalated to must be notified
				if len(newNotice.EscalatedTo) > 0 {
					notices.Escalations = append(notices.Escalations, newNotice)
				}
			case len(newNotice.EscalatedTo) > len(oldNotice.EscalatedTo):
				notices.Escalations = append(notices.Escalations, newNotice)
			case newNotice.ReminderCount > oldNotice.ReminderCount:
				notices.Reminders = append(notices.Reminders, newNotice)
			case newNotice.RemarkCount > oldNotice.RemarkCount:
				notices.Remarks = append(notices.Remarks, newNotice)
			default:
				continue
			}
			s[p.Digest] = newNotice
		}
	}
	for digest := range jsonval.Sorted(s) {
		if !isDigestWaiting[digest] {
			notices.NoLongerWaiting = append(notices.NoLongerWaiting, l.NoticeWithDecision(s[digest]))
			delete(s, digest)
		}
	}
	sort.SliceStable(notices.NoLongerWaiting,
		func(a, b int) bool { return notices.NoLongerWaiting[a].Since.Before(notices.NoLongerWaiting[b].Since) })
	notices.AwaitingCallCount = len(isDigestWaiting)
	notices.NewlyWaiting, notices.OmittedWaitingCount = clipNotices(notices.NewlyWaiting)
	notices.NoLongerWaiting, notices.OmittedNoLongerWaitingCount = clipNotices(notices.NoLongerWaiting)
	notices.Reminders, notices.OmittedReminderCount = clipNotices(notices.Reminders)
	notices.Escalations, notices.OmittedEscalationCount = clipNotices(notices.Escalations)
	notices.Remarks, notices.OmittedRemarkCount = clipNotices(notices.Remarks)
	return notices
}

func clipNotices(list []approval.Notice) (clippedNotices []approval.Notice, omittedCount int) {
	if len(list) <= approval.MaxNotices {
		return list, 0
	}
	return list[:approval.MaxNotices], len(list) - approval.MaxNotices
}

// NoticeWithDecision returns a notice with the decision on its Call, if there is one.
func (l *Loop) NoticeWithDecision(n approval.Notice) approval.Notice {
	inst := l.instanceByToken[n.Instance]
	if inst == nil {
		return n
	}
	//workflowcheck:ignore -- a digest is one Call's
	for _, c := range inst.reportByCallKey {
		for _, d := range c.Decisions {
			if d.ApprovalDigest == n.Digest {
				n.DecisionKind, n.DecidedBy = d.Kind, d.DecidedBy
				if d.OnBehalfOf != nil {
					n.DecidedOnBehalfOf = d.OnBehalfOf.Name
				}
			}
		}
	}
	return n
}
