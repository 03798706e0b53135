package turn

import "processidea/model/ideafile"

// PlannedCallCounts is a Call of the latest Plan of a process, with the number of instances by its status there.
type PlannedCallCounts struct {
	// CallID is the Call's id without an instance.
	CallID string `json:"call"`
	// WrittenCall is the Call with what its Tool fixes.
	WrittenCall   ideafile.WrittenCall        `json:"as"`
	CountByStatus map[ideafile.CallStatus]int `json:"statuses"`
}
