package split

import (
	"maps"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/price"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/quality"
	"processidea/model/turn"
)

// PartReport is what a part reports to the whole process.
type PartReport struct {
	PartNumber   int         `json:"number"`
	ReportNumber int         `json:"seq"` // counts the part's reports
	Status       loop.Status `json:"status"`
	// AwaitsOnlyPeople: see Loop.AwaitsOnlyPeople.
	AwaitsOnlyPeople bool `json:"waits,omitempty"`
	// IsAtRest reports whether the part was at rest as of its latest Idea: see Loop.IsAtRest.
	IsAtRest              bool                   `json:"rests,omitempty"`
	RequestCount          int                    `json:"requests"`
	TurnCount             int                    `json:"turns"`
	IdeaCount             int                    `json:"ideas"`
	Calls                 turn.CallCounts        `json:"calls"`
	Failures              turn.Failures          `json:"failures,omitempty"`
	Usage                 turn.TokenUsage        `json:"usage"`
	RecheckTally          quality.Tally          `json:"quality,omitzero"`
	Error                 *diag.Fault            `json:"error,omitempty"`
	Output                any                    `json:"output,omitempty"`
	UnwrittenResults      []loop.UnwrittenResult `json:"notWritten,omitempty"`
	InstructionStepCounts ideafile.StepCounts    `json:"instructions,omitempty"`
	// OutputWirings are the outputs of the direct Plans by which its instances settled; nil if a settled instance has
	// no Plan with an output.
	OutputWirings []loop.OutputWiring `json:"wirings,omitempty"`
	// WrittenReferenceOutput is Output as the LLM wrote it, if it consists of References alone.
	WrittenReferenceOutput any `json:"wiredOutput,omitempty"`
	// IsLLMForbidden means that the LLM may not be asked about any of its instances, HasFallenBackToLLM that the LLM
	// took over from a direct Plan.
	IsLLMForbidden     bool `json:"llmForbidden,omitempty"`
	HasFallenBackToLLM bool `json:"fellBack,omitempty"`
	// StatusByInstance has the statuses of the instances that have ended or wait for a person; in the last report, of
	// all instances.
	StatusByInstance map[string]ideafile.InstanceStatus `json:"instances,omitempty"`
	// CostByInstance are the shares of its instances in the cost of its Requests. Only the last report has them.
	CostByInstance map[string]price.Money `json:"costs,omitempty"`
	// FailedCallCountByInstance counts the Calls of its instances that failed or were blocked,
	// RejectedCallCountByInstance those that were rejected. Only the last report has them.
	FailedCallCountByInstance   map[string]int         `json:"failedCalls,omitempty"`
	RejectedCallCountByInstance map[string]int         `json:"rejectedCalls,omitempty"`
	PendingApprovals            []approval.PendingCall `json:"pending,omitempty"`
	// CausersByInstance has the people who caused what its instances do, beside those who started the process, by
	// token; "" means all instances.
	CausersByInstance map[string][]policy.Identity `json:"causedBy,omitempty"`
	// PendingPlan is its Plan that waits for a person; nil: none waits.
	PendingPlan *approval.PlanAwaitingDecision `json:"plan,omitempty"`
	// QuotaUse is what the part and all its delegates have begun and used, and what it needs. Delegates are the running
	// delegates.
	QuotaUse  turn.QuotaUse       `json:"use,omitzero"`
	Delegates []turn.DelegateView `json:"delegates,omitempty"`
	// HoldUps lists what holds up the part and its delegates.
	HoldUps []turn.HoldUp `json:"heldUp,omitempty"`
	// LatestIdeaDigest is the digest of the part's latest Idea.
	LatestIdeaDigest string          `json:"digest,omitempty"`
	Fates            []approval.Fate `json:"refusals,omitempty"`
	// AutomaticPauseCount: see Loop.AutomaticPauseCount.
	AutomaticPauseCount int `json:"ownPauses,omitempty"`
	// ResumeCount counts the resumes that the part has received from the whole.
	ResumeCount int `json:"resumes,omitempty"`
}

// AddOutcome adds the outcome of a part's loop to the part's last report.
func (r *PartReport) AddOutcome(l *loop.Loop, status loop.Status) {
	r.Output, r.OutputWirings, r.WrittenReferenceOutput = l.Output, l.DirectPlanOutputWirings(),
		l.WrittenReferenceOutput
	r.IsLLMForbidden, r.HasFallenBackToLLM = !l.IsLLMAllowed(), l.AnyFellBackToLLM()
	r.Error, r.StatusByInstance = l.Result(status, false).Error, map[string]ideafile.InstanceStatus{}
	r.CostByInstance = map[string]price.Money{}
	r.FailedCallCountByInstance, r.RejectedCallCountByInstance = map[string]int{}, map[string]int{}
	for _, inst := range l.Instances {
		r.StatusByInstance[inst.Token] = inst.DisplayStatus()
		if inst.LLMCost > 0 {
			r.CostByInstance[inst.Token] = inst.LLMCost
		}
		failedCount, rejectedCount := inst.UnsuccessfulCallCounts()
		if failedCount > 0 {
			r.FailedCallCountByInstance[inst.Token] = failedCount
		}
		if rejectedCount > 0 {
			r.RejectedCallCountByInstance[inst.Token] = rejectedCount
		}
	}
}

// IsFinished reports whether the part has ended.
func (r PartReport) IsFinished() bool {
	return r.Status == loop.StatusCompleted || r.Status == loop.StatusFailed || r.Status == loop.StatusCancelled
}

// ReportFilter keeps a part from reporting what the whole need not know now.
type ReportFilter struct {
	lastSentReportJSON string // the last report that was sent, without its count of Calls
	lastEndedCallCount int    // the count of ended Calls in that report
}

// ShouldSend reports whether a report should be sent because it has something new, and if so counts it as sent. A
// report with only more ended Calls or instances waits until a tenth more Calls have ended, since each report costs
// both workflows a task.
func (t *ReportFilter) ShouldSend(r PartReport, instanceCount int) bool {
	endedCallCount := r.Calls.Total()
	r.Calls, r.Failures, r.InstructionStepCounts, r.StatusByInstance = turn.CallCounts{}, nil, nil,
		filterStatuses(func(s ideafile.InstanceStatus) bool {
			return s == ideafile.InstanceWaiting
		}, r.StatusByInstance)
	r.QuotaUse.Calls, r.QuotaUse.Requests = 0, 0 // Requests are counted once they have ended
	r.CausersByInstance = nil                    // no Call of another part depends on CausersByInstance
	encoded := jsonval.EncodeToString(jsonval.ToJSONValue(r))
	if encoded == t.lastSentReportJSON && endedCallCount < t.lastEndedCallCount+max(1, instanceCount/10,
		t.lastEndedCallCount/10) {
		return false
	}
	t.lastSentReportJSON, t.lastEndedCallCount = encoded, endedCallCount
	return true
}

// EndedInstanceStatuses returns the statuses of the instances that have ended. In a part that was cancelled, not all
// have.
func (r PartReport) EndedInstanceStatuses() map[string]ideafile.InstanceStatus {
	return filterStatuses(ideafile.InstanceStatus.HasEnded, r.StatusByInstance)
}

// filterStatuses returns only the statuses for which picked returns true.
func filterStatuses(keep func(ideafile.InstanceStatus) bool,
	statusByToken map[string]ideafile.InstanceStatus) map[string]ideafile.InstanceStatus {
	statusByToken = maps.Clone(statusByToken)
	//workflowcheck:ignore -- each instance by itself, in any order
	maps.DeleteFunc(statusByToken, func(_ string, s ideafile.InstanceStatus) bool { return !keep(s) })
	return statusByToken
}
