package loop

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// KnownValuesOutputChangeID names two rules. An output of known values may be given beside Calls. Instances that have
// reached their goal settle while an output waits for other instances.
const KnownValuesOutputChangeID = "an output beside Calls may hold what is known"

// DraftOutputChangeID names two rules. An output that did not count, since not all Calls ended as planned, is corrected
// in the Request about the instances that are still open. The LLM keeps notes of the other instances.
const DraftOutputChangeID = "an output that did not count is a draft"

// doesReplyWireOutput reports whether a reply gives the output of the whole process beside its last Calls: as
// References alone, or with "finished".
func (l *Loop) doesReplyWireOutput(req *llmRequest) bool {
	if l.Idea.OutputSchema == nil || !l.mayReplyGiveOutput(req) || len(req.Reply.CallFaults) > 0 ||
		len(req.Reply.Calls) == 0 {
		return false
	}
	if req.Reply.SaysUnfinished && l.IsPatched(DraftOutputChangeID) {
		return false
	}
	rawOutput := l.Idea.OutputSchema.WithoutNulls(req.Reply.Output)
	return HasOnlyReferences(rawOutput) || (rawOutput != nil && req.Reply.SaysFinished &&
		l.IsPatched(KnownValuesOutputChangeID))
}

// mayReplyGiveOutput reports whether the output of a reply can be the output of the whole process: the reply is about
// every instance, or what the LLM said about the others still holds.
func (l *Loop) mayReplyGiveOutput(req *llmRequest) bool {
	return len(req.Instances) == len(l.Instances) || req.coversAllUnsettledAtResume ||
		l.draftAndNotesHoldForOthers(l.coveredInstances(req.RequestInput))
}

// wireOutput keeps the output of a reply until the Calls of every instance have ended.
func (l *Loop) wireOutput(req *llmRequest) {
	l.wiredRequest, l.DraftOutput = req, nil
	l.recordDescribedPlans()
}

// recordDescribedPlans notes, for each instance, the Request whose Calls the output takes to be the instance's last
// ones.
func (l *Loop) recordDescribedPlans() {
	if !l.IsPatched(DraftOutputChangeID) {
		return
	}
	for _, inst := range l.Instances {
		inst.DescribedPlanRequest = inst.LastPlanningRequest
	}
}

// wiredOutputRequestNumber returns the Request whose Calls the wired output takes to be the instance's last ones.
func (l *Loop) wiredOutputRequestNumber(inst *InstanceProgress) int {
	if inst.DescribedPlanRequest > 0 { // queries come here too, and a query must not call IsPatched
		return inst.DescribedPlanRequest
	}
	return l.wiredRequest.RequestNumber
}

// awaitsWiredOutput reports whether an instance reaches its goal if the wired output holds. No Request is made about
// the instance before that is known.
func (l *Loop) awaitsWiredOutput(inst *InstanceProgress) bool {
	return l.wiredRequest != nil && inst.LastPlanningRequest == l.wiredOutputRequestNumber(inst) &&
		len(inst.Questions) == 0
}

// resolveOrDropWiredOutput ends the process with the wired output once all its Calls have their values, or drops that
// output. It also drops the output if instances that are done would have to wait for a person's decision on another
// instance. Instances that have reached their goal do not count: they settle without waiting.
func (l *Loop) resolveOrDropWiredOutput() {
	if l.wiredRequest == nil {
		return
	}
	anyRunning, anyUnsettled := false, false
	for _, inst := range l.Instances {
		switch {
		case inst.Status.HasFailed() && l.IsPatched(DraftOutputChangeID):
			l.dropWiredOutput() // the output includes an instance that has failed since
			return
		case !inst.isWorking():
		case l.breaksWiredOutput(inst):
			if l.wiredRequest.Reply.SaysFinished {
				l.keepOutputAsDraft(l.wiredRequest)
			}
			l.dropWiredOutput()
			return
		case inst.hasActiveCalls():
			anyRunning = true
		case len(inst.PendingApprovals) == 0:
			anyUnsettled = anyUnsettled || !l.settlesWhileOutputWaits(inst)
		}
	}
	_, anyAwaitingPerson := l.anyBusyOrAwaitingPerson()
	if anyRunning || (anyAwaitingPerson && !anyUnsettled) {
		return
	}
	if !anyAwaitingPerson {
		l.settleByWiredOutput()
	}
	l.dropWiredOutput()
}

// settlesWhileOutputWaits reports whether an instance settles because it has reached its goal, whatever happens to the
// output that was given beside its Calls.
func (l *Loop) settlesWhileOutputWaits(inst *InstanceProgress) bool {
	return inst.HasGoal && inst.hasReachedGoal() && !l.Idea.Config.AskLLMBeforeSettling &&
		l.IsPatched(KnownValuesOutputChangeID) &&
		!l.isMissingSomething(inst)
}

// keepOutputAsDraft keeps an output that does not count, or no longer holds for some instances, so that it may be
// corrected for these. It reports whether it kept the output. After a person's revision it does not, since another
// output may be wanted.
func (l *Loop) keepOutputAsDraft(req *llmRequest) bool {
	anyRevised := l.anyInstance(func(inst *InstanceProgress) bool { return inst.WasRevisedSinceRequest })
	canBeShown := !jsonval.ContainsBlobHandle(req.Reply.Output) // the LLM sees only the beginning of a stored value
	if anyRevised || !canBeShown || !l.IsPatched(DraftOutputChangeID) {
		return false
	}
	l.DraftOutput = &turn.DraftOutput{Request: req.RequestNumber,
		Output: l.Idea.OutputSchema.WithoutNulls(req.Reply.Output)}
	if req != l.wiredRequest {
		l.recordDescribedPlans()
	}
	return true
}

// dropWiredOutput drops the wired output. If the output was not taken, the next Request reports that.
func (l *Loop) dropWiredOutput() {
	if !l.HasOutput {
		l.addError(diag.Faultf(turn.CodeOutputTooEarly,
			"the output given in request %d was not taken, since not all Calls brought their values: give it again, "+
				"beside the Calls that mend this or when all is done", l.wiredRequest.RequestNumber))
	}
	if l.wiredRequest = nil; l.DraftOutput == nil {
		l.forgetDescribedPlans()
	}
}

// breaksWiredOutput reports whether a wired output can no longer hold for an instance. An output of known values no
// longer holds once a person has overruled the LLM on a Call.
func (l *Loop) breaksWiredOutput(inst *InstanceProgress) bool {
	isOfKnownValues := !HasOnlyReferences(l.Idea.OutputSchema.WithoutNulls(l.wiredRequest.Reply.Output))
	return l.departsFromPlan(inst, l.wiredOutputRequestNumber(inst), isOfKnownValues)
}

// departsFromPlan reports whether an instance departs from what a Request planned: it joined later, was planned for
// anew or corrected, a Call failed and no other makes up for it, or its Calls ended without all their values. If
// countsOverruling, it also departs if a person overruled the LLM on a Call.
func (l *Loop) departsFromPlan(inst *InstanceProgress, requestNumber int, countsOverruling bool) bool {
	plan := l.planResult(inst, requestNumber)
	if inst.LastPlanningRequest != requestNumber || inst.WasRevisedSinceRequest || plan.HasFailed() {
		return true
	}
	if countsOverruling && slices.ContainsFunc(plan.CallReports, turn.CallReport.WasOverruledByPerson) {
		return true
	}
	return !inst.hasActiveCalls() && len(inst.PendingApprovals) == 0 && !plan.HasSucceeded()
}

// hasActiveCalls reports whether Calls run, or wait for the LLM's answer.
func (p *InstanceProgress) hasActiveCalls() bool {
	return p.phase() == phaseBusy || len(p.Questions) > 0
}

// settleByWiredOutput settles every instance, if the output resolves and fits its schema and nothing is missing. The
// next Request reports unfulfilled steps.
func (l *Loop) settleByWiredOutput() {
	rawOutput := l.Idea.OutputSchema.WithoutNulls(l.wiredRequest.Reply.Output)
	out, f := l.resolveAndCheckOutput(rawOutput)
	anyMissing := l.anyInstance(func(inst *InstanceProgress) bool { return len(inst.MissingRequiredPaths) > 0 })
	if f != nil || anyMissing {
		return
	}
	hasUnfulfilledSteps := func(inst *InstanceProgress) bool {
		return inst.isWorking() &&
			len(l.unfulfilledSteps(inst)) > 0
	}
	if unfulfilledInstances := l.instancesWhere(hasUnfulfilledSteps); len(unfulfilledInstances) > 0 {
		for _, inst := range unfulfilledInstances {
			l.settleOrAskAgain(inst)
		}
		return
	}
	l.setOutput(out, rawOutput)
	for _, inst := range l.Instances {
		if inst.isWorking() {
			l.settleOrAskAgain(inst)
		}
	}
}

// planResult returns the PlanResult of the Calls that a Request planned for an instance.
func (l *Loop) planResult(inst *InstanceProgress, requestNumber int) PlanResult {
	p := PlanResult{Idea: l.Idea, State: inst.state.CurrentValue, IsPatched: l.IsPatched}
	//workflowcheck:ignore -- in any order
	for key, c := range inst.reportByCallKey {
		if key.Request == requestNumber {
			p.CallReports = append(p.CallReports, c)
		}
	}
	p.FindWrittenCall = func(key ideafile.CallKey) ideafile.WrittenCall { return l.writtenCall(inst, key) }
	return p
}

// writtenCall returns a Call of an instance as it was planned, or the zero WrittenCall if that is not known.
func (l *Loop) writtenCall(inst *InstanceProgress, key ideafile.CallKey) (call ideafile.WrittenCall) {
	for _, planned := range l.PlannedCalls {
		if planned.key() == key && planned.isPlannedFor(inst) {
			return planned.Call
		}
	}
	return call
}
