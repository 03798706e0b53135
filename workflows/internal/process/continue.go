package process

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/split"
	"processidea/protocol"
	"processidea/workflows/internal/lifecycle"
	"processidea/workflows/internal/mailbox"
)

// This file continues a process as new when its history has grown long. Nothing new is started then. Once nothing is
// under way, the next run goes on from what this one carries. This is invisible from outside.

// ContinueAsNewInput is what a Process carries from one run to the next, beside its start.
type ContinueAsNewInput struct {
	Loop     loop.CarriedLoop                `json:"mind"`
	Parts    *CarriedParts                   `json:"parts,omitempty"` // in place of Loop, if the process is split
	Bindings map[string]ideafile.ToolBinding `json:"bindings"`
	// UnsealedStateDelta is the difference between the States of BaseIdea and those of Loop.
	UnsealedStateDelta jsonval.Object   `json:"unsealed,omitempty"`
	Fates              approval.FateLog `json:"refusals"`
	CarriedCore
	CarriedUnsplit
	// UndeliveredSignals are signals that were not handled, and UnsentSignals those that were not sent.
	UndeliveredSignals []mailbox.CarriedSignal         `json:"undelivered,omitempty"`
	UnsentSignals      []mailbox.CarriedOutgoingSignal `json:"unsent,omitempty"`
	Orders             approval.StandingOrders         `json:"orders,omitempty"`
	UnreportedFates    []approval.Fate                 `json:"untold,omitempty"` // by a part
}

// CarriedCore holds the fields that a process of either kind carries unchanged.
type CarriedCore struct {
	LastSealedIdea protocol.IdeaRef `json:"last"` // the latest Idea of the chain
	// LastReportedProgress is the last report to the Call that this delegate runs for; empty: none.
	LastReportedProgress string `json:"progress,omitempty"`
	NotifiesPeople       bool   `json:"notifies,omitempty"` // the worker can notify people of what waits
	LLMMayAdaptValues    bool   `json:"adapts,omitempty"`   // the LLM may be asked to fit values to schemas
	// MinimizesActions: actions that a hosted server bills are saved, at the price of time.
	MinimizesActions bool `json:"savesActions,omitempty"`
	// ReportedHoldUps are what workers report, by cause and worker: a wait is reported once.
	ReportedHoldUps map[string]ReportedHoldUp `json:"holdUps,omitempty"`
}

// CarriedUnsplit holds the fields that an unsplit process carries unchanged.
type CarriedUnsplit struct {
	// BaseIdea is the Idea of the chain relative to which Requests describe changes; zero: there is none.
	BaseIdea            protocol.IdeaRef           `json:"base"`
	AreInstancesHeld    bool                       `json:"held,omitempty"`      // they were notified of the pause
	UnsealedRevisions   []approval.SteeringPayload `json:"revisions,omitempty"` // not sealed yet
	SentPartReportCount int                        `json:"reports,omitempty"`   // to the process that this is a part of
	ParentResumeCount   int                        `json:"resumes,omitempty"`   // how often the whole resumed this part
	SentNotices         loop.SentNotices           `json:"watch,omitempty"`     // what people were notified of
}

// CarriedParts is what a process that is split carries.
type CarriedParts struct {
	split.Process
	AddedMessages           []any `json:"context,omitempty"` // messages of corrections and additions
	RoutesDecisionsViaParts bool  `json:"throughParts,omitempty"`
}

// statusContinuedAsNew is the IdeaStatus of a run that another run continued. A search by what processes wait for must
// not find such an ended run.
const statusContinuedAsNew = "continued"

// continueAsNewInput is what both kinds of processes carry.
func (c *processCore) continueAsNewInput() ContinueAsNewInput {
	return ContinueAsNewInput{
		Bindings: c.setup.Bindings, CarriedCore: c.CarriedCore, Fates: c.inbox.Fates,
		UndeliveredSignals: c.inbox.TakeUnhandledSignals(), UnsentSignals: c.outbox.QueuedSignals(),
		Orders: c.orders.Orders, UnreportedFates: c.inbox.UnreportedFates,
	}
}

// restore takes in what an earlier run carried.
func (c *processCore) restore(carried *ContinueAsNewInput) {
	c.setup.Bindings, c.inbox.Fates, c.CarriedCore = carried.Bindings, carried.Fates, carried.CarriedCore
	c.phase, c.orders.Orders = phaseRunning, carried.Orders
	c.inbox.UnreportedFates = carried.UnreportedFates
	c.lastLoggedStatus = loop.StatusRunning
}

// handleCarriedSignals handles and sends the signals that an earlier run has left.
func (c *processCore) handleCarriedSignals(ctx workflow.Context, carried *ContinueAsNewInput) {
	if carried != nil {
		c.outbox.Restore(ctx, carried.UnsentSignals)
		c.inbox.RedeliverSignals(ctx, carried.UndeliveredSignals)
	}
}

// maxContinueAsNewHold is how long a process starts nothing new because it should continue as new. After that it goes
// on as usual, until it can continue.
const maxContinueAsNewHold = 2 * time.Second

// continueAsNewTiming is when a process that should continue as new does so.
type continueAsNewTiming int

const (
	continueAsNewLater    continueAsNewTiming = iota // the process goes on as usual
	continueAsNewWhenIdle                            // it starts nothing new until it can continue
	continueAsNewNow
)

// decideContinueAsNewTiming decides when the process continues as new. isDue is whether it should; isIdle is whether
// nothing of it is under way.
func (c *processCore) decideContinueAsNewTiming(ctx workflow.Context, isDue, isIdle bool) continueAsNewTiming {
	if !isDue {
		c.outbox.ReleaseSignals(ctx)
		c.inbox.CancelContinueAsNew()
		c.continueAsNewDueSince = time.Time{}
		return continueAsNewLater
	}
	c.outbox.HoldSignals()
	now := workflow.Now(ctx)
	isOverdue := !c.continueAsNewDueSince.IsZero() && !now.Before(c.continueAsNewDueSince.Add(maxContinueAsNewHold))
	isIdle = isIdle && c.outbox.HasNothingInFlight()
	if isIdle {
		isIdle = c.inbox.PrepareContinueAsNew(ctx, isOverdue)
	} else {
		c.inbox.CancelContinueAsNew()
	}
	if isIdle && c.inbox.HasNoSignalSinceWait() {
		return continueAsNewNow
	}
	if c.continueAsNewDueSince.IsZero() {
		c.continueAsNewDueSince = now
		c.inbox.WakeAfter(ctx, maxContinueAsNewHold, "until the process goes on without continuing as new")
	}
	if now.Before(c.continueAsNewDueSince.Add(maxContinueAsNewHold)) {
		if isIdle {
			c.inbox.WakeInNextTask(ctx)
		}
		return continueAsNewWhenIdle
	}
	c.outbox.ReleaseSignals(ctx)
	return continueAsNewLater
}

// decideContinueAsNew decides whether the process continues as new. It first waits for a Request in flight, unless the
// Request's Plan waits for people.
func (p *unsplitProcess) decideContinueAsNew(ctx workflow.Context) continueAsNewTiming {
	awaitsLLM := (p.loop.RequestInFlight() != nil && p.loop.PendingPlan == nil) || p.loop.HasRechecksInFlight()
	isDue := !awaitsLLM && !p.loop.IsFinished() &&
		lifecycle.IsContinueAsNewDue(ctx, p.loopIterations, p.start.IterationsPerRun)
	if isDue {
		p.sendConfirmedInstanceEnds(ctx, true)
	}
	return p.decideContinueAsNewTiming(ctx, isDue, !p.isNotifyingPeople && len(p.pendingStarts) == 0 &&
		len(p.endQueue.instanceEnds) == 0)
}

func (p *unsplitProcess) continueAsNew(ctx workflow.Context) error {
	p.setSearchAttributes(ctx, statusContinuedAsNew, 0)
	c := p.continueAsNewInput()
	c.Loop, c.CarriedUnsplit = p.loop.CarryIntoNextRun(), p.CarriedUnsplit
	c.UnsealedStateDelta, _ = jsonval.ComputeDelta(p.loop.AllInstancesInput().States(), p.baseStates)
	return workflow.NewContinueAsNewError(ctx, protocol.ProcessType, p.start, c)
}

// restore goes on from what an earlier run carried.
func (p *unsplitProcess) restore(carried *ContinueAsNewInput) {
	p.processCore.restore(carried)
	p.loop = loop.Restore(p.idea, p.processID, carried.Bindings, carried.Loop)
	p.lastLoggedStatus = p.status(p.pauseReason())
	p.setIdea(p.loop.Idea)
	p.CarriedUnsplit = carried.CarriedUnsplit
	if p.SentNotices == nil {
		p.SentNotices = loop.SentNotices{}
	}
	p.baseStates = p.loop.AllInstancesInput().States()
	states, err := jsonval.ApplyDelta(p.baseStates, carried.UnsealedStateDelta)
	if err == nil {
		p.baseStates, _ = states.(jsonval.Object)
	}
}
