package dataflow

import (
	"fmt"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// CodeRejected marks a Call that a person rejected.
const CodeRejected = "rejected"

// CodeOverdue marks a process that pauses because nobody decided in time.
const CodeOverdue = "approval_overdue"

// SetTime sets the time at which what comes next happens.
func (i *Instance) SetTime(now time.Time) { i.now = now }

// ApplyDeadlines applies the deadlines that have passed. A decision that arrived before its deadline is applied counts, even if
// it came late.
func (i *Instance) ApplyDeadlines() {
	for _, rec := range i.records {
		if p := rec.Pending; p != nil && p.Deadline != nil && !i.now.Before(*p.Deadline) {
			i.expireCall(rec)
		}
	}
}

func (i *Instance) expireCall(rec *Record) {
	p := rec.Pending
	waited := p.Deadline.Sub(p.Since)
	d := turn.Decision{Kind: p.OnTimeout, Call: rec.ID, Digest: p.Digest, By: turn.DecidedByTimeout, At: i.now,
		Reason: fmt.Sprintf("nobody decided within %s", waited)}
	switch p.OnTimeout {
	case ideafile.Approve:
		i.approve(rec, d)
	case ideafile.Reject:
		i.reject(rec, d)
	default:
		p.Deadline = nil
		i.overdueFault = diag.Faultf(CodeOverdue, "nobody decided on %s within %s", rec.ID, waited)
	}
}

// TakeOverdue returns, once, why the process must pause: nobody decided in time on a Call whose policy demands that.
func (i *Instance) TakeOverdue() *diag.Fault {
	f := i.overdueFault
	i.overdueFault = nil
	return f
}

// NextDeadline returns when the next decision is due; ok is false where none is.
func (i *Instance) NextDeadline() (next time.Time, ok bool) {
	for _, rec := range i.records {
		if p := rec.Pending; p != nil && p.Deadline != nil && (!ok || p.Deadline.Before(next)) {
			next, ok = *p.Deadline, true
		}
	}
	return next, ok
}

// Pending lists the Calls that wait for a person, in Plan order.
func (i *Instance) Pending() []turn.PendingApproval {
	var list []turn.PendingApproval
	for _, rec := range i.records {
		if rec.Pending != nil {
			list = append(list, *rec.Pending)
		}
	}
	return list
}

// requestReview makes a Call wait for a person. Invariant: what is shown is kept, and is exactly what will run.
func (i *Instance) requestReview(rec *Record, ready ReadyCall, policy *ideafile.Approval, why string) {
	p := &turn.PendingApproval{
		Call: rec.ID, Tool: rec.Tool, Params: ready.Params, OutputPath: rec.OutputPath, OutputMethod: rec.OutputMethod, Scopes: ready.Scopes,
		Adapted: rec.Adapted, Since: i.now, Allow: policy.Allow, ReviewReason: why,
	}
	if rec.HasOutput {
		p.Output = rec.Output
	}
	if policy.Timeout > 0 {
		until := i.now.Add(policy.Timeout)
		p.Deadline, p.OnTimeout = &until, policy.OnTimeout
	}
	rec.timesAsked++
	if rec.timesAsked > 1 {
		p.TimesAsked = rec.timesAsked
	}
	p.SetDigest()
	rec.Pending, rec.ready = p, &ready
	rec.moveTo(reviewing)
}

// approveSimulated approves a Call in a simulation, where nobody is asked.
func (i *Instance) approveSimulated(rec *Record) {
	i.approve(rec, turn.Decision{
		Kind: ideafile.Approve, Call: rec.ID, Digest: rec.Pending.Digest, By: ideafile.SimulatedPerson, At: i.now, Reason: "nobody is asked in a simulation",
	})
}

// RequireReview has a person review a Call that has not started, whatever its Tool's policy says.
func (i *Instance) RequireReview(id, why string) {
	if rec := i.FindCall(id); rec != nil && rec.Status == ideafile.Waiting {
		rec.ReviewReason = why
	}
}

// ReviewUnknownEffect has a person decide on a running Call that may or may not have had its effect: it must not run twice by
// itself.
func (i *Instance) ReviewUnknownEffect(id, why string) {
	i.requestReviewWhileRunning(id, why, ideafile.Approve, ideafile.Reject, ideafile.Answer)
}

// RequireAnswer has a person give the result of a running Call whose tool asks for more than it got, or reject the Call.
func (i *Instance) RequireAnswer(id, why string) {
	i.requestReviewWhileRunning(id, why, ideafile.Answer, ideafile.Reject)
}

func (i *Instance) requestReviewWhileRunning(id, why string, allow ...string) {
	rec := i.FindCall(id)
	if rec != nil && rec.phase == running && rec.ready != nil {
		i.requestReview(rec, *rec.ready, &ideafile.Approval{Allow: allow}, why)
	}
}
