package loop

import (
	"cmp"
	"slices"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/delegate"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// CodeNoPlanSuffices marks an instance for which the LLM may not be asked, and for which no Plan's condition holds or
// whose Plan needs a result that the LLM would write.
const CodeNoPlanSuffices = "no_plan"

// assignDirectPlan gives a new instance its direct Plan, if one matches. The instance fails if none matches and the LLM
// may not be asked.
func (l *Loop) assignDirectPlan(plans ideafile.DirectPlans, inst *InstanceProgress, view ideafile.InstanceView) {
	planIndex, noPlanMatches := plans.ChooseForInstance(inst.Token, view)
	switch {
	case planIndex >= 0 && slices.Contains(l.Idea.Context[planIndex].FallbackInstanceTokens, inst.Token):
		inst.HasFallenBackToLLM, inst.DirectPlanPosition = true, planIndex+1
		l.addDirectPlanCalls(planIndex)
	case planIndex >= 0:
		inst.DirectPlanPosition, inst.IsIdle = planIndex+1, false
		l.addDirectPlanCalls(planIndex)
	case noPlanMatches:
		inst.HasNoMatchingPlan = true
		l.endInstance(inst, ideafile.InstanceFailed,
			diag.Faultf(CodeNoPlanSuffices, "no Plan's condition holds, and nobody may be asked"))
	}
}

// RunsDirectPlan reports whether a direct Plan runs any instance.
func (l *Loop) RunsDirectPlan() bool {
	return l.anyInstance((*InstanceProgress).usesDirectPlan)
}

// replaceDirectPlans gives each instance that a direct Plan runs the direct Plan for it, if any, at or after the
// position behind in the context. It returns the instances that have a new Plan.
func (l *Loop) replaceDirectPlans(firstNewMessageIndex int) (instancesWithNewPlan []*InstanceProgress) {
	plans, splitMessages := ideafile.FindDirectPlans(l.Idea.Context), ideafile.SplitMessagesByInstance(l.Idea.Context)
	for _, inst := range l.instancesWhere((*InstanceProgress).runsDirectPlan) {
		planIndex, _ := plans.ChooseForInstance(inst.Token, splitMessages.InstanceView(inst.Token))
		if planIndex >= firstNewMessageIndex {
			inst.ReplacedDirectPlanPositions = append(inst.ReplacedDirectPlanPositions, inst.DirectPlanPosition)
			inst.DirectPlanPosition = planIndex + 1
			l.addDirectPlanCalls(planIndex)
			instancesWithNewPlan = append(instancesWithNewPlan, inst)
		}
	}
	return instancesWithNewPlan
}

// addDirectPlanCalls keeps the Calls of a direct Plan for later Requests to see.
func (l *Loop) addDirectPlanCalls(planContextIndex int) {
	for _, p := range l.PlannedCalls {
		if p.DirectPlanPosition == planContextIndex+1 {
			return
		}
	}
	var calls []PlannedCall
	for n, call := range l.Idea.Context[planContextIndex].PlanCalls {
		calls = append(calls, PlannedCall{Index: l.Idea.Context[planContextIndex].CallIndexOffset + n + 1, Call: call,
			DirectPlanPosition: planContextIndex + 1})
	}
	l.PlannedCalls = append(calls, l.PlannedCalls...)
	slices.SortStableFunc(l.PlannedCalls, func(a, b PlannedCall) int {
		return cmp.Or(a.Request-b.Request, a.DirectPlanPosition-b.DirectPlanPosition)
	})
}

// isLLMForbidden reports whether the LLM may not be asked about an instance, because its Plan is declared complete.
func (l *Loop) isLLMForbidden(inst *InstanceProgress) bool {
	return inst.HasNoMatchingPlan ||
		(inst.DirectPlanPosition > 0 &&
			l.Idea.Context[inst.DirectPlanPosition-1].PlanStage == ideafile.PlanStageComplete)
}

// IsLLMAllowed reports whether the LLM may be asked about any instance.
func (l *Loop) IsLLMAllowed() bool {
	return l.anyInstance(func(inst *InstanceProgress) bool { return !l.isLLMForbidden(inst) })
}

// concludeDirectPlans decides on the instances whose direct Plan has ended, unless they wait for an answer that
// the LLM may give.
func (l *Loop) concludeDirectPlans() {
	for _, inst := range l.Instances {
		if inst.usesDirectPlan() && inst.phase() == phaseReady &&
			(len(inst.Questions) == 0 || l.isLLMForbidden(inst)) {
			l.concludeDirectPlan(inst)
		}
	}
}

// concludeDirectPlan settles an instance. If its Plan did not suffice, the LLM takes over or, if it may not be
// asked, the instance fails.
func (l *Loop) concludeDirectPlan(inst *InstanceProgress) {
	f := l.directPlanFault(inst)
	switch {
	case f == nil:
		l.endInstance(inst, ideafile.InstanceSettled, nil)
	case l.isLLMForbidden(inst):
		l.endInstance(inst, ideafile.InstanceFailed, f)
	default:
		inst.HasFallenBackToLLM = true
	}
}

// directPlanFault returns why an ended direct Plan did not suffice; nil if it did.
func (l *Loop) directPlanFault(p *InstanceProgress) *diag.Fault {
	switch {
	case len(p.Questions) > 0:
		return diag.Faultf(CodeNoPlanSuffices,
			"%s waits for a result that the LLM would write, and nobody may be asked", p.Questions[0].CallID)
	case p.PlanFailure == nil:
		return l.missingToSettleFault(p)
	}
	return p.PlanFailure
}

// resolveDirectPlanOutput takes the output from the direct Plans, once every instance has ended. If that fails, a
// closing Request reports the reason; if no Request may be made, the process fails. A part leaves the output to the
// whole.
func (l *Loop) resolveDirectPlanOutput() {
	if l.HasOutput || l.HasTriedDirectPlanOutput || !l.allInstancesEnded() {
		return
	}
	wirings := l.DirectPlanOutputWirings()
	l.HasTriedDirectPlanOutput = len(wirings) > 0
	if l.IsPart {
		return
	}
	if len(wirings) == 0 {
		if l.Idea.OutputSchema != nil && !l.IsLLMAllowed() {
			l.OutputFault = NoPlanOutputFault()
		}
		return
	}
	out, f := ResolveOutputWirings(l.Idea, wirings, l.StateOf, l.IsPatched)
	switch {
	case f == nil:
		l.setOutput(out, nil)
	case l.Idea.OutputSchema != nil && l.IsLLMAllowed():
		l.addError(f)
	case !l.AnyFellBackToLLM():
		l.OutputFault = f
	}
}

// AnyFellBackToLLM reports whether the LLM took over from a direct Plan.
func (l *Loop) AnyFellBackToLLM() bool {
	return l.anyInstance(func(inst *InstanceProgress) bool { return inst.HasFallenBackToLLM })
}

// DirectPlanOutputWirings returns the output of each direct Plan, in the Plans' order, with the instances that settled
// by it. It returns nil if a settled instance has no Plan with an output.
func (l *Loop) DirectPlanOutputWirings() (list []OutputWiring) {
	tokensByPlanPosition := map[int][]string{}
	for _, inst := range l.Instances {
		if inst.Status != ideafile.InstanceSettled {
			continue
		}
		if l.lacksPlanOutput(inst) {
			return nil
		}
		tokensByPlanPosition[inst.DirectPlanPosition] = append(tokensByPlanPosition[inst.DirectPlanPosition],
			inst.Token)
	}
	for n := range l.Idea.Context {
		if len(tokensByPlanPosition[n+1]) > 0 {
			list = append(list, OutputWiring{WrittenOutput: l.Idea.Context[n].PlanOutput,
				InstanceTokens:     tokensByPlanPosition[n+1],
				DirectPlanPosition: n + 1})
		}
	}
	return list
}

// lacksPlanOutput reports whether an instance has no direct Plan with an output.
func (l *Loop) lacksPlanOutput(inst *InstanceProgress) bool {
	return inst.DirectPlanPosition == 0 || l.Idea.Context[inst.DirectPlanPosition-1].PlanOutput == nil
}

// DelegateIdeaFiles has the Idea files that delegates run, by their path from the folder of the first Idea file. A
// delegate without a file (ideafile.AnonymousDelegate) always needs the LLM.
type DelegateIdeaFiles struct {
	IdeaFilesByPath jsonval.Object
	ToolBindingsFor func(*ideafile.Idea) ideafile.ToolBindings
}

// IdeaNeedsLLM reports whether a process, or a delegate that its Plans call, needs a Request even if nothing goes
// wrong: an instance that has not ended has no direct Plan, its Plan leaves results to the LLM, or no Plan gives the
// output.
func (d DelegateIdeaFiles) IdeaNeedsLLM(i *ideafile.Idea) bool { return d.needsLLMAtDepth(i, "", 0) }

func (d DelegateIdeaFiles) needsLLMAtDepth(i *ideafile.Idea, ideaFilePath string, delegateDepth int) bool {
	l := New(i, "", d.ToolBindingsFor(i), time.Time{})
	for _, inst := range l.Instances {
		if inst.isWorking() && (l.needsLLM(inst) || d.anyCalledDelegateNeedsLLM(i, ideaFilePath,
			l.Idea.Context[inst.DirectPlanPosition-1].PlanCalls, delegateDepth)) {
			return true
		}
	}
	l.resolveDirectPlanOutput()
	return l.allInstancesEnded() && !l.isGoalReached()
}

func (l *Loop) needsLLM(inst *InstanceProgress) bool {
	if !inst.usesDirectPlan() {
		return true
	}
	plan := l.Idea.Context[inst.DirectPlanPosition-1]
	leavesOutputToLLM := l.Idea.OutputSchema != nil && plan.PlanOutput == nil
	return plan.PlanStage == ideafile.PlanStageOptimal &&
		(leavesOutputToLLM || len(ideafile.UnansweredLatentCallIndexes(plan, inst.Token, l.bindings)) > 0)
}

// visitRecordedDirectCalls calls do for each Call in the records of direct Plans, and each of its instances.
func (l *Loop) visitRecordedDirectCalls(visit func(*InstanceProgress, turn.RecordedCall)) {
	tokensByPlanPosition := map[int][]string{}
	for _, inst := range l.Instances {
		tokensByPlanPosition[inst.DirectPlanPosition] = append(tokensByPlanPosition[inst.DirectPlanPosition],
			inst.Token)
	}
	for n, msg := range l.Idea.Context {
		if len(tokensByPlanPosition[n+1]) == 0 {
			continue
		}
		for _, p := range turn.ReadDirectPlanRecord(msg, tokensByPlanPosition[n+1]) {
			for token := range jsonval.Sorted(p.StatusByInstance) {
				visit(l.instanceByToken[token], p)
			}
		}
	}
}

// restoreDirectCall restores a Call of an earlier process from the record of a direct Plan. If the Plan goes on, only a
// Call whose outcome is final for the instance is restored; the others are reported anew.
func (p *InstanceProgress) restoreDirectCall(recordedCall turn.RecordedCall) {
	status := recordedCall.StatusByInstance[p.Token]
	if !status.IsFinal() || (p.runsDirectPlan() && !recordedCall.IsFinalFor(p.Token)) {
		return
	}
	c := recordedCall.Report(p.Token)
	c.IsFromEarlierProcess = true
	p.reportByCallKey[c.CallKey()] = c
	p.callsWithErrorsShown[c.CallKey()] = true // errors not shown yet are in the context
}

// CountDirectPlanCallsToResume counts the Calls that had not ended in the earlier process and that direct Plans resume.
// toReviewCount counts those about which a person is asked again; toResumeCount counts the others.
func (l *Loop) CountDirectPlanCallsToResume() (toReviewCount, toResumeCount int) {
	l.visitRecordedDirectCalls(func(inst *InstanceProgress, p turn.RecordedCall) {
		switch status := p.StatusByInstance[inst.Token]; {
		case status.IsFinal(), !inst.runsDirectPlan():
		case p.ReviewReasonOnResume(l.Idea.Tool(p.WrittenCall.Tool), inst.Token) != "":
			toReviewCount++
		default:
			toResumeCount++
		}
	})
	return toReviewCount, toResumeCount
}

// anyCalledDelegateNeedsLLM reports whether a Call of a Plan has a delegate that needs the LLM. A delegate whose Plans
// depend on its input counts as one with a matching Plan.
func (d DelegateIdeaFiles) anyCalledDelegateNeedsLLM(i *ideafile.Idea, callerFilePath string,
	calls []ideafile.WrittenCall,
	callerDelegateDepth int) bool {
	for _, call := range calls {
		t := i.Tool(call.Tool)
		if t == nil || t.DelegateFile == "" || callerDelegateDepth >= delegate.MaxDepth {
			continue
		}
		if t.DelegateFile == ideafile.AnonymousDelegate {
			return true
		}
		ideaFilePath, err := delegate.ResolveFileKey(callerFilePath, t.DelegateFile)
		ideaFile, ok := d.IdeaFilesByPath[ideaFilePath].(jsonval.Object)
		if err != nil || !ok {
			continue
		}
		idea, problems := ideafile.ReadIdea(delegate.NewIdea(t, ideaFile, nil, jsonval.Object{}, nil))
		isConditional := func(m ideafile.Message) bool { return m.IsDirectPlan() && m.PlanViewCondition != nil }
		if len(problems.Errors()) == 0 && !slices.ContainsFunc(idea.Context, isConditional) &&
			d.needsLLMAtDepth(idea, ideaFilePath, callerDelegateDepth+1) {
			return true
		}
	}
	return false
}
