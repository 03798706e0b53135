package loop

import (
	"sort"

	"processidea/model/jsonval"
	"processidea/model/turn"
)

// SentNotices holds the notices that people were sent of Calls that wait for them, by digest.
type SentNotices map[string]turn.Notice

// TakeChanges returns what has changed since its last call.
func (s SentNotices) TakeChanges(l *Loop) turn.Notices {
	n := turn.Notices{Process: l.processID, Path: l.idea.Path, NewlyWaiting: []turn.Notice{}, NewlyDecided: []turn.Notice{}}
	now := map[string]bool{}
	for _, inst := range l.instances {
		for _, p := range inst.Pending {
			now[p.Digest] = true
			if _, known := s[p.Digest]; !known {
				s[p.Digest] = p.Notice(inst.Token)
				n.NewlyWaiting = append(n.NewlyWaiting, s[p.Digest])
			}
		}
	}
	for _, digest := range jsonval.SortedKeys(s) {
		if !now[digest] {
			n.NewlyDecided = append(n.NewlyDecided, l.withDecision(s[digest]))
			delete(s, digest)
		}
	}
	sort.SliceStable(n.NewlyDecided, func(a, b int) bool { return n.NewlyDecided[a].Since.Before(n.NewlyDecided[b].Since) })
	n.AwaitingCount = len(now)
	n.NewlyWaiting, n.OmittedWaiting = limitNotices(n.NewlyWaiting)
	n.NewlyDecided, n.OmittedDecided = limitNotices(n.NewlyDecided)
	return n
}

func limitNotices(list []turn.Notice) (first []turn.Notice, more int) {
	if len(list) <= turn.MaxNotices {
		return list, 0
	}
	return list[:turn.MaxNotices], len(list) - turn.MaxNotices
}

// withDecision adds to a notice what was decided on the Call.
func (l *Loop) withDecision(n turn.Notice) turn.Notice {
	inst := l.byToken[n.Instance]
	if inst == nil {
		return n
	}
	//workflowcheck:ignore -- a digest is decided on once
	for _, c := range inst.calls {
		for _, d := range c.Decisions {
			if d.Digest == n.Digest {
				n.Decision, n.By = d.Kind, d.By
			}
		}
	}
	return n
}
