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
	planIndex, _ := ideafile.FindDirectPlans(i.contextMessages).ChooseForInstance(i.token, i.contextView)
	if planIndex < 0 || ideafile.InstanceEndStatus(i.contextMessages, i.token) != "" ||
		slices.Contains(i.contextMessages[planIndex].FallbackInstanceTokens, i.token) {
		return -1
	}
	return planIndex
}

// StartDirectPlan adds the Calls of the instance's direct Plan, if it has one, as Calls of Request 0. It does so once.
// A Call keeps the outcome that an earlier process recorded. It is evaluated anew if it had not ended there, or if its
// end depends on State alone.
func (i *Instance) StartDirectPlan() {
	if i.IsDirectPlanStarted {
		return
	}
	i.IsDirectPlanStarted = true
	planIndex := i.directPlanContextIndex()
	if planIndex < 0 {
		return
	}
	i.DirectPlanCallIndexOffset = i.contextMessages[planIndex].CallIndexOffset
	i.insertDirectPlan(planIndex)
}

// replaceDirectPlan replaces the instance's direct Plan by that of a correction, if the correction has one for this
// instance. Calls of the old Plan that have not begun are skipped. Calls that are done are not done again.
func (i *Instance) replaceDirectPlan(revisedBy string) {
	planIndex := i.directPlanContextIndex()
	if planIndex < 0 || i.contextMessages[planIndex].CallIndexOffset <= i.DirectPlanCallIndexOffset {
		return
	}
	i.DirectPlanCallIndexOffset = i.contextMessages[planIndex].CallIndexOffset
	for _, rec := range i.callRecords {
		if rec.isDirectPlanCall() && (rec.isUnstarted() || rec.phase == phaseReviewing || rec.isAwaitingLLM()) {
			rec.skip(turn.AuthorOfPerson(revisedBy))
			rec.PendingApproval = nil
		}
	}
	i.insertDirectPlan(planIndex)
}

func (i *Instance) insertDirectPlan(planContextIndex int) {
	recordedCallByIndex := map[int]turn.RecordedCall{}
	for _, recordedCall := range turn.ReadDirectPlanRecord(i.contextMessages[planContextIndex], []string{i.token}) {
		recordedCallByIndex[recordedCall.Index] = recordedCall
	}
	palette := i.palette
	palette.UntargetedCallsGoToAll, palette.AllowsDirectPlanKeys = true, true
	for n, call := range i.contextMessages[planContextIndex].PlanCalls {
		if call.TargetsOtherInstance(i.token) {
			continue
		}
		index := i.contextMessages[planContextIndex].CallIndexOffset + n + 1
		earlierCall := i.findSameEarlierCall(call, i.contextMessages[planContextIndex].CallIndexOffset)
		rec := i.insertCall(palette, ideafile.CallKey{Request: 0, Index: index}, call)
		recordedCall, isRecorded := recordedCallByIndex[index]
		switch {
		case rec.Status.IsFinal():
		case isRecorded:
			i.restoreCallOfEarlierProcess(rec, recordedCall)
		case earlierCall != nil && earlierCall.Status == ideafile.CallDone:
			rec.endWithStatus(ideafile.CallDone, nil)
			// it counts once
			rec.SkippedBecauseOf, rec.Result, rec.IsFromEarlierProcess = earlierCall.ID, earlierCall.Result, true
		case earlierCall != nil:
			rec.skip(earlierCall.ID)
		}
	}
}

// findSameEarlierCall returns the same Call of an earlier Plan, if that Call is done or running and has no output path.
// A Call with an output path needs no such search: it is skipped if State has its value.
func (i *Instance) findSameEarlierCall(call ideafile.WrittenCall, maxCallIndex int) *CallRecord {
	for _, rec := range i.callRecords {
		isEarlier := rec.Request == 0 && rec.Index <= maxCallIndex && len(rec.OutputPath) == 0
		if isEarlier && (rec.Status == ideafile.CallDone || rec.phase == phaseRunning) &&
			rec.WrittenCall.SameCallAs(call) {
			return rec
		}
	}
	return nil
}

// restoreCallOfEarlierProcess gives a new Call the outcome that it had in an earlier process. If it had not ended
// there, it gets the reason, if any, why a person must review it first.
func (i *Instance) restoreCallOfEarlierProcess(rec *CallRecord, recordedCall turn.RecordedCall) {
	status := recordedCall.StatusByInstance[i.token]
	if !recordedCall.IsFinalFor(i.token) {
		rec.ReviewReason = cmp.Or(
			recordedCall.ReviewReasonOnResume(ideafile.FindTool(i.palette.Tools, rec.Tool), i.token), rec.ReviewReason)
		return
	}
	rec.Decisions, rec.IsFromEarlierProcess = recordedCall.DecisionsByInstance[i.token], true
	fault := recordedCall.FaultByInstance[i.token]
	if status == ideafile.CallRejected {
		fault = diag.Faultf(CodeRejected, "%s", rec.Decisions[len(rec.Decisions)-1].Describe())
	}
	rec.endWithStatus(status, fault)
	rec.Result = recordedCall.ResultByInstance[i.token]
}

func (r *CallRecord) isDirectPlanCall() bool { return r.Request == 0 && !r.Key().IsUndo() }

// DirectPlanFault returns the fault of the first Call of the direct Plan that ended with one, unless State has its
// value from elsewhere; nil if there is none.
func (i *Instance) DirectPlanFault() *diag.Fault {
	for _, rec := range i.callRecords {
		if rec.isDirectPlanCall() && rec.Index > i.DirectPlanCallIndexOffset && rec.Fault != nil &&
			rec.Status.IsFinal() &&
			(rec.resultUpdatesPath() || !rec.OutputPath.HasValueIn(i.state.CurrentValue)) {
			return diag.Faultf(rec.Fault.Code, "%s: %s", rec.ID, rec.Fault.Message)
		}
	}
	return nil
}
