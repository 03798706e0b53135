package turn

import "time"

// ApprovalNotice tells people that a Call began to wait for them, or stopped waiting. It holds neither parameters nor results: notices
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
}

// MaxNotices bounds each list of a Notices.
const MaxNotices = 20

// Empty reports whether there is nothing to notify people of.
func (n ApprovalNotices) Empty() bool { return len(n.NewlyWaiting)+len(n.NewlyDecided) == 0 }

// Notice returns the Notice of a Call that began to wait.
func (p PendingApproval) Notice(token string) ApprovalNotice {
	return ApprovalNotice{CallID: p.CallID, Instance: token, Tool: p.Tool, Digest: p.Digest, Since: p.Since,
		Deadline: p.Deadline, AllowedDecisions: p.AllowedDecisions}
}
