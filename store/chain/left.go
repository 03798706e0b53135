package chain

import "slices"

// forgottenInstanceKey is the meta key that records the removal of an instance: a ForgottenInstance, and, for every
// Idea before it, its digest and the digest of what remains.
const (
	forgottenInstanceKey = "forgottenInstance"
	ideasKey             = "ideas"
)

// redactedIdea identifies an Idea by its digest, and by the digest of what remains of it (Left; empty if nothing was
// removed).
type redactedIdea struct {
	At     int    `json:"at"`
	Digest string `json:"digest"`
	Left   string `json:"left,omitempty"`
}

// redactionCheck checks that the last Idea that records a removal names exactly the Ideas that were redacted.
type redactionCheck struct {
	list         []redactedIdea // the Ideas so far
	stated       []redactedIdea // the Ideas that the last recording Idea names
	statedBefore int            // how many Ideas precede that Idea
	statedBy     int            // the number of that Idea; 0 if there is none
	missing      int            // the first redacted Idea after that Idea; 0 if there is none
}

// forgottenInstance reads the record of a removed instance; empty if there is none.
func (m *manifest) forgottenInstance() (f ForgottenInstance) {
	readInto(m.Meta[forgottenInstanceKey], &f)
	return f
}

// addIdea adds the next Idea.
func (l *redactionCheck) addIdea(r *Report, m *manifest) {
	at := m.metaNumber("at")
	if says, ok := m.Meta[forgottenInstanceKey].(map[string]any); ok {
		l.stated, l.statedBefore, l.statedBy, l.missing = nil, len(l.list), at, 0
		if readInto(says[ideasKey], &l.stated) {
			r.ForgottenInstances = append(r.ForgottenInstances, m.forgottenInstance())
		}
	}
	if m.RedactedDigest != "" && l.missing == 0 {
		l.missing = at
	}
	l.list = append(l.list, redactedIdea{at, m.Digest, m.RedactedDigest})
}

// compare reports, at the end of the chain, redactions without a matching record.
func (l *redactionCheck) compare(r *Report, part string) {
	if l.statedBy > 0 && !slices.Equal(l.stated, l.list[:l.statedBefore]) {
		r.add(l.statedBy, part, "Idea %d records that an instance was removed from Ideas other than those before it",
			l.statedBy)
	}
	if l.missing > 0 {
		r.add(l.missing, part, "something was taken out of Idea %d, and no Idea after it says so", l.missing)
	}
}
