package loop

import (
	"cmp"
	"slices"
	"time"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop/quota"
	"processidea/model/turn"
)

// NextStep is what a process does next.
type NextStep string

// The steps of a process.
const (
	StepRequest  NextStep = "request" // make the Request that Advance returned
	StepWait     NextStep = "wait"    // for a reply, a report, or NextWakeTime
	StepPaused   NextStep = "paused"  // until a person resumes the process
	StepFinished NextStep = "finished"
)

// Advance brings the process as far as it can go now and returns the next Step, with the Request to make for
// StepRequest. The package documentation gives the order of its decisions. After StepWait, Advance must be called again
// at NextWakeTime at the latest.
func (l *Loop) Advance(now time.Time) (NextStep, *turn.RequestInput) {
	l.wakeTime, l.isAwaitingQuota = time.Time{}, false
	l.pauseForDisagreement()
	l.concludeDirectPlans()
	l.resolveOrDropWiredOutput()
	l.settleReachedGoals()
	l.resolveDirectPlanOutput()
	l.endInstancesSettledForNow()
	if l.IsFinished() {
		return StepFinished, nil
	}
	onlyRechecksRemain := l.isGoalReached() && l.HasRechecksInFlight()
	if f := l.checkDurationLimit(now); !onlyRechecksRemain { // no limit counts rechecks
		l.PauseWithFault(f)
	}
	if l.PauseReason == nil {
		l.PauseWithFault(l.allocateQuotas())
	}
	switch {
	case l.PauseReason != nil:
		return StepPaused, nil
	case l.requestInFlight != nil || onlyRechecksRemain || !l.checkRequestDue(now):
		return StepWait, nil
	}
	l.PauseWithFault(l.detectStall())
	l.PauseWithFault(l.nextRequestLimitFault())
	switch {
	case l.PauseReason != nil:
		return StepPaused, nil
	case l.quotaLedger().ReservedQuota().Requests >= l.ParentQuota.Requests:
		l.isAwaitingQuota = true
		return StepWait, nil
	}
	return StepRequest, l.startRequest()
}

func (l *Loop) startRequest() *turn.RequestInput {
	input, hadUnsealedChanges := l.composeRequest(), l.HasUnsealedChanges
	l.requestInFlight = &llmRequest{RequestInput: input, AllInstancesInput: l.AllInstancesInput(),
		LogBeforeRequest: l.TakeUnsealedLog(), hadUnsealedChanges: hadUnsealedChanges}
	l.sampleRecheck()
	l.clearGathering()
	l.StallDetector.LastProgress = cmp.Or(l.StallDetector.LastProgress, l.countProgress())
	for _, inst := range l.coveredInstances(input) {
		if !input.IsOutputOnly { // a Request for the output alone has no Calls for instances, so no instance closes it
			inst.LastCoveringRequest, inst.IsIdle = input.RequestNumber, false
		}
	}
	for _, inst := range l.instancesThatMayGetCalls(input) {
		inst.WasDecidedSinceRequest, inst.WasRevisedSinceRequest = false, false
	}
	return input
}

// IsFinished reports whether nothing is left to do.
func (l *Loop) IsFinished() bool {
	return l.requestInFlight == nil && l.PauseReason == nil && !l.HasRechecksInFlight() && l.isGoalReached()
}

// isGoalReached reports whether every instance has ended and the output is there, if one is wanted and can still be
// had.
func (l *Loop) isGoalReached() bool {
	settledCount := 0
	for _, inst := range l.Instances {
		switch {
		case !inst.Status.HasEnded():
			return false
		case inst.Status == ideafile.InstanceSettled:
			settledCount++
		}
	}
	isOutputLeftToWhole := l.IsPart && l.HasTriedDirectPlanOutput
	return l.Idea.OutputSchema == nil || l.HasOutput || isOutputLeftToWhole || settledCount == 0 || !l.IsLLMAllowed()
}

// nextRequestLimitFault returns the limit that the next Request would break; nil if it would break none.
func (l *Loop) nextRequestLimitFault() *diag.Fault {
	ledger, limits := l.quotaLedger(), l.Limits.WithDefaults(1)
	if n := ledger.ReservedQuota().Requests; limits.Requests > 0 && n >= limits.Requests {
		return diag.Faultf(turn.CodeLimitReached, "%d Requests were made, the limit", n)
	}
	return quota.UsageLimitFault(limits, ledger.TotalUse(turn.Quota{}).Usage,
		max(l.CallCounts().Total(), ledger.ReservedQuota().Calls))
}

// quotaLedger returns the account of what the process and its instances have begun.
func (l *Loop) quotaLedger() quota.Ledger {
	ledger := quota.Ledger{ParentQuota: l.ParentQuota,
		OwnUse: turn.QuotaUse{Requests: l.RequestCount, Usage: l.Usage}}
	if l.requestInFlight != nil && l.requestInFlight.Reply == nil {
		ledger.OwnUse.Requests++
	}
	for _, inst := range l.Instances {
		ledger.Consumers = append(ledger.Consumers, quota.Consumer{Allocation: &inst.QuotaAllocation,
			HasEnded: !inst.CanReceiveCalls()})
	}
	ledger.SetLimits(l.Limits, 1)
	return ledger
}

// allocateQuotas grants the instances the Calls and the delegates' Requests that they need, as far as limits allow. It
// returns the limit that prevents more. It returns nil if none does, or if the limit is that of the process that this
// one is a part or a delegate of.
func (l *Loop) allocateQuotas() *diag.Fault {
	changedInstanceIndexes, f := l.quotaLedger().Allocate()
	for _, n := range changedInstanceIndexes {
		l.instancesWithNewQuota = append(l.instancesWithNewQuota, l.Instances[n])
	}
	return f
}

// QuotaUse returns what the process and all its delegates have begun and used, and what it needs.
func (l *Loop) QuotaUse() turn.QuotaUse {
	var awaitedQuota turn.Quota
	if l.isAwaitingQuota {
		awaitedQuota.Requests = 1
	}
	return l.quotaLedger().TotalUse(awaitedQuota)
}

// QuotaOf returns the quota granted to an instance.
func (l *Loop) QuotaOf(instanceToken string) turn.Quota {
	return l.instanceByToken[instanceToken].QuotaAllocation.GrantedQuota
}

// TakeInstancesWithNewQuota returns the instances whose Quota has changed since its last call.
func (l *Loop) TakeInstancesWithNewQuota() []*InstanceProgress {
	for _, n := range l.quotaLedger().LimitUnlimitedConsumers() {
		l.instancesWithNewQuota = append(l.instancesWithNewQuota, l.Instances[n])
	}
	return takeAndClear(&l.instancesWithNewQuota)
}

// checkDurationLimit returns the time limit if it is reached. Otherwise it schedules a call of Advance for the time
// when it will be reached.
func (l *Loop) checkDurationLimit(now time.Time) *diag.Fault {
	limit := l.Limits.Duration
	if limit <= 0 {
		return nil
	}
	if now.Sub(l.StartedAt) >= limit {
		return diag.Faultf(turn.CodeLimitReached, "the process has run for %s, the limit", limit)
	}
	l.scheduleWake(l.StartedAt.Add(limit))
	return nil
}

// StalledDelegatesFault returns why the process cannot go on although it is not paused itself: nothing runs but
// delegates that are paused.
func (l *Loop) StalledDelegatesFault() *diag.Fault {
	if isIdle := l.PauseReason == nil && l.requestInFlight == nil && len(l.readyInstances()) == 0; !isIdle {
		return nil
	}
	var f *diag.Fault
	for _, inst := range l.Instances {
		switch {
		case inst.phase() != phaseBusy:
		case !inst.IsStalled:
			return nil
		case f == nil && len(inst.Delegates) > 0:
			d := inst.Delegates[0]
			f = diag.Faultf(cmp.Or(d.PauseCode, turn.CodePaused), "its delegate %s is %s", d.ProcessID, d.StatusLine())
		}
	}
	return f
}

// AwaitsOnlyPeople reports whether the process waits for people and for nothing else.
func (l *Loop) AwaitsOnlyPeople() bool {
	anyBusy, anyAwaitingPerson := l.anyBusyOrAwaitingPerson()
	if l.PendingPlan != nil { // the next Request waits for it too
		return !anyBusy
	}
	return anyAwaitingPerson && !anyBusy && l.requestInFlight == nil && len(l.readyInstances()) == 0
}

// minRestWait is how long the wait for the next Request must be at least for IsAtRest to count it as rest.
const minRestWait = time.Minute

// IsAtRest reports whether everything that can run has run, and the process waits for people or for time. For a paused
// process it reports whether nothing in it runs any more. Advance must have been called before.
func (l *Loop) IsAtRest(now time.Time) bool {
	if (l.requestInFlight != nil && l.PendingPlan == nil) || l.IsFinished() {
		return false
	}
	isRunning := func(inst *InstanceProgress) bool {
		return inst.phase() == phaseBusy && (l.PauseReason == nil || !inst.IsHeldByPause || inst.RunningCallCount > 0)
	}
	if l.anyInstance(isRunning) {
		return false
	}
	return l.PauseReason != nil || l.PendingPlan != nil || len(l.readyInstances()) == 0 ||
		l.wakeTime.After(now.Add(minRestWait))
}

// AllReportedSincePause reports whether every instance that is at work has reported since the pause reached it, or is
// idle.
func (l *Loop) AllReportedSincePause() bool {
	return !l.anyInstance(func(inst *InstanceProgress) bool {
		return inst.isWorking() && !inst.IsIdle &&
			!inst.IsHeldByPause
	})
}

// HasUnsealedPause reports whether no Idea records the pause yet.
func (l *Loop) HasUnsealedPause() bool {
	return slices.ContainsFunc(l.UnsealedLog,
		func(e turn.LogEntry) bool { return e.Decision != nil && e.Decision.Kind == approval.SteerPause })
}

// readyInstances lists the instances that the next Request can be about.
func (l *Loop) readyInstances() []*InstanceProgress {
	return l.instancesWhere(func(inst *InstanceProgress) bool {
		return inst.phase() == phaseReady &&
			!l.awaitsWiredOutput(inst)
	})
}

// allInstancesEnded reports whether every instance has ended, so that only the output may be missing.
func (l *Loop) allInstancesEnded() bool { return !l.anyInstance((*InstanceProgress).isWorking) }

// GatherAskedPeopleChangeID names the rule that a Request waits for the decisions of people who were asked just now.
const GatherAskedPeopleChangeID = "gather for people who were just asked"

// checkRequestDue reports whether a Request is made now. Once an instance is ready, the Request waits for busy
// instances to share it, but no longer than the gathering time (RequestGatherDelay), and not once it is full. If people
// have just decided on all ready instances, it also waits for instances that still need a decision, so that ten
// decisions in a row make one Request. If the file sets ReviewGatherDelay, it waits that long for people who were just
// asked.
func (l *Loop) checkRequestDue(now time.Time) bool {
	if l.allInstancesEnded() {
		return true
	}
	readyInstances := l.readyInstances()
	if len(readyInstances) == 0 {
		l.clearGathering()
		return false
	}
	if l.ReadySince.IsZero() {
		l.ReadySince = now
	}
	if len(l.limitToRequestSize(readyInstances)) < len(readyInstances) { // the Request is full
		return !l.requestMissingReports(now, l.ReadySince.Add(maxInterimReportWait))
	}
	gatherUntil := l.ReadySince.Add(l.Idea.Config.RequestGatherDelay)
	anyBusy, anyAwaitingPerson := l.anyBusyOrAwaitingPerson()
	isUndecided := func(inst *InstanceProgress) bool { return !inst.WasDecidedSinceRequest }
	if !anyBusy && !(anyAwaitingPerson && !slices.ContainsFunc(readyInstances, isUndecided)) {
		askedAt, reviewGatherDelay := l.latestApprovalRequestTime(), l.Idea.Config.ReviewGatherDelay
		if askedAt.IsZero() || reviewGatherDelay == 0 || !l.IsPatched(GatherAskedPeopleChangeID) {
			return true
		}
		if reviewGatherUntil := askedAt.Add(reviewGatherDelay); reviewGatherUntil.Before(gatherUntil) {
			gatherUntil = reviewGatherUntil
		}
	}
	if !now.Before(gatherUntil) {
		return !l.requestMissingReports(now, gatherUntil.Add(maxInterimReportWait))
	}
	l.scheduleWake(gatherUntil)
	return false
}

// InterimReportChangeID names the rule that busy instances report before a Request that does not cover them is made.
const InterimReportChangeID = "interim reports before a Request for others"

// maxInterimReportWait bounds how long a Request waits for interim reports: an instance that cannot answer does not
// hold up the others.
const maxInterimReportWait = 5 * time.Second

// requestMissingReports asks each busy instance once to report what it has done so far. It reports whether a report is
// missing and the deadline is not reached. Unasked, an instance reports only when it is idle. Without the reports, the
// Idea of a Request for other instances would list finished Calls as running, and a fork at that Idea would repeat
// their effects.
func (l *Loop) requestMissingReports(now, deadline time.Time) (anyMissing bool) {
	if !now.Before(deadline) || !l.IsPatched(InterimReportChangeID) {
		return false
	}
	for _, inst := range l.Instances {
		if inst.phase() != phaseBusy {
			continue
		}
		if inst.WantedReportNumber == 0 {
			inst.WantedReportNumber = inst.LastReportVersion[0] + 1
			l.instancesToAskForReport = append(l.instancesToAskForReport, inst)
		}
		anyMissing = anyMissing || inst.LastReportVersion[0] < inst.WantedReportNumber
	}
	if anyMissing {
		l.scheduleWake(deadline)
	}
	return anyMissing
}

// TakeInstancesToAskForReport returns the instances to ask for a report that were added since its last call.
func (l *Loop) TakeInstancesToAskForReport() []*InstanceProgress {
	return takeAndClear(&l.instancesToAskForReport)
}

// clearGathering ends the gathering of a Request.
func (l *Loop) clearGathering() {
	l.ReadySince = time.Time{}
	for _, inst := range l.Instances {
		inst.WantedReportNumber = 0
	}
}

// latestApprovalRequestTime returns when a person was last asked about a Call that still waits; zero if none waits.
func (l *Loop) latestApprovalRequestTime() (latest time.Time) {
	for _, inst := range l.Instances {
		if inst.phase() != phaseAwaitingPerson {
			continue
		}
		for _, a := range inst.PendingApprovals {
			if a.Since.After(latest) {
				latest = a.Since
			}
		}
	}
	return latest
}

// HasBusyInstance reports whether an instance is busy.
func (l *Loop) HasBusyInstance() bool {
	anyBusy, _ := l.anyBusyOrAwaitingPerson()
	return anyBusy
}

// anyBusyOrAwaitingPerson reports whether an instance is busy, and whether one waits for a person.
func (l *Loop) anyBusyOrAwaitingPerson() (anyBusy, anyAwaitingPerson bool) {
	for _, inst := range l.Instances {
		switch inst.phase() {
		case phaseAwaitingPerson:
			anyAwaitingPerson = true
		case phaseBusy:
			anyBusy = true
		}
	}
	return anyBusy, anyAwaitingPerson
}

func (l *Loop) scheduleWake(t time.Time) {
	if l.wakeTime.IsZero() || t.Before(l.wakeTime) {
		l.wakeTime = t
	}
}

// NextWakeTime returns when Advance must be called again even if nothing happens; zero: never.
func (l *Loop) NextWakeTime() time.Time { return l.wakeTime }
