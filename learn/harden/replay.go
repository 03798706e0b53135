package harden

import (
	"slices"
	"strings"

	"processidea/learn/past"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// verifyPlanByReplay replays the common Plan in every instance, with the results that the Calls had there. Before that
// it drops Calls until no more can be dropped: Calls without input, Calls that would run in an instance that never
// planned them and for which no condition is found, and Calls that never run. Then it records every instance that does
// not reach its final State.
func (h *hardener) verifyPlanByReplay() {
	for hasChanged := true; hasChanged; {
		hasChanged = h.dropCallsWithoutInput()
		if !hasChanged {
			hasChanged = h.resolveUnplannedCalls()
		}
		if !hasChanged {
			hasChanged = h.dropCallsThatNeverRun()
		}
	}
	h.dropOutputWithoutInput()
	plans := h.dividePlans()
	for _, r := range h.instances {
		h.reportUnreproducedChanges(r)
		replay := h.replayPlan(plans, r)
		h.reportReplayFailure(r, replay)
		for _, c := range replay.callsWithOtherParams {
			h.addDifference([]*instanceRun{r}, "which values are meant: name in _after what ends before it, "+
				"or refer to another place", "%s: in the Plan it would read other values than it did", c)
		}
		// If a difference is already recorded for the instance, another State is to be expected.
		if !jsonval.EqualNumerically(replay.instance.State(), r.finalState) && !h.hasReportedDifference(r) {
			h.addDifference([]*instanceRun{r},
				"whether that State will do; if not, add or reorder the Calls that write it",
				"the Plan comes to another State: %s",
				diag.SummarizeNames(past.DifferingPaths(replay.instance.State(), r.finalState)))
		}
	}
}

// reportReplayFailure records each Call that failed in an instance and that no alternative replaced, with the
// alternatives that were tried. If there is no such Call, it records why the Plan failed.
func (h *hardener) reportReplayFailure(r *instanceRun, replay *planReplay) {
	f := replay.instance.DirectPlanFault()
	if f == nil {
		return
	}
	wasReported := false
	for n, c := range replay.failedCalls {
		if replay.hasValueAtOutputOf(c) || slices.ContainsFunc(replay.failedCalls[:n], c.isAlternativeOf) {
			continue
		}
		var triedCalls []string
		for _, other := range replay.failedCalls[n+1:] {
			if other.isAlternativeOf(c) {
				triedCalls = append(triedCalls, other.String())
			}
		}
		wasReported = true
		if len(triedCalls) == 0 {
			h.addDifference([]*instanceRun{r}, failureDecisionNeeded, "%s failed, and nothing was planned in its place",
				c)
		} else {
			h.addDifference([]*instanceRun{r}, failureDecisionNeeded,
				"%s failed, and what was planned in its place failed too: %s", c, strings.Join(triedCalls, ", "))
		}
	}
	if !wasReported {
		h.addDifference([]*instanceRun{r},
			"what is to be done then: add a Call, or give instances the value at their start",
			"something did not come to its end: %s", f.Message)
	}
}

const failureDecisionNeeded = "what is to be done then: write another Call with its _outputPath behind it, " +
	"or leave it to the LLM"

// isAlternativeOf reports whether two Calls write to the same paths, so that one can replace the other.
func (c *mergedCall) isAlternativeOf(o *mergedCall) bool {
	return len(c.outputPaths()) > 0 && c.outputPath().ReferenceText() == o.outputPath().ReferenceText()
}

// reportUnreproducedChanges records what the Plan does not reproduce: decisions of people, and parameters that the LLM
// fitted.
func (h *hardener) reportUnreproducedChanges(r *instanceRun) {
	for _, pastCall := range r.recordedCalls {
		if pastCall.ParamsAdaptation != nil {
			h.addDifference([]*instanceRun{r}, "what makes them fit: a Call before it, or a wider form in "+
				"schema.tools."+pastCall.parsedCall.Tool, "%s: the LLM fitted its parameters to the Tool",
				pastCall.parsedCall.Tool)
		}
		for _, decision := range pastCall.Decisions {
			if decision.Kind != policy.Approve {
				h.addDifference([]*instanceRun{r}, "whether people go on deciding (_approval in schema.tools."+
					pastCall.parsedCall.Tool+"; harden --approvals proposes when), or a Call does what they did",
					"%s: a person decided otherwise: %s", pastCall.parsedCall.Tool, decision.Kind)
			}
		}
	}
}

func (h *hardener) hasReportedDifference(r *instanceRun) bool {
	return slices.ContainsFunc(h.differences,
		func(d Difference) bool { return slices.Contains(d.Instances, r.displayName) })
}

// resolveUnplannedCalls handles the Calls that would run in an instance that ended without them. It gives them a
// condition, or drops them, and reports whether there were any. Calls that were blocked there come last: other Calls
// may still supply their input, or make them unneeded.
func (h *hardener) resolveUnplannedCalls() bool {
	unplannedCalls, blockedCalls, plans := map[*mergedCall]bool{}, map[*mergedCall]bool{}, h.dividePlans()
	for _, r := range h.instances {
		replay := h.replayPlan(plans, r)
		for _, c := range replay.unplannedCalls {
			unplannedCalls[c] = true
		}
		for _, c := range replay.blockedCalls {
			blockedCalls[c] = true
		}
	}
	if len(unplannedCalls) == 0 {
		unplannedCalls = blockedCalls
	}
	if h.findConditions(unplannedCalls) {
		return true
	}
	return h.dropCalls(func(c *mergedCall) bool {
		if unplannedCalls[c] {
			h.addDifference(h.instancesThatRanOrPlanned(c),
				"when it runs: add "+jsonval.EncodeToString(c.rawCall)+" with that as _when",
				"%s: it ran in some instances alone: %s", c, c.noConditionReason)
		}
		return unplannedCalls[c]
	})
}

// dropCallsThatNeverRun drops the Calls that are skipped wherever the Plan is replayed, because another Call of the
// Plan does the same.
func (h *hardener) dropCallsThatNeverRun() bool {
	isReplayed, isRunSomewhere, plans := map[*mergedCall]bool{}, map[*mergedCall]bool{}, h.dividePlans()
	for _, r := range h.instances {
		replay := h.replayPlan(plans, r)
		for _, rec := range replay.instance.CallRecords() {
			c := replay.planCalls[rec.Index-1]
			isReplayed[c] = true
			isRunSomewhere[c] = isRunSomewhere[c] || rec.Status != ideafile.CallSkipped
		}
	}
	return h.dropCalls(func(c *mergedCall) bool {
		return isReplayed[c] && !isRunSomewhere[c] && !c.isUntried() &&
			!c.isFallback
	})
}

// dropCallsWithoutInput drops Calls that read something that some instance lacks at the start and that no Call writes.
func (h *hardener) dropCallsWithoutInput() bool {
	return h.dropCalls(func(c *mergedCall) bool {
		return slices.ContainsFunc(c.paramExpressions(),
			func(e refexpr.Expression) bool { return h.reportIfInputMissing(c, c.String(), e) })
	})
}

// dropOutputWithoutInput drops the output if a Call that it reads from was dropped.
func (h *hardener) dropOutputWithoutInput() {
	expressions, _ := refexpr.FindExpressions(h.planOutput)
	if slices.ContainsFunc(expressions, func(e refexpr.Expression) bool {
		return h.reportIfInputMissing(nil, "the output", e)
	}) {
		h.planOutput, h.hasPlanOutput = nil, false
	}
}

// reportIfInputMissing reports whether there are instances in which an expression cannot have a value, and records them
// as a difference.
func (h *hardener) reportIfInputMissing(reader *mergedCall, readerName string, e refexpr.Expression) bool {
	instancesWithoutValue := jsonval.Filter(h.instances, func(r *instanceRun) bool {
		return (reader == nil || reader.pastCallByInstance[r] != nil) && !h.canExpressionHaveValue(reader, e, r)
	})
	switch {
	case len(instancesWithoutValue) == 0:
		return false
	case len(instancesWithoutValue) == len(h.instances):
		h.addDifference(nil, "what brings it: add a Call that writes it, or give it to instances at their start",
			"%s: nothing is left that writes %s", readerName, e)
	default:
		h.addDifference(instancesWithoutValue, "what counts without it: write another place behind ||, or _when",
			"%s: %s is not there in every instance", readerName, e)
	}
	return true
}

func (h *hardener) dropCalls(shouldDrop func(*mergedCall) bool) bool {
	callsBefore := h.mergedCalls // shouldDrop reads h.mergedCalls, so it must not change yet
	h.mergedCalls = slices.DeleteFunc(slices.Clone(callsBefore), shouldDrop)
	return len(h.mergedCalls) < len(callsBefore)
}

// paramExpressions lists the expressions in a Call's parameters.
func (c *mergedCall) paramExpressions() []refexpr.Expression {
	list, _ := refexpr.FindExpressions(jsonval.WithoutKey(c.rawCall, "_outputPath", "_scopes"))
	return list
}

// canExpressionHaveValue reports whether an expression that a Call reads can have a value in an instance.
func (h *hardener) canExpressionHaveValue(reader *mergedCall, e refexpr.Expression, r *instanceRun) bool {
	return canHaveValue(e, func(ref refexpr.Reference) bool {
		_, isPresentAtStart := r.valueAtStart(ref)
		return !isPresentAtStart && (ref.Kind != ideafile.TypeState ||
			(len(ref.Path) > 0 && !h.isWrittenByOtherCall(reader, ref.Path)))
	})
}

// canHaveValue reports whether an expression has an alternative of which no term is absent.
func canHaveValue(e refexpr.Expression, isAbsent func(refexpr.Reference) bool) bool {
	return slices.ContainsFunc(e,
		func(terms []refexpr.Reference) bool { return !slices.ContainsFunc(terms, isAbsent) })
}

func (h *hardener) isWrittenByOtherCall(reader *mergedCall, p jsonval.Path) bool {
	return slices.ContainsFunc(h.mergedCalls, func(c *mergedCall) bool {
		return c != reader && slices.ContainsFunc(c.outputPaths(), p.Overlaps)
	})
}

// outputPaths lists the paths to which a Call's result may go.
func (c *mergedCall) outputPaths() []jsonval.Path { return c.outputPath().Paths() }

func (c *mergedCall) outputPath() refexpr.OutputPath {
	if c.isUntried() {
		return c.untriedCall.parsedCall.OutputPath
	}
	//workflowcheck:ignore -- all recorded Calls have the same paths
	for _, t := range c.pastCallByInstance {
		return t.parsedCall.OutputPath
	}
	return nil
}

// planReplay is a run of the Plan in one instance with the known results. failedCalls failed, unplannedCalls would run
// and have no result, and blockedCalls lack their input in an instance that ended without them.
type planReplay struct {
	instance                                  *dataflow.Instance
	planCalls                                 []*mergedCall // of the Plan for the instance, in order
	failedCalls, unplannedCalls, blockedCalls []*mergedCall
	callsWithOtherParams                      []*mergedCall // Calls with other parameters than when they ran
}

// replayPlan runs the Plan for an instance, with the known results.
func (h *hardener) replayPlan(plans []hardenedPlan, r *instanceRun) *planReplay {
	chosenPlan, ok := applicablePlan(plans, r)
	if !ok {
		h.addDifference([]*instanceRun{r}, "by which it runs: widen its when", "none of the Plans is for it")
	}
	plan := ideafile.Message{Type: ideafile.TypePlan, PlanStage: ideafile.PlanStageOptimal,
		PlanCalls: ideafile.ParseWrittenCalls(chosenPlan.rawCalls(true))}
	messages := append(slices.Clip(r.startMessages), plan)
	replay := &planReplay{planCalls: chosenPlan.calls, instance: dataflow.New(r.paletteWithoutApprovals(), messages,
		r.instanceToken)}
	replay.instance.StartDirectPlan()
	runReadyCallsToEnd(replay.instance, func(ready dataflow.ReadyCall) {
		replay.endReplayedCall(ready, chosenPlan.calls[ready.Record.Index-1], r)
	})
	for _, rec := range replay.instance.CallRecords() {
		if c := chosenPlan.calls[rec.Index-1]; rec.Status == ideafile.CallBlocked && c.pastCallByInstance[r] == nil {
			replay.blockedCalls = append(replay.blockedCalls, c)
		}
	}
	return replay
}

// runReadyCallsToEnd ends the Calls that can run, until no more can run.
func runReadyCallsToEnd(instance *dataflow.Instance, endCall func(dataflow.ReadyCall)) {
	for readyCalls := instance.Advance(); len(readyCalls) > 0; readyCalls = instance.Advance() {
		for _, ready := range readyCalls {
			endCall(ready)
		}
	}
}

// paletteWithoutApprovals is the instance's palette, with Tools that ask no person.
func (r *instanceRun) paletteWithoutApprovals() ideafile.Palette {
	palette := ideafile.Palette{BindingByTool: past.BindAllAsGo(r.process.lastIdea.Tools), UntargetedCallsGoToAll: true}
	for _, original := range r.process.lastIdea.Tools {
		tool := *original
		tool.Approval = nil
		palette.Tools = append(palette.Tools, &tool)
	}
	return palette
}

// endReplayedCall ends a Call as it ended when the instance ran.
func (p *planReplay) endReplayedCall(ready dataflow.ReadyCall, c *mergedCall, r *instanceRun) {
	callID, pastCall := ready.Record.ID, c.pastCallByInstance[r]
	if pastCall != nil && pastCall.ranWithOtherParams(ready.Params) {
		p.callsWithOtherParams = append(p.callsWithOtherParams, c)
	}
	switch {
	case pastCall != nil && pastCall.Status == ideafile.CallDone && pastCall.HasResult:
		p.instance.SucceedCall(callID, pastCall.Result)
	case pastCall != nil && pastCall.Status == ideafile.CallFailed:
		p.failedCalls = append(p.failedCalls, c)
		p.instance.FailCall(callID, diag.Faultf(ideafile.CodeToolFailed, "%s failed", c))
	default:
		p.unplannedCalls = append(p.unplannedCalls, c)
		p.instance.FailCall(callID, diag.Faultf(ideafile.CodeToolFailed, "nobody knows what %s gives", c))
	}
}

// hasValueAtOutputOf reports whether State has a value at an output path of a Call.
func (p *planReplay) hasValueAtOutputOf(c *mergedCall) bool {
	return slices.ContainsFunc(c.outputPaths(), func(path jsonval.Path) bool {
		_, ok := jsonval.ValueAt(p.instance.State(), path)
		return ok
	})
}
