package dataflow

import (
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// LastReportedCall is what the process was last told about a Call: its status, how often people acted on it, and why
// one of them must.
type LastReportedCall struct {
	ID                     string              `json:"id"`
	Status                 ideafile.CallStatus `json:"status"`
	DecisionAndRemarkCount int                 `json:"decisions,omitempty"`
	// ReviewReason is that of the CallReport.
	ReviewReason string `json:"why,omitempty"`
}

// StatusDetails returns what the dataflow knows of the instance's status.
func (i *Instance) StatusDetails() turn.InstanceStatusDetails {
	var pending []approval.PendingCall
	for _, rec := range i.callRecords {
		if rec.PendingApproval != nil {
			p := *rec.PendingApproval
			p.Exclusions = i.excludedDeciders(rec)
			pending = append(pending, p)
		}
	}
	return turn.InstanceStatusDetails{IsIdle: i.IsIdle(), HasGoal: i.HasGoal(),
		MissingRequiredPaths: i.MissingRequiredPaths(),
		PlanFailure:          i.DirectPlanFault(), Questions: i.QuestionsToLLM(), PendingApprovals: pending}
}

// ReportChangedCalls returns reports of the Calls that differ from their last report, and updates last, which has these
// by id. Where tell returns true, the report includes the Call as it was written.
func (i *Instance) ReportChangedCalls(lastReportedByID map[string]LastReportedCall,
	includeWrittenCall func(*CallRecord) bool) (list []turn.CallReport) {
	for _, rec := range i.callRecords {
		current := LastReportedCall{rec.ID, rec.Status, len(rec.Decisions) + len(rec.Remarks), rec.ReviewReason}
		if p := rec.PendingApproval; p != nil {
			current.ReviewReason = p.ReviewReason
		}
		if lastReportedByID[rec.ID] == current {
			continue
		}
		lastReportedByID[rec.ID] = current
		c := turn.CallReport{Request: rec.Request, Index: rec.Index, CallState: rec.CallState,
			ReviewReason: current.ReviewReason}
		if rec.Fault != nil {
			c.Tool = rec.Tool
		}
		if includeWrittenCall(rec) {
			c.Call = rec.WrittenCall
		}
		list = append(list, c)
	}
	return list
}
