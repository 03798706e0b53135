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

// reportToParent reports the changes. One report is on its way at a time, except that the last one waits for none;
// reports are numbered, so that an old one does not replace a later one.
func (p *unsplitProcess) reportToParent(ctx workflow.Context, status loop.Status, last bool) {
	if p.start.Part == nil || (!last && p.outbox.HasQueuedFor(p.start.Part.Of.ID)) {
		return
	}
	r := p.partReport(status, last)
	r.Resting = p.loop.IsAtRest(workflow.Now(ctx)) && !p.loop.HasUnsealedChanges
	changed := p.reportFilter.ShouldSend(r, len(p.loop.Instances))
	if !changed && !last && len(p.inbox.Unreported) == 0 {
		return
	}
	p.Reports++
	r.Sequence, r.Fates = p.Reports, p.inbox.TakeUnreported()
	if !last {
		p.outbox.Send(ctx, p.start.Part.Of.ID, mailbox.OutgoingSignal{Signal: protocol.SignalPart, Payload: r})
		return
	}
	err := workflow.SignalExternalWorkflow(ctx, p.start.Part.Of.ID, "", protocol.SignalPart, r).Get(ctx, nil)
	if err != nil {
		workflow.GetLogger(ctx).Warn("the parent process could not be told", "error", err)
	}
}

func (p *unsplitProcess) partReport(status loop.Status, last bool) split.PartReport {
	result := p.result(status, false)
	r := split.PartReport{
		Number: p.start.Part.Number, Status: status, Requests: result.Requests, Turns: p.loop.TurnCount,
		Ideas: p.LastSealed.At, Calls: result.Calls,
		Usage: result.Usage, Digest: p.LastSealed.Digest, Failures: result.Failures,
		SelfPauseCount: p.loop.SelfPauseCount, ResumeCount: p.Resumes,
		NotWrittenResults: result.NotWrittenResults, Instructions: result.Instructions,
		Quality:  p.loop.Rechecked,
		CausedBy: policy.ReadCausersByInstance(p.idea.Source),
		Error:    result.Error, QuotaUse: p.loop.QuotaUse(), Instances: p.loop.EndedOrWaitingInstances(),
	}
	for _, m := range p.loop.Instances {
		r.PendingApprovals = append(r.PendingApprovals, m.PendingApprovals...)
		r.Delegates = append(r.Delegates, m.Delegates...)
	}
	r.HeldUp = p.heldUps()
	r.PendingPlan = p.loop.PendingPlan
	r.AwaitsOnlyPeople = (len(r.PendingApprovals) > 0 || r.PendingPlan != nil) && p.loop.AwaitsOnlyPeople()
	if f := p.loop.StallFault(); r.Error == nil && status == loop.StatusPaused {
		r.Error = f
	}
	if last {
		r.AddOutcome(p.loop, status)
	}
	return r
}
