package process

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// This file holds what a process does beside that is a part of a split one: it reports to that, its parent.

// reportToParent reports what has changed. One report is on its way at a time, except that the last one waits for none;
// reports are numbered, so that none is taken for a later one.
func (p *ordinaryProcess) reportToParent(ctx workflow.Context, status loop.ProcessStatus, last bool) {
	if p.start.Part == nil || (!last && p.outbox.Busy(p.start.Part.Of.ID)) {
		return
	}
	r := p.partReport(status, last)
	changed := p.reported.ShouldSend(r, len(p.loop.Instances()))
	if !changed && !last {
		return
	}
	p.reportCount++
	r.Sequence, r.Refusals = p.reportCount, p.inbox.TakeUnreported()
	if !last {
		p.outbox.Send(ctx, p.start.Part.Of.ID, mailbox.Outgoing{Signal: protocol.SignalPart, Payload: r})
		return
	}
	err := workflow.SignalExternalWorkflow(ctx, p.start.Part.Of.ID, "", protocol.SignalPart, r).Get(ctx, nil)
	if err != nil {
		workflow.GetLogger(ctx).Warn("the parent process could not be told", "error", err)
	}
}

func (p *ordinaryProcess) partReport(status loop.ProcessStatus, last bool) loop.PartReport {
	result := p.result(status, false)
	r := loop.PartReport{
		Number: p.start.Part.Number, Status: status, Requests: result.Requests, Turns: p.loop.Turns(), Ideas: p.last.At, Calls: result.Calls,
		Usage: result.Usage, Digest: p.last.Digest,
	}
	for _, m := range p.loop.Instances() {
		r.Pending = append(r.Pending, m.Pending...)
	}
	r.AwaitsOnlyPeople = len(r.Pending) > 0 && p.loop.AwaitsOnlyPeople()
	if last {
		r.Error, r.Output, r.Instances = result.Error, result.Output, map[string]ideafile.InstanceStatus{}
		for _, m := range p.loop.Instances() {
			r.Instances[m.Token] = m.DisplayStatus()
		}
	}
	return r
}
