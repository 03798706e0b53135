package model

import "fmt"

// This file holds what a Request is told of the Calls before it: those that were planned, what became of them and what
// people decided on them, and those that went wrong.

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

// callTroubles gathers the Calls of some instances that failed or can never run and of which the LLM was not told, one
// line for all instances in which it was the same. What a person rejected is no error: it is told as a fact.
func (m *Mind) callTroubles(members []*Member) []Trouble {
	var out []Trouble
	at := map[string]int{}
	for _, p := range m.plan {
		for _, mem := range members {
			call := [2]int{p.request, p.index}
			c, ok := mem.calls[call]
			if !ok || !p.about(mem) || c.Fault == nil || c.Status == Rejected || mem.told[call] {
				continue
			}
			key := fmt.Sprintf("%d.%d %s %s", p.request, p.index, c.Fault.Code, c.Fault.Message)
			if _, seen := at[key]; !seen {
				at[key] = len(out)
				out = append(out, Trouble{Call: CallID(p.request, p.index, ""), Fault: *c.Fault})
			}
			if mem.Token != "" {
				t := &out[at[key]]
				t.Instances = append(t.Instances, mem.Token)
			}
		}
	}
	return out
}

// told notes that the LLM has planned with what a Request was told.
func (m *Mind) told(a *asked) {
	m.troubles = nil
	for _, mem := range m.covered(a.brief) {
		//workflowcheck:ignore -- each by itself
		for call, c := range mem.calls {
			if call[0] < a.brief.Number && c.Fault != nil {
				mem.told[call] = true
			}
		}
	}
}
