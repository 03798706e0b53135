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

// InstanceReport is what an instance sends to its process: what changed since its last Report, and how it stands now.
//
// Invariant: of the Reports with one Number, the one with the longest history counts, and a Report is never superseded
// by one with a lower Number. So a Report may arrive twice or out of order.
type InstanceReport struct {
	Token string `json:"token"`
	// ReportNumber counts the instance's Reports. When a workflow task is lost after its Report was sent, the instance
	// sends another one under the same Number, and may have received more by then.
	ReportNumber int `json:"number"`
	// WorkflowHistoryLength counts the events of the instance's history, over all its runs, when the Report was made.
	WorkflowHistoryLength int `json:"heard"`
	// ClosedThroughRequest is the highest Request that is closed at the instance: it accepts no more Calls of that
	// Request, nor of any before it.
	ClosedThroughRequest int `json:"closed"`
	// RefusedThroughRequest is the highest Request of which the instance takes no more Calls from whoever hands them
	// out: the process may have some for it yet, and closes it then.
	RefusedThroughRequest int `json:"refused,omitempty"`
	// ToldThroughRequest is the highest Request that broke off of which the instance has told every Call that it
	// accepted, as it was written.
	ToldThroughRequest int `json:"told,omitempty"`
	InstanceStanding
	// Calls are those that changed since the last Report, and Writes were made since then.
	Calls  []CallReport     `json:"calls,omitempty"`
	Writes []statelog.Write `json:"writes,omitempty"`
	// AckedCorrectionCount counts the corrections that the instance has applied.
	AckedCorrectionCount int `json:"corrected,omitempty"`
	// PauseFault pauses the process: nobody decided on a Call in time, and its Tool asks for a pause then; or a Call
	// cannot run before who runs the worker has mended something.
	PauseFault *diag.Fault `json:"overdue,omitempty"`
	// HeardReleaseNumber is how often the instance has heard that it goes on after a pause: what a PauseFault from
	// before is about is tried again by then.
	HeardReleaseNumber int `json:"releases,omitempty"`
	// QuotaUse is what the instance has begun and used, with the delegates of its Calls.
	QuotaUse QuotaUse `json:"use,omitzero"`
	// TakenBack is what came of it that the instance was to take back what it did; nil: it was not, or is at it.
	TakenBack *TakenBack `json:"takenBack,omitempty"`
	// Fates are what became of acts since the last Report.
	Fates []approval.Fate `json:"refusals,omitempty"`
}

// InstanceStanding is how an instance stands: the last Report that counts says all of it anew.
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

// TakenBack is what came of taking back what an instance did. Said says what was taken back, and what not; Failed is
// whether some of it was to be, Nothing whether nothing was done.
type TakenBack struct {
	Said    string `json:"said"`
	Failed  bool   `json:"failed,omitempty"`
	Nothing bool   `json:"nothing,omitempty"`
}

// CallReport is how one Call stands in one instance.
type CallReport struct {
	Request int                 `json:"request"`
	Index   int                 `json:"index"`
	Status  ideafile.CallStatus `json:"status"`
	Fault   *diag.Fault         `json:"error,omitempty"`
	// Tool is that of a Call with a Fault.
	Tool string `json:"tool,omitempty"`
	// Result is set if State does not hold it: for a Call without an output path, for one whose path a person had
	// written, and, of a result for the whole State, the keys that were not written.
	Result any `json:"result,omitempty"`
	// NotWrittenPaths lists the places in State that kept what they had, although the Call's result was for them.
	NotWrittenPaths []UnwrittenPath `json:"notWritten,omitempty"`
	// Decisions are people's, in the order in which they were made.
	Decisions []approval.Decision `json:"decisions,omitempty"`
	// Remarks are what people said of the Call while it waited for them.
	Remarks []approval.Decision `json:"remarks,omitempty"`
	// ExecutedCall is the Call as it ran, if people had decided on it.
	RanCall *ExecutedCall `json:"ran,omitempty"`
	// ParamsAdaptation is set when the LLM was asked to adapt some of the Call's parameters.
	ParamsAdaptation *approval.ParamsAdaptation `json:"adapted,omitempty"`
	// Call is sent for a Request that broke off: only the instances know which Calls of it were accepted.
	Call ideafile.WrittenCall `json:"call,omitzero"`
	// FromEarlierProcess marks a Call that had ended in the process whose Idea this one started from.
	FromEarlierProcess bool `json:"past,omitempty"`
}

// CallKey is the place of the Call in the Plan.
func (c CallReport) CallKey() ideafile.CallKey {
	return ideafile.CallKey{Request: c.Request, Index: c.Index}
}

// WasOverruledByPerson reports whether a person decided otherwise than the LLM had proposed.
func (c CallReport) WasOverruledByPerson() bool {
	return slices.ContainsFunc(c.Decisions, func(d approval.Decision) bool { return d.Kind != policy.Approve })
}

// UnwrittenPath is a place in State that kept what it had, although the result of a Call, or a part of it, was for it.
type UnwrittenPath struct {
	Path      string `json:"path"` // a Reference
	WrittenBy string `json:"by"`   // who had written there: a Call's id, a person, or "start"
}

// FaultsForLLM are what the next Request is told of the Call as errors: why it failed or is blocked, and what of its
// result was not written. What a person decided on it is told as a fact.
func (c CallReport) FaultsForLLM() []diag.Fault {
	var list []diag.Fault
	if c.Fault != nil && c.Status != ideafile.Rejected {
		list = append(list, *c.Fault)
	}
	for _, n := range c.NotWrittenPaths {
		by, _, _ := strings.Cut(n.WrittenBy, "@")
		why := by + " had written there before, and a value that a call or a person wrote is never replaced"
		if by == statelog.Start {
			why = "something has stood there since the start"
		}
		list = append(list, *diag.Faultf(CodeNotWritten, "what it gave for %s was not written: %s", n.Path, why))
	}
	return list
}
