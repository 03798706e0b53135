package workflows

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
)

// This file holds what a process that is a part of another does beside: it tells the whole what it has come to.

// tellWhole tells the process that this one is a part of what has changed. One report is on its way at most, but for the
// last: reports are numbered, so that none is taken for a later one.
func (p *process) tellWhole(ctx workflow.Context, status loop.ProcessStatus, last bool) {
	if p.start.Part == nil || !last && p.outbox.busy(p.start.Part.Of.ID) {
		return
	}
	r := p.partReport(status, last)
	if !p.told.ShouldSend(r, len(p.mind.Instances())) && !last {
		return
	}
	p.reports++
	r.Sequence, r.Refusals = p.reports, p.inbox.takeUntold()
	if !last {
		p.outbox.send(ctx, p.start.Part.Of.ID, outgoing{signal: protocol.SignalPart, payload: r})
		return
	}
	if err := workflow.SignalExternalWorkflow(ctx, p.start.Part.Of.ID, "", protocol.SignalPart, r).Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Warn("the whole process could not be told", "error", err)
	}
}

func (p *process) partReport(status loop.ProcessStatus, last bool) loop.PartReport {
	whole := p.result(status, false)
	r := loop.PartReport{
		Number: p.start.Part.Number, Status: status, Requests: whole.Requests, Turns: p.mind.Turns(), Ideas: p.last.At, Calls: whole.Calls,
		Usage: whole.Usage, Digest: p.last.Digest,
	}
	for _, m := range p.mind.Instances() {
		r.Pending = append(r.Pending, m.Pending...)
	}
	r.AwaitsOnlyPeople = len(r.Pending) > 0 && p.mind.AwaitsOnlyPeople()
	if last {
		r.Error, r.Output, r.Instances = whole.Error, whole.Output, map[string]ideafile.InstanceStatus{}
		for _, m := range p.mind.Instances() {
			r.Instances[m.Token] = m.DisplayStatus()
		}
	}
	return r
}
