package loop

import (
	"cmp"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// This file holds what a process makes of instances whose Plan runs directly: who has reached its goal by it, who goes to
// the LLM after all, who has failed, and the output of a process that nobody was asked about.

// CodeNoPlan marks an instance for which no Plan holds and nobody may be asked.
const CodeNoPlan = "no_plan"

// assign gives an instance that joins its Plan, if one runs directly. It is at work from the start.
func (m *Loop) assign(plans ideafile.DirectPlans, mem *InstanceProgress, view ideafile.View) {
	at, barred := plans.Choose(mem.Token, view)
	switch {
	case at >= 0:
		mem.planner, mem.direct, mem.idle = plannedByPlan, at+1, false
		m.showDirect(at)
	case barred:
		mem.planner = plannedByNobody
		mem.Status, mem.Fault = ideafile.InstanceFailed, diag.Faultf(CodeNoPlan, "no Plan's condition holds, and nobody may be asked")
		m.newlyEnded = append(m.newlyEnded, mem)
	}
}

// showDirect keeps the Calls of a Plan that runs directly for the Requests that may come.
func (m *Loop) showDirect(at int) {
	for _, p := range m.plannedCalls {
		if p.direct == at+1 {
			return
		}
	}
	var calls []planned
	for n, call := range m.idea.Context[at].Calls {
		calls = append(calls, planned{index: n + 1, call: call, direct: at + 1})
	}
	m.plannedCalls = append(calls, m.plannedCalls...)
	slices.SortStableFunc(m.plannedCalls, func(a, b planned) int { return cmp.Or(a.request-b.request, a.direct-b.direct) })
}

// about says whether a Call was planned for an instance at all: that of a Plan that ran directly for those whose Plan it was.
func (p planned) about(mem *InstanceProgress) bool { return p.request > 0 || p.direct == mem.direct }

// alone says whether nobody may be asked about an instance.
func (m *Loop) alone(mem *InstanceProgress) bool {
	return mem.planner == plannedByNobody || mem.direct > 0 && m.idea.Context[mem.direct-1].Stage == ideafile.StageComplete
}

// mayAsk says whether the LLM may be asked at all.
func (m *Loop) mayAsk() bool {
	for _, mem := range m.members {
		if !m.alone(mem) {
			return true
		}
	}
	return false
}

// settleDirect settles the instances whose Plan has come to its end, hands those to the LLM for which it did not suffice,
// and fails those about which nobody may be asked.
func (m *Loop) settleDirect() {
	for _, mem := range m.members {
		if mem.planner != plannedByPlan || mem.standing() != ready {
			continue
		}
		f := mem.planFailure
		switch {
		case len(mem.questions) > 0 && !m.alone(mem):
			continue
		case len(mem.questions) > 0:
			f = diag.Faultf(CodeNoPlan, "%s waits for a result that the LLM would write, and nobody may be asked", mem.questions[0].ID)
		case f == nil && len(mem.Missing) > 0:
			f = diag.Faultf(turn.CodeMissingRequired, "its State still lacks %v", mem.Missing)
		}
		switch {
		case f == nil:
			mem.Status = ideafile.InstanceSettled
		case m.alone(mem):
			mem.Status, mem.Fault = ideafile.InstanceFailed, f
		default:
			mem.planner = plannedByLLMAfterPlan
			continue
		}
		m.newlyEnded = append(m.newlyEnded, mem)
	}
}

// takePlanOutput takes the output of a process from the Plans that ran directly, once every instance has ended. Where it
// cannot be had, a closing Request is told why; where none may be made, the process has failed.
func (m *Loop) takePlanOutput() {
	if m.hasOutput || m.planOutput || !m.closing() {
		return
	}
	out, used, f := m.wirePlans()
	m.planOutput = used
	switch {
	case !used && (m.idea.Output == nil || m.mayAsk()):
	case !used:
		m.outputFault = diag.Faultf(ideafile.CodeBadOutput, "the output form wants an output, and the Plan has none")
	case f == nil:
		m.output, m.hasOutput, m.badOutputs = out, true, 0
	case m.idea.Output != nil && m.mayAsk():
		m.note(turn.ContextError{Fault: *f})
	case !m.anyHanded():
		m.outputFault = f
	}
}

func (m *Loop) anyHanded() bool {
	for _, mem := range m.members {
		if mem.planner == plannedByLLMAfterPlan {
			return true
		}
	}
	return false
}

// wirePlans resolves the outputs of the Plans over the instances that settled by each, laid over each other in the order of
// the Plans. used says that every such instance has a Plan with an output.
func (m *Loop) wirePlans() (out any, used bool, f *diag.Fault) {
	by := map[int][]*InstanceProgress{}
	for _, mem := range m.members {
		if mem.Status != ideafile.InstanceSettled {
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
			return nil, true, diag.Faultf(ideafile.CodeBadOutput, "the Plan's output: %s", err)
		}
		if used {
			part = jsonval.Merge(out, part)
		}
		out, used = part, true
	}
	if used && m.idea.Output != nil {
		if err := m.fits(out); err != nil {
			return nil, true, diag.Faultf(ideafile.CodeBadOutput, "the Plan's output does not fit its form: %s", err)
		}
	}
	return out, used, nil
}

// NeedsLLM says whether a process cannot come to its end without a Request, even if nothing goes wrong: an instance has no
// Plan that runs directly, such a Plan leaves results to the LLM, or nothing else gives the output.
func NeedsLLM(i *ideafile.Idea, bindings map[string]ideafile.Binding) bool {
	tokens := i.Tokens()
	plans, views := ideafile.FindDirectPlans(i.Context), ideafile.ViewsOf(i.Context, tokens)
	for _, token := range tokens {
		at, barred := plans.Choose(token, views[token])
		switch {
		case barred:
		case at < 0, i.Output != nil && i.Context[at].Output == nil && i.Context[at].Stage == ideafile.StageOptimal:
			return true
		case i.Context[at].Stage == ideafile.StageOptimal && len(i.LatentCallsWithoutResult(i.Context[at], bindings)) > 0:
			return true
		}
	}
	return false
}
