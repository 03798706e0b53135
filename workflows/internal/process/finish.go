package process

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
)

// windUp tells the instances that have ended, seals the last Idea and waits for the instances to close. It reports whether
// the process is over then: what people signalled in the meantime may keep it at work.
func (p *ordinaryProcess) windUp(ctx workflow.Context) bool {
	if len(p.ends.list) > 0 {
		p.inbox.Wait(ctx)
		return false
	}
	p.sealFinalStates(ctx)
	for _, f := range p.children {
		// An instance's own end says nothing new, but one that closes while its process does would fail a workflow task.
		_ = f.Get(ctx, nil)
	}
	p.inbox.Drain(ctx)
	return p.loop.Finished() && ctx.Err() == nil
}

// finish ends the process.
func (p *ordinaryProcess) finish(ctx workflow.Context) (*loop.Result, error) {
	p.showDetails(ctx, loop.StepFinished)
	status := p.loop.FinalStatus()
	p.markOver(status)
	p.reportToParent(ctx, status, true)
	r := p.result(status, true)
	p.reportToCaller(ctx, r)
	return workflowResult(r)
}

// workflowResult is what the workflow returns. A process in which an instance failed fails, with everything in its error's details.
func workflowResult(r loop.Result) (*loop.Result, error) {
	if r.Status == loop.StatusFailed {
		return nil, temporal.NewNonRetryableApplicationError(r.Error.Message, r.Error.Code, nil, r)
	}
	return &r, nil
}

// cancel ends the process as cancelled, and its instances with it.
func (p *ordinaryProcess) cancel(ctx workflow.Context) error {
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	for _, m := range p.loop.Instances() {
		if p.phase != opening && (m.Status == ideafile.InstanceWorking || m.Status == ideafile.InstanceWaiting) {
			// One that has just ended cannot be cancelled, and need not be.
			_ = workflow.RequestCancelExternalWorkflow(ctx, protocol.InstanceID(p.id, m.Token), "").Get(ctx, nil)
		}
	}
	p.sendEnds(ctx, len(p.ends.list)) // whatever a lost task decides again, the process is cancelled
	p.markOver(loop.StatusCancelled)
	p.setAttributes(ctx, string(loop.StatusCancelled), 0)
	p.reportToParent(ctx, loop.StatusCancelled, true)
	p.reportToCaller(ctx, p.result(loop.StatusCancelled, true))
	return temporal.NewCanceledError(p.result(loop.StatusCancelled, true))
}

func (p *ordinaryProcess) result(status loop.ProcessStatus, withStates bool) loop.Result {
	r := p.loop.Result(status, withStates)
	r.Ideas = p.last.At
	return r
}

// reportToCaller tells the Call that this process runs for what it has come to, if it is a delegate.
func (c *core) reportToCaller(ctx workflow.Context, r loop.Result) {
	to := c.start.Delegation.To
	if to == nil {
		return
	}
	report := protocol.DelegateReport{
		Call: to.Call, Status: r.Status, Output: r.Output, Error: r.Error, Handed: ideafile.ValuesAt(r.Instances[""].State, to.Writes),
	}
	err := workflow.SignalExternalWorkflow(ctx, to.Instance, "", protocol.SignalDelegate, report).Get(ctx, nil)
	if err != nil {
		workflow.GetLogger(ctx).Warn("the Call of a delegate could not be told", "error", err)
	}
}
