package turn

import "processidea/model/ideafile"

// CallCounts is the number of ended Calls by status, as `run --json` prints it.
type CallCounts struct {
	Done     int `json:"done"`
	Failed   int `json:"failed"`
	Rejected int `json:"rejected"`
	Skipped  int `json:"skipped"`
	Blocked  int `json:"blocked"`
	Undone   int `json:"undone,omitempty"`
}

// Total is the number of ended Calls.
func (c CallCounts) Total() int {
	return c.Done + c.Failed + c.Rejected + c.Skipped + c.Blocked + c.Undone
}

// Increment counts one Call, if it has ended.
func (c *CallCounts) Increment(s ideafile.CallStatus) {
	switch s {
	case ideafile.CallDone:
		c.Done++
	case ideafile.CallFailed:
		c.Failed++
	case ideafile.CallRejected:
		c.Rejected++
	case ideafile.CallSkipped:
		c.Skipped++
	case ideafile.CallBlocked:
		c.Blocked++
	case ideafile.CallUndone:
		c.Undone++
	}
}

// Add adds another count.
func (c *CallCounts) Add(o CallCounts) {
	c.Done += o.Done
	c.Failed += o.Failed
	c.Rejected += o.Rejected
	c.Skipped += o.Skipped
	c.Blocked += o.Blocked
	c.Undone += o.Undone
}

// PlannedCallCounts is a Call of the latest Plan of a process, with the number of instances by its status there.
type PlannedCallCounts struct {
	// CallID is the Call's id without an instance.
	CallID string `json:"call"`
	// WrittenCall is the Call with what its Tool fixes.
	WrittenCall   ideafile.WrittenCall        `json:"as"`
	CountByStatus map[ideafile.CallStatus]int `json:"statuses"`
}
