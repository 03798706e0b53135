package model

// This file holds what a Request is told of the Calls before it: those that were planned, what became of them and what
// people decided on them. What went wrong is in troubles.go.

// shown says whether a Request about an instance is shown one of its Calls: those of the Request that planned for it
// last, those whose result stands nowhere but on their record, and those that a person decided otherwise on.
func (m *Mind) shown(p planned, mem *Member, c CallReport) bool {
	return p.request == mem.planned || m.idea.forEffect(p.call) || c.overruled()
}

// overruled says whether a person changed what the LLM had proposed.
func (c CallReport) overruled() bool {
	for _, d := range c.Decisions {
		if d.Decision != Approve {
			return true
		}
	}
	return false
}

// planEntries folds what became of each planned Call over some of the instances.
func (m *Mind) planEntries(members []*Member) []PlanEntry {
	var out []PlanEntry
	for _, p := range m.plan {
		e := PlanEntry{ID: CallID(p.request, p.index, ""), Call: p.call, How: map[Status]int{}, Results: map[string]any{}}
		for _, mem := range members {
			if c, ok := mem.calls[[2]int{p.request, p.index}]; ok && p.about(mem) && m.shown(p, mem, c) {
				e.add(mem.Token, c)
			}
		}
		m.noteDirect(&e, p, members)
		if len(e.How) > 0 || p.nobody && anyPlanned(members, p.request) {
			out = append(out, e)
		}
	}
	return out
}

func (e *PlanEntry) add(token string, c CallReport) {
	e.How[c.Status]++
	if token != "" {
		if e.Where == nil {
			e.Where = map[Status][]string{}
		}
		e.Where[c.Status] = append(e.Where[c.Status], token)
	}
	if c.Result != nil {
		e.Results[token] = c.Result
	}
	for _, d := range c.Decisions {
		e.Decided = append(e.Decided, Decided{Token: token, Decision: d})
	}
}

// noteDirect notes of a Call of a Plan that runs directly whose Plan it is, and, where State does not tell, in which
// instances it is done.
func (m *Mind) noteDirect(e *PlanEntry, p planned, members []*Member) {
	if p.direct == 0 {
		return
	}
	e.Direct, e.Plan = p.direct, m.idea.Context[p.direct-1].Name
	if len(e.How) < 2 || !m.idea.forEffect(p.call) {
		return
	}
	for _, mem := range members {
		if p.about(mem) && mem.calls[[2]int{p.request, p.index}].Status == Done {
			e.Done = append(e.Done, mem.Token)
		}
	}
}

func anyPlanned(members []*Member, request int) bool {
	for _, mem := range members {
		if mem.planned == request {
			return true
		}
	}
	return false
}

// stillShown says whether a later Request may be shown a Call of an earlier one.
func (m *Mind) stillShown(p planned) bool {
	if m.idea.forEffect(p.call) {
		return true
	}
	for _, mem := range m.members {
		if mem.Status != InstanceWorking || !p.about(mem) {
			continue
		}
		if p.direct > 0 && mem.planned == 0 {
			return true // it may still be at work there
		}
		c, ok := mem.calls[[2]int{p.request, p.index}]
		if mem.planned == p.request && (ok || p.nobody || mem.closed < p.request) || ok && c.overruled() {
			return true
		}
	}
	return false
}
