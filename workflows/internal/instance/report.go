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

// reportState is a ReportState with its Calls by id.
type reportState struct {
	ReportState
	calls map[string]dataflow.ReportedCall
}

// undoFollowersChange names the rule that an undo affects all Calls that read or follow the undone ones in the same
// way, whenever the process goes on.
const undoFollowersChange = "what comes after undone Calls"

// reportToProcess reports the changes to the process when the instance becomes idle. It reports earlier if the process
// must know: a Request that broke off was closed, a wait for a person began or ended, a signal was refused, or the
// process is paused.
//
// One report is on its way at a time: later changes are in the next one.
func (i *instance) reportToProcess(ctx workflow.Context) {
	if i.outbox.HasQueuedFor(i.setup.Process) {
		return
	}
	withdrawn := i.drainWithdrawn(ctx)
	idle := i.dataflow.IsIdle() && !i.ChangedSinceStarting
	pending := pendingApprovalsFingerprint(i.dataflow.PendingApprovals())
	pauseFor := i.dataflow.TakePauseFault()
	fates := i.inbox.TakeUnreported()

	before := &i.reported
	becameIdle := idle && (!before.Idle || i.ClosedThrough != before.ClosedThrough)
	resumedWhileHeld := !idle && before.Idle && i.Held
	closedBroken := (i.brokenRequests[i.RefusedThrough] && i.RefusedThrough != before.RefusedThrough) ||
		i.ReportedThrough != before.ReportedThrough
	use, delegates, stalled := i.quotaUse(), i.delegateViews(), i.isStalled()
	others := quotaAndDelegatesFingerprint(use, i.Quota, delegates, stalled)
	awaitedChanged := pending != before.PendingApprovalsFingerprint || i.CorrectionCount != before.CorrectionCount ||
		others != before.QuotaAndDelegatesFingerprint
	running := i.running + i.countActiveDelegates()
	pauseReached := i.reportWanted || (i.Held && running == 0 && before.Running > 0)
	if withdrawn == nil && !becameIdle && !resumedWhileHeld && !closedBroken && !awaitedChanged && !pauseReached &&
		pauseFor == nil && len(fates) == 0 {
		before.Idle = idle
		return
	}
	before.Idle, before.ClosedThrough, before.CorrectionCount = idle, i.ClosedThrough, i.CorrectionCount
	before.PendingApprovalsFingerprint, i.reportWanted = pending, false
	before.QuotaAndDelegatesFingerprint = others
	before.RefusedThrough, before.ReportedThrough = i.RefusedThrough, i.ReportedThrough
	if before.Running = 0; i.Held {
		before.Running = running
	}
	r := i.takeUnreportedChanges()
	r.QuotaUse, r.Delegates, r.Stalled = use, delegates, stalled
	before.ReportCount++
	r.ReportNumber, r.WorkflowHistoryLength = before.ReportCount, i.totalHistoryLength(ctx)
	r.Idle, r.PauseFault, r.Fates, r.HeldByPause, r.Running = idle, pauseFor, fates, i.Held, before.Running
	r.AcknowledgedReleaseNumber, r.Withdrawn = i.ReleaseNumber, withdrawn
	var payload any = r
	if i.setup.ReportsInLists {
		payload = jsonval.Object{"reports": []turn.InstanceReport{r}}
	}
	i.outbox.Send(ctx, i.setup.Process, mailbox.OutgoingSignal{Signal: protocol.SignalReport, Payload: payload,
		Repeatable: true, Gathered: i.setup.ReportsInLists})
}

// drainWithdrawn returns the outcome of an undo, once. Calls that read what was undone go on differently or are
// blocked, as soon as the process goes on; it may have been resumed meanwhile.
func (i *instance) drainWithdrawn(ctx workflow.Context) *turn.Withdrawn {
	ordered := i.dataflow.UndoesWhilePaused()
	t := i.dataflow.DrainWithdrawn(func() bool { return mailbox.KnowsChange(ctx, undoFollowersChange) })
	switch {
	case t == nil:
	case i.Held:
		i.ChangedSinceStarting = true
	case ordered && mailbox.KnowsChange(ctx, undoFollowersChange):
		i.startReadyCalls(ctx)
	}
	return t
}

// totalHistoryLength counts the events of this run's history and of those before.
func (i *instance) totalHistoryLength(ctx workflow.Context) int {
	return i.reported.HistoryLength + workflow.GetInfo(ctx).GetCurrentHistoryLength()
}

// pendingApprovalsFingerprint distinguishes sets of pending approvals by their digests, decisions so far, remarks and
// notifications.
func pendingApprovalsFingerprint(list []approval.Pending) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.Digest + strings.Repeat("+", len(p.DecidedSoFar)+len(p.Remarks)) + p.WhileWaiting.Key() + " ")
	}
	return b.String()
}

// quotaAndDelegatesFingerprint is empty for an instance that needs nothing of its process and has no delegate under
// way.
func quotaAndDelegatesFingerprint(use turn.QuotaUse, quota turn.Quota, delegates []turn.DelegateView,
	stalled bool) string {
	if use.NeededQuota == (turn.Quota{}) && len(delegates) == 0 {
		return ""
	}
	use.Calls = 0 // the next report has the number of Calls
	return jsonval.EncodeToString(jsonval.ToJSONValue([]any{use, quota, delegates, stalled}))
}

// takeUnreportedChanges returns the changes that have not been reported to the process yet, and counts them as
// reported.
func (i *instance) takeUnreportedChanges() turn.InstanceReport {
	r := turn.InstanceReport{
		Token: i.ownSetup.Token, ClosedThroughRequest: i.ClosedThrough, RefusedThroughRequest: i.RefusedThrough,
		ReportedThroughRequest: i.ReportedThrough,
		AckedCorrectionCount:   i.CorrectionCount, InstanceStanding: i.dataflow.Standing(),
		CausedBy: i.ownSetup.CausedBy,
	}
	r.Writes = i.dataflow.TakeNewWrites()
	r.Calls = i.dataflow.ReportCalls(i.reported.calls, i.mustReportCall)
	return r
}

// reportCallsAgain makes the next report include every Call of a Request that broke off, even those already reported.
func (i *instance) reportCallsAgain(request int) {
	for _, rec := range i.dataflow.CallRecords() {
		if rec.Request == request {
			delete(i.reported.calls, rec.ID)
		}
	}
	i.ReportedThrough = max(i.ReportedThrough, request)
}

// mustReportCall reports whether the report must contain how a Call was written. The process does not know the Calls of
// a Request that broke off, nor those of a Request that the LLM is still answering.
func (i *instance) mustReportCall(rec *dataflow.CallRecord) bool {
	return i.brokenRequests[rec.Request] || rec.Request > i.ClosedThrough || rec.Key().IsUndo() ||
		rec.Status == ideafile.Undone
}
