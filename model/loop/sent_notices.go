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
		NewlyWaiting: []approval.Notice{}, NewlyDecided: []approval.Notice{}}
	isWaiting := map[string]bool{}
	for _, inst := range l.Instances {
		for _, p := range inst.PendingApprovals {
			isWaiting[p.Digest] = true
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
		if !isWaiting[digest] {
			notices.NewlyDecided = append(notices.NewlyDecided, l.NoticeWithDecision(s[digest]))
			delete(s, digest)
		}
	}
	sort.SliceStable(notices.NewlyDecided,
		func(a, b int) bool { return notices.NewlyDecided[a].Since.Before(notices.NewlyDecided[b].Since) })
	notices.AwaitingCount = len(isWaiting)
	notices.NewlyWaiting, notices.OmittedWaitingCount = clipNotices(notices.NewlyWaiting)
	notices.NewlyDecided, notices.OmittedDecidedCount = clipNotices(notices.NewlyDecided)
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
