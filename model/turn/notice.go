package turn

import "time"

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
	// AwaitingCount counts the Calls that wait now.
	AwaitingCount int `json:"awaiting"`
	// NewlyWaiting are those that began to wait, Decided those that wait no more: the first of them, where there are many, and
	// how many there are beside these.
	NewlyWaiting     []Notice `json:"waiting"`
	NewlyDecided     []Notice `json:"decided"`
	OmittedWaiting int      `json:"moreWaiting,omitempty"`
	OmittedDecided int      `json:"moreDecided,omitempty"`
}

// maxNotices bounds each list of Notices.
const MaxNotices = 20

// Empty says whether there is nothing to tell.
func (n Notices) Empty() bool { return len(n.NewlyWaiting)+len(n.NewlyDecided) == 0 }

func (p PendingApproval) Notice(token string) Notice {
	return Notice{Call: p.Call, Instance: token, Tool: p.Tool, Digest: p.Digest, Since: p.Since, Deadline: p.Deadline, Allow: p.Allow}
}
