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

// CodeOverdue marks a process that pauses because nobody decided in time.
const CodeOverdue = "approval_overdue"

// SetTime sets the time of the events that are reported next.
func (i *Instance) SetTime(now time.Time) { i.Now = now }

// ApplyDeadlines applies the deadlines, reminders and escalations that have passed. A decision that arrived before its
// deadline is applied counts, even if it came late.
func (i *Instance) ApplyDeadlines() {
	for _, rec := range i.callRecords {
		p := rec.PendingApproval
		if p == nil {
			continue
		}
		p.AdvanceTo(i.Now)
		if p.Deadline != nil && !i.Now.Before(*p.Deadline) {
			i.expireCall(rec)
		}
	}
}

func (i *Instance) expireCall(rec *CallRecord) {
	p := rec.PendingApproval
	waited := p.Deadline.Sub(p.Since)
	d := i.decisionOn(rec, approval.Decision{Kind: p.OnTimeout, DecidedBy: approval.DecidedByTimeout,
		Reason: fmt.Sprintf("nobody decided within %s", waited)})
	switch p.OnTimeout {
	case policy.Approve:
		i.approveCall(rec, d)
	case policy.Reject:
		i.rejectCall(rec, d)
	default:
		p.Deadline = nil
		i.PauseFault = diag.Faultf(CodeOverdue, "nobody decided on %s within %s", rec.ID, waited)
	}
}

// TakePauseFault returns, once, why the process must pause: nobody decided in time on a Call whose policy then pauses
// the process, or PostponeCall was called.
func (i *Instance) TakePauseFault() *diag.Fault {
	f := i.PauseFault
	i.PauseFault = nil
	return f
}

// NextDeadline returns when the next decision or notification is due; ok is false if neither is.
func (i *Instance) NextDeadline() (next time.Time, ok bool) {
	for _, p := range i.PendingApprovals() {
		if at, has := p.NextDueTime(); has && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	return next, ok
}

// PendingApprovals lists the Calls that wait for a person, in Plan order.
func (i *Instance) PendingApprovals() []approval.Pending {
	var list []approval.Pending
	for _, rec := range i.callRecords {
		if rec.PendingApproval != nil {
			list = append(list, *rec.PendingApproval)
		}
	}
	return list
}

// requestReview makes a Call wait for a person. Invariant: what is shown is kept, and is exactly what will run.
func (i *Instance) requestReview(rec *CallRecord, ready ReadyCall, asks *policy.Approval, why string) {
	p := &approval.Pending{
		CallID: rec.ID, Tool: rec.Tool, Params: ready.Params, OutputPath: rec.OutputPath,
		OutputMethod: rec.OutputMethod, ScopeValues: ready.ScopeValues,
		ParamsAdaptation: rec.ParamsAdaptation, Since: i.Now, AllowedDecisions: asks.AllowedDecisions,
		ReviewReason: why, Remarks: rec.Remarks,
	}
	if rec.HasOutput {
		p.Output = rec.Output
	}
	if own := ready.Tool.Approval; own != nil {
		p.Note = own.Note
	}
	rules, whileWaiting := i.palette.ApprovalOverride.PeopleFor(ready.Tool.Name, ready.Tool.Approval)
	p.Deciders, p.WhileWaiting = rules, whileWaiting.Schedule(i.Now)
	if asks.Timeout > 0 {
		until := i.Now.Add(asks.Timeout)
		p.Deadline, p.OnTimeout = &until, asks.TimeoutAction
		if len(p.Deciders) > 0 && p.OnTimeout == policy.Approve {
			p.OnTimeout = policy.Reject // what certain people must approve is never approved by timeout
		}
	}
	rec.TimesAsked++
	if rec.TimesAsked > 1 {
		p.TimesAsked = rec.TimesAsked
	}
	p.SetDigest()
	rec.PendingApproval, rec.readyCall = p, &ready
	rec.moveTo(reviewing)
}

// autoApproveInSimulation approves a Call in a simulation, where nobody is asked.
func (i *Instance) autoApproveInSimulation(rec *CallRecord) {
	i.approveCall(rec, i.decisionOn(rec, approval.Decision{Kind: policy.Approve, DecidedBy: ideafile.SimulatedPerson,
		Reason: "nobody is asked in a simulation"}))
}

// RequireReview requires a person's review of a Call that has not started, even if its Tool's policy does not. If the
// Call waits for a person already, the reason is shown.
func (i *Instance) RequireReview(id, why string) {
	rec := i.FindCall(id)
	switch {
	case rec == nil:
	case rec.Status == ideafile.Waiting:
		rec.ReviewReason = why
	case rec.PendingApproval != nil:
		rec.PendingApproval.ReviewReason = why
	}
}

// RequireUnknownOutcomeReview makes a person decide on a running Call that may or may not have had its effect: it must
// not run twice automatically.
func (i *Instance) RequireUnknownOutcomeReview(id, why string) {
	i.requestReviewWhileRunning(id, why, policy.Approve, policy.Reject, policy.Answer)
}

// RequireResultFromPerson makes a person give the result of a running Call, or reject it, because its Tool asks for
// more than it got.
func (i *Instance) RequireResultFromPerson(id, why string) {
	i.requestReviewWhileRunning(id, why, policy.Answer, policy.Reject)
}

func (i *Instance) requestReviewWhileRunning(id, why string, allow ...string) {
	rec := i.FindCall(id)
	if rec != nil && rec.phase == running && rec.readyCall != nil {
		i.requestReview(rec, *rec.readyCall, &policy.Approval{AllowedDecisions: allow}, why)
	}
}
