package loop

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/turn"
)

// planEntries sums up what became of each planned Call over some of the instances.
func (l *Loop) planEntries(instances []*InstanceProgress) []turn.PlanEntry {
	var out []turn.PlanEntry
	for _, p := range l.plannedCalls {
		e := turn.PlanEntry{ID: p.ID(""), Call: p.call, StatusCounts: map[ideafile.CallStatus]int{}, Results: map[string]any{}}
		for _, inst := range instances {
			if c, ok := inst.calls[p.CallKey]; ok && p.isPlannedFor(inst) && l.isShownToLLM(p, inst, c) {
				e.AddReport(inst.Token, c)
			}
		}
		l.addDirectPlanInfo(&e, p, instances)
		if len(e.StatusCounts) > 0 || (p.unassigned && anyPlannedBy(instances, p.Request)) {
			out = append(out, e)
		}
	}
	return out
}

// isShownToLLM reports whether a Request about an instance shows a Call: those of the instance's last plan, those whose result is not
// in State, and those on which a person decided otherwise than the LLM had proposed.
func (l *Loop) isShownToLLM(p plannedCall, inst *InstanceProgress, c turn.CallReport) bool {
	return p.Request == inst.LastPlanned || l.idea.HasNoOutputPath(p.call) || c.OverruledByPerson()
}

// addDirectPlanInfo notes which direct Plan a Call is part of and, where neither State nor its statuses tell, where it is done.
func (l *Loop) addDirectPlanInfo(e *turn.PlanEntry, p plannedCall, instances []*InstanceProgress) {
	if p.directPlan == 0 {
		return
	}
	e.DirectPlan, e.PlanName = p.directPlan, l.idea.Context[p.directPlan-1].Name
	if len(e.StatusCounts) < 2 || !l.idea.HasNoOutputPath(p.call) {
		return
	}
	for _, inst := range instances {
		if p.isPlannedFor(inst) && inst.calls[p.CallKey].Status == ideafile.Done {
			e.DoneInstances = append(e.DoneInstances, inst.Token)
		}
	}
}

func anyPlannedBy(instances []*InstanceProgress, request int) bool {
	return slices.ContainsFunc(instances, func(inst *InstanceProgress) bool { return inst.LastPlanned == request })
}

// mayBeShownToLLM reports whether a later Request may show a Call; the others are dropped.
func (l *Loop) mayBeShownToLLM(p plannedCall) bool {
	if l.idea.HasNoOutputPath(p.call) {
		return true
	}
	for _, inst := range l.instances {
		if inst.Status != ideafile.InstanceWorking || !p.isPlannedFor(inst) {
			continue
		}
		if p.directPlan > 0 && inst.LastPlanned == 0 {
			return true // it may still be running there
		}
		c, reported := inst.calls[p.CallKey]
		ofLastPlan := inst.LastPlanned == p.Request && (reported || p.unassigned || inst.ClosedThrough < p.Request)
		if ofLastPlan || (reported && c.OverruledByPerson()) {
			return true
		}
	}
	return false
}

// isPlannedFor reports whether a Call may be an instance's: a Call of a direct Plan belongs to the instances of that Plan.
func (p plannedCall) isPlannedFor(inst *InstanceProgress) bool {
	return p.Request > 0 || p.directPlan == inst.DirectPlan
}
