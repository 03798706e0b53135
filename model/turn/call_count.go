package turn

import "processidea/model/ideafile"

// CallCount is a Call of the latest Plan of a process, with the number of instances by its status there.
type CallCount struct {
	// CallID is the Call's id without an instance.
	CallID string `json:"call"`
	// Written is the Call with what its Tool fixes.
	Written  ideafile.WrittenCall        `json:"as"`
	Statuses map[ideafile.CallStatus]int `json:"statuses"`
}
