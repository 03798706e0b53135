package model

import (
	"cmp"
	"slices"
)

// This file holds what a process makes of instances whose Plan runs directly: who has reached its goal by it, who goes to
// the LLM after all, who has failed, and the output of a process that nobody was asked about.

// CodeNoPlan marks an instance for which no Plan holds and nobody may be asked.
const CodeNoPlan = "no_plan"

// assign gives an instance that joins its Plan, if one runs directly. It is at work from the start.
func (m *Mind) assign(plans directPlans, mem *Member, view View) {
	at, barred := plans.choose(mem.Token, view)
	switch {
	case at >= 0:
		mem.direct, mem.quiet = at+1, false
		m.showDirect(at)
	case barred:
		mem.barred = true
		mem.Status, mem.Fault = InstanceFailed, fault(CodeNoPlan, "no Plan's condition holds, and nobody may be asked")
		m.ended = append(m.ended, mem)
	}
}

// showDirect keeps the Calls of a Plan that runs directly for the Requests that may come.
func (m *Mind) showDirect(at int) {
	for _, p := range m.plan {
		if p.direct == at+1 {
			return
		}
	}
	var calls []planned
	for n, raw := range m.idea.Context[at].Calls {
		calls = append(calls, planned{index: n + 1, call: raw, direct: at + 1})
	}
	m.plan = append(calls, m.plan...)
	slices.SortStableFunc(m.plan, func(a, b planned) int { return cmp.Or(a.request-b.request, a.direct-b.direct) })
}

// about says whether a Call was planned for an instance at all: that of a Plan that ran directly for those whose Plan it was.
func (p planned) about(mem *Member) bool { return p.request > 0 || p.direct == mem.direct }

// byPlan says whether an instance is still carried by the Plan that runs directly.
func (mem *Member) byPlan() bool { return mem.direct > 0 && !mem.handed }

// alone says whether nobody may be asked about an instance.
func (m *Mind) alone(mem *Member) bool {
	return mem.barred || mem.direct > 0 && m.idea.Context[mem.direct-1].Stage == StageComplete
}

// mayAsk says whether the LLM may be asked at all.
func (m *Mind) mayAsk() bool {
	for _, mem := range m.members {
		if !m.alone(mem) {
			return true
		}
	}
	return false
}

// settleDirect settles the instances whose Plan has come to its end, hands those to the LLM for which it did not suffice,
// and fails those about which nobody may be asked.
func (m *Mind) settleDirect() {
	for _, mem := range m.members {
		if !mem.byPlan() || !mem.rests() || len(mem.Pending) > 0 {
			continue
		}
		f := mem.unmet
		switch {
		case len(mem.asking) > 0 && !m.alone(mem):
			continue
		case len(mem.asking) > 0:
			f = fault(CodeNoPlan, "%s waits for a result that the LLM would write, and nobody may be asked", mem.asking[0].ID)
		case f == nil && len(mem.Missing) > 0:
			f = fault(CodeMissing, "its State still lacks %v", mem.Missing)
		}
		switch {
		case f == nil:
			mem.Status = InstanceSettled
		case m.alone(mem):
			mem.Status, mem.Fault = InstanceFailed, f
		default:
			mem.handed = true
			continue
		}
		m.ended = append(m.ended, mem)
	}
}

// takePlanOutput takes the output of a process from the Plans that ran directly, once every instance has ended. Where it
// cannot be had, a closing Request is told why; where none may be made, the process has failed.
func (m *Mind) takePlanOutput() {
	if m.hasOutput || m.planOutput || !m.closing() {
		return
	}
	out, used, f := m.wirePlans()
	m.planOutput = used
	switch {
	case !used && (m.idea.Output == nil || m.mayAsk()):
	case !used:
		m.outputFault = fault(CodeBadOutput, "the output form wants an output, and the Plan has none")
	case f == nil:
		m.output, m.hasOutput, m.badOutputs = out, true, 0
	case m.idea.Output != nil && m.mayAsk():
		m.note(Trouble{Fault: *f})
	case !m.anyHanded():
		m.outputFault = f
	}
}

func (m *Mind) anyHanded() bool {
	for _, mem := range m.members {
		if mem.handed {
			return true
		}
	}
	return false
}

// wirePlans resolves the outputs of the Plans over the instances that settled by each, laid over each other in the order of
// the Plans. used says that every such instance has a Plan with an output.
func (m *Mind) wirePlans() (out any, used bool, f *Fault) {
	by := map[int][]*Member{}
	for _, mem := range m.members {
		if mem.Status != InstanceSettled {
			continue
		}
		if mem.direct == 0 || m.idea.Context[mem.direct-1].Output == nil {
			return nil, false, nil
		}
		by[mem.direct] = append(by[mem.direct], mem)
	}
	for n := range m.idea.Context {
		if len(by[n+1]) == 0 {
			continue
		}
		part, err := m.wireOver(m.idea.Context[n].Output, by[n+1])
		if err != nil {
			return nil, true, fault(CodeBadOutput, "the Plan's output: %s", err)
		}
		if used {
			part = Merge(out, part)
		}
		out, used = part, true
	}
	if used && m.idea.Output != nil {
		if err := m.fits(out); err != nil {
			return nil, true, fault(CodeBadOutput, "the Plan's output does not fit its form: %s", err)
		}
	}
	return out, used, nil
}

// NeedsLLM says whether a process cannot come to its end without a Request, even if nothing goes wrong: an instance has no
// Plan that runs directly, such a Plan leaves results to the LLM, or nothing else gives the output.
func NeedsLLM(i *Idea, bindings map[string]Binding) bool {
	tokens := i.Tokens()
	plans, views := directPlansOf(i.Context), viewsOf(i.Context, tokens)
	for _, token := range tokens {
		at, barred := plans.choose(token, views[token])
		switch {
		case barred:
		case at < 0, i.Output != nil && i.Context[at].Output == nil && i.Context[at].Stage == StageOptimal:
			return true
		case i.Context[at].Stage == StageOptimal && len(i.leftOpen(i.Context[at], bindings)) > 0:
			return true
		}
	}
	return false
}

// leftOpen lists the Calls of a Plan, by place, whose results the LLM would have to write.
func (i *Idea) leftOpen(plan Message, bindings map[string]Binding) []int {
	var list []int
	for n, raw := range plan.Calls {
		call, _ := raw.(map[string]any)
		name, _ := call["_tool"].(string)
		if bindings[name].Kind == KindLatent && call["_output"] == nil && !plan.recorded(n+1, plan.Instance) {
			list = append(list, n)
		}
	}
	return list
}
