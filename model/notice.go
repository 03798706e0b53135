package model

import (
	"sort"
	"time"
)

// Notice is what people are told of one Call: that it waits for them, or waits no more. What the Call is about is not in
// it: notices go to places where not everybody may read that.
type Notice struct {
	Call     string     `json:"call"`
	Instance string     `json:"instance"`
	Tool     string     `json:"tool"`
	Digest   string     `json:"digest"`
	Since    time.Time  `json:"since"`
	Deadline *time.Time `json:"deadline,omitempty"`
	Allow    []string   `json:"allow"`
	// Decision is what was decided and By who did; empty where it waits, and where nobody decided: what it was about is gone.
	Decision string `json:"decision,omitempty"`
	By       string `json:"by,omitempty"`
}

// Notices is what people are told at once.
type Notices struct {
	Process string `json:"process"`
	Path    string `json:"path,omitempty"`
	// Awaiting counts the Calls that wait now.
	Awaiting int `json:"awaiting"`
	// Waiting are those that began to wait, Decided those that wait no more: the first of them, where there are many, and
	// how many there are beside these.
	Waiting     []Notice `json:"waiting"`
	Decided     []Notice `json:"decided"`
	MoreWaiting int      `json:"moreWaiting,omitempty"`
	MoreDecided int      `json:"moreDecided,omitempty"`
}

// maxNotices bounds each list of Notices.
const maxNotices = 20

// Empty says whether there is nothing to tell.
func (n Notices) Empty() bool { return len(n.Waiting)+len(n.Decided) == 0 }

// Watch knows what people were told of, by the digest of what waits.
type Watch map[string]Notice

// Look says what has changed since it looked last.
func (w Watch) Look(m *Mind) Notices {
	n := Notices{Process: m.process, Path: m.idea.Path, Waiting: []Notice{}, Decided: []Notice{}}
	now := map[string]bool{}
	for _, mem := range m.members {
		for _, p := range mem.Pending {
			now[p.Digest] = true
			if _, known := w[p.Digest]; !known {
				w[p.Digest] = p.notice(mem.Token)
				n.Waiting = append(n.Waiting, w[p.Digest])
			}
		}
	}
	for _, digest := range sortedKeys(w) {
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

func firstNotices(list []Notice) (first []Notice, more int) {
	if len(list) <= maxNotices {
		return list, 0
	}
	return list[:maxNotices], len(list) - maxNotices
}

func (p Pending) notice(token string) Notice {
	return Notice{Call: p.Call, Instance: token, Tool: p.Tool, Digest: p.Digest, Since: p.Since, Deadline: p.Until, Allow: p.Allow}
}

// decided finds what was decided on what waited.
func (m *Mind) decided(n Notice) Notice {
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
