package approval

import (
	"time"

	"processidea/model/approval/policy"
)

// Notice notifies people that a Call began to wait for them, still waits, or stopped waiting. It holds neither
// parameters nor results, since not every reader of a notice may see them.
type Notice struct {
	CallID           string     `json:"call"`
	Instance         string     `json:"instance"`
	Tool             string     `json:"tool"`
	Digest           string     `json:"digest"`
	Since            time.Time  `json:"since"`
	Deadline         *time.Time `json:"deadline,omitempty"`
	AllowedDecisions []string   `json:"allow"`
	// DecisionKind was taken by DecidedBy. Both are empty while the Call waits, and if it stopped waiting without a
	// decision.
	DecisionKind      string `json:"decision,omitempty"`
	DecidedBy         string `json:"by,omitempty"`
	DecidedOnBehalfOf string `json:"for,omitempty"` // the person in whose place a deputy decided
	// ReminderCount counts how often people were reminded of the Call. EscalatedTo are the people who were added to
	// those who may decide.
	ReminderCount int                 `json:"reminders,omitempty"`
	EscalatedTo   policy.DeciderRules `json:"escalatedTo,omitempty"`
	// RemarkCount counts the questions about the Call, its hand-overs and deputies. Remark is the last of these,
	// without its text.
	RemarkCount int           `json:"remarkCount,omitempty"`
	Remark      *NoticeRemark `json:"remark,omitempty"`
}

// NoticeRemark says who asked whom, who handed a Call over to whom, or who named whom as deputy.
type NoticeRemark struct {
	Kind           string `json:"kind"` // ask, hand-over or deputy
	Author         string `json:"by"`
	RecipientName  string `json:"to,omitempty"`
	RecipientGroup string `json:"toGroup,omitempty"`
	// DeputyFrom and DeputyUntil bound the time of a deputy.
	DeputyFrom  time.Time `json:"from,omitzero"`
	DeputyUntil time.Time `json:"until,omitzero"`
}

// String returns the remark as a sentence.
func (r NoticeRemark) String() string {
	return Decision{Kind: r.Kind, DecidedBy: r.Author, RecipientName: r.RecipientName, RecipientGroup: r.RecipientGroup,
		Order: &StandingOrder{From: r.DeputyFrom, Until: r.DeputyUntil}}.RemarkText()
}

// Notification is one notification about a process.
type Notification struct {
	ProcessID   string `json:"process"`
	ProcessPath string `json:"path,omitempty"`
	// AwaitingCallCount is the number of Calls that wait now.
	AwaitingCallCount int `json:"awaiting"`
	// NewlyWaiting are Calls that began to wait and NoLongerWaiting Calls that stopped waiting since the last
	// notification, up to MaxNotices of each. OmittedWaitingCount and OmittedNoLongerWaitingCount count the rest.
	NewlyWaiting                []Notice `json:"waiting"`
	NoLongerWaiting             []Notice `json:"decided"`
	OmittedWaitingCount         int      `json:"moreWaiting,omitempty"`
	OmittedNoLongerWaitingCount int      `json:"moreDecided,omitempty"`
	// Reminders are Calls that still wait. Escalations are Calls on which more people may decide since the last
	// notification. There are at most MaxNotices of each.
	Reminders              []Notice `json:"reminders,omitempty"`
	Escalations            []Notice `json:"escalations,omitempty"`
	OmittedReminderCount   int      `json:"moreReminders,omitempty"`
	OmittedEscalationCount int      `json:"moreEscalations,omitempty"`
	// Remarks are the Calls with a question or a hand-over since the last notification.
	Remarks            []Notice `json:"remarks,omitempty"`
	OmittedRemarkCount int      `json:"moreRemarks,omitempty"`
}

// MaxNotices bounds each list of a Notification.
const MaxNotices = 20

// IsEmpty reports whether there is nothing to notify people of.
func (n Notification) IsEmpty() bool {
	return len(n.NewlyWaiting)+len(n.NoLongerWaiting)+len(n.Reminders)+len(n.Escalations)+len(n.Remarks) == 0
}

// Notice returns the notice of a Call that waits.
func (p PendingCall) Notice(instanceToken string) Notice {
	n := Notice{CallID: p.CallID, Instance: instanceToken, Tool: p.Tool, Digest: p.Digest, Since: p.Since,
		Deadline: p.Deadline, AllowedDecisions: p.AllowedDecisions}
	for _, r := range p.Remarks {
		if r.Kind != Comment {
			n.RemarkCount++
			n.Remark = &NoticeRemark{Kind: r.Kind, Author: r.DecidedBy, RecipientName: r.RecipientName,
				RecipientGroup: r.RecipientGroup}
			if r.Order != nil {
				n.Remark.DeputyFrom, n.Remark.DeputyUntil = r.Order.From, r.Order.Until
			}
		}
	}
	if sentNotifications := p.ReminderSchedule.SentNotifications(); sentNotifications != nil {
		n.ReminderCount = len(sentNotifications.SentReminderTimes)
		for _, e := range sentNotifications.Escalations {
			n.EscalatedTo = append(n.EscalatedTo, e.AddedDeciders)
		}
	}
	return n
}
