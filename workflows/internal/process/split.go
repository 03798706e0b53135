package process

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/split"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/display"
	"processidea/workflows/internal/lifecycle"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/signals"
)

// splitProcess is a process of more instances than one Request may cover. Its parts are processes themselves, with
// Requests and a chain of their own. It starts some parts at a time, passes on people's signals, and gathers the
// results of the parts.
type splitProcess struct {
	*processCore
	splitState         *split.Process
	finalStatesByToken map[string]any // of all instances at the end, by token
	// routesDecisionsViaParts: signals with many decisions have come, which the parts deal out. Later decisions go the
	// same way, so that they do not overtake.
	routesDecisionsViaParts bool
	// messageIndex is that of indexedIdea, which was the Idea when a part last started.
	messageIndex *split.MessageIndex
	indexedIdea  *ideafile.Idea
}

func newSplitProcess(c *processCore, splitState *split.Process, carried *ContinueAsNewInput) *splitProcess {
	p := &splitProcess{processCore: c, splitState: splitState}
	c.logDecision = splitState.LogSteering
	if carried == nil && c.start.Quota != nil {
		p.splitState.ParentQuota = *c.start.Quota
	}
	if carried != nil {
		p.restore(carried)
		p.setIdea(p.idea.WithRawMessagesAdded(carried.Parts.AddedMessages))
		p.routesDecisionsViaParts = carried.Parts.RoutesDecisionsViaParts
	}
	return p
}

// registerHandlers registers the handlers of signals. The selector offers pending signals in this order, which never
// changes.
func (p *splitProcess) registerHandlers(ctx workflow.Context) error {
	mailbox.OnSignal(p.inbox, ctx, protocol.SignalPartReport, "From a part: what it has come to.", p.onPartReport)
	mailbox.OnSignal(p.inbox, ctx, protocol.SignalSteerChild,
		"From the process that this one works for: it is paused, or goes on, or allows more.", p.onSteering)
	signals.RegisterProcessSignals(ctx, p.inbox, p)
	p.registerHoldUpHandlers(ctx)
	return p.registerQueries(ctx, p, " Each part has a chain of its own.", "parts")
}

// beginFirstRun sizes the parts with regard to the Tools of MCP servers too, which are known only once the servers have
// been asked.
func (p *splitProcess) beginFirstRun(ctx workflow.Context) error {
	asksMCPServers := len(p.idea.MCPServersToAskForTools()) > 0
	if err := p.bindTools(ctx); err != nil {
		return err
	}
	if asksMCPServers && mailbox.IsPatched(ctx, "the size of Requests by the tools of servers") {
		p.splitState.SetInitialRequestSize(p.recommendedSize)
	}
	return nil
}

func (p *splitProcess) onPartReport(ctx workflow.Context, r split.PartReport) {
	p.orders.HandleFates(p.splitState.ConsumeUndoFates(r.PartNumber, r.Fates))
	previousPause := p.splitState.PauseReason
	p.splitState.ApplyReport(r)
	for token, people := range jsonval.Sorted(r.CausersByInstance) {
		p.recordCausers(token, people)
	}
	switch f := p.splitState.PauseReason; {
	case f == nil || previousPause != nil:
	case f.Code == turn.CodeDisagreement: // it concerns all parts together, and none has paused by itself
		p.steerParts(ctx, approval.SteerPause, "the limit", f.Message)
	default:
		p.pauseOtherParts(ctx, r.PartNumber, f)
	}
	p.approveUnderOrders(ctx, protocol.PartID(p.processID, r.PartNumber),
		p.splitState.Parts[r.PartNumber-1].Report.PendingApprovals)
}

// run is the main loop, from the first part to the result.
func (p *splitProcess) run(ctx workflow.Context) (*loop.ProcessResult, error) {
	for ctx.Err() == nil {
		p.loopIterations++
		if p.orders.TakeFreedApprovalFlag() {
			p.applyStandingOrders(ctx)
		}
		o, refusal := p.splitState.TakeEndedUndo()
		p.concludeUndo(ctx, o, refusal)
		p.applyDurationLimit(ctx)
		p.allocateQuotas(ctx)
		err := p.startNextPart(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return nil, err
		}
		p.showDetails(ctx, p.status(p.pauseReason()))
		if p.start.Delegation.Caller != nil {
			p.reportProgressToDelegatingCall(ctx, p.view(), p.splitState.QuotaUse())
		}
		if p.splitState.IsFinished() && p.pauseReason() == nil {
			isOver, err := p.gatherFinalResult(ctx)
			switch {
			case ctx.Err() != nil:
				return nil, p.cancel(ctx)
			case err != nil:
				return nil, err
			case isOver:
				return p.finish(ctx)
			}
			continue
		}
		p.sealAtRest(ctx)
		if p.decideContinueAsNewTiming(ctx, lifecycle.IsContinueAsNewDue(ctx, p.loopIterations,
			p.start.IterationsPerRun),
			true) == continueAsNewNow {
			return nil, p.continueAsNew(ctx)
		}
		p.inbox.Wait(ctx)
	}
	return nil, p.cancel(ctx)
}

// startNextPart starts the part whose time has come, if there is one, and waits until it has started. The part outlives
// this run of the workflow.
func (p *splitProcess) startNextPart(ctx workflow.Context) error {
	part := p.splitState.TakePartToStart()
	if part == nil {
		return nil
	}
	partNumber := part.Number
	f := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: protocol.PartID(p.processID, partNumber), ParentClosePolicy: lifecycle.ParentClosePolicy,
		Memo: protocol.Memo(p.idea),
		TypedSearchAttributes: display.SearchAttributes{AreRegistered: p.start.CanSetSearchAttributes}.ForChildStart(
			p.idea.ProcessPath),
		StaticSummary: fmt.Sprintf("part %d: %d instances", partNumber, len(part.InstanceTokens)),
	}), protocol.ProcessType, p.partStartInput(*part))
	err := f.GetChildWorkflowExecution().Get(ctx, nil)
	if err != nil {
		return fmt.Errorf("process: start part %d: %w", partNumber, err)
	}
	p.inbox.OnFutureReady(f, func(f workflow.Future) {
		err := f.Get(ctx, nil)
		if ctx.Err() == nil { // after a cancellation, err says nothing of the part
			p.onPartClosed(partNumber, err)
		}
	})
	return nil
}

// partStartInput is the start of a part.
func (p *splitProcess) partStartInput(part split.Part) protocol.ProcessStart {
	start := p.start
	if p.indexedIdea != p.idea {
		p.indexedIdea, p.messageIndex = p.idea, split.NewMessageIndex(jsonval.AsList(p.idea.Source["context"]))
	}
	start.Idea = part.IdeaSource(p.idea.Source, p.messageIndex)
	start.Delegation.Caller = nil // the parent reports to the Call
	start.Quota, start.MinimizesActions = nil, p.MinimizesActions
	if part.GrantedQuota != turn.Unlimited {
		start.Quota = &part.GrantedQuota
	}
	start.Part = &protocol.PartRef{PartNumber: part.Number, SplitProcess: p.processRef(),
		IsWholeOutputFinal: p.splitState.OwnReport.Output != nil}
	return start
}

// onPartClosed notes the end of a part that could not report its end, since somebody terminated it.
func (p *splitProcess) onPartClosed(partNumber int, err error) {
	r := p.splitState.Parts[partNumber-1].Report
	if err == nil || r.IsFinished() {
		return
	}
	r.PartNumber, r.Status, r.AwaitsOnlyPeople, r.StatusByInstance = partNumber, loop.StatusFailed, false, nil
	r.Error = &diag.Fault{Code: turn.CodeWorkerLost, Message: "it was ended from outside"}
	p.splitState.ApplyReport(r)
}

// applyDurationLimit pauses the parts when the time of the process is over. The parts ask for the other limits.
func (p *splitProcess) applyDurationLimit(ctx workflow.Context) {
	if p.splitState.PauseReason != nil || p.splitState.IsFinished() {
		p.wakeAt(ctx, time.Time{}, "")
		return
	}
	fault, deadline := p.splitState.DurationLimitFault(workflow.Now(ctx))
	p.wakeAt(ctx, deadline, "until the process has run for as long as it may")
	if fault != nil {
		p.splitState.PauseReason = fault
		p.wakeAt(ctx, time.Time{}, "")
		p.logDecision(steeringDecision(ctx, approval.SteerPause,
			approval.SteeringPayload{SentBy: approval.DecidedByProcess, Reason: fault.Message}))
		p.steerParts(ctx, approval.SteerPause, "the limit", fault.Message)
	}
}

// allocateQuotas sends the parts their quotas, and pauses them when they need more than is left.
func (p *splitProcess) allocateQuotas(ctx workflow.Context) {
	if p.splitState.PauseReason != nil || p.splitState.IsFinished() {
		return
	}
	partNumbers, fault := p.splitState.AllocateQuotas()
	for _, number := range partNumbers {
		signal := protocol.SteerChildSignal{Quota: &p.splitState.Parts[number-1].GrantedQuota}
		p.sendToPart(ctx, number, steerChildSignal(signal))
	}
	if fault != nil {
		p.splitState.PauseReason = fault
		p.steerParts(ctx, approval.SteerPause, "the limit", fault.Message)
	}
}

func (p *splitProcess) continueAsNew(ctx workflow.Context) error {
	p.setSearchAttributes(ctx, statusContinuedAsNew, 0)
	startContext, _ := p.start.Idea["context"].([]any)
	currentContext, _ := p.idea.Source["context"].([]any)
	c := p.continueAsNewInput()
	c.Parts = &CarriedParts{Process: *p.splitState, AddedMessages: currentContext[len(startContext):],
		RoutesDecisionsViaParts: p.routesDecisionsViaParts}
	return workflow.NewContinueAsNewError(ctx, protocol.ProcessType, p.start, c)
}
