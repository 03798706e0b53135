package dataflow

import (
	"fmt"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
)

// CodeRejected marks a Call that a person rejected.
const CodeRejected = "rejected"

// CodeApprovalOverdue marks a process that pauses because nobody decided in time.
const CodeApprovalOverdue = "approval_overdue"

// SetTime sets the time of the events that are reported next.
func (i *Instance) SetTime(now time.Time) { i.CurrentTime = now }

// ApplyDeadlines applies the deadlines, reminders and escalations that have passed. A decision that arrived before its
// deadline is applied counts, even if it came late.
func (i *Instance) ApplyDeadlines() {
	for _, rec := range i.callRecords {
		p := rec.PendingApproval
		if p == nil {
			continue
		}
		p.AdvanceSchedule(i.CurrentTime)
		if p.Deadline != nil && !i.CurrentTime.Before(*p.Deadline) {
			i.applyTimeoutAction(rec)
		}
	}
}

func (i *Instance) applyTimeoutAction(rec *CallRecord) {
	p := rec.PendingApproval
	waitTime := p.Deadline.Sub(p.Since)
	d := i.decisionWithSubjectAndTime(rec, approval.Decision{Kind: p.TimeoutAction,
		DecidedBy: approval.DecidedByTimeout,
		Reason:    fmt.Sprintf("nobody decided within %s", waitTime)})
	switch p.TimeoutAction {
	case policy.Approve:
		i.approveCall(rec, d)
	case policy.Reject:
		i.rejectCall(rec, d)
	default:
		p.Deadline = nil
		i.PauseFault = diag.Faultf(CodeApprovalOverdue, "nobody decided on %s within %s", rec.ID, waitTime)
	}
}

// TakePauseFault returns, once, why the process must pause: nobody decided in time on a Call whose policy then pauses
// the process, or PostponeCall was called.
func (i *Instance) TakePauseFault() *diag.Fault {
	f := i.PauseFault
	i.PauseFault = nil
	return f
}

// NextReviewDueTime returns when the next decision or notification is due; ok is false if neither is.
func (i *Instance) NextReviewDueTime() (next time.Time, ok bool) {
	for _, p := range i.PendingApprovals() {
		if dueTime, exists := p.NextDueTime(); exists && (!ok || dueTime.Before(next)) {
			next, ok = dueTime, true
		}
	}
	return next, ok
}

// PendingApprovals lists the Calls that wait for a person, in Plan order.
func (i *Instance) PendingApprovals() []approval.PendingCall {
	var list []approval.PendingCall
	for _, rec := range i.callRecords {
		if rec.PendingApproval != nil {
			list = append(list, *rec.PendingApproval)
		}
	}
	return list
}

// requestReview makes a Call wait for a person. Invariant: what is shown is kept, and is exactly what will run.
func (i *Instance) requestReview(rec *CallRecord, ready ReadyCall, approvalPolicy *policy.Approval,
	reviewReason string) {
	p := &approval.PendingCall{
		CallID: rec.ID, Tool: rec.Tool, Params: ready.Params, OutputPath: rec.OutputPath,
		OutputMethod: rec.OutputMethod, ScopeValues: ready.ScopeValues,
		ParamsAdaptation: rec.ParamsAdaptation, Since: i.CurrentTime, AllowedDecisions: approvalPolicy.AllowedDecisions,
		ReviewReason: reviewReason, Remarks: rec.Remarks,
	}
	if rec.HasLatentOutput {
		p.Output = rec.LatentOutput
	}
	if toolPolicy := ready.Tool.Approval; toolPolicy != nil {
		p.Note = toolPolicy.Note
	}
	rules, reminders := i.palette.ApprovalOversight.DecidersAndReminders(ready.Tool.Name, ready.Tool.Approval)
	p.Deciders, p.ReminderSchedule = rules, reminders.Schedule(i.CurrentTime)
	if approvalPolicy.Timeout > 0 {
		deadline := i.CurrentTime.Add(approvalPolicy.Timeout)
		p.Deadline, p.TimeoutAction = &deadline, approvalPolicy.TimeoutAction
		if len(p.Deciders) > 0 && p.TimeoutAction == policy.Approve {
			p.TimeoutAction = policy.Reject // what certain people must approve is never approved by timeout
		}
	}
	if n := len(rec.Decisions); n > 0 {
		p.ChangeText = rec.Decisions[n-1].ChangeText()
	}
	rec.TimesAsked++
	if rec.TimesAsked > 1 {
		p.TimesAsked = rec.TimesAsked
	}
	p.SetDigest()
	rec.PendingApproval, rec.readyCall = p, &ready
	rec.setPhase(phaseReviewing)
}

// autoApproveInSimulation approves a Call in a simulation, where nobody is asked.
func (i *Instance) autoApproveInSimulation(rec *CallRecord) {
	i.approveCall(rec, i.decisionWithSubjectAndTime(rec,
		approval.Decision{Kind: policy.Approve, DecidedBy: ideafile.SimulatedDecider,
			Reason: "nobody is asked in a simulation"}))
}

// RequireReview requires a person's review of a Call that has not started, even if its Tool's policy does not. If the
// Call waits for a person already, the reason is shown.
func (i *Instance) RequireReview(callID, reason string) {
	rec := i.FindCall(callID)
	switch {
	case rec == nil:
	case rec.Status == ideafile.CallWaiting:
		rec.ReviewReason = reason
	case rec.PendingApproval != nil:
		rec.PendingApproval.ReviewReason = reason
	}
}

// RequireUnknownOutcomeReview makes a person decide on a running Call that may or may not have had its effect: it must
// not run twice automatically.
func (i *Instance) RequireUnknownOutcomeReview(callID, reason string) {
	i.requestReviewWhileRunning(callID, reason, policy.Approve, policy.Reject, policy.Answer)
}

// RequireResultFromPerson makes a person give the result of a running Call, or reject it, because its Tool asks for
// more than it got.
func (i *Instance) RequireResultFromPerson(callID, reason string) {
	i.requestReviewWhileRunning(callID, reason, policy.Answer, policy.Reject)
}

func (i *Instance) requestReviewWhileRunning(callID, reason string, allowedDecisions ...string) {
	rec := i.FindCall(callID)
	if rec != nil && rec.phase == phaseRunning && rec.readyCall != nil {
		i.requestReview(rec, *rec.readyCall, &policy.Approval{AllowedDecisions: allowedDecisions}, reason)
	}
}
