package instance

import (
	"strings"

	"go.temporal.io/sdk/workflow"

	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// reported is what the process has been told.
type reported struct {
	reports             int // how often
	earlierEvents       int // of the histories of the runs before this one
	closed, corrections int
	idle                bool // nothing of the instance runs
	calls               map[string]reportedCall
	pending             string // see pendingKey
}

// reportedCall is what the process has been told of a Call.
type reportedCall struct {
	status    ideafile.CallStatus
	decisions int
}

// report tells the process what has changed when the instance becomes idle, or earlier if the process must know: a Request
// that broke off was closed, a person is waited for or not any more, or a signal was refused.
//
// One report is on its way at a time: what changes meanwhile is in the next one.
func (i *instance) report(ctx workflow.Context) {
	if i.outbox.Busy(i.setup.Process) {
		return
	}
	idle := i.dataflow.Idle() && !i.changed
	pending := pendingKey(i.dataflow.Pending())
	overdue := i.dataflow.TakeOverdue()
	refused := i.inbox.TakeUnreported()

	before := &i.reported
	becameIdle := idle && (!before.idle || i.closed != before.closed)
	resumedWhileHeld := !idle && before.idle && i.held
	closedBroken := i.broken[i.closed] && i.closed != before.closed
	awaitedChanged := pending != before.pending || i.corrections != before.corrections
	if !becameIdle && !resumedWhileHeld && !closedBroken && !awaitedChanged && overdue == nil && len(refused) == 0 {
		before.idle = idle
		return
	}
	before.idle, before.closed, before.corrections, before.pending = idle, i.closed, i.corrections, pending
	r := i.takeChanges()
	before.reports++
	r.Number, r.HistoryLength = before.reports, i.totalHistoryLength(ctx)
	r.Idle, r.ApprovalOverdue, r.RefusedSignals = idle, overdue, refused
	i.outbox.Send(ctx, i.setup.Process, mailbox.Outgoing{Signal: protocol.SignalReport, Payload: r, Repeatable: true})
}

// totalHistoryLength counts the events of this run's history and of those before.
func (i *instance) totalHistoryLength(ctx workflow.Context) int {
	return i.reported.earlierEvents + workflow.GetInfo(ctx).GetCurrentHistoryLength()
}

// pendingKey tells one set of pending approvals from another.
func pendingKey(list []turn.PendingApproval) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.Digest + " ")
	}
	return b.String()
}

// takeChanges returns what has not been reported to the process yet, and counts it as reported.
func (i *instance) takeChanges() turn.Report {
	r := turn.Report{
		Token: i.own.Token, ClosedThrough: i.closed, CorrectionsAcked: i.corrections, Missing: i.dataflow.MissingRequired(),
		PlanFailure: i.dataflow.PlanFailure(), PendingApprovals: i.dataflow.Pending(),
	}
	r.Writes = i.dataflow.TakeNewWrites()
	for _, rec := range i.dataflow.Records() {
		now := reportedCall{rec.Status, len(rec.Decisions)}
		before, known := i.reported.calls[rec.ID]
		if known && before == now {
			continue
		}
		i.reported.calls[rec.ID] = now
		r.Calls = append(r.Calls, i.callReport(rec))
	}
	r.Questions = i.dataflow.Questions()
	return r
}

// callReport is what the process is told of a Call. The process does not know the Calls of a Request that broke off.
func (i *instance) callReport(rec *dataflow.Record) turn.CallReport {
	c := turn.CallReport{
		Request: rec.Request, Index: rec.Index, Status: rec.Status, Fault: rec.Fault, Result: rec.Result, Decisions: rec.Decisions,
		Adapted: rec.Adapted,
	}
	if i.broken[rec.Request] {
		c.Call = rec.Written
	}
	return c
}
