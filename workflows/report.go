package workflows

import (
	"strings"

	"go.temporal.io/sdk/workflow"

	"processidea/model/turn"
	"processidea/protocol"
)

// report tells the process what has changed, when the instance has come to rest, or when the process must know before
// that: a Request was closed by it, a person is waited for, or not any more, or a signal was refused.
//
// One report is on its way at most: what changes meanwhile is in the next one.
func (i *instance) report(ctx workflow.Context) {
	if i.outbox.busy(i.setup.Process) {
		return
	}
	quiet := i.run.Idle() && !i.dirty
	pending := pendingKey(i.run.Pending())
	overdue := i.run.TakeOverdue()
	refused := i.inbox.takeUntold()
	rested := quiet && (!i.told.quiet || i.closed != i.told.closed)
	roused := !quiet && i.told.quiet && i.held
	closed := i.broke[i.closed] && i.closed != i.told.closed
	waits := pending != i.told.pending || i.corrected != i.told.corrected
	if !rested && !roused && !closed && !waits && overdue == nil && len(refused) == 0 {
		i.told.quiet = quiet
		return
	}
	i.told.quiet, i.told.closed, i.told.corrected = quiet, i.closed, i.corrected
	r := i.news()
	i.told.reports++
	r.Number, r.HistoryLength = i.told.reports, i.heard(ctx)
	r.Idle, r.ApprovalOverdue, r.RefusedSignals = quiet, overdue, refused
	i.told.pending = pending
	i.outbox.send(ctx, i.setup.Process, outgoing{signal: protocol.SignalReport, payload: r, again: true})
}

// heard counts the events of this run's history and of those before.
func (i *instance) heard(ctx workflow.Context) int {
	return i.told.events + workflow.GetInfo(ctx).GetCurrentHistoryLength()
}

// pendingKey tells one set of pending approvals from another.
func pendingKey(list []turn.PendingApproval) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.Digest + " ")
	}
	return b.String()
}

// news is what the process has not been told yet.
func (i *instance) news() turn.Report {
	r := turn.Report{
		Token: i.own.Token, ClosedThrough: i.closed, CorrectionsAcked: i.corrected, Missing: i.run.MissingRequired(), PlanFailure: i.run.PlanFailure(), PendingApprovals: i.run.Pending(),
	}
	r.Writes = i.run.TakeNewWrites()
	for _, rec := range i.run.Records() {
		now := callTold{rec.Status, len(rec.Decisions)}
		if before, known := i.told.calls[rec.ID]; known && before == now {
			continue
		}
		i.told.calls[rec.ID] = now
		c := turn.CallReport{
			Request: rec.Request, Index: rec.Index, Status: rec.Status, Fault: rec.Fault, Result: rec.Result, Decisions: rec.Decisions,
			Adapted: rec.Adapted,
		}
		if i.broke[rec.Request] {
			c.Call = rec.Written
		}
		r.Calls = append(r.Calls, c)
	}
	r.Questions = i.run.Questions()
	return r
}
