package loop

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// plannedCallSummaries sums up for the LLM what became of each planned Call in some of the instances.
func (l *Loop) plannedCallSummaries(instances []*InstanceProgress) []turn.PlannedCallSummary {
	return l.summarizeCalls(l.PlannedCalls, instances,
		func(p PlannedCall, inst *InstanceProgress) (turn.CallReport, bool) {
			c, ok := inst.reportByCallKey[p.key()]
			return c, ok && p.isPlannedFor(inst) && l.isShownToLLM(p, inst, c)
		})
}

// plannedCallSummariesForIdea is plannedCallSummaries over all instances, for an Idea, from which another process may
// start. It includes the known Calls of the Request in flight, and Calls that were sent to an instance but not reported
// by it yet.
func (l *Loop) plannedCallSummariesForIdea() []turn.PlannedCallSummary {
	acceptedCalls, includesAllCalls := l.callsAcceptedInFlight(), l.hasInstructions()
	return l.summarizeCalls(slices.Concat(l.PlannedCalls, acceptedCalls), l.Instances,
		func(p PlannedCall, inst *InstanceProgress) (turn.CallReport, bool) {
			c, ok := inst.reportByCallKey[p.key()]
			switch isOfEarlierPlan := slices.Contains(inst.ReplacedDirectPlanPositions, p.DirectPlanPosition); {
			case !p.isPlannedFor(inst):
				return c, ok && isOfEarlierPlan
			case !ok:
				c = turn.CallReport{Request: p.Request, Index: p.Index}
				if c.Status = ideafile.CallRunning; l.isHeldByRecheck(p, inst) { // the Call cannot have had its effect
					c.Status, c.ReviewReason = ideafile.CallWaiting, heldByRecheckReason
				}
				return c, p.isUnreportedBy(inst)
			}
			return c, includesAllCalls || l.isShownToLLM(p, inst, c) ||
				(len(acceptedCalls) > 0 && p.Request == acceptedCalls[0].Request)
		})
}

// isUnreportedBy reports whether a Call of a Request was sent to an instance at work that has not reported the Request
// as closed.
func (p PlannedCall) isUnreportedBy(inst *InstanceProgress) bool {
	return p.Request > 0 && !p.IsUnassigned && inst.isWorking() &&
		inst.LastPlanningRequest == p.Request &&
		inst.ClosedThroughRequest < p.Request &&
		slices.Contains(p.Call.TargetTokensOrAll([]string{inst.Token}), inst.Token)
}

// callsAcceptedInFlight lists the Calls of the Request in flight that instances have reported.
func (l *Loop) callsAcceptedInFlight() (list []PlannedCall) {
	if l.requestInFlight == nil {
		return nil
	}
	for _, inst := range l.instancesThatMayGetCalls(l.requestInFlight.RequestInput) {
		for _, key := range sortedCallKeys(inst.reportByCallKey) {
			isListed := slices.ContainsFunc(list, func(p PlannedCall) bool { return p.key() == key })
			if c := inst.reportByCallKey[key]; key.Request == l.requestInFlight.RequestNumber && !isListed &&
				!c.Call.IsZero() {
				list = append(list, PlannedCall{Request: key.Request, Index: key.Index, Call: c.Call})
			}
		}
	}
	slices.SortFunc(list, func(a, b PlannedCall) int { return a.key().Compare(b.key()) })
	return list
}

// summarizeCalls sums up what became of each of the calls in the instances. reportOf returns the report that counts; ok
// is false if none counts, or if the Call is not for the instance.
func (l *Loop) summarizeCalls(
	calls []PlannedCall, instances []*InstanceProgress,
	reportOf func(PlannedCall, *InstanceProgress) (c turn.CallReport, ok bool),
) []turn.PlannedCallSummary {
	var out []turn.PlannedCallSummary
	for _, p := range calls {
		e := turn.PlannedCallSummary{CallID: p.key().ID(""), Call: p.Call, CountByStatus: map[ideafile.CallStatus]int{},
			ResultByInstance: jsonval.Object{}}
		if p.DirectPlanPosition > 0 {
			e.DirectPlanPosition, e.PlanName = p.DirectPlanPosition, l.Idea.Context[p.DirectPlanPosition-1].PlanName
		}
		for _, inst := range instances {
			if c, ok := reportOf(p, inst); ok {
				e.AddReport(inst.Token, c)
			}
		}
		isOfLastPlan := func(inst *InstanceProgress) bool { return inst.LastPlanningRequest == p.Request }
		if len(e.CountByStatus) > 0 || (p.IsUnassigned && slices.ContainsFunc(instances, isOfLastPlan)) {
			out = append(out, e)
		}
	}
	return out
}

// isShownToLLM reports whether a Request about an instance shows a Call: Calls of the instance's last plan, Calls
// without an output path, Calls on which a person overruled the LLM, and Calls that undo or are undone.
func (l *Loop) isShownToLLM(p PlannedCall, inst *InstanceProgress, c turn.CallReport) bool {
	return isUndoOrUndone(c) || p.Request == inst.LastPlanningRequest || l.Idea.HasNoOutputPath(p.Call) ||
		c.WasOverruledByPerson()
}

// mayBeShownToLLM reports whether a later Request may show a Call; Calls that none may show are dropped.
func (l *Loop) mayBeShownToLLM(p PlannedCall) bool {
	if l.Idea.HasNoOutputPath(p.Call) {
		return true
	}
	for _, inst := range l.Instances {
		if !p.isPlannedFor(inst) {
			continue
		}
		if isUndoOrUndone(inst.reportByCallKey[p.key()]) {
			return true
		}
		if !inst.isWorking() {
			if l.Idea.OutputSchema != nil && inst.reportByCallKey[p.key()].WasOverruledByPerson() {
				return true // the output is about it
			}
			continue
		}
		if p.DirectPlanPosition > 0 && inst.LastPlanningRequest == 0 {
			return true // it may still be running there
		}
		c, isReported := inst.reportByCallKey[p.key()]
		isOfLastPlan := inst.LastPlanningRequest == p.Request &&
			(isReported || p.IsUnassigned || inst.ClosedThroughRequest < p.Request)
		if isOfLastPlan || (isReported && c.WasOverruledByPerson()) {
			return true
		}
	}
	return false
}

// isPlannedFor reports whether a Call may be for an instance: a Call of a direct Plan is for the instances of that
// Plan.
func (p PlannedCall) isPlannedFor(inst *InstanceProgress) bool {
	if p.Request == 0 && p.DirectPlanPosition > 0 {
		return p.DirectPlanPosition == inst.DirectPlanPosition
	}
	return len(p.OnlyForInstances) == 0 || slices.Contains(p.OnlyForInstances, inst.Token)
}

// LatestPlanCallCounts lists the Calls of the latest Plan, and counts for each how many instances have it in which
// status. Calls that were sent but not reported count as running: an instance reports once nothing in it runs, or a
// person must look.
func (l *Loop) LatestPlanCallCounts() []turn.PlannedCallCounts {
	calls, latestRequest := slices.Concat(l.PlannedCalls, l.callsAcceptedInFlight()), 0
	calls = slices.DeleteFunc(calls, func(p PlannedCall) bool { return p.IsUnassigned })
	for _, p := range calls {
		latestRequest = max(latestRequest, p.Request)
	}
	list := []turn.PlannedCallCounts{}
	for _, p := range calls {
		if p.Request != latestRequest {
			continue
		}
		c := turn.PlannedCallCounts{CallID: p.key().ID(""), WrittenCall: l.Idea.WithToolFixedValues(p.Call),
			CountByStatus: map[ideafile.CallStatus]int{}}
		for _, inst := range l.Instances {
			if status, isPlanned := l.plannedCallStatus(inst, p); isPlanned {
				c.CountByStatus[status]++
			}
		}
		list = append(list, c)
	}
	return list
}

// plannedCallStatus returns the status of a Call in an instance, as far as it is known; isPlanned is false if the
// instance has no such Call.
func (l *Loop) plannedCallStatus(inst *InstanceProgress, p PlannedCall) (status ideafile.CallStatus, isPlanned bool) {
	if !p.isPlannedFor(inst) {
		return "", false
	}
	if c, isReported := inst.reportByCallKey[p.key()]; isReported {
		return c.Status, true
	}
	return ideafile.CallRunning, p.isUnreportedBy(inst) || (l.isUnfinishedDirectCall(inst, p) && !inst.IsPlanHeld)
}
