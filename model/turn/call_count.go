package turn

import "processidea/model/ideafile"

// CallCount is a Call of the latest Plan of a process, and in how many instances it has which status.
type CallCount struct {
	// CallID is the Call's id without an instance.
	CallID   string                      `json:"call"`
	Written  ideafile.WrittenCall        `json:"as"`
	Statuses map[ideafile.CallStatus]int `json:"statuses"`
}
