package process

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/split"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/lifecycle"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/signals"
)

// unsplitProcess is a process with instances of its own: it asks the LLM once for all of them, receives from each a
// report on its Calls, and asks again until every instance has ended.
type unsplitProcess struct {
	*processCore
	loop *loop.Loop

	ideaAtRequest *ideafile.Idea // the Idea as it was when the Request in flight was made
	CarriedUnsplit
	// baseStates are the States in BaseIdea, by token. Without a BaseIdea, they are those of the Idea that the process
	// began with.
	baseStates           map[string]any
	areEndStatusesSealed bool // the latest Idea records how each instance has ended

	instanceFutures        []workflow.ChildWorkflowFuture // the instances that this run of the workflow started
	goneInstanceChannel    workflow.Channel               // tokens of those that somebody has terminated
	pendingStarts          []pendingInstanceStart
	deferredSignalHandlers []func(workflow.Context) // signals that came before the process has instances
	endQueue               instanceEndQueue

	isNotifyingPeople bool               // a notification is on its way
	partReportFilter  split.ReportFilter // what was reported to the process that this is a part of
}

func newUnsplitProcess(ctx workflow.Context, c *processCore, carried *ContinueAsNewInput) *unsplitProcess {
	p := &unsplitProcess{processCore: c, goneInstanceChannel: workflow.NewBufferedChannel(ctx, 1)}
	p.SentNotices = loop.SentNotices{}
	if carried != nil {
		p.restore(carried)
	} else {
		p.loop = loop.New(c.idea, c.processID, nil, workflow.Now(ctx))
		if c.start.Quota != nil {
			p.loop.ParentQuota = *c.start.Quota
		}
		p.setIdea(p.loop.Idea)
		if c.start.Part != nil && c.start.Part.IsWholeOutputFinal {
			p.loop.HasTriedDirectPlanOutput = true
		}
	}
	c.logDecision = p.loop.LogSteering
	p.loop.IsPatched = c.isPatched
	p.loop.IsPart = c.start.Part != nil
	p.holdPlansIfConfigured()
	return p
}

// registerHandlers registers the handlers of signals. The selector offers pending signals in this order, which never
// changes.
func (p *unsplitProcess) registerHandlers(ctx workflow.Context) error {
	// else workers watch (package orphans)
	if ancestors := p.ancestorProcesses(); len(ancestors) > 0 && !p.start.MinimizesActions {
		lifecycle.WatchProcesses(ctx, p.inbox, ancestors, func() { p.isOrphaned = true })
	}
	mailbox.OnSignal(p.inbox, ctx, protocol.SignalInstanceReport, "From instances: what became of their Calls.",
		func(ctx workflow.Context, s turn.ReportSignal) {
			if len(s.Reports) == 0 {
				s.Reports = []turn.InstanceReport{s.InstanceReport}
			}
			for _, r := range s.Reports {
				p.onInstanceReport(ctx, r)
			}
		})
	mailbox.OnSignal(p.inbox, ctx, protocol.SignalSteerChild,
		"From the process that this one works for: it is paused, or goes on, or allows more.", p.onSteering)
	signals.RegisterProcessSignals(ctx, p.inbox, p)
	p.registerHoldUpHandlers(ctx)
	p.inbox.OnChannelReceive(p.goneInstanceChannel, func(c workflow.ReceiveChannel) {
		var token string
		c.ReceiveAsync(&token)
		p.loop.MarkInstancesGone([]string{token})
		p.concludeEndedUndo(ctx)
	})
	return p.registerQueries(ctx, p, "", "instances")
}

// ancestorProcesses lists the processes whose end also ends this one: the whole of a part, and the ancestors of a
// delegate.
func (p *unsplitProcess) ancestorProcesses() []protocol.ProcessRef {
	ancestors := p.start.Delegation.Ancestors
	if p.start.Part != nil {
		ancestors = append(ancestors[:len(ancestors):len(ancestors)], p.start.Part.SplitProcess)
	}
	return ancestors
}

func (p *unsplitProcess) onInstanceReport(ctx workflow.Context, r turn.InstanceReport) {
	if !p.loop.ApplyReport(r) {
		return
	}
	p.recordCausers(r.InstanceToken, r.CausedBy)
	p.concludeEndedUndo(ctx)
	p.orders.HandleFates(r.Fates)
	p.approveUnderOrders(ctx, r.InstanceToken, r.PendingApprovals)
}

func (p *unsplitProcess) concludeEndedUndo(ctx workflow.Context) {
	o, refusal := p.loop.TakeEndedUndo()
	p.concludeUndo(ctx, o, refusal)
}

func (p *unsplitProcess) beginFirstRun(ctx workflow.Context) error {
	err := p.bindTools(ctx)
	if err != nil {
		return err
	}
	p.loop.BindTools(p.idea, p.setup.Bindings)
	if p.start.ResumesSolutionCalls {
		p.loop.ResumeSolutionCalls()
	}
	if err := p.awaitStartPlanDecision(ctx); err != nil {
		return err
	}
	p.pendingStarts = []pendingInstanceStart{{instanceTokens: p.loop.InstanceTokens()}}
	p.baseStates = p.loop.AllInstancesInput().States()
	return p.handleDeferredSignals(ctx)
}

// run is the main loop, from the first Request to the result.
func (p *unsplitProcess) run(ctx workflow.Context) (*loop.ProcessResult, error) {
	for {
		err := p.startPendingInstances(ctx)
		if p.mustStop(ctx) {
			return nil, p.cancel(ctx)
		}
		if err != nil {
			return nil, err
		}
		p.concludeRequest(ctx)
		if p.orders.TakeFreedApprovalFlag() {
			p.applyStandingOrders(ctx)
		}
		switch p.decideContinueAsNew(ctx) {
		case continueAsNewNow:
			return nil, p.continueAsNew(ctx)
		case continueAsNewWhenIdle:
			p.inbox.Wait(ctx)
			continue
		}
		step := p.takeNextStep(ctx)
		if step != loop.StepFinished {
			p.publishStatus(ctx, step)
			p.inbox.Wait(ctx)
			continue
		}
		if p.sendInstanceEndsAndSeal(ctx) {
			return p.finish(ctx)
		}
	}
}

// takeNextStep takes the step that the agent loop decides on, and passes on what follows from it.
func (p *unsplitProcess) takeNextStep(ctx workflow.Context) loop.NextStep {
	step, input := p.loop.Advance(workflow.Now(ctx))
	p.propagatePause(ctx)
	p.askInstancesForReports(ctx)
	p.sendQuotas(ctx)
	p.sealRevisions(ctx)
	p.sealAtRest(ctx)
	if step == loop.StepRequest {
		p.startRequest(ctx, input)
	}
	p.sendConfirmedInstanceEnds(ctx, step == loop.StepFinished)
	return step
}

// publishStatus publishes the status before the process waits for the next event.
func (p *unsplitProcess) publishStatus(ctx workflow.Context, step loop.NextStep) {
	p.forgetCallHoldUps()
	p.dropExpiredHoldUps(workflow.Now(ctx))
	p.notifyPeople(ctx)
	p.showDetails(ctx, step)
	p.sendPartReport(ctx, p.statusForStep(step), false)
	if p.start.Delegation.Caller != nil {
		p.reportProgressToDelegatingCall(ctx, p.view(), p.loop.QuotaUse())
	}
	p.wakeAt(ctx, p.loop.NextWakeTime(), "until the next Request is due")
}
