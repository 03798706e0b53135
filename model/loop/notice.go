package loop

import (
	"sort"

	"processidea/model/jsonval"
	"processidea/model/turn"
)

// SentNotices holds the notices that people were sent of Calls that wait for them, by digest.
type SentNotices map[string]turn.ApprovalNotice

// TakeNewNotices returns what has changed since its last call.
func (s SentNotices) TakeNewNotices(l *Loop) turn.ApprovalNotices {
	n := turn.ApprovalNotices{ProcessID: l.processID, IdeaPath: l.idea.ProcessPath, NewlyWaiting: []turn.ApprovalNotice{}, NewlyDecided: []turn.ApprovalNotice{}}
	now := map[string]bool{}
	for _, inst := range l.instances {
		for _, p := range inst.PendingApprovals {
			now[p.Digest] = true
			if _, known := s[p.Digest]; !known {
				s[p.Digest] = p.Notice(inst.Token)
				n.NewlyWaiting = append(n.NewlyWaiting, s[p.Digest])
			}
		}
	}
	for _, digest := range jsonval.SortedKeys(s) {
		if !now[digest] {
			n.NewlyDecided = append(n.NewlyDecided, l.addDecisionTo(s[digest]))
			delete(s, digest)
		}
	}
	sort.SliceStable(n.NewlyDecided, func(a, b int) bool { return n.NewlyDecided[a].Since.Before(n.NewlyDecided[b].Since) })
	n.AwaitingCount = len(now)
	n.NewlyWaiting, n.OmittedWaiting = firstNotices(n.NewlyWaiting)
	n.NewlyDecided, n.OmittedDecided = firstNotices(n.NewlyDecided)
	return n
}

func firstNotices(list []turn.ApprovalNotice) (first []turn.ApprovalNotice, more int) {
	if len(list) <= turn.MaxNotices {
		return list, 0
	}
	return list[:turn.MaxNotices], len(list) - turn.MaxNotices
}

// addDecisionTo adds to a notice what was decided on the Call.
func (l *Loop) addDecisionTo(n turn.ApprovalNotice) turn.ApprovalNotice {
	inst := l.byToken[n.Instance]
	if inst == nil {
		return n
	}
	//workflowcheck:ignore -- a digest is one Call's
	for _, c := range inst.calls {
		for _, d := range c.Decisions {
			if d.ApprovalDigest == n.Digest {
				n.DecisionKind, n.DecidedBy = d.Kind, d.DecidedBy
			}
		}
	}
	return n
}
