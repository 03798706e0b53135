package split

import (
	"time"

	"processidea/model/diag"
	"processidea/model/loop"
	"processidea/model/loop/quota"
	"processidea/model/turn"
)

// This file applies the limits that the parts of a process share.

// DurationLimitFault returns the limit of time if it is reached, and until when the process may run. A zero until means
// that its time is not limited now.
func (p *Process) DurationLimitFault(now time.Time) (reached *diag.Fault, until time.Time) {
	limit := p.Limits.WithDefaults(len(p.All)).Duration
	if limit <= 0 {
		return nil, until
	}
	switch until = p.Started.Add(limit); {
	case now.Before(until):
	case p.onlyRechecksLeft():
		until = time.Time{}
	default:
		reached = diag.Faultf(turn.CodeLimitReached, "the process has run for %s, the limit", limit)
	}
	return reached, until
}

// onlyRechecksLeft reports whether parts are left and these wait for nothing but second answers, which count towards no
// limit.
func (p *Process) onlyRechecksLeft() (left bool) {
	for _, part := range p.All {
		r := part.Report
		switch {
		case r.IsFinished():
		case r.Status != loop.StatusRunning || !r.Resting || len(r.EndedInstances()) < len(part.Tokens):
			return false
		default:
			left = true
		}
	}
	return left
}

// PauseAtLimit pauses the process if all parts together have reached a limit.
func (p *Process) PauseAtLimit(now time.Time) (paused bool) {
	reached, _ := p.LimitFault(now)
	if reached != nil {
		p.PauseReason = reached
	}
	return reached != nil
}

// LimitFault returns the limit that all parts together have reached, and until when the process may run. A zero until
// means that its time is not limited now.
func (p *Process) LimitFault(now time.Time) (reached *diag.Fault, until time.Time) {
	r := p.Result("", "")
	limits, use := p.Limits.WithDefaults(len(p.All)), p.QuotaUse()
	use.Requests, use.Calls = max(use.Requests, r.Requests), max(use.Calls, r.Calls.Total())
	reached, until = p.DurationLimitFault(now)
	switch f := quota.UsageLimitFault(limits, use.Usage, use.Calls); {
	case limits.Requests > 0 && use.Requests >= limits.Requests:
		reached = diag.Faultf(turn.CodeLimitReached, "%d Requests were made, the limit is %d", use.Requests,
			limits.Requests)
	case f != nil:
		reached = f
	}
	return reached, until
}

// quotaLedger returns the account of what the whole and its parts have begun.
func (p *Process) quotaLedger() quota.Ledger {
	book := quota.Ledger{ParentQuota: p.ParentQuota,
		UnclaimedUse: turn.QuotaUse{Requests: p.OwnReport.Requests, Usage: p.OwnReport.Usage}}
	for _, part := range p.All {
		claim := &quota.Allocation{GrantedQuota: part.GrantedQuota, QuotaUse: part.Report.QuotaUse}
		claim.QuotaUse.Usage = part.Report.Usage
		if part.Report.QuotaUse.Usage.Total() > claim.QuotaUse.Usage.Total() {
			claim.QuotaUse.Usage = part.Report.QuotaUse.Usage
		}
		book.Claimants = append(book.Claimants, quota.Consumer{Allocation: claim, Ended: part.Report.IsFinished()})
	}
	book.SetLimits(p.Limits, len(p.All))
	return book
}

// QuotaUse returns what the process and all its delegates have begun and used, and what it needs.
func (p *Process) QuotaUse() turn.QuotaUse { return p.quotaLedger().TotalUse(turn.Quota{}) }

// AllocateQuotas grants the parts what they need, as far as limits allow. It returns the numbers of the parts to
// notify, and the limit that prevents more.
func (p *Process) AllocateQuotas() (numbers []int, f *diag.Fault) {
	book := p.quotaLedger()
	changed, f := book.Allocate()
	for _, n := range changed {
		p.All[n].GrantedQuota = book.Claimants[n].GrantedQuota
		if p.All[n].Started {
			numbers = append(numbers, p.All[n].Number)
		}
	}
	return numbers, f
}

// StallFault returns why the process cannot go on although it is not paused itself: every part that has not ended is
// paused.
func (p *Process) StallFault() *diag.Fault {
	var f *diag.Fault
	for _, part := range p.All {
		r := part.Report
		switch {
		case r.IsFinished():
		case r.Status != loop.StatusPaused:
			return nil
		case f == nil && r.Error != nil:
			f = diag.Faultf(r.Error.Code, "part %d is paused: %s", part.Number, r.Error.Message)
		}
	}
	return f
}
