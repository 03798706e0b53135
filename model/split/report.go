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

// PartReport is what a part reports to the process that it is part of.
type PartReport struct {
	Number   int         `json:"number"`
	Sequence int         `json:"seq"` // counts the part's reports
	Status   loop.Status `json:"status"`
	// AwaitsOnlyPeople: see Loop.AwaitsOnlyPeople.
	AwaitsOnlyPeople bool `json:"waits,omitempty"`
	// Resting reports whether the part is at rest, by its latest Idea: see Loop.IsAtRest.
	Resting           bool                   `json:"rests,omitempty"`
	Requests          int                    `json:"requests"`
	Turns             int                    `json:"turns"`
	Ideas             int                    `json:"ideas"`
	Calls             turn.CallCounts        `json:"calls"`
	Failures          turn.Failures          `json:"failures,omitempty"`
	Usage             turn.TokenUsage        `json:"usage"`
	Quality           quality.Tally          `json:"quality,omitzero"`
	Error             *diag.Fault            `json:"error,omitempty"`
	Output            any                    `json:"output,omitempty"`
	NotWrittenResults []loop.UnwrittenResult `json:"notWritten,omitempty"`
	Instructions      ideafile.StepCounts    `json:"instructions,omitempty"`
	// OutputWirings are the outputs of the direct Plans by which its instances settled; nil if one of them has no
	// output.
	OutputWirings []loop.Wiring `json:"wirings,omitempty"`
	// WiredOutput is Output as the LLM wrote it, if it consists of References alone.
	WiredOutput any `json:"wiredOutput,omitempty"`
	// LLMForbidden means that the LLM may be asked about none of its instances, FellBackToLLM that it took over from a
	// direct Plan.
	LLMForbidden  bool `json:"llmForbidden,omitempty"`
	FellBackToLLM bool `json:"fellBack,omitempty"`
	// Instances holds the status of those that have ended or wait for a person; in the last report, of all.
	Instances map[string]ideafile.InstanceStatus `json:"instances,omitempty"`
	// Costs are the shares of its instances in what its Requests cost; in the last report alone.
	Costs map[string]price.Money `json:"costs,omitempty"`
	// FailedCalls counts the Calls of its instances that failed or were blocked; in the last report alone.
	FailedCalls      map[string]int     `json:"failedCalls,omitempty"`
	PendingApprovals []approval.Pending `json:"pending,omitempty"`
	// CausedBy is who caused what its instances do, beside who started the process, by token; "" is all of them.
	CausedBy map[string][]policy.Identity `json:"causedBy,omitempty"`
	// PendingPlan is its Plan that waits for a person; nil: none does.
	PendingPlan *approval.Plan `json:"plan,omitempty"`
	// QuotaUse is what it has begun and used, with all delegates, and what it needs. Delegates are those under way.
	QuotaUse  turn.QuotaUse       `json:"use,omitzero"`
	Delegates []turn.DelegateView `json:"delegates,omitempty"`
	// HeldUp lists what holds up the part and its delegates.
	HeldUp []turn.HeldUp `json:"heldUp,omitempty"`
	// Digest is the digest of the part's latest Idea.
	Digest string          `json:"digest,omitempty"`
	Fates  []approval.Fate `json:"refusals,omitempty"`
	// SelfPauseCount: see Loop.SelfPauseCount.
	SelfPauseCount int `json:"ownPauses,omitempty"`
	// ResumeCount counts the resumes that the part has received from the whole.
	ResumeCount int `json:"resumes,omitempty"`
}

// AddOutcome adds to the last report of a part what its loop has come to.
func (r *PartReport) AddOutcome(l *loop.Loop, status loop.Status) {
	r.Output, r.OutputWirings, r.WiredOutput = l.Output, l.DirectPlanOutputWirings(), l.WiredOutput
	r.LLMForbidden, r.FellBackToLLM = !l.LLMAllowed(), l.AnyFellBackToLLM()
	r.Error, r.Instances = l.Result(status, false).Error, map[string]ideafile.InstanceStatus{}
	r.Costs, r.FailedCalls = map[string]price.Money{}, map[string]int{}
	for _, inst := range l.Instances {
		r.Instances[inst.Token] = inst.DisplayStatus()
		if inst.LLMCost > 0 {
			r.Costs[inst.Token] = inst.LLMCost
		}
		if failed := inst.FailedCallCount(); failed > 0 {
			r.FailedCalls[inst.Token] = failed
		}
	}
}

// IsFinished reports whether the part has ended.
func (r PartReport) IsFinished() bool {
	return r.Status == loop.StatusCompleted || r.Status == loop.StatusFailed || r.Status == loop.StatusCancelled
}

// ReportFilter keeps a part from reporting what its parent need not know now.
type ReportFilter struct {
	lastReport string // the last report that was sent, without its count of Calls
	lastEnded  int    // ended Calls, in that report
}

// ShouldSend reports whether a report brings something new, and takes it as sent then. Where only the count of ended
// Calls, or who has ended, has changed, it waits for a tenth of the Calls: each report costs both workflows a task.
func (t *ReportFilter) ShouldSend(r PartReport, instances int) bool {
	ended := r.Calls.Total()
	r.Calls, r.Failures, r.Instructions, r.Instances = turn.CallCounts{}, nil, nil,
		instancesThat(func(s ideafile.InstanceStatus) bool { return s == ideafile.InstanceWaiting }, r.Instances)
	r.QuotaUse.Calls, r.QuotaUse.Requests = 0, 0 // its own Requests are counted when they have ended
	r.CausedBy = nil                             // no Call of another part depends on it
	rest := jsonval.EncodeToString(jsonval.ToJSONValue(r))
	if rest == t.lastReport && ended < t.lastEnded+max(1, instances/10, t.lastEnded/10) {
		return false
	}
	t.lastReport, t.lastEnded = rest, ended
	return true
}

// EndedInstances picks the instances that have ended: not all have in a part that was cancelled.
func (r PartReport) EndedInstances() map[string]ideafile.InstanceStatus {
	return instancesThat(ideafile.InstanceStatus.HasEnded, r.Instances)
}

// instancesThat picks the instances by their status.
func instancesThat(picked func(ideafile.InstanceStatus) bool,
	statuses map[string]ideafile.InstanceStatus) map[string]ideafile.InstanceStatus {
	statuses = maps.Clone(statuses)
	//workflowcheck:ignore -- each instance by itself, in any order
	maps.DeleteFunc(statuses, func(_ string, s ideafile.InstanceStatus) bool { return !picked(s) })
	return statuses
}
