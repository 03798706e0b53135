package loop

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/turn"
)

// planEntries sums up what became of each planned Call over some of the instances, for the LLM.
func (l *Loop) planEntries(instances []*InstanceProgress) []turn.PlannedCallSummary {
	return l.summarizeCalls(l.plannedCalls, instances, func(p plannedCall, inst *InstanceProgress) (turn.CallReport, bool) {
		c, ok := inst.calls[p.CallKey]
		return c, ok && l.isShownToLLM(p, inst, c)
	})
}

// planEntriesForIdea is planEntries over all instances, for an Idea, from which another process may start: with the Calls of the Request
// in flight, as far as they are known, and with those that an instance has been sent and has not reported of yet.
func (l *Loop) planEntriesForIdea() []turn.PlannedCallSummary {
	accepted := l.callsAcceptedInFlight()
	return l.summarizeCalls(slices.Concat(l.plannedCalls, accepted), l.instances, func(p plannedCall, inst *InstanceProgress) (turn.CallReport, bool) {
		c, ok := inst.calls[p.CallKey]
		if !ok {
			return turn.CallReport{Request: p.Request, Index: p.Index, Status: ideafile.Running}, p.isUnreportedBy(inst)
		}
		return c, l.isShownToLLM(p, inst, c) || (len(accepted) > 0 && p.Request == accepted[0].Request)
	})
}

// isUnreportedBy reports whether an instance at work was sent a Call of a Request and has not reported of that Request yet.
func (p plannedCall) isUnreportedBy(inst *InstanceProgress) bool {
	return p.Request > 0 && !p.unassigned && inst.Status == ideafile.InstanceWorking && inst.LastPlanningRequest == p.Request &&
		inst.ClosedThroughRequest < p.Request &&
		slices.Contains(p.call.TargetInstances([]string{inst.Token}), inst.Token)
}

// callsAcceptedInFlight lists the Calls of the Request in flight that instances have reported.
func (l *Loop) callsAcceptedInFlight() (list []plannedCall) {
	if l.requestInFlight == nil {
		return nil
	}
	for _, inst := range l.instancesNamedByMessages(l.requestInFlight.input) {
		for _, key := range sortedCallKeys(inst.calls) {
			known := slices.ContainsFunc(list, func(p plannedCall) bool { return p.CallKey == key })
			if c := inst.calls[key]; key.Request == l.requestInFlight.input.RequestNumber && !known && !c.Call.IsZero() {
				list = append(list, plannedCall{CallKey: key, call: c.Call})
			}
		}
	}
	slices.SortFunc(list, func(a, b plannedCall) int { return a.CallKey.Compare(b.CallKey) })
	return list
}

// summarizeCalls sums up what became of each of some Calls over some of the instances. reportOf returns the report that counts; ok is false
// where none does.
func (l *Loop) summarizeCalls(
	calls []plannedCall, instances []*InstanceProgress, reportOf func(plannedCall, *InstanceProgress) (c turn.CallReport, ok bool),
) []turn.PlannedCallSummary {
	var out []turn.PlannedCallSummary
	for _, p := range calls {
		e := turn.PlannedCallSummary{CallID: p.ID(""), Call: p.call, StatusCounts: map[ideafile.CallStatus]int{}, ResultByInstance: map[string]any{}}
		if p.directPlanPosition > 0 {
			e.DirectPlan, e.PlanName = p.directPlanPosition, l.idea.Context[p.directPlanPosition-1].PlanName
		}
		for _, inst := range instances {
			if c, ok := reportOf(p, inst); ok && p.isPlannedFor(inst) {
				e.AddReport(inst.Token, c)
			}
		}
		if len(e.StatusCounts) > 0 || (p.unassigned && anyLastPlannedByRequest(instances, p.Request)) {
			out = append(out, e)
		}
	}
	return out
}

// isShownToLLM reports whether a Request about an instance shows a Call: those of the instance's last plan, those whose result is not
// in State, and those on which a person decided otherwise than the LLM had proposed.
func (l *Loop) isShownToLLM(p plannedCall, inst *InstanceProgress, c turn.CallReport) bool {
	return p.Request == inst.LastPlanningRequest || l.idea.HasNoOutputPath(p.call) || c.WasOverruledByPerson()
}

func anyLastPlannedByRequest(instances []*InstanceProgress, request int) bool {
	return slices.ContainsFunc(instances, func(inst *InstanceProgress) bool { return inst.LastPlanningRequest == request })
}

// mayBeShownToLLM reports whether a later Request may show a Call; the others are dropped.
func (l *Loop) mayBeShownToLLM(p plannedCall) bool {
	if l.idea.HasNoOutputPath(p.call) {
		return true
	}
	for _, inst := range l.instances {
		if !p.isPlannedFor(inst) {
			continue
		}
		if inst.Status != ideafile.InstanceWorking {
			if l.idea.OutputSchema != nil && inst.calls[p.CallKey].WasOverruledByPerson() {
				return true // the output is about it
			}
			continue
		}
		if p.directPlanPosition > 0 && inst.LastPlanningRequest == 0 {
			return true // it may still be running there
		}
		c, reported := inst.calls[p.CallKey]
		ofLastPlan := inst.LastPlanningRequest == p.Request && (reported || p.unassigned || inst.ClosedThroughRequest < p.Request)
		if ofLastPlan || (reported && c.WasOverruledByPerson()) {
			return true
		}
	}
	return false
}

// isPlannedFor reports whether a Call may be an instance's: a Call of a direct Plan belongs to the instances of that Plan.
func (p plannedCall) isPlannedFor(inst *InstanceProgress) bool {
	if p.Request == 0 && p.directPlanPosition > 0 {
		return p.directPlanPosition == inst.DirectPlanPosition
	}
	return len(p.onlyForInstances) == 0 || slices.Contains(p.onlyForInstances, inst.Token)
}

// LatestPlan lists the Calls of the latest Plan, and counts in how many instances each has which status. What an instance was sent and has not reported of
// counts as running: instances report once nothing of them runs, or a person must look.
func (l *Loop) LatestPlan() []turn.CallCount {
	calls, latest := slices.Concat(l.plannedCalls, l.callsAcceptedInFlight()), 0
	calls = slices.DeleteFunc(calls, func(p plannedCall) bool { return p.unassigned })
	for _, p := range calls {
		latest = max(latest, p.Request)
	}
	list := []turn.CallCount{}
	for _, p := range calls {
		if p.Request != latest {
			continue
		}
		c := turn.CallCount{CallID: p.ID(""), Written: p.call, Statuses: map[ideafile.CallStatus]int{}}
		for _, inst := range l.instances {
			if status, is := l.statusIn(inst, p); is {
				c.Statuses[status]++
			}
		}
		list = append(list, c)
	}
	return list
}

// statusIn tells how a Call stands in an instance, as far as is known; is is false where it is none of the instance's.
func (l *Loop) statusIn(inst *InstanceProgress, p plannedCall) (status ideafile.CallStatus, is bool) {
	if !p.isPlannedFor(inst) {
		return "", false
	}
	if c, reported := inst.calls[p.CallKey]; reported {
		return c.Status, true
	}
	return ideafile.Running, p.isUnreportedBy(inst) || (l.beginsDirectly(inst, p) && !inst.PlanHeld)
}
