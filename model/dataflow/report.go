package dataflow

import (
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// ReportedCall is what the process was last told about a Call: its status, how often people acted on it, and why one of
// them must.
type ReportedCall struct {
	ID       string              `json:"id"`
	Status   ideafile.CallStatus `json:"status"`
	ActCount int                 `json:"decisions,omitempty"`
	// ReviewReason is that of the CallReport.
	ReviewReason string `json:"why,omitempty"`
}

// Standing returns what the dataflow knows of an InstanceStanding.
func (i *Instance) Standing() turn.InstanceStanding {
	var pending []approval.Pending
	for _, rec := range i.callRecords {
		if rec.PendingApproval != nil {
			p := *rec.PendingApproval
			p.Excluded = i.excludedFrom(rec)
			pending = append(pending, p)
		}
	}
	return turn.InstanceStanding{Idle: i.IsIdle(), HasGoal: i.HasGoal(), MissingRequiredPaths: i.MissingRequiredPaths(),
		PlanFailure: i.DirectPlanFault(), Questions: i.LLMQuestions(), PendingApprovals: pending}
}

// ReportCalls returns reports of the Calls that differ from their last report, and updates last, which has these by id.
// Where tell returns true, the report includes the Call as it was written.
func (i *Instance) ReportCalls(last map[string]ReportedCall, tell func(*CallRecord) bool) (list []turn.CallReport) {
	for _, rec := range i.callRecords {
		now := ReportedCall{rec.ID, rec.Status, len(rec.Decisions) + len(rec.Remarks), rec.ReviewReason}
		if p := rec.PendingApproval; p != nil {
			now.ReviewReason = p.ReviewReason
		}
		if last[rec.ID] == now {
			continue
		}
		last[rec.ID] = now
		c := turn.CallReport{Request: rec.Request, Index: rec.Index, CallState: rec.CallState,
			ReviewReason: now.ReviewReason}
		if rec.Fault != nil {
			c.Tool = rec.Tool
		}
		if tell(rec) {
			c.Call = rec.WrittenCall
		}
		list = append(list, c)
	}
	return list
}
