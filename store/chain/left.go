package chain

import "slices"

// forgottenInstanceKey is the key of meta by which an Idea says that an instance was taken out of those before:
// ForgottenInstance, and of every Idea before it the digest, and that of what is left.
const (
	forgottenInstanceKey = "forgottenInstance"
	ideasKey             = "ideas"
)

// leftIdea is an Idea by its digest, and by that of what is left of it; empty: all.
type leftIdea struct {
	At     int    `json:"at"`
	Digest string `json:"digest"`
	Left   string `json:"left,omitempty"`
}

// leftIdeas checks that Ideas from which an instance was taken are those that the last Idea which says so names, by its
// own digest.
type leftIdeas struct {
	list    []leftIdea // the Ideas so far
	said    []leftIdea // those before the last Idea that tells of a forgotten instance, as it names them
	before  int        // how many there are before it
	sayer   int        // its number; 0: there is none
	missing int        // the first Idea since then of which something is gone; 0: none
}

// forgottenInstance is what an Idea says of an instance that was forgotten; empty where it says nothing.
func (m *manifest) forgottenInstance() (f ForgottenInstance) {
	readInto(m.Meta[forgottenInstanceKey], &f)
	return f
}

// note takes the next Idea.
func (l *leftIdeas) note(r *Report, m *manifest) {
	at := m.number("at")
	if says, ok := m.Meta[forgottenInstanceKey].(map[string]any); ok {
		l.said, l.before, l.sayer, l.missing = nil, len(l.list), at, 0
		if readInto(says[ideasKey], &l.said) {
			r.ForgottenInstances = append(r.ForgottenInstances, m.forgottenInstance())
		}
	}
	if m.Left != "" && l.missing == 0 {
		l.missing = at
	}
	l.list = append(l.list, leftIdea{at, m.Digest, m.Left})
}

// compare checks, at the end of the chain, that somebody says what was done.
func (l *leftIdeas) compare(r *Report, part string) {
	if l.sayer > 0 && !slices.Equal(l.said, l.list[:l.before]) {
		r.add(l.sayer, part, "Idea %d says that an instance was taken out of other Ideas than those before it", l.sayer)
	}
	if l.missing > 0 {
		r.add(l.missing, part, "something was taken out of Idea %d, and no Idea after it says so", l.missing)
	}
}
