package loop

import (
	"sort"

	"processidea/model/jsonval"
	"processidea/model/turn"
)

// Watch knows what people were told of, by the digest of what waits.
type NoticeBoard map[string]turn.Notice

// Look says what has changed since it looked last.
func (w NoticeBoard) Changes(m *Loop) turn.Notices {
	n := turn.Notices{Process: m.process, Path: m.idea.Path, Waiting: []turn.Notice{}, Decided: []turn.Notice{}}
	now := map[string]bool{}
	for _, mem := range m.members {
		for _, p := range mem.Pending {
			now[p.Digest] = true
			if _, known := w[p.Digest]; !known {
				w[p.Digest] = p.Notice(mem.Token)
				n.Waiting = append(n.Waiting, w[p.Digest])
			}
		}
	}
	for _, digest := range jsonval.SortedKeys(w) {
		if !now[digest] {
			n.Decided = append(n.Decided, m.decided(w[digest]))
			delete(w, digest)
		}
	}
	sort.SliceStable(n.Decided, func(a, b int) bool { return n.Decided[a].Since.Before(n.Decided[b].Since) })
	n.Awaiting = len(now)
	n.Waiting, n.MoreWaiting = firstNotices(n.Waiting)
	n.Decided, n.MoreDecided = firstNotices(n.Decided)
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
				n.Decision, n.By = d.Decision, d.By
			}
		}
	}
	return n
}
