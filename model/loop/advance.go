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

// Step is what a process does next.
type Step string

// The steps of a process.
const (
	StepRequest  Step = "request" // make the Request that Advance returned
	StepWait     Step = "wait"    // for a reply, a report, or NextWakeTime
	StepPaused   Step = "paused"  // until a person resumes the process
	StepFinished Step = "finished"
)

// Advance brings the process as far as it can go now and returns the next Step, with the Request to make for
// StepRequest. The package documentation gives the order of its decisions. After StepWait, Advance must be called again
// at NextWakeTime at the latest.
func (l *Loop) Advance(now time.Time) (Step, *turn.RequestInput) {
	l.wakeTime, l.awaitsQuota = time.Time{}, false
	l.pauseForDisagreement()
	l.settleDirectPlanInstances()
	l.endWithOrDropWiredOutput()
	l.settleReachedGoals()
	l.takeDirectPlanOutput()
	l.endSettledInstances()
	if l.IsFinished() {
		return StepFinished, nil
	}
	onlyRechecksLeft := l.isGoalReached() && l.RechecksInFlight()
	if f := l.durationLimitFault(now); !onlyRechecksLeft { // no limit counts rechecks
		l.PauseWithFault(f)
	}
	if l.PauseReason == nil {
		l.PauseWithFault(l.allocateQuotas())
	}
	switch {
	case l.PauseReason != nil:
		return StepPaused, nil
	case l.requestInFlight != nil || onlyRechecksLeft || !l.isRequestDue(now):
		return StepWait, nil
	}
	l.PauseWithFault(l.noProgressFault())
	l.PauseWithFault(l.limitFault())
	switch {
	case l.PauseReason != nil:
		return StepPaused, nil
	case l.quotaLedger().ReservedQuota().Requests >= l.ParentQuota.Requests:
		l.awaitsQuota = true
		return StepWait, nil
	}
	return StepRequest, l.startRequest()
}

func (l *Loop) startRequest() *turn.RequestInput {
	input, unsealed := l.composeRequest(), l.HasUnsealedChanges
	l.requestInFlight = &llmRequest{RequestInput: input, AllInstancesInput: l.AllInstancesInput(),
		LogBeforeRequest: l.TakeUnsealedLog(), hadUnsealedChanges: unsealed}
	l.drawRecheck()
	l.clearGathering()
	l.Progress.LastProgress = cmp.Or(l.Progress.LastProgress, l.countProgress())
	for _, inst := range l.coveredInstances(input) {
		if !input.OutputOnly { // a Request for the output alone has no Calls for instances, so no instance closes it
			inst.LastCoveringRequest, inst.Idle = input.RequestNumber, false
		}
	}
	for _, inst := range l.instancesThatMayGetCalls(input) {
		inst.DecidedSinceRequest, inst.RevisedSinceRequest = false, false
	}
	return input
}

// IsFinished reports whether nothing is left to do.
func (l *Loop) IsFinished() bool {
	return l.requestInFlight == nil && l.PauseReason == nil && !l.RechecksInFlight() && l.isGoalReached()
}

// isGoalReached reports whether every instance has ended and the output is there, if one is wanted and can still be
// had.
func (l *Loop) isGoalReached() bool {
	settled := 0
	for _, inst := range l.Instances {
		switch {
		case !inst.Status.HasEnded():
			return false
		case inst.Status == ideafile.InstanceSettled:
			settled++
		}
	}
	leftToWhole := l.IsPart && l.PlanOutputTried
	return l.Idea.OutputSchema == nil || l.HasOutput || leftToWhole || settled == 0 || !l.LLMAllowed()
}

// limitFault returns the limit that the next Request would break; nil if it would break none.
func (l *Loop) limitFault() *diag.Fault {
	book, limits := l.quotaLedger(), l.Limits.WithDefaults(1)
	if n := book.ReservedQuota().Requests; limits.Requests > 0 && n >= limits.Requests {
		return diag.Faultf(turn.CodeLimitReached, "%d Requests were made, the limit", n)
	}
	return quota.UsageLimitFault(limits, book.TotalUse(turn.Quota{}).Usage,
		max(l.CallCounts().Total(), book.ReservedQuota().Calls))
}

// quotaLedger returns the account of what the process and its instances have begun.
func (l *Loop) quotaLedger() quota.Ledger {
	book := quota.Ledger{ParentQuota: l.ParentQuota,
		UnclaimedUse: turn.QuotaUse{Requests: l.RequestCount, Usage: l.Usage}}
	if l.requestInFlight != nil && l.requestInFlight.Reply == nil {
		book.UnclaimedUse.Requests++
	}
	for _, inst := range l.Instances {
		book.Claimants = append(book.Claimants, quota.Consumer{Allocation: &inst.QuotaClaim,
			Ended: !inst.CanReceiveCalls()})
	}
	book.SetLimits(l.Limits, 1)
	return book
}

// allocateQuotas grants the instances the Calls and the delegates' Requests that they need, as far as limits allow. It
// returns the limit that prevents more. It returns nil if none does, or if the limit is that of the process that this
// one is a part or a delegate of.
func (l *Loop) allocateQuotas() *diag.Fault {
	changed, f := l.quotaLedger().Allocate()
	for _, n := range changed {
		l.instancesWithNewQuota = append(l.instancesWithNewQuota, l.Instances[n])
	}
	return f
}

// QuotaUse returns what the process and all its delegates have begun and used, and what it needs.
func (l *Loop) QuotaUse() turn.QuotaUse {
	var waiting turn.Quota
	if l.awaitsQuota {
		waiting.Requests = 1
	}
	return l.quotaLedger().TotalUse(waiting)
}

// QuotaOf returns the quota granted to an instance.
func (l *Loop) QuotaOf(token string) turn.Quota { return l.byToken[token].QuotaClaim.GrantedQuota }

// TakeInstancesWithNewQuota returns the instances whose Quota has changed since its last call.
func (l *Loop) TakeInstancesWithNewQuota() []*InstanceProgress {
	for _, n := range l.quotaLedger().LimitUnlimitedConsumers() {
		l.instancesWithNewQuota = append(l.instancesWithNewQuota, l.Instances[n])
	}
	return takeAll(&l.instancesWithNewQuota)
}

// durationLimitFault returns the time limit if it is reached. Otherwise it schedules a call of Advance for the time
// when it will be reached.
func (l *Loop) durationLimitFault(now time.Time) *diag.Fault {
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

// StallFault returns why the process cannot go on although it is not paused itself: nothing runs but delegates that are
// paused.
func (l *Loop) StallFault() *diag.Fault {
	if idle := l.PauseReason == nil && l.requestInFlight == nil && len(l.readyInstances()) == 0; !idle {
		return nil
	}
	var f *diag.Fault
	for _, inst := range l.Instances {
		switch {
		case inst.phase() != busy:
		case !inst.Stalled:
			return nil
		case f == nil && len(inst.Delegates) > 0:
			d := inst.Delegates[0]
			f = diag.Faultf(cmp.Or(d.Code, turn.CodePaused), "its delegate %s is %s", d.ProcessID, d.StatusLine())
		}
	}
	return f
}

// AwaitsOnlyPeople reports whether the process waits for people and for nothing else.
func (l *Loop) AwaitsOnlyPeople() bool {
	running, waiting := l.anyBusyOrAwaitingPerson()
	if l.PendingPlan != nil { // the next Request waits for it too
		return !running
	}
	return waiting && !running && l.requestInFlight == nil && len(l.readyInstances()) == 0
}

// longWait is how long the wait for the next Request must be at least for IsAtRest to count it as rest.
const longWait = time.Minute

// IsAtRest reports whether everything that can run has run, and the process waits for people or for time. For a paused
// process it reports whether nothing in it runs any more. Advance must have been called before.
func (l *Loop) IsAtRest(now time.Time) bool {
	if (l.requestInFlight != nil && l.PendingPlan == nil) || l.IsFinished() {
		return false
	}
	runs := func(inst *InstanceProgress) bool {
		return inst.phase() == busy && (l.PauseReason == nil || !inst.HeldByPause || inst.Running > 0)
	}
	if l.anyInstance(runs) {
		return false
	}
	return l.PauseReason != nil || l.PendingPlan != nil || len(l.readyInstances()) == 0 ||
		l.wakeTime.After(now.Add(longWait))
}

// AllReportedSincePause reports whether every instance that is at work has reported since the pause reached it, or is
// idle.
func (l *Loop) AllReportedSincePause() bool {
	return !l.anyInstance(func(inst *InstanceProgress) bool {
		return inst.isWorking() && !inst.Idle &&
			!inst.HeldByPause
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
		return inst.phase() == ready &&
			!l.awaitsWiredOutput(inst)
	})
}

// allInstancesEnded reports whether every instance has ended, so that only the output may be missing.
func (l *Loop) allInstancesEnded() bool { return !l.anyInstance((*InstanceProgress).isWorking) }

// GatherAskedChange names the rule that a Request waits for the decisions of people who were asked just now.
const GatherAskedChange = "gather for people who were just asked"

// isRequestDue reports whether a Request is made now. Once an instance is ready, the Request waits for busy instances
// to share it, but no longer than the gathering time (RequestGatherDelay), and not once it is full. If people have just
// decided on all ready instances, it also waits for instances that still need a decision, so that ten decisions in a
// row make one Request. If the file sets PeopleGatherDelay, it waits that long for people who were just asked.
func (l *Loop) isRequestDue(now time.Time) bool {
	if l.allInstancesEnded() {
		return true
	}
	ready := l.readyInstances()
	if len(ready) == 0 {
		l.clearGathering()
		return false
	}
	if l.ReadySince.IsZero() {
		l.ReadySince = now
	}
	if len(l.fitIntoRequest(ready)) < len(ready) { // the Request is full
		return !l.awaitsReports(now, l.ReadySince.Add(reportPatience))
	}
	until := l.ReadySince.Add(l.Idea.Config.RequestGatherDelay)
	running, waiting := l.anyBusyOrAwaitingPerson()
	undecided := func(inst *InstanceProgress) bool { return !inst.DecidedSinceRequest }
	if !running && !(waiting && !slices.ContainsFunc(ready, undecided)) {
		asked, held := l.lastAskedTime(), l.Idea.Config.PeopleGatherDelay
		if asked.IsZero() || held == 0 || !l.KnowsChange(GatherAskedChange) {
			return true
		}
		if at := asked.Add(held); at.Before(until) {
			until = at
		}
	}
	if !now.Before(until) {
		return !l.awaitsReports(now, until.Add(reportPatience))
	}
	l.scheduleWake(until)
	return false
}

// InterimReportChange names the rule that busy instances report before a Request that does not cover them is made.
const InterimReportChange = "interim reports before a Request for others"

// reportPatience bounds how long a Request waits for interim reports: an instance that cannot answer does not hold up
// the others.
const reportPatience = 5 * time.Second

// awaitsReports asks each busy instance once to report what it has done so far. It reports whether a report is missing
// and the deadline is not reached. Unasked, an instance reports only when it is idle. Without the reports, the Idea of
// a Request for other instances would list finished Calls as running, and a fork at that Idea would repeat their
// effects.
func (l *Loop) awaitsReports(now, deadline time.Time) (awaited bool) {
	if !now.Before(deadline) || !l.KnowsChange(InterimReportChange) {
		return false
	}
	for _, inst := range l.Instances {
		if inst.phase() != busy {
			continue
		}
		if inst.WantedReport == 0 {
			inst.WantedReport = inst.LastReportNumber[0] + 1
			l.instancesToReport = append(l.instancesToReport, inst)
		}
		awaited = awaited || inst.LastReportNumber[0] < inst.WantedReport
	}
	if awaited {
		l.scheduleWake(deadline)
	}
	return awaited
}

// TakeInstancesToReport returns the instances to ask for a report that were added since its last call.
func (l *Loop) TakeInstancesToReport() []*InstanceProgress {
	return takeAll(&l.instancesToReport)
}

// clearGathering ends the gathering of a Request.
func (l *Loop) clearGathering() {
	l.ReadySince = time.Time{}
	for _, inst := range l.Instances {
		inst.WantedReport = 0
	}
}

// lastAskedTime returns when a person was last asked about a Call that still waits; zero if none waits.
func (l *Loop) lastAskedTime() (last time.Time) {
	for _, inst := range l.Instances {
		if inst.phase() != awaitingPerson {
			continue
		}
		for _, a := range inst.PendingApprovals {
			if a.Since.After(last) {
				last = a.Since
			}
		}
	}
	return last
}

// HasBusyInstance reports whether an instance is busy.
func (l *Loop) HasBusyInstance() bool {
	running, _ := l.anyBusyOrAwaitingPerson()
	return running
}

// anyBusyOrAwaitingPerson reports whether an instance is busy, and whether one waits for a person.
func (l *Loop) anyBusyOrAwaitingPerson() (running, waiting bool) {
	for _, inst := range l.Instances {
		switch inst.phase() {
		case awaitingPerson:
			waiting = true
		case busy:
			running = true
		}
	}
	return running, waiting
}

func (l *Loop) scheduleWake(t time.Time) {
	if l.wakeTime.IsZero() || t.Before(l.wakeTime) {
		l.wakeTime = t
	}
}

// NextWakeTime returns when Advance must be called again even if nothing happens; zero: never.
func (l *Loop) NextWakeTime() time.Time { return l.wakeTime }
