package dataflow

import (
	"cmp"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// HasDirectPlan reports whether the instance has a Plan that runs without a Request.
func (i *Instance) HasDirectPlan() bool { return i.directPlanContextIndex() >= 0 }

// directPlanContextIndex returns the position of the instance's direct Plan in its context. It returns -1 if there is
// none, or if the instance ended in an earlier process or fell back to the LLM there.
func (i *Instance) directPlanContextIndex() int {
	at, _ := ideafile.FindDirectPlans(i.contextMessages).ChooseForInstance(i.token, i.contextView)
	if at < 0 || ideafile.InstanceEndStatus(i.contextMessages, i.token) != "" ||
		slices.Contains(i.contextMessages[at].FallbackInstances, i.token) {
		return -1
	}
	return at
}

// StartDirectPlan adds the Calls of the instance's direct Plan, if it has one, as Calls of Request 0. It does so once.
// A Call keeps the outcome that an earlier process recorded. It is evaluated anew if it had not ended there, or if its
// end depends on State alone.
func (i *Instance) StartDirectPlan() {
	if i.PlanStarted {
		return
	}
	i.PlanStarted = true
	at := i.directPlanContextIndex()
	if at < 0 {
		return
	}
	i.PlanAfter = i.contextMessages[at].CallIndexOffset
	i.insertDirectPlan(at)
}

// replaceDirectPlan replaces the instance's direct Plan by that of a correction, if the correction has one for this
// instance. Calls of the old Plan that have not begun are skipped. Calls that are done are not done again.
func (i *Instance) replaceDirectPlan(by string) {
	at := i.directPlanContextIndex()
	if at < 0 || i.contextMessages[at].CallIndexOffset <= i.PlanAfter {
		return
	}
	i.PlanAfter = i.contextMessages[at].CallIndexOffset
	for _, rec := range i.callRecords {
		if rec.isOfDirectPlan() && (rec.isUnstarted() || rec.phase == reviewing || rec.awaitingLLM()) {
			rec.skip(turn.AuthorOfPerson(by))
			rec.PendingApproval = nil
		}
	}
	i.insertDirectPlan(at)
}

func (i *Instance) insertDirectPlan(at int) {
	past := map[int]turn.RecordedCall{}
	for _, p := range turn.ReadDirectPlanRecord(i.contextMessages[at], []string{i.token}) {
		past[p.Index] = p
	}
	template := i.palette
	template.UntargetedCallsGoToAll, template.AllowsConditions = true, true
	for n, call := range i.contextMessages[at].PlanCalls {
		if call.TargetsOtherInstance(i.token) {
			continue
		}
		index := i.contextMessages[at].CallIndexOffset + n + 1
		same := i.findSameEarlierCall(call, i.contextMessages[at].CallIndexOffset)
		rec := i.insertCall(template, ideafile.CallKey{Request: 0, Index: index}, call)
		p, recorded := past[index]
		switch {
		case rec.Status.IsFinal():
		case recorded:
			i.restoreCallOfEarlierProcess(rec, p)
		case same != nil && same.Status == ideafile.Done:
			rec.endWithStatus(ideafile.Done, nil)
			rec.SkippedBecauseOf, rec.Result, rec.FromEarlierProcess = same.ID, same.Result, true // it counts once
		case same != nil:
			rec.skip(same.ID)
		}
	}
}

// findSameEarlierCall returns the same Call of an earlier Plan, if that Call is done or running and has no output path.
// A Call with an output path needs no such search: it is skipped if State has its value.
func (i *Instance) findSameEarlierCall(call ideafile.WrittenCall, upTo int) *CallRecord {
	for _, rec := range i.callRecords {
		earlier := rec.Request == 0 && rec.Index <= upTo && len(rec.OutputPath) == 0
		if earlier && (rec.Status == ideafile.Done || rec.phase == running) && rec.WrittenCall.SameCallAs(call) {
			return rec
		}
	}
	return nil
}

// restoreCallOfEarlierProcess gives a new Call the outcome that it had in an earlier process. If it had not ended
// there, it gets the reason, if any, why a person must review it first.
func (i *Instance) restoreCallOfEarlierProcess(rec *CallRecord, p turn.RecordedCall) {
	status := p.StatusByInstance[i.token]
	if !p.IsFinalFor(i.token) {
		rec.ReviewReason = cmp.Or(
			p.ReviewReasonOnResume(ideafile.FindTool(i.palette.Tools, rec.Tool), i.token), rec.ReviewReason)
		return
	}
	rec.Decisions, rec.FromEarlierProcess = p.DecisionsByInstance[i.token], true
	fault := p.FaultByInstance[i.token]
	if status == ideafile.Rejected {
		fault = diag.Faultf(CodeRejected, "%s", rec.Decisions[len(rec.Decisions)-1].Describe())
	}
	rec.endWithStatus(status, fault)
	rec.Result = p.ResultByInstance[i.token]
}

func (r *CallRecord) isOfDirectPlan() bool { return r.Request == 0 && !r.Key().IsUndo() }

// DirectPlanFault returns the fault of the first Call of the direct Plan that ended with one, unless State has its
// value from elsewhere; nil if there is none.
func (i *Instance) DirectPlanFault() *diag.Fault {
	for _, rec := range i.callRecords {
		if rec.isOfDirectPlan() && rec.Index > i.PlanAfter && rec.Fault != nil && rec.Status.IsFinal() &&
			(rec.resultUpdatesPath() || !rec.OutputPath.HasValueIn(i.state.CurrentValue)) {
			return diag.Faultf(rec.Fault.Code, "%s: %s", rec.ID, rec.Fault.Message)
		}
	}
	return nil
}
