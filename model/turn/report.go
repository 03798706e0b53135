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

// ReportSignal is the signal to a process with the report of one instance, or with reports of several.
type ReportSignal struct {
	InstanceReport
	Reports []InstanceReport `json:"reports,omitempty"` // if set, in place of the InstanceReport
}

// InstanceReport is what an instance sends to its process: its changes since the last report, and its current state.
//
// Invariant: of several reports with the same ReportNumber, the one with the longest history counts, and a report never
// supersedes one with a higher number. So a report may arrive twice or out of order.
type InstanceReport struct {
	InstanceToken string `json:"token"`
	// ReportNumber counts the instance's reports. If a workflow task is lost after its report was sent, the instance
	// sends another report under the same number, and may have received more events by then.
	ReportNumber int `json:"number"`
	// WorkflowHistoryLength counts the events of the instance's history, over all its runs, when the report was made.
	WorkflowHistoryLength int `json:"heard"`
	// ClosedThroughRequest is the highest closed Request: the instance accepts no more Calls of it or of earlier ones.
	ClosedThroughRequest int `json:"closed"`
	// RefusedThroughRequest is the highest Request from which the instance accepts no more streamed Calls. The process
	// may still deliver Calls of it, and then closes it.
	RefusedThroughRequest int `json:"refused,omitempty"`
	// ReportedThroughRequest is the highest broken-off Request for which the instance has reported every Call that it
	// accepted, as it was written.
	ReportedThroughRequest int `json:"told,omitempty"`
	InstanceStatusDetails
	// Calls are the Calls that changed since the last report, Writes the writes made since then.
	Calls  []CallReport     `json:"calls,omitempty"`
	Writes []statelog.Write `json:"writes,omitempty"`
	// AckedCorrectionCount counts the corrections that the instance has applied.
	AckedCorrectionCount int `json:"corrected,omitempty"`
	// PauseFault pauses the process: nobody decided on a Call in time, and its Tool's policy asks for a pause
	// then; or a Call cannot run before the worker's operator has mended something.
	PauseFault *diag.Fault `json:"overdue,omitempty"`
	// AckedResumeCount is how often the instance was told to go on after a pause. A Call of an earlier
	// PauseFault is tried again after that.
	AckedResumeCount int `json:"releases,omitempty"`
	// QuotaUse is what the instance has begun and used, with the delegates of its Calls.
	QuotaUse QuotaUse `json:"use,omitzero"`
	// UndoResult is the result of an undo; nil: there was none, or it is under way.
	UndoResult *UndoResult `json:"takenBack,omitempty"`
	// Fates are the outcomes of acts since the last report.
	Fates []approval.Fate `json:"refusals,omitempty"`
	// CausedBy is everybody who has added or revised the instance or a delegate of its Calls, or ordered an undo in it.
	CausedBy []policy.Identity `json:"causedBy,omitempty"`
}

// InstanceStatusDetails is the current state of an instance. Every report has all of it.
type InstanceStatusDetails struct {
	// IsIdle reports whether nothing of the instance is running.
	IsIdle bool `json:"quiet,omitempty"`
	// IsHeldByPause reports whether the process's pause has reached the instance. RunningCallCount counts the Calls
	// that still run during the pause.
	IsHeldByPause    bool `json:"held,omitempty"`
	RunningCallCount int  `json:"running,omitempty"`
	// HasGoal reports whether the State schema requires values that the instance did not start with.
	HasGoal bool `json:"goal,omitempty"`
	// MissingRequiredPaths lists the State paths that the instance's schema requires and that have no value.
	MissingRequiredPaths []string `json:"missing,omitempty"`
	// PlanFailure is why the directly run Plan failed, if no alternative Call made up for it.
	PlanFailure *diag.Fault `json:"unmet,omitempty"`
	// Questions are the questions to the LLM about the instance's Calls: latent results to write, parameters to adapt.
	Questions []QuestionToLLM `json:"asking,omitempty"`
	// PendingApprovals are the Calls that wait for a person.
	PendingApprovals []approval.PendingCall `json:"pending,omitempty"`
	// Delegates are the running delegates. IsStalled reports whether nothing runs but delegates that are paused.
	Delegates []DelegateView `json:"delegates,omitempty"`
	IsStalled bool           `json:"stalled,omitempty"`
}

// UndoResult is the result of undoing what an instance did. Summary describes what was undone and what was not.
// HasFailed means that something which should have been undone was not; HasUndoneNothing means that nothing was undone.
type UndoResult struct {
	Summary          string `json:"said"`
	HasFailed        bool   `json:"failed,omitempty"`
	HasUndoneNothing bool   `json:"nothing,omitempty"`
}

// CallState is what became of a Call in one instance so far, as the instance records and reports it.
type CallState struct {
	Status ideafile.CallStatus `json:"status"`
	// Fault is why the Call failed, is blocked or was rejected; nil otherwise.
	Fault *diag.Fault `json:"error,omitempty"`
	// Result is set if it is not in State: for a Call without an output path, and for a Call whose path a person had
	// written. For a result for the whole State, it has the keys that were not written.
	Result any `json:"result,omitempty"`
	// UnwrittenPaths lists the paths in State that kept their value, although the Call's result was for them.
	UnwrittenPaths []UnwrittenPath `json:"notWritten,omitempty"`
	// Decisions are the decisions of people, in the order in which they were made.
	Decisions []approval.Decision `json:"decisions,omitempty"`
	// Remarks are people's remarks from the time when the Call waited for them.
	Remarks []approval.Decision `json:"remarks,omitempty"`
	// ExecutedCall is the Call as it ran, if people had decided on it or its undo needs its parameters.
	ExecutedCall *ExecutedCall `json:"ran,omitempty"`
	// ParamsAdaptation is what the LLM was asked to adapt to the Tool's schema before the Call ran; nil: nothing.
	ParamsAdaptation *approval.ParamsAdaptation `json:"adapted,omitempty"`
	// IsFromEarlierProcess marks a Call that had ended in the process whose Idea this one started from.
	IsFromEarlierProcess bool `json:"past,omitempty"`
}

// CallReport is the state of one Call in one instance.
type CallReport struct {
	Request int `json:"request"`
	Index   int `json:"index"`
	CallState
	// Tool is the Tool of a Call with a Fault; empty for other Calls.
	Tool string `json:"tool,omitempty"`
	// ReviewReason is why a person must review the Call before it runs, even if its Tool's policy requires none.
	ReviewReason string `json:"why,omitempty"`
	// Call is set for a Request that broke off, since only the instances know which Calls of it they accepted.
	Call ideafile.WrittenCall `json:"call,omitzero"`
}

// CallKey returns the place of the Call in the Plan.
func (c CallReport) CallKey() ideafile.CallKey {
	return ideafile.CallKey{Request: c.Request, Index: c.Index}
}

// WasOverruledByPerson reports whether a person decided otherwise than the LLM had proposed.
func (c CallReport) WasOverruledByPerson() bool {
	return slices.ContainsFunc(c.Decisions, func(d approval.Decision) bool { return d.Kind != policy.Approve })
}

// UnwrittenPath is a path in State that kept its value, although a Call's result, or a part of it, was for that path.
type UnwrittenPath struct {
	Path          string `json:"path"` // a Reference
	EarlierAuthor string `json:"by"`   // who wrote there before: a Call's id, a person, or "start"
}

// FaultsForLLM returns the errors of the Call for the next Request: why it failed or is blocked, and which part of its
// result was not written. A person's decision is reported as a fact, not as an error.
func (c CallReport) FaultsForLLM() []diag.Fault {
	var list []diag.Fault
	if c.Fault != nil && c.Status != ideafile.CallRejected {
		list = append(list, *c.Fault)
	}
	for _, unwritten := range c.UnwrittenPaths {
		author, _, _ := strings.Cut(unwritten.EarlierAuthor, "@")
		reason := author + " had written there before, and a value that a call or a person wrote is never replaced"
		if author == statelog.InitialStateAuthor {
			reason = "something has stood there since the start"
		}
		list = append(list, *diag.Faultf(CodeNotWritten, "what it gave for %s was not written: %s", unwritten.Path,
			reason))
	}
	return list
}
