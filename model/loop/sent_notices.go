package loop

import (
	"sort"

	"processidea/model/approval"
	"processidea/model/jsonval"
)

// SentNotices has the notices that were sent to people about Calls that wait for them, by digest.
type SentNotices map[string]approval.Notice

// TakeChanges returns the changes since its last call.
func (s SentNotices) TakeChanges(l *Loop) approval.Notices {
	n := approval.Notices{ProcessID: l.ProcessID, ProcessPath: l.Idea.ProcessPath, NewlyWaiting: []approval.Notice{},
		NewlyDecided: []approval.Notice{}}
	now := map[string]bool{}
	for _, inst := range l.Instances {
		for _, p := range inst.PendingApprovals {
			now[p.Digest] = true
			before, known := s[p.Digest]
			after := p.Notice(inst.Token)
			switch {
			case !known:
				n.NewlyWaiting = append(n.NewlyWaiting, after)
				// nobody was notified before, and the people it was escalated to must be notified
				if len(after.EscalatedTo) > 0 {
					n.Escalations = append(n.Escalations, after)
				}
			case len(after.EscalatedTo) > len(before.EscalatedTo):
				n.Escalations = append(n.Escalations, after)
			case after.Reminders > before.Reminders:
				n.Reminders = append(n.Reminders, after)
			case after.RemarkCount > before.RemarkCount:
				n.Remarks = append(n.Remarks, after)
			default:
				continue
			}
			s[p.Digest] = after
		}
	}
	for digest := range jsonval.Sorted(s) {
		if !now[digest] {
			n.NewlyDecided = append(n.NewlyDecided, l.NoticeWithDecision(s[digest]))
			delete(s, digest)
		}
	}
	sort.SliceStable(n.NewlyDecided,
		func(a, b int) bool { return n.NewlyDecided[a].Since.Before(n.NewlyDecided[b].Since) })
	n.AwaitingCount = len(now)
	n.NewlyWaiting, n.OmittedWaiting = firstNotices(n.NewlyWaiting)
	n.NewlyDecided, n.OmittedDecided = firstNotices(n.NewlyDecided)
	n.Reminders, n.OmittedReminders = firstNotices(n.Reminders)
	n.Escalations, n.OmittedEscalations = firstNotices(n.Escalations)
	n.Remarks, n.OmittedRemarks = firstNotices(n.Remarks)
	return n
}

func firstNotices(list []approval.Notice) (first []approval.Notice, more int) {
	if len(list) <= approval.MaxNotices {
		return list, 0
	}
	return list[:approval.MaxNotices], len(list) - approval.MaxNotices
}
