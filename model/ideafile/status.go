package ideafile

import (
	"fmt"
	"strings"
)

// InstanceStatus is the status of an instance, as people see it.
type InstanceStatus string

// The statuses of an instance.
const (
	InstanceWorking InstanceStatus = "working"
	InstanceWaiting InstanceStatus = "waiting" // for a person
	InstanceSettled InstanceStatus = "settled" // a Request covered it and gave it no Call
	InstanceFailed  InstanceStatus = "failed"
	// it has failed, and something that it did could not be undone although it should have been
	InstanceUndoFailed InstanceStatus = "undo-failed"
	InstanceForgotten  InstanceStatus = "forgotten" // what it worked on was removed
)

// InstanceStatuses lists the statuses in the order in which counts of them are shown.
func InstanceStatuses() []InstanceStatus {
	return []InstanceStatus{InstanceWorking, InstanceWaiting, InstanceSettled, InstanceFailed, InstanceUndoFailed,
		InstanceForgotten}
}

// HasFailed reports whether the instance has failed, whether or not what it did was undone.
func (s InstanceStatus) HasFailed() bool { return s == InstanceFailed || s == InstanceUndoFailed }

// HasEnded reports whether the instance has settled or failed, or was forgotten.
func (s InstanceStatus) HasEnded() bool {
	return s == InstanceSettled || s == InstanceForgotten || s.HasFailed()
}

// TallyText lists the count of each status that occurs: 3 done, 1 failed.
func TallyText[S ~string](statuses []S, countByStatus map[S]int) string {
	var parts []string
	for _, s := range statuses {
		if n := countByStatus[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(parts, ", ")
}

// CallStatus is the status of a Call, as people see it.
type CallStatus string

// The statuses of a Call. CallWaiting, CallAwaitingApproval and CallRunning may change; the others are final.
const (
	CallWaiting          CallStatus = "waiting" // for its inputs, or for its output path
	CallAwaitingApproval CallStatus = "awaiting-approval"
	CallRunning          CallStatus = "running"
	CallDone             CallStatus = "done"
	CallFailed           CallStatus = "failed"
	CallRejected         CallStatus = "rejected" // by a person
	// its output path was written, or it depends on a branch that was not taken
	CallSkipped CallStatus = "skipped"
	CallBlocked CallStatus = "blocked" // it can never become ready
	CallUndone  CallStatus = "undone"  // it was done, and was undone
)

// IsFinal reports whether the status is final.
func (s CallStatus) IsFinal() bool {
	return s != CallWaiting && s != CallAwaitingApproval && s != CallRunning
}
