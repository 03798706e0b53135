package turn

import (
	"slices"
	"strings"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/statelog"
)

// ReportSignal brings a process the report of an instance, or those of several.
type ReportSignal struct {
	InstanceReport
	Reports []InstanceReport `json:"reports,omitempty"` // in place of the one
}

// InstanceReport is what an instance sends to its process: its changes since the last report, and its current state.
//
// Invariant: of the reports with one ReportNumber, the one with the longest history counts, and a report is never
// superseded by one with a lower number. So a report may arrive twice or out of order.
type InstanceReport struct {
	Token string `json:"token"`
	// ReportNumber counts the instance's Reports. When a workflow task is lost after its Report was sent, the instance
	// sends another one under the same Number, and may have received more by then.
	ReportNumber int `json:"number"`
	// WorkflowHistoryLength counts the events of the instance's history, over all its runs, when the Report was made.
	WorkflowHistoryLength int `json:"heard"`
	// ClosedThroughRequest is the highest closed Request: the instance accepts no more Calls of it, nor of any before
	// it.
	ClosedThroughRequest int `json:"closed"`
	// RefusedThroughRequest is the highest Request from which the instance accepts no more streamed Calls. The process
	// may still have some to deliver, and then closes it.
	RefusedThroughRequest int `json:"refused,omitempty"`
	// ReportedThroughRequest is the highest broken-off Request for which the instance has reported every Call that it
	// accepted, as it was written.
	ReportedThroughRequest int `json:"told,omitempty"`
	InstanceStanding
	// Calls are the Calls that changed since the last report, Writes the writes made since then.
	Calls  []CallReport     `json:"calls,omitempty"`
	Writes []statelog.Write `json:"writes,omitempty"`
	// AckedCorrectionCount counts the corrections that the instance has applied.
	AckedCorrectionCount int `json:"corrected,omitempty"`
	// PauseFault pauses the process: nobody decided on a Call in time, and its Tool asks for a pause then; or a Call
	// cannot run before who runs the worker has mended something.
	PauseFault *diag.Fault `json:"overdue,omitempty"`
	// AcknowledgedReleaseNumber is how often the instance has heard that it goes on after a pause: what a PauseFault
	// from before is about is tried again by then.
	AcknowledgedReleaseNumber int `json:"releases,omitempty"`
	// QuotaUse is what the instance has begun and used, with the delegates of its Calls.
	QuotaUse QuotaUse `json:"use,omitzero"`
	// Withdrawn is the result of an ordered undo; nil: none was ordered, or it is under way.
	Withdrawn *Withdrawn `json:"takenBack,omitempty"`
	// Fates are the outcomes of acts since the last report.
	Fates []approval.Fate `json:"refusals,omitempty"`
	// CausedBy is everybody who has added or revised the instance or a delegate of its Calls, or had them taken back.
	CausedBy []policy.Identity `json:"causedBy,omitempty"`
}

// InstanceStanding is the current state of an instance. Each report has all of it anew.
type InstanceStanding struct {
	// Idle reports whether nothing of the instance is running.
	Idle bool `json:"quiet,omitempty"`
	// HeldByPause reports whether the process's pause has reached the instance, and Running counts its Calls that still
	// run then.
	HeldByPause bool `json:"held,omitempty"`
	Running     int  `json:"running,omitempty"`
	// HasGoal is whether the State schema requires what the instance did not start with.
	HasGoal bool `json:"goal,omitempty"`
	// MissingRequiredPaths lists the State paths that the instance's schema requires and that hold no value.
	MissingRequiredPaths []string `json:"missing,omitempty"`
	// PlanFailure is why the directly run Plan failed, where no alternative Call made up for it.
	PlanFailure *diag.Fault `json:"unmet,omitempty"`
	// Questions are those that the instance's Calls have for the LLM: latent results to write, parameters to adapt.
	Questions []LLMQuestion `json:"asking,omitempty"`
	// PendingApprovals are the Calls that wait for a person.
	PendingApprovals []approval.Pending `json:"pending,omitempty"`
	// Delegates are those under way, and Stalled is whether nothing runs but delegates that are paused.
	Delegates []DelegateView `json:"delegates,omitempty"`
	Stalled   bool           `json:"stalled,omitempty"`
}

// Withdrawn is the result of undoing what an instance did. Summary describes what was undone and what was not. Failed
// means that some of that should have been undone; Nothing means that nothing was undone.
type Withdrawn struct {
	Summary string `json:"said"`
	Failed  bool   `json:"failed,omitempty"`
	Nothing bool   `json:"nothing,omitempty"`
}

// CallState is what became of a Call in one instance so far: what the instance records, and reports.
type CallState struct {
	Status ideafile.CallStatus `json:"status"`
	// Fault is why the Call failed or is blocked; nil: neither.
	Fault *diag.Fault `json:"error,omitempty"`
	// Result is set if State does not hold it: for a Call without an output path, for one whose path a person had
	// written, and, for a result for the whole State, the keys that were not written.
	Result any `json:"result,omitempty"`
	// NotWrittenPaths lists the paths in State that kept their value, although the Call's result was for them.
	NotWrittenPaths []UnwrittenPath `json:"notWritten,omitempty"`
	// Decisions are the decisions of people, in the order in which they were made.
	Decisions []approval.Decision `json:"decisions,omitempty"`
	// Remarks are the remarks of people while the Call waited for them.
	Remarks []approval.Decision `json:"remarks,omitempty"`
	// RanCall is the Call as it ran, if people had decided on it.
	RanCall *ExecutedCall `json:"ran,omitempty"`
	// ParamsAdaptation is what the LLM was asked to adapt to the Tool's schema before the Call ran; nil: all fitted.
	ParamsAdaptation *approval.ParamsAdaptation `json:"adapted,omitempty"`
	// FromEarlierProcess marks a Call that had ended in the process whose Idea this one started from.
	FromEarlierProcess bool `json:"past,omitempty"`
}

// CallReport is the state of one Call in one instance.
type CallReport struct {
	Request int `json:"request"`
	Index   int `json:"index"`
	CallState
	// Tool is the Tool of a Call with a Fault; empty for others.
	Tool string `json:"tool,omitempty"`
	// Call is sent for a Request that broke off: only the instances know which Calls of it were accepted.
	Call ideafile.WrittenCall `json:"call,omitzero"`
}

// CallKey is the place of the Call in the Plan.
func (c CallReport) CallKey() ideafile.CallKey {
	return ideafile.CallKey{Request: c.Request, Index: c.Index}
}

// WasOverruledByPerson reports whether a person decided otherwise than the LLM had proposed.
func (c CallReport) WasOverruledByPerson() bool {
	return slices.ContainsFunc(c.Decisions, func(d approval.Decision) bool { return d.Kind != policy.Approve })
}

// UnwrittenPath is a path in State that kept its value, although the result of a Call, or a part of it, was for it.
type UnwrittenPath struct {
	Path      string `json:"path"` // a Reference
	WrittenBy string `json:"by"`   // who had written there: a Call's id, a person, or "start"
}

// FaultsForLLM are the errors of the Call for the next Request: why it failed or is blocked, and which part of its
// result was not written. A person's decision is reported as a fact, not as an error.
func (c CallReport) FaultsForLLM() []diag.Fault {
	var list []diag.Fault
	if c.Fault != nil && c.Status != ideafile.Rejected {
		list = append(list, *c.Fault)
	}
	for _, n := range c.NotWrittenPaths {
		by, _, _ := strings.Cut(n.WrittenBy, "@")
		why := by + " had written there before, and a value that a call or a person wrote is never replaced"
		if by == statelog.AuthorStart {
			why = "something has stood there since the start"
		}
		list = append(list, *diag.Faultf(CodeNotWritten, "what it gave for %s was not written: %s", n.Path, why))
	}
	return list
}
