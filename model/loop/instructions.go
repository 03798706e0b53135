package loop

import (
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// This file checks whether an instance does what the steps of its instructions require.

// hasInstructions reports whether any instance has instructions with steps. If so, all Calls are kept, as evidence.
func (l *Loop) hasInstructions() bool { return ideafile.HasFileInstructions(l.Idea.Context) }

// stepOutcomes returns the outcome of each step of an instance's instructions, given State and Calls as they are now.
func (l *Loop) stepOutcomes(inst *InstanceProgress) (list []ideafile.StepOutcome) {
	if !l.hasInstructions() {
		return nil
	}
	payloadByKind := ideafile.InstanceViewOf(l.Idea.Context, inst.Token).PayloadByKind
	payloadByKind[ideafile.TypeState] = inst.state.CurrentValue
	callEvidence := []any{}
	for _, p := range l.PlannedCalls {
		if c, ok := inst.reportByCallKey[p.key()]; ok && p.isPlannedFor(inst) {
			callEvidence = append(callEvidence, l.evidenceOfCall(inst, p.Call, c, payloadByKind))
		}
	}
	for _, i := range ideafile.InstructionsFor(l.Idea.Context, inst.Token) {
		list = append(list, i.StepOutcomes(payloadByKind, callEvidence)...)
	}
	return list
}

// unfulfilledSteps lists the steps that keep an instance from settling. In a simulation with values made up from
// schemas it lists none, since such values cannot fulfil a step.
func (l *Loop) unfulfilledSteps(inst *InstanceProgress) []ideafile.StepOutcome {
	if s := l.Idea.Simulation; s != nil && (s.ToolResultsFrom == ideafile.FakedBySchemas ||
		s.LLMRepliesFrom == ideafile.FakedBySchemas) {
		return nil
	}
	return ideafile.UnfulfilledOutcomes(l.stepOutcomes(inst))
}

// missingToSettleFault returns why an instance may not settle; nil if it may.
func (l *Loop) missingToSettleFault(inst *InstanceProgress) *diag.Fault {
	if len(inst.MissingRequiredPaths) > 0 {
		return diag.Faultf(turn.CodeMissingRequired, "its State still lacks %v", inst.MissingRequiredPaths)
	}
	if unfulfilledSteps := l.unfulfilledSteps(inst); len(unfulfilledSteps) > 0 {
		return diag.Faultf(turn.CodeStepUnfulfilled, "step %s of %s is not fulfilled: %s", unfulfilledSteps[0].StepID,
			unfulfilledSteps[0].File, unfulfilledSteps[0].Reason)
	}
	return nil
}

// evidenceOfCall returns what a step can require of a Call: what ran, after people's decisions, and its result.
func (l *Loop) evidenceOfCall(inst *InstanceProgress, w ideafile.WrittenCall, c turn.CallReport,
	payloadByKind jsonval.Object) jsonval.Object {
	palette := ideafile.Palette{Tools: l.Idea.Tools, BindingByTool: l.bindings, InstanceTokens: []string{inst.Token},
		UntargetedCallsGoToAll: true, AllowsDirectPlanKeys: true}
	call, _, f := palette.ReadCall(w)
	if f != nil {
		call.Params = jsonval.Object{}
		for k := range jsonval.Sorted(w.RawObject()) {
			if !strings.HasPrefix(k, "_") {
				call.Params[k] = w.RawObject()[k]
			}
		}
	}
	evidence := jsonval.Object{"tool": w.Tool, "status": string(c.Status), "params": call.Params, "output": nil}
	resolvedParams, err := refexpr.ResolveReferences(call.Params, func(ref refexpr.Reference) (any, bool) {
		return inst.valueSeenByCall(c, ref, payloadByKind)
	})
	if params, ok := resolvedParams.(jsonval.Object); ok && err == nil {
		evidence["params"] = c.ParamsAdaptation.ApplyTo(params)
	}
	if c.ExecutedCall != nil {
		evidence["tool"], evidence["params"] = c.ExecutedCall.Tool, c.ExecutedCall.Params
	}
	if c.Status == ideafile.CallDone {
		evidence["output"] = inst.outputOfCall(c, call)
	}
	return evidence
}

// valueSeenByCall finds the value of a Reference as a Call sees it from its place in the Plan.
func (p *InstanceProgress) valueSeenByCall(c turn.CallReport, ref refexpr.Reference,
	payloadByKind jsonval.Object) (any, bool) {
	value := payloadByKind[ref.Kind]
	if ref.Kind == ideafile.TypeState {
		stateBefore := p.state.StateBeforeCall(c.Request, c.Index, ref.Path).CurrentValue
		if v, ok := refexpr.ValueOrBlobHandleAt(stateBefore, ref.Path); ok {
			return v, true
		}
	}
	return refexpr.ValueOrBlobHandleAt(value, ref.Path)
}

// outputOfCall returns the result of a done Call: its own output, the value it wrote to State, or what its report
// keeps.
func (p *InstanceProgress) outputOfCall(c turn.CallReport, call ideafile.Call) any {
	if call.HasLatentOutput {
		return call.LatentOutput
	}
	for _, w := range p.state.Writes() {
		if w.Request == c.Request && w.Index == c.Index && w.CorrectionNumber == 0 {
			if len(w.Path) == 0 && c.Result != nil {
				return jsonval.OverlayObject(w.Value, c.Result)
			}
			return w.Value
		}
	}
	if c.Result != nil {
		return c.Result
	}
	for _, path := range call.OutputPath.Paths() { // the Call was done in an earlier process
		if v, ok := jsonval.ValueAt(p.state.CurrentValue, path); ok {
			return v
		}
	}
	return nil
}

// unfulfilledStepsForLLM returns the steps that the next Request reports as unfulfilled: the Request after each time
// that they kept the instance from settling, so maxUnsettledRequests times at most, and the first Request after a Plan,
// an earlier process or an end should have fulfilled them. What the LLM plans in between may still fulfil them.
func (l *Loop) unfulfilledStepsForLLM(inst *InstanceProgress) []ideafile.StepOutcome {
	wasKeptFromSettling := inst.shouldTellLLMOfMissing() && inst.LastUnsettledRequest == inst.LastPlanningRequest
	isReopenedOrInherited := inst.ReopenReason != "" || inst.LastCoveringRequest == 0 && inst.LastPlanningRequest > 0
	if !wasKeptFromSettling && !isReopenedOrInherited {
		return nil
	}
	return l.unfulfilledSteps(inst)
}

// InstructionStepCounts counts, for each step of the instructions, the ended instances in which it is fulfilled.
func (l *Loop) InstructionStepCounts() ideafile.StepCounts {
	counts := ideafile.ZeroStepCounts(l.Idea.Context)
	for _, inst := range l.Instances {
		if !inst.isWorking() {
			counts = counts.WithOutcomes(inst.StepOutcomes)
		}
	}
	return counts
}
