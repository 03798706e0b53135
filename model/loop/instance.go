package loop

import (
	"slices"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/price"
	"processidea/model/jsonval"
	"processidea/model/loop/quota"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// InstanceProgress is what the process knows of one instance: what the instance has reported, and what was sent to it.
type InstanceProgress struct {
	Token  string                  `json:"token"`
	Status ideafile.InstanceStatus `json:"status"`
	Fault  *diag.Fault             `json:"error,omitempty"` // why it failed

	// Invariant: from a Request about it until the report that follows, it is not Idle.
	turn.InstanceStatusDetails
	carriedInstanceFields

	state                *statelog.State
	reportByCallKey      map[ideafile.CallKey]turn.CallReport
	callsWithErrorsShown map[ideafile.CallKey]bool // Calls whose fault the LLM was shown
}

// carriedInstanceFields holds the fields of an instance that continue-as-new carries unchanged. A field added here is
// carried.
type carriedInstanceFields struct {
	// ResumeCount counts how often the instance was released from a pause.
	ResumeCount int `json:"releases,omitempty"`
	// the last Request that covered it, the last that planned for it, and the highest that it has closed
	LastCoveringRequest  int `json:"covered,omitempty"`
	LastPlanningRequest  int `json:"planned,omitempty"`
	ClosedThroughRequest int `json:"closed,omitempty"`
	// SaysFinishedRequest is the Request whose reply the LLM called the last one for the instance; 0: none.
	SaysFinishedRequest int `json:"last,omitempty"`
	// DescribedPlanRequest is the Request whose Calls were the instance's last ones when the LLM last described their
	// result, in notes or in an output beside Calls; 0: it never did.
	DescribedPlanRequest int `json:"outputPlan,omitempty"`
	// RefusedThroughRequest is the highest Request from whose stream it accepts no more Calls; 0: none.
	RefusedThroughRequest int `json:"refused,omitempty"`
	// ReportedThroughRequest is the highest Request with a lost reply of which it has reported all Calls that it
	// accepted.
	ReportedThroughRequest int `json:"toldCalls,omitempty"`
	// Invariant: AckedCorrectionCount <= SentCorrectionCount.
	SentCorrectionCount  int `json:"corrected,omitempty"`
	AckedCorrectionCount int `json:"taken,omitempty"`

	LLMCost price.Money `json:"cost,omitempty"` // its share of the cost of Requests
	// the place of its direct Plan in the context, from 1; 0: it has none
	DirectPlanPosition int `json:"direct,omitempty"`
	// ReplacedDirectPlanPositions are the places of the Plans that its direct Plan replaced: some of their Calls may be
	// done.
	ReplacedDirectPlanPositions []int `json:"directBefore,omitempty"`
	// HasFallenBackToLLM means that its direct Plan did not suffice, so the LLM plans instead. HasNoMatchingPlan means
	// that it failed because it has no Plan and the LLM may not be asked.
	HasFallenBackToLLM bool `json:"handed,omitempty"`
	HasNoMatchingPlan  bool `json:"barred,omitempty"`

	// UndoCause is why the instance failed, if it undoes what it did because of that; nil otherwise.
	UndoCause *diag.Fault `json:"undoneFor,omitempty"`

	// UndoOrder is a person's order to undo what it did; nil: none. UndoResult is the result, kept until the other
	// instances of the order have theirs.
	UndoOrder  *approval.UndoOrder `json:"undoneBy,omitempty"`
	UndoResult *turn.UndoResult    `json:"tookBack,omitempty"`

	// IsSettledForNow means that it has settled, but a Call that names it reopens it.
	IsSettledForNow bool `json:"forNow,omitempty"`
	// ReopenCount counts how often it was reopened. ReopenReason says who reopened it and why, until a Request has
	// reported that; empty: nothing to report.
	ReopenCount  int    `json:"reopens,omitempty"`
	ReopenReason string `json:"reopened,omitempty"`

	// StepOutcomes are the outcomes of the steps of its instructions when it ended.
	StepOutcomes []ideafile.StepOutcome `json:"steps,omitempty"`
	// LastUnsettledRequest is the last Request after whose Calls it did not settle because something was missing; 0:
	// none.
	LastUnsettledRequest int `json:"heldBack,omitempty"`

	// Acts of people since the last Request that covered it.
	WasDecidedSinceRequest bool `json:"back,omitempty"`
	WasRevisedSinceRequest bool `json:"revised,omitempty"`

	// how many Requests did not settle it because something was missing
	UnsettledRequestCount int `json:"lacks,omitempty"`
	// the IDs of the PendingErrors that its next Request reports
	PendingErrorIDs []int `json:"untold,omitempty"`

	// its share of the Requests and Calls, if these are limited
	QuotaAllocation quota.Allocation `json:"claim,omitzero"`

	// the last report that was applied: its number, and its sender's count of workflow events
	LastReportVersion [2]int `json:"report,omitzero"`
	// the number of the report that the next Request waits for; 0: none
	WantedReportNumber int `json:"wantedReport,omitempty"`
	// a Plan for it waits for a person, and nothing of the Plan was sent to it
	IsPlanHeld          bool `json:"planHeld,omitempty"`
	StallCheckedRequest int  `json:"watched,omitempty"` // the last Request whose Calls takeNewFailures has seen
}

// usesDirectPlan reports whether a direct Plan plans for the instance, so that no Request is made about it. A direct
// Plan may fall back to the LLM, once.
func (p *InstanceProgress) usesDirectPlan() bool {
	return p.DirectPlanPosition > 0 && !p.HasFallenBackToLLM && !p.HasNoMatchingPlan
}

func (p *InstanceProgress) isWorking() bool { return p.Status == ideafile.InstanceWorking }

// runsDirectPlan reports whether the instance is at work on a direct Plan.
func (p *InstanceProgress) runsDirectPlan() bool {
	return p.isWorking() && p.usesDirectPlan()
}

// instancePhase is the current phase of an instance, as far as the process knows.
//
//	phase           what it waits for                             what may come next
//	busy            its Calls; the Calls of a Request about it;   phaseAwaitingPerson, ready
//	                that it acknowledges a correction
//	phaseAwaitingPerson  a person's decision, and nothing else         busy, ready
//	ready           a Request about it                            busy, ended
//	ended           nothing; or a Call that reopens it            busy, ready
type instancePhase int

const (
	phaseBusy instancePhase = iota
	phaseAwaitingPerson
	phaseReady
	phaseEnded
)

func (p *InstanceProgress) phase() instancePhase {
	switch {
	case !p.isWorking():
		return phaseEnded
	case (p.UndoCause != nil || p.UndoOrder != nil) && (!p.IsIdle || len(p.PendingApprovals) == 0):
		return phaseBusy
	case p.IsPlanHeld && p.AckedCorrectionCount == p.SentCorrectionCount:
		return phaseAwaitingPerson
	case !p.IsIdle || p.ClosedThroughRequest < p.LastCoveringRequest || p.AckedCorrectionCount < p.SentCorrectionCount:
		return phaseBusy
	case len(p.PendingApprovals) > 0:
		return phaseAwaitingPerson
	}
	return phaseReady
}

// CanReceiveCalls reports whether the instance is at work, or may be reopened without being started anew.
func (p *InstanceProgress) CanReceiveCalls() bool {
	return p.isWorking() || p.IsSettledForNow
}

// DisplayStatus returns the status that people are shown: an instance that waits for a person has a status of its own.
func (p *InstanceProgress) DisplayStatus() ideafile.InstanceStatus {
	if p.phase() == phaseAwaitingPerson {
		return ideafile.InstanceWaiting
	}
	return p.Status
}

// StateOf returns an instance's State as far as it has reported it.
func (l *Loop) StateOf(instanceToken string) any {
	inst := l.instanceByToken[instanceToken]
	if inst == nil {
		return nil
	}
	return inst.state.Snapshot()
}

// missingRequiredPathsForLLM returns the missing paths that the next Request reports. It returns none until a Request
// or a Plan should have provided them.
func (p *InstanceProgress) missingRequiredPathsForLLM() []string {
	if !p.shouldTellLLMOfMissing() {
		return nil
	}
	return p.MissingRequiredPaths
}

func (p *InstanceProgress) shouldTellLLMOfMissing() bool {
	return p.UnsettledRequestCount > 0 || p.HasFallenBackToLLM
}

// ApplyReport applies an instance's report, and returns whether the report was new: a repeated or overtaken report
// changes nothing.
func (l *Loop) ApplyReport(r turn.InstanceReport) bool {
	inst := l.instanceByToken[r.InstanceToken]
	if inst == nil {
		return false
	}
	reportVersion := [2]int{r.ReportNumber, r.WorkflowHistoryLength}
	if slices.Compare(reportVersion[:], inst.LastReportVersion[:]) <= 0 {
		return false
	}
	inst.LastReportVersion = reportVersion
	for _, c := range r.Calls {
		l.logDecisions(inst, c)
		inst.reportByCallKey[c.CallKey()] = c
		l.recordUndoCall(inst, c)
	}
	l.HasUnsealedChanges = l.HasUnsealedChanges || len(r.Calls)+len(r.Writes) > 0
	for _, w := range r.Writes {
		if !inst.state.HasWrite(w) { // a write that it has comes from a repeated report
			l.applyWrite(inst, w)
		}
	}
	inst.ClosedThroughRequest = max(inst.ClosedThroughRequest, r.ClosedThroughRequest)
	inst.RefusedThroughRequest = max(inst.RefusedThroughRequest, r.RefusedThroughRequest, r.ClosedThroughRequest)
	inst.ReportedThroughRequest = max(inst.ReportedThroughRequest, r.ReportedThroughRequest)
	inst.AckedCorrectionCount = max(inst.AckedCorrectionCount, r.AckedCorrectionCount)
	inst.WasDecidedSinceRequest = inst.WasDecidedSinceRequest ||
		(len(inst.PendingApprovals) > 0 && len(r.PendingApprovals) == 0)
	inst.InstanceStatusDetails, inst.QuotaAllocation.QuotaUse = r.InstanceStatusDetails, r.QuotaUse
	if !inst.hasStalePauseFault(r) {
		l.PauseWithFault(r.PauseFault)
	}
	if r.UndoResult != nil && inst.isWorking() {
		l.finishUndo(inst, *r.UndoResult)
	}
	return true
}

// hasStalePauseFault reports whether a report asks for a pause because of a Call that the instance is retrying by now:
// the instance was released after it sent the report.
func (p *InstanceProgress) hasStalePauseFault(r turn.InstanceReport) bool {
	return r.PauseFault != nil && ideafile.FaultCodeNeedsOperator(r.PauseFault.Code) &&
		r.AckedResumeCount < p.ResumeCount
}

// applyWrite applies a write, and logs it in the form in which the chain of Ideas keeps it.
func (l *Loop) applyWrite(inst *InstanceProgress, w statelog.Write) {
	inst.state.Apply(w)
	w.CombinedValue = nil
	e, key := turn.LogEntry{InstanceToken: inst.Token, Write: w}, ideafile.CallKey{Request: w.Request, Index: w.Index}
	if w.CorrectionNumber == 0 {
		e.ParamsAdaptation = inst.reportByCallKey[key].ParamsAdaptation
	}
	if w.Request <= l.PriorRequestCount {
		e.AuthorCall = l.writtenCall(inst, key) // no Idea of this process has it in its solution
	}
	l.addToLog(e)
}

// logDecisions logs the decisions and remarks on a Call that are new in a report and, once a Call with decisions has
// ended, its outcome.
func (l *Loop) logDecisions(inst *InstanceProgress, c turn.CallReport) {
	previousReport := inst.reportByCallKey[c.CallKey()]
	for n := len(previousReport.Decisions); n < len(c.Decisions); n++ {
		l.addToLog(turn.LogEntry{InstanceToken: inst.Token, Decision: &c.Decisions[n]})
	}
	for n := len(previousReport.Remarks); n < len(c.Remarks); n++ {
		l.addToLog(turn.LogEntry{InstanceToken: inst.Token, Decision: &c.Remarks[n]})
	}
	if len(c.Decisions) > 0 && c.Status.IsFinal() && !previousReport.Status.IsFinal() {
		l.addToLog(turn.LogEntry{InstanceToken: inst.Token, Outcome: &turn.CallOutcome{
			CallID: c.CallKey().ID(inst.Token), Status: c.Status, ExecutedCall: c.ExecutedCall, Fault: c.Fault,
		}})
	}
}

func (l *Loop) addToLog(e turn.LogEntry) { l.UnsealedLog = append(l.UnsealedLog, e) }

// LogSteering logs what somebody decided on the whole process.
func (l *Loop) LogSteering(d approval.Decision) {
	l.addToLog(turn.LogEntry{Decision: &d})
	l.HasUnsealedChanges = true
}

// detectStall returns why the next Request would be in vain, before it is made; nil if it may bring something new.
func (l *Loop) detectStall() *diag.Fault {
	readyInstances := l.readyInstances()
	failureDigests, failures := l.takeNewFailures(readyInstances)
	if len(failureDigests) > 0 {
		l.StallDetector = l.StallDetector.UpdateAfterRequest(l.countProgress(), failureDigests)
	}
	return l.StallDetector.StallFault(failures)
}

func (l *Loop) countProgress() ProgressCounts {
	m := ProgressCounts{PeopleActions: len(l.Idea.Context)}
	for _, inst := range l.Instances {
		m.StateWrites += len(inst.state.Writes())
		if !inst.isWorking() || inst.ReopenCount > 0 {
			m.EndedInstances++
		}
		//workflowcheck:ignore -- a sum
		for _, c := range inst.reportByCallKey {
			if c.Status == ideafile.CallDone {
				m.DoneCalls++
			}
			for _, d := range c.Decisions {
				if d.DecidedBy != approval.DecidedByTimeout {
					m.PeopleActions++
				}
			}
		}
	}
	return m
}

// takeNewFailures returns the Calls of instances that came to nothing since it was last called for these instances:
// failureDigests has each as a digest of the Call and the reason, failures has all reasons, for people.
func (l *Loop) takeNewFailures(instances []*InstanceProgress) (failureDigests []string, failures turn.Failures) {
	for _, p := range l.PlannedCalls {
		callFingerprint := ""
		for _, inst := range instances {
			if p.Request <= inst.StallCheckedRequest {
				continue
			}
			c, isReported := inst.reportByCallKey[p.key()]
			if !p.IsUnassigned && (!isReported || !c.Status.IsFinal() || c.Status == ideafile.CallDone) {
				continue
			}
			if callFingerprint == "" {
				callFingerprint = CallFingerprint(p.Call)
			}
			failureDigests = jsonval.AppendNew(failureDigests, FailureDigest(callFingerprint, c))
		}
	}
	for _, inst := range instances {
		checkedRequest := inst.StallCheckedRequest
		failures = inst.addFailures(failures, func(c turn.CallReport) bool { return c.Request > checkedRequest })
		inst.StallCheckedRequest = inst.LastPlanningRequest
	}
	return failureDigests, failures
}
