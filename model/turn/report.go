package turn

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/statelog"
)

// Report is what an instance sends to its process: what changed since its last Report, and how it stands now.
//
// Invariant: of the Reports with one Number, the one with the longest history counts, and a Report is never superseded by one
// with a lower Number. So a Report may arrive twice or out of order.
type Report struct {
	Token string `json:"token"`
	// Number counts the instance's Reports. When a workflow task is lost after its Report was sent, the instance sends
	// another one under the same Number, and may have received more by then.
	Number int `json:"number"`
	// HistoryLength counts the events of the instance's history, over all its runs, when the Report was made.
	HistoryLength int `json:"heard"`
	// ClosedThrough is the highest Request that is closed at the instance: it accepts no more Calls of that Request, nor of
	// any before it.
	ClosedThrough int `json:"closed"`
	// Idle reports whether nothing of the instance is running.
	Idle bool `json:"quiet"`
	// Calls are those that changed since the last Report, and Writes were made since then.
	Calls  []CallReport     `json:"calls,omitempty"`
	Writes []statelog.Write `json:"writes,omitempty"`
	// Missing lists the State paths that the instance's schema requires and that hold no value.
	Missing []string `json:"missing,omitempty"`
	// PlanFailure is why the directly run Plan failed, where no alternative Call made up for it.
	PlanFailure *diag.Fault `json:"unmet,omitempty"`
	// Questions are those that the instance's Calls have for the LLM.
	Questions []Question `json:"asking,omitempty"`
	// PendingApprovals are the Calls that wait for a person.
	PendingApprovals []PendingApproval `json:"pending,omitempty"`
	// CorrectionsAcked counts the corrections that the instance has applied.
	CorrectionsAcked int `json:"corrected,omitempty"`
	// ApprovalOverdue pauses the process: nobody decided on a Call in time, and its Tool asks for a pause then.
	ApprovalOverdue *diag.Fault `json:"overdue,omitempty"`
	// RefusedSignals are those since the last Report.
	RefusedSignals []RefusedSignal `json:"refusals,omitempty"`
}

// CallReport is how one Call stands in one instance.
type CallReport struct {
	Request int                 `json:"request"`
	Index   int                 `json:"index"`
	Status  ideafile.CallStatus `json:"status"`
	Fault   *diag.Fault         `json:"error,omitempty"`
	// Result is set if State does not hold it: for a Call without an output path, and for one whose path a person had written.
	Result any `json:"result,omitempty"`
	// Decisions are people's, in the order in which they were made.
	Decisions []Decision `json:"decisions,omitempty"`
	// Adapted is set when the LLM was asked to adapt some of the Call's parameters.
	Adapted *Adaptation `json:"adapted,omitempty"`
	// Call is sent for a Request that broke off: only the instances know which Calls of it were accepted.
	Call ideafile.WrittenCall `json:"call,omitzero"`
	// FromEarlierProcess marks a Call that had ended in the process whose Idea this one started from.
	FromEarlierProcess bool `json:"past,omitempty"`
}

// Key is the place of the Call in the Plan.
func (c CallReport) Key() ideafile.CallKey {
	return ideafile.CallKey{Request: c.Request, Index: c.Index}
}

// OverruledByPerson reports whether a person decided otherwise than the LLM had proposed.
func (c CallReport) OverruledByPerson() bool {
	for _, d := range c.Decisions {
		if d.Kind != ideafile.Approve {
			return true
		}
	}
	return false
}
