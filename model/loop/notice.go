package loop

import (
	"sort"

	"processidea/model/jsonval"
	"processidea/model/turn"
)

// Watch knows what people were told of, by the digest of what waits.
type SentNotices map[string]turn.Notice

// Look says what has changed since it looked last.
func (w SentNotices) TakeChanges(m *Loop) turn.Notices {
	n := turn.Notices{Process: m.process, Path: m.idea.Path, NewlyWaiting: []turn.Notice{}, NewlyDecided: []turn.Notice{}}
	now := map[string]bool{}
	for _, mem := range m.members {
		for _, p := range mem.Pending {
			now[p.Digest] = true
			if _, known := w[p.Digest]; !known {
				w[p.Digest] = p.Notice(mem.Token)
				n.NewlyWaiting = append(n.NewlyWaiting, w[p.Digest])
			}
		}
	}
	for _, digest := range jsonval.SortedKeys(w) {
		if !now[digest] {
			n.NewlyDecided = append(n.NewlyDecided, m.decided(w[digest]))
			delete(w, digest)
		}
	}
	sort.SliceStable(n.NewlyDecided, func(a, b int) bool { return n.NewlyDecided[a].Since.Before(n.NewlyDecided[b].Since) })
	n.AwaitingCount = len(now)
	n.NewlyWaiting, n.OmittedWaiting = firstNotices(n.NewlyWaiting)
	n.NewlyDecided, n.OmittedDecided = firstNotices(n.NewlyDecided)
	return n
}

func firstNotices(list []turn.Notice) (first []turn.Notice, more int) {
	if len(list) <= turn.MaxNotices {
		return list, 0
	}
	return list[:turn.MaxNotices], len(list) - turn.MaxNotices
}

// decided finds what was decided on what waited.
func (m *Loop) decided(n turn.Notice) turn.Notice {
	mem := m.byToken[n.Instance]
	if mem == nil {
		return n
	}
	//workflowcheck:ignore -- a digest is decided on once
	for _, c := range mem.calls {
		for _, d := range c.Decisions {
			if d.Digest == n.Digest {
				n.Decision, n.By = d.Kind, d.By
			}
		}
	}
	return n
}
