package loop

import (
	"cmp"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// CodeNoPlan marks an instance for which no Plan's condition holds and the LLM may not be asked.
const CodeNoPlan = "no_plan"

// assignDirectPlan assigns an instance that joins its direct Plan, if one matches.
func (l *Loop) assignDirectPlan(plans ideafile.DirectPlans, inst *InstanceProgress, view ideafile.View) {
	at, noneMatches := plans.Choose(inst.Token, view)
	switch {
	case at >= 0:
		inst.planner, inst.DirectPlan, inst.Idle = plannedByDirectPlan, at+1, false
		l.addDirectPlanCalls(at)
	case noneMatches:
		inst.planner = noPlanMatched
		l.endInstance(inst, ideafile.InstanceFailed, diag.Faultf(CodeNoPlan, "no Plan's condition holds, and nobody may be asked"))
	}
}

// addDirectPlanCalls keeps the Calls of a direct Plan for later Requests to see.
func (l *Loop) addDirectPlanCalls(at int) {
	for _, p := range l.plannedCalls {
		if p.directPlan == at+1 {
			return
		}
	}
	var calls []plannedCall
	for n, call := range l.idea.Context[at].Calls {
		calls = append(calls, plannedCall{CallKey: ideafile.CallKey{Index: n + 1}, call: call, directPlan: at + 1})
	}
	l.plannedCalls = append(calls, l.plannedCalls...)
	slices.SortStableFunc(l.plannedCalls, func(a, b plannedCall) int { return cmp.Or(a.Request-b.Request, a.directPlan-b.directPlan) })
}

// llmForbidden reports whether the LLM may not be asked about an instance, because its Plan is declared complete.
func (l *Loop) llmForbidden(inst *InstanceProgress) bool {
	return inst.planner == noPlanMatched || (inst.DirectPlan > 0 && l.idea.Context[inst.DirectPlan-1].Stage == ideafile.StageComplete)
}

// llmAllowed reports whether the LLM may be asked about any instance.
func (l *Loop) llmAllowed() bool {
	for _, inst := range l.instances {
		if !l.llmForbidden(inst) {
			return true
		}
	}
	return false
}

// settleDirectPlanInstances decides on the instances whose direct Plan has come to its end, unless they wait for the LLM's answer.
func (l *Loop) settleDirectPlanInstances() {
	for _, inst := range l.instances {
		if inst.planner == plannedByDirectPlan && inst.phase() == ready && (len(inst.Questions) == 0 || l.llmForbidden(inst)) {
			l.settleDirectPlanInstance(inst)
		}
	}
}

// settleDirectPlanInstance settles an instance. Where the Plan did not suffice, the LLM takes over, or the instance fails.
func (l *Loop) settleDirectPlanInstance(inst *InstanceProgress) {
	f := inst.directPlanFault()
	switch {
	case f == nil:
		l.endInstance(inst, ideafile.InstanceSettled, nil)
	case l.llmForbidden(inst):
		l.endInstance(inst, ideafile.InstanceFailed, f)
	default:
		inst.planner = fellBackToLLM
	}
}

// directPlanFault returns why a direct Plan that has come to its end did not suffice; nil if it did.
func (p *InstanceProgress) directPlanFault() *diag.Fault {
	switch {
	case len(p.Questions) > 0:
		return diag.Faultf(CodeNoPlan, "%s waits for a result that the LLM would write, and nobody may be asked", p.Questions[0].ID)
	case p.PlanFailure == nil && len(p.Missing) > 0:
		return diag.Faultf(turn.CodeMissingRequired, "its State still lacks %v", p.Missing)
	}
	return p.PlanFailure
}

// takeDirectPlanOutput takes the output from the direct Plans, once every instance has ended. Where that fails, a closing Request is
// told why, or the process has failed where none may be made.
func (l *Loop) takeDirectPlanOutput() {
	if l.hasOutput || l.planOutputTried || !l.allInstancesEnded() {
		return
	}
	out, used, f := l.resolveDirectPlanOutputs()
	l.planOutputTried = used
	switch {
	case !used && (l.idea.Output == nil || l.llmAllowed()):
	case !used:
		l.outputFault = diag.Faultf(ideafile.CodeBadOutput, "the output form wants an output, and the Plan has none")
	case f == nil:
		l.setOutput(out)
	case l.idea.Output != nil && l.llmAllowed():
		l.addError(turn.ContextError{Fault: *f})
	case !l.anyFellBackToLLM():
		l.outputFault = f
	}
}

func (l *Loop) anyFellBackToLLM() bool {
	return slices.ContainsFunc(l.instances, func(inst *InstanceProgress) bool { return inst.planner == fellBackToLLM })
}

// resolveDirectPlanOutputs resolves the output of each Plan over the instances that settled by it, and merges them in the order of the
// Plans. used reports whether every settled instance has a Plan with an output.
func (l *Loop) resolveDirectPlanOutputs() (out any, used bool, f *diag.Fault) {
	byPlan := map[int][]*InstanceProgress{}
	for _, inst := range l.instances {
		if inst.Status != ideafile.InstanceSettled {
			continue
		}
		if inst.DirectPlan == 0 || l.idea.Context[inst.DirectPlan-1].Output == nil {
			return nil, false, nil
		}
		byPlan[inst.DirectPlan] = append(byPlan[inst.DirectPlan], inst)
	}
	for n := range l.idea.Context {
		if len(byPlan[n+1]) == 0 {
			continue
		}
		part, err := l.resolveOutputOver(l.idea.Context[n].Output, byPlan[n+1])
		if err != nil {
			return nil, true, diag.Faultf(ideafile.CodeBadOutput, "the Plan's output: %s", err)
		}
		if used {
			part = jsonval.Merge(out, part)
		}
		out, used = part, true
	}
	if used && l.idea.Output != nil {
		if err := l.checkOutput(out); err != nil {
			return nil, true, diag.Faultf(ideafile.CodeBadOutput, "the Plan's output does not fit its form: %s", err)
		}
	}
	return out, used, nil
}

// NeedsLLM reports whether a process needs a Request even if nothing goes wrong: an instance has no direct Plan, such a Plan
// leaves results to the LLM, or no Plan gives the output.
func NeedsLLM(i *ideafile.Idea, bindings map[string]ideafile.Binding) bool {
	tokens := i.InstanceTokens()
	plans, views := ideafile.FindDirectPlans(i.Context), ideafile.ViewsOf(i.Context, tokens)
	for _, token := range tokens {
		at, noneMatches := plans.Choose(token, views[token])
		switch {
		case noneMatches:
		case at < 0, i.Output != nil && i.Context[at].Output == nil && i.Context[at].Stage == ideafile.StageOptimal:
			return true
		case i.Context[at].Stage == ideafile.StageOptimal && len(i.LatentCallsWithoutResult(i.Context[at], bindings)) > 0:
			return true
		}
	}
	return false
}
