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
func (p *Process) DurationLimitFault(now time.Time) (fault *diag.Fault, deadline time.Time) {
	limit := p.Limits.WithDefaults(len(p.Parts)).Duration
	if limit <= 0 {
		return nil, deadline
	}
	switch deadline = p.StartedAt.Add(limit); {
	case now.Before(deadline):
	case p.hasOnlyRechecksLeft():
		deadline = time.Time{}
	default:
		fault = diag.Faultf(turn.CodeLimitReached, "the process has run for %s, the limit", limit)
	}
	return fault, deadline
}

// hasOnlyRechecksLeft reports whether parts are left and these wait for nothing but second answers, which count towards
// no limit.
func (p *Process) hasOnlyRechecksLeft() (onlyRechecks bool) {
	for _, part := range p.Parts {
		r := part.Report
		switch {
		case r.IsFinished():
		case r.Status != loop.StatusRunning || !r.IsAtRest || len(r.EndedInstanceStatuses()) < len(part.InstanceTokens):
			return false
		default:
			onlyRechecks = true
		}
	}
	return onlyRechecks
}

// PauseAtLimit pauses the process if all parts together have reached a limit.
func (p *Process) PauseAtLimit(now time.Time) (wasPaused bool) {
	fault, _ := p.LimitFault(now)
	if fault != nil {
		p.PauseReason = fault
	}
	return fault != nil
}

// LimitFault returns the limit that all parts together have reached, and until when the process may run. A zero until
// means that its time is not limited now.
func (p *Process) LimitFault(now time.Time) (fault *diag.Fault, deadline time.Time) {
	r := p.Result("", "")
	limits, quotaUse := p.Limits.WithDefaults(len(p.Parts)), p.QuotaUse()
	quotaUse.Requests, quotaUse.Calls = max(quotaUse.Requests, r.RequestCount), max(quotaUse.Calls, r.Calls.Total())
	fault, deadline = p.DurationLimitFault(now)
	switch f := quota.UsageLimitFault(limits, quotaUse.Usage, quotaUse.Calls); {
	case limits.Requests > 0 && quotaUse.Requests >= limits.Requests:
		fault = diag.Faultf(turn.CodeLimitReached, "%d Requests were made, the limit is %d", quotaUse.Requests,
			limits.Requests)
	case f != nil:
		fault = f
	}
	return fault, deadline
}

// quotaLedger returns the account of what the whole and its parts have begun.
func (p *Process) quotaLedger() quota.Ledger {
	ledger := quota.Ledger{ParentQuota: p.ParentQuota,
		OwnUse: turn.QuotaUse{Requests: p.OwnReport.RequestCount, Usage: p.OwnReport.Usage}}
	for _, part := range p.Parts {
		allocation := &quota.Allocation{GrantedQuota: part.GrantedQuota, QuotaUse: part.Report.QuotaUse}
		allocation.QuotaUse.Usage = part.Report.Usage
		if part.Report.QuotaUse.Usage.Total() > allocation.QuotaUse.Usage.Total() {
			allocation.QuotaUse.Usage = part.Report.QuotaUse.Usage
		}
		ledger.Consumers = append(ledger.Consumers,
			quota.Consumer{Allocation: allocation, HasEnded: part.Report.IsFinished()})
	}
	ledger.SetLimits(p.Limits, len(p.Parts))
	return ledger
}

// QuotaUse returns what the process and all its delegates have begun and used, and what it needs.
func (p *Process) QuotaUse() turn.QuotaUse { return p.quotaLedger().TotalUse(turn.Quota{}) }

// AllocateQuotas grants the parts what they need, as far as limits allow. It returns the numbers of the parts to
// notify, and the limit that prevents more.
func (p *Process) AllocateQuotas() (partNumbersToNotify []int, f *diag.Fault) {
	ledger := p.quotaLedger()
	partIndexes, f := ledger.Allocate()
	for _, n := range partIndexes {
		p.Parts[n].GrantedQuota = ledger.Consumers[n].GrantedQuota
		if p.Parts[n].HasStarted {
			partNumbersToNotify = append(partNumbersToNotify, p.Parts[n].Number)
		}
	}
	return partNumbersToNotify, f
}

// StallFault returns why the process cannot go on although it is not paused itself: every part that has not ended is
// paused.
func (p *Process) StallFault() *diag.Fault {
	var f *diag.Fault
	for _, part := range p.Parts {
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
