package chain

import "slices"

// forgottenInstanceMetaKey is the meta key that records the removal of an instance: a ForgottenInstance, and, for every
// Idea before it, its digest and the digest of what remains.
const (
	forgottenInstanceMetaKey = "forgottenInstance"
	redactedIdeasKey         = "ideas"
)

// redactedIdea identifies an Idea by its digest, and by the digest of what remains of it (Left; empty if nothing was
// removed).
type redactedIdea struct {
	IdeaNumber      int    `json:"at"`
	Digest          string `json:"digest"`
	RemainingDigest string `json:"left,omitempty"`
}

// redactionCheck checks that the last Idea that records a removal names exactly the Ideas that were redacted.
type redactionCheck struct {
	ideas                 []redactedIdea // the Ideas so far
	recordedIdeas         []redactedIdea // the Ideas that the last recording Idea names
	ideaCountBeforeRecord int            // how many Ideas precede that Idea
	recordIdeaNumber      int            // the number of that Idea; 0 if there is none
	firstUnrecordedNumber int            // the first redacted Idea after that Idea; 0 if there is none
}

// forgottenInstance reads the record of a removed instance; empty if there is none.
func (m *manifest) forgottenInstance() (f ForgottenInstance) {
	decodeInto(m.Meta[forgottenInstanceMetaKey], &f)
	return f
}

// addIdea adds the next Idea.
func (l *redactionCheck) addIdea(r *Report, m *manifest) {
	ideaNumber := m.metaNumber("at")
	if record, ok := m.Meta[forgottenInstanceMetaKey].(map[string]any); ok {
		l.recordedIdeas, l.ideaCountBeforeRecord, l.recordIdeaNumber, l.firstUnrecordedNumber = nil, len(l.ideas),
			ideaNumber, 0
		if decodeInto(record[redactedIdeasKey], &l.recordedIdeas) {
			r.ForgottenInstances = append(r.ForgottenInstances, m.forgottenInstance())
		}
	}
	if m.RedactedDigest != "" && l.firstUnrecordedNumber == 0 {
		l.firstUnrecordedNumber = ideaNumber
	}
	l.ideas = append(l.ideas, redactedIdea{ideaNumber, m.Digest, m.RedactedDigest})
}

// reportMismatches reports, at the end of the chain, redactions without a matching record.
func (l *redactionCheck) reportMismatches(r *Report, item string) {
	if l.recordIdeaNumber > 0 && !slices.Equal(l.recordedIdeas, l.ideas[:l.ideaCountBeforeRecord]) {
		r.addBrokenItem(l.recordIdeaNumber, item,
			"Idea %d records that an instance was removed from Ideas other than those before it",
			l.recordIdeaNumber)
	}
	if l.firstUnrecordedNumber > 0 {
		r.addBrokenItem(l.firstUnrecordedNumber, item,
			"something was taken out of Idea %d, and no Idea after it says so",
			l.firstUnrecordedNumber)
	}
}
