package instance

import (
	"strings"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// indexedReportState is a ReportState with its Calls by id.
type indexedReportState struct {
	ReportState
	callByID map[string]dataflow.LastReportedCall
}

// reportToProcess reports the changes to the process when the instance becomes idle. It reports earlier if the process
// must know: a Request that broke off was closed, a wait for a person began or ended, a signal was refused, or the
// process is paused.
//
// One report is on its way at a time: later changes are in the next one.
func (i *instance) reportToProcess(ctx workflow.Context) {
	if i.outbox.HasPendingFor(i.setup.ProcessID) {
		return
	}
	undoResult := i.takeUndoResult(ctx)
	isIdle := i.dataflow.IsIdle() && !i.HasUnhandledChange
	pendingFingerprint := pendingApprovalsFingerprint(i.dataflow.PendingApprovals())
	pauseFault := i.dataflow.TakePauseFault()
	fates := i.inbox.TakeUnreportedFates()

	last := &i.lastReport
	becameIdle := isIdle && (!last.IsIdle || i.LastClosedRequest != last.LastClosedRequest)
	becameActiveWhileHeld := !isIdle && last.IsIdle && i.IsHeldByPause
	hasClosedBrokenRequest := (i.isBrokenRequest[i.CallsRefusedThroughRequest] &&
		i.CallsRefusedThroughRequest != last.CallsRefusedThroughRequest) ||
		i.CallsReportedThroughRequest != last.CallsReportedThroughRequest
	quotaUse, delegates, isStalled := i.quotaUse(), i.delegateViews(), i.isStalled()
	quotaFingerprint := quotaAndDelegatesFingerprint(quotaUse, i.Quota, delegates, isStalled)
	hasChangeToReport := pendingFingerprint != last.PendingApprovalsFingerprint ||
		i.CorrectionCount != last.CorrectionCount || quotaFingerprint != last.QuotaAndDelegatesFingerprint
	runningCount := i.runningActivityCount + i.countActiveDelegates()
	hasReachedPause := i.isReportWanted || (i.IsHeldByPause && runningCount == 0 && last.RunningCallCount > 0)
	if undoResult == nil && !becameIdle && !becameActiveWhileHeld && !hasClosedBrokenRequest && !hasChangeToReport &&
		!hasReachedPause && pauseFault == nil && len(fates) == 0 {
		last.IsIdle = isIdle
		return
	}
	last.IsIdle, last.LastClosedRequest, last.CorrectionCount = isIdle, i.LastClosedRequest, i.CorrectionCount
	last.PendingApprovalsFingerprint, i.isReportWanted = pendingFingerprint, false
	last.QuotaAndDelegatesFingerprint = quotaFingerprint
	last.CallsRefusedThroughRequest, last.CallsReportedThroughRequest = i.CallsRefusedThroughRequest,
		i.CallsReportedThroughRequest
	if last.RunningCallCount = 0; i.IsHeldByPause {
		last.RunningCallCount = runningCount
	}
	r := i.takeUnreportedChanges()
	r.QuotaUse, r.Delegates, r.IsStalled = quotaUse, delegates, isStalled
	last.ReportCount++
	r.ReportNumber, r.WorkflowHistoryLength = last.ReportCount, i.totalHistoryLength(ctx)
	r.IsIdle, r.PauseFault, r.Fates, r.IsHeldByPause, r.RunningCallCount = isIdle, pauseFault, fates, i.IsHeldByPause,
		last.RunningCallCount
	r.AckedResumeCount, r.UndoResult = i.LastResumeNumber, undoResult
	var payload any = r
	if i.setup.AcceptsReportLists {
		payload = jsonval.Object{"reports": []turn.InstanceReport{r}}
	}
	i.outbox.Send(ctx, i.setup.ProcessID, mailbox.OutgoingSignal{SignalName: protocol.SignalInstanceReport,
		Payload:      payload,
		IsRepeatable: true, IsSentInBatch: i.setup.AcceptsReportLists})
}

// takeUndoResult returns the outcome of an undo, once. Calls that read what was undone go on differently or are
// blocked, as soon as the process goes on; it may have been resumed meanwhile.
func (i *instance) takeUndoResult(ctx workflow.Context) *turn.UndoResult {
	undoesWhilePaused := i.dataflow.IsUndoOrderedByPerson()
	result := i.dataflow.TakeUndoResult()
	switch {
	case result == nil:
	case i.IsHeldByPause:
		i.HasUnhandledChange = true
	case undoesWhilePaused:
		i.startReadyCalls(ctx)
	}
	return result
}

// totalHistoryLength counts the events of this run's history and of those before.
func (i *instance) totalHistoryLength(ctx workflow.Context) int {
	return i.lastReport.EarlierRunsHistoryLength + workflow.GetInfo(ctx).GetCurrentHistoryLength()
}

// pendingApprovalsFingerprint distinguishes sets of pending approvals by their digests, decisions so far, remarks and
// notifications.
func pendingApprovalsFingerprint(list []approval.PendingCall) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.Digest + strings.Repeat("+", len(p.VotesSoFar)+len(p.Remarks)) +
			p.ReminderSchedule.NotificationProgressKey() + " ")
	}
	return b.String()
}

// quotaAndDelegatesFingerprint is empty for an instance that needs nothing of its process and has no delegate under
// way.
func quotaAndDelegatesFingerprint(use turn.QuotaUse, quota turn.Quota, delegates []turn.DelegateView,
	isStalled bool) string {
	if use.NeededQuota == (turn.Quota{}) && len(delegates) == 0 {
		return ""
	}
	use.Calls = 0 // the next report has the number of Calls
	return jsonval.EncodeToString(jsonval.ToJSONValue([]any{use, quota, delegates, isStalled}))
}

// takeUnreportedChanges returns the changes that have not been reported to the process yet, and counts them as
// reported.
func (i *instance) takeUnreportedChanges() turn.InstanceReport {
	r := turn.InstanceReport{
		InstanceToken: i.start.InstanceToken, ClosedThroughRequest: i.LastClosedRequest,
		RefusedThroughRequest:  i.CallsRefusedThroughRequest,
		ReportedThroughRequest: i.CallsReportedThroughRequest,
		AckedCorrectionCount:   i.CorrectionCount, InstanceStatusDetails: i.dataflow.StatusDetails(),
		CausedBy: i.start.CausedBy,
	}
	r.Writes = i.dataflow.TakeUnreportedWrites()
	r.Calls = i.dataflow.ReportChangedCalls(i.lastReport.callByID, i.mustReportWrittenCall)
	return r
}

// markCallsUnreported makes the next report include every Call of a Request that broke off, even those already
// reported.
func (i *instance) markCallsUnreported(requestNumber int) {
	for _, rec := range i.dataflow.CallRecords() {
		if rec.Request == requestNumber {
			delete(i.lastReport.callByID, rec.ID)
		}
	}
	i.CallsReportedThroughRequest = max(i.CallsReportedThroughRequest, requestNumber)
}

// mustReportWrittenCall reports whether the report must contain how a Call was written. The process does not know the
// Calls of a Request that broke off, nor those of a Request that the LLM is still answering.
func (i *instance) mustReportWrittenCall(rec *dataflow.CallRecord) bool {
	return i.isBrokenRequest[rec.Request] || rec.Request > i.LastClosedRequest || rec.Key().IsUndo() ||
		rec.Status == ideafile.CallUndone
}
