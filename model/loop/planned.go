package loop

import (
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// This file holds what a Request is told of the Calls before it: those that were planned, what became of them and what
// people decided on them. What went wrong is in troubles.go.

// shown says whether a Request about an instance is shown one of its Calls: those of the Request that planned for it
// last, those whose result stands nowhere but on their record, and those that a person decided otherwise on.
func (m *Loop) shown(p planned, mem *InstanceProgress, c turn.CallReport) bool {
	return p.request == mem.lastPlanned || m.idea.HasNoOutputPath(p.call) || c.OverruledByPerson()
}

// planEntries folds what became of each planned Call over some of the instances.
func (m *Loop) planEntries(members []*InstanceProgress) []turn.PlanEntry {
	var out []turn.PlanEntry
	for _, p := range m.plannedCalls {
		e := turn.PlanEntry{ID: ideafile.CallID(p.request, p.index, ""), Call: p.call, StatusCounts: map[ideafile.CallStatus]int{}, Results: map[string]any{}}
		for _, mem := range members {
			if c, ok := mem.calls[p.key()]; ok && p.about(mem) && m.shown(p, mem, c) {
				e.AddReport(mem.Token, c)
			}
		}
		m.noteDirect(&e, p, members)
		if len(e.StatusCounts) > 0 || p.nobody && anyPlanned(members, p.request) {
			out = append(out, e)
		}
	}
	return out
}

// noteDirect notes of a Call of a Plan that runs directly whose Plan it is, and, where State does not tell, in which
// instances it is done.
func (m *Loop) noteDirect(e *turn.PlanEntry, p planned, members []*InstanceProgress) {
	if p.direct == 0 {
		return
	}
	e.DirectPlan, e.PlanName = p.direct, m.idea.Context[p.direct-1].Name
	if len(e.StatusCounts) < 2 || !m.idea.HasNoOutputPath(p.call) {
		return
	}
	for _, mem := range members {
		if p.about(mem) && mem.calls[p.key()].Status == ideafile.Done {
			e.DoneInstances = append(e.DoneInstances, mem.Token)
		}
	}
}

func anyPlanned(members []*InstanceProgress, request int) bool {
	for _, mem := range members {
		if mem.lastPlanned == request {
			return true
		}
	}
	return false
}

// stillShown says whether a later Request may be shown a Call of an earlier one.
func (m *Loop) stillShown(p planned) bool {
	if m.idea.HasNoOutputPath(p.call) {
		return true
	}
	for _, mem := range m.members {
		if mem.Status != ideafile.InstanceWorking || !p.about(mem) {
			continue
		}
		if p.direct > 0 && mem.lastPlanned == 0 {
			return true // it may still be at work there
		}
		c, ok := mem.calls[p.key()]
		if mem.lastPlanned == p.request && (ok || p.nobody || mem.closedThrough < p.request) || ok && c.OverruledByPerson() {
			return true
		}
	}
	return false
}
