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

// reportState is what the process has been told.
type reportState struct {
	reportCount                    int // how often
	earlierHistoryLength           int // of the histories of the runs before this one
	closedThrough, correctionCount int
	refusedThrough, toldThrough    int
	idle                           bool // nothing of the instance runs
	running                        int  // Calls that ran on while the process was paused
	calls                          map[string]reportedCall
	pendingApprovalsKey            string // see pendingApprovalsFingerprint
	quotaAndDelegatesKey           string // what it needs, and how its delegates stand
}

// reportedCall is what the process has been told of a Call.
type reportedCall struct {
	status        ideafile.CallStatus
	decisionCount int
}

// reportToProcess tells the process what has changed when the instance becomes idle, or earlier if the process must know: a Request
// that broke off was closed, a person is waited for or not any more, a signal was refused, or the process is paused.
//
// One report is on its way at a time: what changes meanwhile is in the next one.
func (i *instance) reportToProcess(ctx workflow.Context) {
	if i.outbox.HasQueuedFor(i.setup.Process) {
		return
	}
	idle := i.dataflow.IsIdle() && !i.changedSinceStarting
	pending := pendingApprovalsFingerprint(i.dataflow.PendingApprovals())
	pauseFor := i.dataflow.TakePauseFault()
	refused := i.inbox.TakeUnreportedRefusals()

	before := &i.reported
	becameIdle := idle && (!before.idle || i.closedThrough != before.closedThrough)
	resumedWhileHeld := !idle && before.idle && i.held
	closedBroken := (i.brokenRequests[i.refusedThrough] && i.refusedThrough != before.refusedThrough) || i.toldThrough != before.toldThrough
	use, delegates, stalled := i.quotaUse(), i.delegateViews(), i.isStalled()
	others := quotaAndDelegatesFingerprint(use, i.quota, delegates, stalled)
	awaitedChanged := pending != before.pendingApprovalsKey || i.correctionCount != before.correctionCount || others != before.quotaAndDelegatesKey
	running := i.running + i.countActiveDelegates()
	pauseReached := i.reportWanted || (i.held && running == 0 && before.running > 0)
	if !becameIdle && !resumedWhileHeld && !closedBroken && !awaitedChanged && !pauseReached && pauseFor == nil && len(refused) == 0 {
		before.idle = idle
		return
	}
	before.idle, before.closedThrough, before.correctionCount, before.pendingApprovalsKey, i.reportWanted = idle, i.closedThrough,
		i.correctionCount, pending, false
	before.quotaAndDelegatesKey, before.refusedThrough, before.toldThrough = others, i.refusedThrough, i.toldThrough
	if before.running = 0; i.held {
		before.running = running
	}
	r := i.takeUnreportedChanges()
	r.QuotaUse, r.Delegates, r.Stalled = use, delegates, stalled
	before.reportCount++
	r.ReportNumber, r.WorkflowHistoryLength = before.reportCount, i.totalHistoryLength(ctx)
	r.Idle, r.PauseFault, r.RefusedSignals, r.HeldByPause, r.Running = idle, pauseFor, refused, i.held, before.running
	r.HeardReleaseNumber = i.releases
	i.outbox.Send(ctx, i.setup.Process, mailbox.OutgoingSignal{Signal: protocol.SignalReport, Payload: r, Repeatable: true})
}

// totalHistoryLength counts the events of this run's history and of those before.
func (i *instance) totalHistoryLength(ctx workflow.Context) int {
	return i.reported.earlierHistoryLength + workflow.GetInfo(ctx).GetCurrentHistoryLength()
}

// pendingApprovalsFingerprint tells one set of pending approvals, what some of those who must decide have, and what people were told, from another.
func pendingApprovalsFingerprint(list []approval.Pending) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.Digest + strings.Repeat("+", len(p.DecidedSoFar)) + p.WhileWaiting.Key() + " ")
	}
	return b.String()
}

// quotaAndDelegatesFingerprint is empty for an instance that needs nothing of its process and has no delegate under way.
func quotaAndDelegatesFingerprint(use turn.QuotaUse, quota turn.Quota, delegates []turn.DelegateView, stalled bool) string {
	if use.NeededQuota == (turn.Quota{}) && len(delegates) == 0 {
		return ""
	}
	use.Calls = 0 // how many it has begun is told with the next report
	return string(jsonval.Encode(jsonval.ToJSONValue([]any{use, quota, delegates, stalled})))
}

// takeUnreportedChanges returns what has not been reported to the process yet, and counts it as reported.
func (i *instance) takeUnreportedChanges() turn.InstanceReport {
	r := turn.InstanceReport{
		Token: i.ownSetup.Token, ClosedThroughRequest: i.closedThrough, RefusedThroughRequest: i.refusedThrough, ToldThroughRequest: i.toldThrough,
		AckedCorrectionCount: i.correctionCount, HasGoal: i.dataflow.HasGoal(),
		MissingRequiredPaths: i.dataflow.MissingRequiredPaths(), PlanFailure: i.dataflow.DirectPlanFault(), PendingApprovals: i.dataflow.PendingApprovals(),
	}
	r.Writes = i.dataflow.TakeNewWrites()
	for _, rec := range i.dataflow.CallRecords() {
		now := reportedCall{rec.Status, len(rec.Decisions)}
		before, known := i.reported.calls[rec.ID]
		if known && before == now {
			continue
		}
		i.reported.calls[rec.ID] = now
		r.Calls = append(r.Calls, i.callReport(rec))
	}
	r.Questions = i.dataflow.LLMQuestions()
	return r
}

// tellCallsAgain has the next report tell every Call of a Request that broke off, those too that the process has heard of.
func (i *instance) tellCallsAgain(request int) {
	for _, rec := range i.dataflow.CallRecords() {
		if rec.Request == request {
			delete(i.reported.calls, rec.ID)
		}
	}
	i.toldThrough = max(i.toldThrough, request)
}

// callReport is what the process is told of a Call. The process does not know the Calls of a Request that broke off, nor yet those of one
// that the LLM is still answering.
func (i *instance) callReport(rec *dataflow.CallRecord) turn.CallReport {
	c := turn.CallReport{
		Request: rec.Request, Index: rec.Index, Status: rec.Status, Fault: rec.Fault, Result: rec.Result, Decisions: rec.Decisions,
		RanCall: rec.RanCall, ParamsAdaptation: rec.ParamsAdaptation, NotWrittenPaths: rec.NotWrittenPaths, FromEarlierProcess: rec.FromEarlierProcess,
	}
	if rec.Fault != nil {
		c.Tool = rec.Tool
	}
	if i.brokenRequests[rec.Request] || rec.Request > i.closedThrough {
		c.Call = rec.WrittenCall
	}
	return c
}
