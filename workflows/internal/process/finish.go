package process

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/approval/policy"
	"processidea/model/ideafile/delegate"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/mailbox"
)

// sendInstanceEndsAndSeal notifies the ended instances, seals the last Idea and waits for the instances to close. It
// reports whether the process is over then: people's signals in the meantime may keep it at work.
func (p *unsplitProcess) sendInstanceEndsAndSeal(ctx workflow.Context) bool {
	if len(p.endQueue.instanceEnds) > 0 {
		p.inbox.Wait(ctx)
		return false
	}
	p.sealFinalStates(ctx)
	for _, f := range p.instanceFutures {
		// An instance's own end adds nothing. But an instance that closes while its process closes would fail a
		// workflow task.
		_ = f.Get(ctx, nil)
	}
	p.inbox.DrainPersonSignals(ctx)
	return p.loop.IsFinished() && ctx.Err() == nil
}

// finish ends the process.
func (p *unsplitProcess) finish(ctx workflow.Context) (*loop.ProcessResult, error) {
	p.showDetails(ctx, loop.StepFinished)
	status := p.loop.FinalStatus()
	p.markEnded(status)
	p.sendPartReport(ctx, status, true)
	r := p.result(status, true)
	p.reportResultToDelegatingCall(ctx, r, p.loop.QuotaUse())
	return setMemoAndReturnResult(ctx, r)
}

// setMemoAndReturnResult is what the workflow returns. A process with a failed instance fails, with the whole result in
// its error's details. Its memo has the number of failed and undone Calls, because a list does not read results.
func setMemoAndReturnResult(ctx workflow.Context, r loop.ProcessResult) (*loop.ProcessResult, error) {
	memo := jsonval.Object{}
	if n := r.Calls.Failed + r.Calls.Blocked; n > 0 {
		memo[protocol.MemoFailedCallCount] = n
	}
	if n := r.Calls.Undone; n > 0 {
		memo[protocol.MemoUndoneCallCount] = n
	}
	if len(memo) > 0 && mailbox.IsPatched(ctx, "the memo says how many Calls failed") {
		if err := workflow.UpsertMemo(ctx, memo); err != nil {
			workflow.GetLogger(ctx).Warn("the memo could not be set", "error", err)
		}
	}
	if r.Status == loop.StatusFailed {
		return nil, temporal.NewNonRetryableApplicationError(r.Error.Message, r.Error.Code, nil, r)
	}
	return &r, nil
}

// cancel ends the process as cancelled, and its instances with it.
func (p *unsplitProcess) cancel(ctx workflow.Context) error {
	ctx, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	for _, m := range p.loop.Instances {
		if p.phase != phaseOpening && m.CanReceiveCalls() {
			// An instance that has just ended cannot be cancelled, and need not be.
			_ = workflow.RequestCancelExternalWorkflow(ctx, protocol.InstanceID(p.processID, m.Token), "").Get(ctx, nil)
		}
	}
	// the process is cancelled, even if a lost task decides again
	p.sendInstanceEnds(ctx, len(p.endQueue.instanceEnds))
	if p.phase != phaseOpening && (p.loop.HasUnsealedChanges || p.LastSealedIdea.IdeaNumber == 0) {
		p.sealCurrentState(ctx)
	}
	p.markCancelled(ctx)
	p.sendPartReport(ctx, loop.StatusCancelled, true)
	p.reportResultToDelegatingCall(ctx, p.result(loop.StatusCancelled, true), p.loop.QuotaUse())
	return temporal.NewCanceledError(p.result(loop.StatusCancelled, true))
}

func (p *unsplitProcess) result(status loop.Status, withStates bool) loop.ProcessResult {
	r := p.loop.Result(status, withStates)
	r.IdeaCount, r.ToolNotes = p.LastSealedIdea.IdeaNumber, p.idea.MCPOmissionNotes()
	return r
}

// reportResultToDelegatingCall reports the result of a delegate to the Call that it runs for.
func (c *processCore) reportResultToDelegatingCall(ctx workflow.Context, r loop.ProcessResult, quotaUse turn.QuotaUse) {
	parentCall := c.start.Delegation.Caller
	if parentCall == nil {
		return
	}
	report := protocol.DelegateReport{
		CallID: parentCall.CallID, Status: r.Status, Output: r.Output, Error: r.Error,
		HandedBackValues: delegate.ValuesByPath(r.Instances[""].State, parentCall.WritablePaths), QuotaUse: quotaUse,
		CausedBy: policy.ReadAllCausers(c.idea.Source),
	}
	err := workflow.SignalExternalWorkflow(ctx, parentCall.InstanceWorkflowID, "", protocol.SignalDelegateReport,
		report).Get(ctx, nil)
	if err != nil {
		workflow.GetLogger(ctx).Warn("the Call of a delegate could not be told", "error", err)
	}
}

const maxListedWaits = 5 // lines of what a delegate waits for; its own status has the rest

// reportProgressToDelegatingCall reports the state of a delegate to the Call that it runs for, if it has changed.
func (c *processCore) reportProgressToDelegatingCall(ctx workflow.Context, v protocol.ProcessView,
	quotaUse turn.QuotaUse) {
	parentCall := c.start.Delegation.Caller
	if parentCall == nil || c.outbox.HasPendingFor(parentCall.InstanceWorkflowID) {
		return
	}
	report := protocol.DelegateReport{
		CallID: parentCall.CallID, Status: v.Status, WaitingFor: v.WaitingFor[:min(len(v.WaitingFor), maxListedWaits)],
		HoldUps: v.HoldUps[:min(len(v.HoldUps), maxListedWaits)], QuotaUse: quotaUse,
	}
	if v.Status == loop.StatusPaused {
		report.Error = v.Error
	}
	comparableReport := report
	comparableReport.Error = nil        // Waiting has it
	comparableReport.QuotaUse.Calls = 0 // comparing the needed quota is enough
	progressText := jsonval.EncodeToString(jsonval.ToJSONValue(comparableReport))
	if progressText == c.LastReportedProgress {
		return
	}
	c.LastReportedProgress = progressText
	c.outbox.Send(ctx, parentCall.InstanceWorkflowID, mailbox.OutgoingSignal{SignalName: protocol.SignalDelegateReport,
		Payload: report})
}
