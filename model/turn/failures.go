package turn

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// CallFailure is one reason why Calls did not succeed, with their number and ids.
type CallFailure struct {
	Status    ideafile.CallStatus `json:"status"` // failed, blocked or rejected
	Tool      string              `json:"tool"`   // empty if the Call names none
	Code      string              `json:"code"`
	Message   string              `json:"message"`
	CallCount int                 `json:"count"`
	// CallIDs are the ids of the first of these Calls.
	CallIDs []string `json:"calls"`
}

// Failures lists each reason once, in the order in which they were added. It is bounded, since it is part of results
// and reports; CallCounts has the total number of Calls.
type Failures []CallFailure

// MarshalJSON writes an empty list for nil.
func (f Failures) MarshalJSON() ([]byte, error) {
	if f == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]CallFailure(f))
}

const (
	maxFailures             = 20  // reasons
	maxFailureCallIDs       = 5   // ids for each
	maxFailureMessageLength = 500 // characters
)

// AddFailedCall adds a Call that did not succeed.
func (f Failures) AddFailedCall(id string, s ideafile.CallStatus, tool string, fault diag.Fault) Failures {
	return f.addFailure(CallFailure{
		Status: s, Tool: jsonval.Clip(tool, 100), Code: fault.Code,
		Message:   jsonval.Clip(fault.Message, maxFailureMessageLength),
		CallCount: 1, CallIDs: []string{id},
	})
}

// Merge adds the failures of another list.
func (f Failures) Merge(other Failures) Failures {
	for _, failure := range other {
		f = f.addFailure(failure)
	}
	return f
}

func (f Failures) addFailure(failure CallFailure) Failures {
	index := slices.IndexFunc(f, func(x CallFailure) bool {
		return x.Status == failure.Status && x.Tool == failure.Tool && x.Code == failure.Code &&
			x.Message == failure.Message
	})
	if index < 0 {
		if len(f) < maxFailures {
			failure.CallIDs = slices.Clone(failure.CallIDs)
			f = append(f, failure)
		}
		return f
	}
	f[index].CallCount += failure.CallCount
	f[index].CallIDs = append(f[index].CallIDs,
		failure.CallIDs[:min(len(failure.CallIDs), maxFailureCallIDs-len(f[index].CallIDs))]...)
	return f
}

// String describes the failure in one line: pay: tool_failed: the card is unknown (12 Calls: 1.2@①, 1.2@②, …).
func (f CallFailure) String() string {
	calls := strings.Join(f.CallIDs, ", ")
	if f.CallCount > len(f.CallIDs) {
		calls += ", …"
	}
	if f.CallCount > 1 {
		calls = fmt.Sprintf("%d Calls: %s", f.CallCount, calls)
	}
	return fmt.Sprintf("%s: %s: %s (%s)", cmp.Or(f.Tool, "a Call without a tool"), f.Code, f.Message, calls)
}

// IsUnsuccessful reports whether a Call has ended without a result, for a reason that people should see.
func (c CallReport) IsUnsuccessful() bool {
	return c.Fault != nil && (c.Status == ideafile.CallFailed || c.Status == ideafile.CallBlocked ||
		c.Status == ideafile.CallRejected)
}

// PersonPauseFault returns the PauseReason of a process that a person paused.
func PersonPauseFault(person, reason string) *diag.Fault {
	f := diag.Faultf(CodePaused, "paused by %s", cmp.Or(person, "a person"))
	if reason != "" {
		f.Message += ": " + reason
	}
	return f
}
