package process

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/display"
	"processidea/workflows/internal/lifecycle"
	"processidea/workflows/internal/mailbox"
)

// This file starts instances, and sends them the Calls that were unfinished in the Idea from which the process started.

// maxSingleReporters is how many instances may report one by one. More would send a workflow more signals than it
// handles well.
const maxSingleReporters = 10

// pendingInstanceStart are instances that have not started yet.
type pendingInstanceStart struct {
	instanceTokens []string
	addSignal      *approval.SteeringPayload // the signal by which people added them; nil: the process begins with them
	restart        *instanceRestart          // the restart of the only one, which had ended; nil: they are new
}

// startPendingInstances starts the instances that have joined since it was called last.
func (p *unsplitProcess) startPendingInstances(ctx workflow.Context) error {
	p.loopIterations++
	list := p.pendingStarts
	p.pendingStarts = nil
	for _, pendingStart := range list {
		startFunc := p.startInstances
		if pendingStart.restart != nil {
			startFunc = pendingStart.restart.startFunc(p)
		}
		err := startFunc(ctx, pendingStart.instanceTokens)
		if err != nil {
			return err
		}
		if pendingStart.addSignal != nil {
			p.recordSignalOutcome(ctx, approval.SteerAddInstances, *pendingStart.addSignal, nil)
		}
	}
	p.sendResumedCalls(ctx)
	return nil
}

// startInstances starts instances and waits until each has started: a child that has not started when this run of the
// workflow ends would never start. A Request that is already due is made meanwhile: its activity waits for the
// instances.
func (p *unsplitProcess) startInstances(ctx workflow.Context, tokens []string) error {
	setup, messagesByToken := p.instanceSetup(), messagesByInstance(p.idea)
	setup.Context = messagesByToken[""]
	setup.AcceptsReportLists = len(tokens) > maxSingleReporters && mailbox.IsPatched(ctx, "reports in lists")
	p.sendQuotas(ctx, tokens...) // these start with theirs
	for batchStart := 0; batchStart < len(tokens); batchStart += protocol.MaxPendingChildStarts {
		var childFutures []workflow.ChildWorkflowFuture
		for _, token := range tokens[batchStart:min(batchStart+protocol.MaxPendingChildStarts, len(tokens))] {
			instanceStart := protocol.InstanceStart{InstanceToken: token}
			if token != "" {
				instanceStart.Context = messagesByToken[token]
			}
			childFutures = append(childFutures, p.startInstance(ctx, setup, instanceStart))
		}
		p.watchInstances(ctx, tokens[batchStart:], childFutures)
		p.startFirstRequest(ctx)
		for _, f := range childFutures {
			err := f.GetChildWorkflowExecution().Get(ctx, nil)
			if err != nil {
				return fmt.Errorf("process: start instance: %w", err)
			}
		}
	}
	return nil
}

// watchInstances lets the process learn at once that somebody has terminated an instance which this run started. Only a
// terminated instance closes with an error, unless the process is cancelled. If an earlier run of this workflow started
// the instance, the process learns of its end when a Request gives it Calls.
func (p *unsplitProcess) watchInstances(ctx workflow.Context, tokens []string,
	childFutures []workflow.ChildWorkflowFuture) {
	p.instanceFutures = append(p.instanceFutures, childFutures...)
	workflow.Go(ctx, func(ctx workflow.Context) {
		selector := workflow.NewSelector(ctx)
		for n, f := range childFutures {
			selector.AddFuture(f, func(f workflow.Future) {
				if f.Get(ctx, nil) != nil && ctx.Err() == nil &&
					mailbox.IsPatched(ctx, "who is terminated has failed") {
					p.goneInstanceChannel.Send(ctx, tokens[n])
				}
			})
		}
		for range childFutures {
			selector.Select(ctx)
		}
	})
}

func (p *unsplitProcess) startInstance(ctx workflow.Context, setup protocol.InstanceSetup,
	instanceStart protocol.InstanceStart) workflow.ChildWorkflowFuture {
	if q := p.loop.QuotaOf(instanceStart.InstanceToken); q != turn.Unlimited {
		instanceStart.Quota = &q
	}
	instanceStart.CausedBy = policy.ReadCausers(p.idea.Source, instanceStart.InstanceToken)
	summary := "the only instance"
	if instanceStart.InstanceToken != "" {
		summary = "instance " + instanceStart.InstanceToken
	}
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:        protocol.InstanceID(p.processID, instanceStart.InstanceToken),
		ParentClosePolicy: lifecycle.ParentClosePolicy,
		StaticSummary:     summary,
		TypedSearchAttributes: display.SearchAttributes{
			AreRegistered: setup.CanSetSearchAttributes}.ForChildStart(setup.ProcessPath),
	})
	return workflow.ExecuteChildWorkflow(ctx, protocol.InstanceType, setup, instanceStart)
}

// startFirstRequest makes the first Request of a process.
func (p *unsplitProcess) startFirstRequest(ctx workflow.Context) {
	if p.LastSealedIdea.IdeaNumber > 0 || p.loop.HasCallsToResume() || len(p.deferredSignalHandlers) > 0 {
		return
	}
	step, input := p.loop.Advance(workflow.Now(ctx))
	if step == loop.StepRequest {
		p.startRequest(ctx, input)
	}
}

// messagesByInstance returns the messages of an Idea that instances see, by token. All instances see those under "".
func messagesByInstance(idea *ideafile.Idea) map[string][]any {
	messagesByToken := map[string][]any{}
	for _, m := range idea.Context {
		if m.PayloadKind != "" || m.PlanStage != "" {
			messagesByToken[m.InstanceToken] = append(messagesByToken[m.InstanceToken], m.Source)
		}
	}
	return messagesByToken
}

// instanceSetup is the part of the Idea that every instance needs, without its messages.
func (p *unsplitProcess) instanceSetup() protocol.InstanceSetup {
	s := protocol.InstanceSetup{
		ProcessID: p.processID, ProcessFirstRunID: p.firstRunID, ProcessPath: p.idea.ProcessPath,
		Bindings:  p.setup.Bindings,
		Tools:     map[string]any{},
		Oversight: p.oversight(), CanSetSearchAttributes: p.start.CanSetSearchAttributes,
		IterationsPerRun: p.start.IterationsPerRun,
		MCPServers:       p.idea.Config.MCPServers, IsHeld: p.pauseReason() != nil,
		LLMMayAdaptParams: p.LLMMayAdaptValues,
		MinimizesActions:  p.MinimizesActions,
		Delegation:        p.delegationContext(), UndoOnFailure: p.idea.Config.UndoOnFailure,
		StartedBy: policy.ReadStarters(p.idea.Source), PriorDecisions: policy.ReadDecisionsBeforeFork(p.idea.Source),
	}
	if p.hasDelegateTools() {
		config, _ := p.idea.Source["config"].(map[string]any)
		s.LLMConfig, s.ScriptedReplies = config["llm"], p.start.ScriptedReplies
	}
	if p.start.Part != nil {
		s.SplitProcess = &p.start.Part.SplitProcess
	}
	if handle, isStored := ideafile.StoredPaletteHandle(p.idea.Source); isStored {
		s.PaletteHandle = handle.AsJSONValue()
		return s
	}
	for _, t := range p.idea.Tools {
		s.Tools[t.Name] = t.Source
	}
	return s
}

// delegationContext is what the instances of the process need to know about delegates.
func (p *unsplitProcess) delegationContext() protocol.DelegationContext {
	d := p.start.Delegation
	d.Caller = nil
	if !p.hasDelegateTools() {
		d.Files = nil
	}
	return d
}

func (p *unsplitProcess) hasDelegateTools() bool {
	for _, t := range p.idea.Tools {
		if t.DelegateFile != "" {
			return true
		}
	}
	return false
}

// sendResumedCalls sends instances the Calls that were unfinished in the Idea from which the process started. It sends
// a Request's Calls before those of the next, since an instance accepts no Call of a Request that a later one has
// closed.
func (p *unsplitProcess) sendResumedCalls(ctx workflow.Context) {
	for list := p.loop.TakeCallsToResume(); len(list) > 0; {
		n := 1
		for n < len(list) && list[n].RequestNumber == list[0].RequestNumber {
			n++
		}
		p.sendCalls(ctx, list[:n], false)
		list = list[n:]
	}
}

// sendCalls sends instances Calls that do not come from the LLM's stream, and returns the instances that are gone.
// isRedelivery: the Calls had not arrived when their Request broke off; the signal that brings them closes the Request.
func (p *unsplitProcess) sendCalls(ctx workflow.Context, callDeliveries []loop.CallDelivery,
	isRedelivery bool) (goneTokens []string) {
	var deliveries []protocol.SignalDelivery
	tokenByWorkflowID := map[string]string{}
	for _, t := range callDeliveries {
		workflowID := protocol.InstanceID(p.processID, t.InstanceToken)
		s := protocol.CallsSignal{RequestNumber: t.RequestNumber, Calls: t.Calls, IsLast: !t.AreCallsDelivered,
			WantsReview: t.AreCallsDelivered, IsRestOfRequest: isRedelivery,
			CausedBy: policy.ReadCausers(p.idea.Source, t.InstanceToken)}
		tokenByWorkflowID[workflowID] = t.InstanceToken
		deliveries = append(deliveries, protocol.NewSignalDelivery(workflowID, protocol.SignalCalls, s))
	}
	for _, goneWorkflowID := range mailbox.DeliverSignalsAndWait(ctx, deliveries) {
		goneTokens = append(goneTokens, tokenByWorkflowID[goneWorkflowID])
	}
	return goneTokens
}
