package process

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/approval/policy"
	"processidea/model/loop"
	"processidea/model/split"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file holds what a process does in addition if it is a part of a split one: it reports to the split process, its
// parent.

// sendPartReport reports the changes. One report is on its way at a time, except that the last one waits for none;
// reports are numbered, so that an old one does not replace a later one.
func (p *unsplitProcess) sendPartReport(ctx workflow.Context, status loop.Status, isLast bool) {
	if p.start.Part == nil || (!isLast && p.outbox.HasPendingFor(p.start.Part.SplitProcess.ID)) {
		return
	}
	r := p.partReport(status, isLast)
	r.IsAtRest = p.loop.IsAtRest(workflow.Now(ctx)) && !p.loop.HasUnsealedChanges
	hasChanged := p.partReportFilter.ShouldSend(r, len(p.loop.Instances))
	if !hasChanged && !isLast && len(p.inbox.UnreportedFates) == 0 {
		return
	}
	p.SentPartReportCount++
	r.ReportNumber, r.Fates = p.SentPartReportCount, p.inbox.TakeUnreportedFates()
	if !isLast {
		p.outbox.Send(ctx, p.start.Part.SplitProcess.ID, mailbox.OutgoingSignal{SignalName: protocol.SignalPartReport,
			Payload: r})
		return
	}
	err := workflow.SignalExternalWorkflow(ctx, p.start.Part.SplitProcess.ID, "", protocol.SignalPartReport, r).Get(ctx,
		nil)
	if err != nil {
		workflow.GetLogger(ctx).Warn("the parent process could not be told", "error", err)
	}
}

func (p *unsplitProcess) partReport(status loop.Status, isLast bool) split.PartReport {
	result := p.result(status, false)
	r := split.PartReport{
		PartNumber: p.start.Part.PartNumber, Status: status, RequestCount: result.RequestCount,
		TurnCount: p.loop.TurnCount,
		IdeaCount: p.LastSealedIdea.IdeaNumber, Calls: result.Calls,
		Usage: result.Usage, LatestIdeaDigest: p.LastSealedIdea.Digest, Failures: result.Failures,
		AutomaticPauseCount: p.loop.AutomaticPauseCount, ResumeCount: p.ParentResumeCount,
		UnwrittenResults: result.UnwrittenResults, InstructionStepCounts: result.InstructionStepCounts,
		RecheckTally:      p.loop.RecheckTally,
		CausersByInstance: policy.ReadCausersByInstance(p.idea.Source),
		Error:             result.Error, QuotaUse: p.loop.QuotaUse(),
		StatusByInstance: p.loop.EndedOrWaitingStatuses(),
	}
	for _, m := range p.loop.Instances {
		r.PendingApprovals = append(r.PendingApprovals, m.PendingApprovals...)
		r.Delegates = append(r.Delegates, m.Delegates...)
	}
	r.HoldUps = p.allHoldUps()
	r.PendingPlan = p.loop.PendingPlan
	r.AwaitsOnlyPeople = (len(r.PendingApprovals) > 0 || r.PendingPlan != nil) && p.loop.AwaitsOnlyPeople()
	if f := p.loop.StalledDelegatesFault(); r.Error == nil && status == loop.StatusPaused {
		r.Error = f
	}
	if isLast {
		r.AddOutcome(p.loop, status)
	}
	return r
}
