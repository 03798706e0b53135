package turn

import (
	"time"

	"processidea/model/deciders"
)

// ApprovalNotice tells people that a Call began to wait for them, waits still, or stopped waiting. It holds neither parameters nor results: notices
// are sent to places where not every reader may see those.
type ApprovalNotice struct {
	CallID           string     `json:"call"`
	Instance         string     `json:"instance"`
	Tool             string     `json:"tool"`
	Digest           string     `json:"digest"`
	Since            time.Time  `json:"since"`
	Deadline         *time.Time `json:"deadline,omitempty"`
	AllowedDecisions []string   `json:"allow"`
	// DecisionKind was made by By. Both are empty while the Call waits, and when it stopped waiting without a decision.
	DecisionKind string `json:"decision,omitempty"`
	DecidedBy    string `json:"by,omitempty"`
	// Reminders counts how often people were reminded of the Call. EscalatedTo are those who may decide too by now.
	Reminders   int            `json:"reminders,omitempty"`
	EscalatedTo deciders.Rules `json:"escalatedTo,omitempty"`
}

// ApprovalNotices is one notification about a process.
type ApprovalNotices struct {
	ProcessID string `json:"process"`
	IdeaPath  string `json:"path,omitempty"`
	// AwaitingCount is the number of Calls that wait now.
	AwaitingCount int `json:"awaiting"`
	// NewlyWaiting are Calls that began to wait and NewlyDecided Calls that stopped waiting since the last notification, up to
	// MaxNotices of each. OmittedWaiting and OmittedDecided count the rest.
	NewlyWaiting   []ApprovalNotice `json:"waiting"`
	NewlyDecided   []ApprovalNotice `json:"decided"`
	OmittedWaiting int              `json:"moreWaiting,omitempty"`
	OmittedDecided int              `json:"moreDecided,omitempty"`
	// Reminders are Calls that wait still, and Escalations those on which others may decide since the last notification; up to MaxNotices of each.
	Reminders          []ApprovalNotice `json:"reminders,omitempty"`
	Escalations        []ApprovalNotice `json:"escalations,omitempty"`
	OmittedReminders   int              `json:"moreReminders,omitempty"`
	OmittedEscalations int              `json:"moreEscalations,omitempty"`
}

// MaxNotices bounds each list of a Notices.
const MaxNotices = 20

// IsEmpty reports whether there is nothing to notify people of.
func (n ApprovalNotices) IsEmpty() bool {
	return len(n.NewlyWaiting)+len(n.NewlyDecided)+len(n.Reminders)+len(n.Escalations) == 0
}

// Notice returns the notice of a Call that waits.
func (p PendingApproval) Notice(token string) ApprovalNotice {
	n := ApprovalNotice{CallID: p.CallID, Instance: token, Tool: p.Tool, Digest: p.Digest, Since: p.Since,
		Deadline: p.Deadline, AllowedDecisions: p.AllowedDecisions}
	if told := p.WhileWaiting.Told(); told != nil {
		n.Reminders = len(told.RemindedAt)
		for _, e := range told.Escalated {
			n.EscalatedTo = append(n.EscalatedTo, e.To)
		}
	}
	return n
}
