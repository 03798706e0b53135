package instance

import (
	"cmp"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/model/undo"
	"processidea/protocol"
	"processidea/workflows/internal/activity"
	"processidea/workflows/internal/display"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/signals"
)

// instance is the state of a running Instance workflow.
type instance struct {
	setup        protocol.InstanceSetup
	start        protocol.InstanceStart
	isToolLoaded map[string]bool // Tools of a stored palette that were loaded, by name
	dataflow     *dataflow.Instance

	inbox  *mailbox.Inbox
	outbox *mailbox.Outbox

	endStatus  ideafile.InstanceStatus // how the process ended the instance; empty: it has not
	isOrphaned bool                    // the process is gone
	CarriedFields
	// isReportWanted: the process wants a report up to its pause. Not carried: while it is set, a report is on its way.
	isReportWanted bool

	isBrokenRequest map[int]bool       // Requests that the process closed because they broke off
	lastReport      indexedReportState // what has been reported to the process

	queuedCalls           []dataflow.ReadyCall            // Calls that may run and wait for others to end
	runningActivityCount  int                             // activities in flight
	cancelWaitByCall      map[string]workflow.CancelFunc  // of the Calls that executeAfterWait lets wait
	workerLossCountByCall map[string]int                  // how many workers were lost, by Call
	delegateByCall        map[string]protocol.DelegateRef // under way, by their Calls

	loopIterationCount    int       // of the main loop, in this run of the workflow
	continueAsNewDueSince time.Time // since when it should continue as new and nothing of it runs; zero: it need not
}

func newInstance(ctx workflow.Context, setup protocol.InstanceSetup, start protocol.InstanceStart,
	carriedInput *ContinueAsNewInput) *instance {
	i := &instance{
		setup: setup, start: start, isBrokenRequest: map[int]bool{},
		cancelWaitByCall: map[string]workflow.CancelFunc{}, workerLossCountByCall: map[string]int{},
		delegateByCall: map[string]protocol.DelegateRef{},
		CarriedFields:  CarriedFields{Quota: turn.Unlimited},
		lastReport:     indexedReportState{ReportState{IsIdle: true}, map[string]dataflow.LastReportedCall{}},
		isToolLoaded:   map[string]bool{}, inbox: mailbox.NewInbox(ctx),
	}
	i.outbox, i.inbox.SendsReports = mailbox.NewOutbox(i.inbox), true
	i.outbox.AlwaysSignalsByCommand = setup.MinimizesActions
	palette := ideafile.Palette{
		Tools: activity.ReadTools(setup.Tools), BindingByTool: setup.Bindings, ApprovalOversight: setup.Oversight,
		AdaptValuesWithLLM: setup.LLMMayAdaptParams, KeepsUndoableCallParams: setup.UndoOnFailure,
	}
	context := readContextMessages(setup.Context, start.Context)
	palette.Tools = append(palette.Tools, i.loadTools(ctx,
		append(toolNamesOfPlans(context), carriedInput.toolNames()...))...)
	if carriedInput == nil && start.Reopened != nil {
		carriedInput = inputForReopened(setup, start)
	}
	if carriedInput != nil {
		i.dataflow = dataflow.Restore(palette, context, start.InstanceToken, carriedInput.Dataflow)
		i.restore(carriedInput)
	} else {
		i.dataflow = dataflow.New(palette, context, start.InstanceToken)
	}
	i.dataflow.SetStartersAndPriorDecisions(setup.StartedBy, setup.PriorDecisions)
	i.dataflow.SetCausers(start.CausedBy)
	i.registerSignalHandlers(ctx)
	if carriedInput == nil {
		i.startFirstRun(ctx)
	} else {
		for _, rec := range i.dataflow.CallRecords() {
			if rec.IsThrottled() && !rec.Status.IsFinal() {
				i.startThrottleTimer(ctx, rec)
			}
		}
		i.outbox.Restore(ctx, carriedInput.UnsentSignals)
		i.inbox.RedeliverSignals(ctx, carriedInput.UndeliveredSignals)
	}
	return i
}

// startFirstRun begins a new instance. If a Plan runs directly, the instance takes the Plan in first: the Plan came
// with the start, so that no signal can be late or lost.
func (i *instance) startFirstRun(ctx workflow.Context) {
	i.IsHeldByPause = i.setup.IsHeld
	if i.start.Quota != nil {
		i.Quota = *i.start.Quota
	}
	if !i.dataflow.HasDirectPlan() {
		return
	}
	i.lastReport.IsIdle = false // the process waits for what becomes of the Plan
	i.markChanged(ctx)
	i.dataflow.StartDirectPlan()
}

// registerSignalHandlers registers the handlers of signals. The selector offers pending signals in this order, which
// never changes.
func (i *instance) registerSignalHandlers(ctx workflow.Context) {
	b := i.inbox
	mailbox.OnSignal(b, ctx, protocol.SignalCalls, "From the Request: Calls, as they close in the stream.",
		i.onCallsSignal)
	mailbox.OnSignal(b, ctx, protocol.SignalCloseRequest, "From the process: a Request broke off.", i.onCloseRequest)
	mailbox.OnSignal(b, ctx, protocol.SignalDelegateReport, "From a delegate: what it has come to.", i.onDelegateReport)
	mailbox.OnSignal(b, ctx, protocol.SignalHoldInstance, "From the process: it is paused, or goes on.", i.onHoldSignal)
	mailbox.OnSignal(b, ctx, protocol.SignalCorrectInstance, "From the process: a person's correction.",
		i.onCorrectSignal)
	mailbox.OnSignal(b, ctx, protocol.SignalEndInstance,
		"From the process: the instance has reached its goal, or failed.",
		i.onEndSignal)
	signals.RegisterInstanceSignals(ctx, b, i.setup.ProcessID, i.applyDecision)
}

// addCausers records who has revised the instance. The setup carries it to later runs.
func (i *instance) addCausers(people ...policy.Identity) {
	for _, person := range people {
		if !slices.Contains(i.start.CausedBy, person) {
			i.start.CausedBy = append(slices.Clone(i.start.CausedBy), person)
		}
	}
	i.dataflow.SetCausers(i.start.CausedBy)
}

func (i *instance) onCallsSignal(ctx workflow.Context, s protocol.CallsSignal) {
	i.loadMissingTools(ctx, toolNamesOfCalls(s))
	i.markChanged(ctx)
	if s.RequestNumber <= i.CallsRefusedThroughRequest && !s.IsRestOfRequest && !s.WantsReview {
		return // from a worker that was thought dead
	}
	i.addCausers(s.CausedBy...)
	acceptCall := i.dataflow.AcceptCall
	if s.IsRestOfRequest {
		acceptCall = i.dataflow.AcceptRestOfRequest
	}
	for _, c := range s.Calls {
		isAccepted := !s.WantsReview && acceptCall(s.RequestNumber, c.Index, c.Call)
		if s.WantsReview {
			i.startReadyCalls(ctx) // what could start by now does not wait for a person
		}
		if (isAccepted || s.WantsReview) && c.ReviewReason != "" {
			i.dataflow.RequireReview(ideafile.FormatCallID(s.RequestNumber, c.Index, i.start.InstanceToken),
				c.ReviewReason)
		}
	}
	for _, r := range s.LLMAnswers {
		switch {
		case s.RequestNumber <= i.LastClosedRequest:
		case r.HasFittedParams:
			i.dataflow.ApplyAdaptedParams(r.CallID, r.Params)
		default:
			i.dataflow.SucceedCall(r.CallID, r.Output)
		}
	}
	if s.IsLast {
		i.closeRequest(s.RequestNumber)
	}
}

func (i *instance) onCloseRequest(ctx workflow.Context, s protocol.CloseRequestSignal) {
	i.markChanged(ctx)
	i.isBrokenRequest[s.RequestNumber] = true
	if s.MustReportCalls {
		i.markCallsUnreported(s.RequestNumber)
	}
	if s.WillSendRest {
		i.dataflow.StopAcceptingCalls(s.RequestNumber)
		i.CallsRefusedThroughRequest = max(i.CallsRefusedThroughRequest, s.RequestNumber)
		return
	}
	i.closeRequest(s.RequestNumber)
}

func (i *instance) closeRequest(requestNumber int) {
	i.dataflow.CloseRequest(requestNumber)
	i.LastClosedRequest, i.CallsRefusedThroughRequest = max(i.LastClosedRequest, requestNumber),
		max(i.CallsRefusedThroughRequest, requestNumber)
}

func (i *instance) onHoldSignal(ctx workflow.Context, s protocol.HoldInstanceSignal) {
	if s.Quota != nil {
		i.Quota = *s.Quota
	}
	shouldResume, shouldPause := s.ResumesDelegates || (i.IsHeldByPause && !s.IsHeld), s.IsHeld && !i.IsHeldByPause
	i.LastResumeNumber = max(i.LastResumeNumber, s.ResumeNumber)
	i.IsHeldByPause, i.isReportWanted = s.IsHeld, s.WantsReport || (i.isReportWanted && s.IsHeld)
	if i.isHeld() {
		i.cancelCallWaits(ctx)
	}
	switch {
	case shouldPause:
		i.steerDelegates(ctx, protocol.SteerChildSignal{PauseOrResume: approval.SteerPause, Reason: s.Reason})
	case shouldResume:
		i.steerDelegates(ctx, protocol.SteerChildSignal{PauseOrResume: approval.SteerResume})
	}
}

func (i *instance) onCorrectSignal(ctx workflow.Context, s protocol.CorrectInstanceSignal) {
	context := readContextMessages(s.Context)
	i.loadMissingTools(ctx, toolNamesOfPlans(context))
	i.markChanged(ctx)
	i.addCausers(policy.Identity{Name: s.By, Account: s.Account})
	i.dataflow.ApplyRevision(context, s.By, s.Reason)
	i.CorrectionCount++
}

func (i *instance) onEndSignal(ctx workflow.Context, s protocol.EndInstanceSignal) {
	if s.MustUndo {
		i.addCausers(s.CausedBy...)
		i.beginUndo(ctx, s.UndoOrder)
		return
	}
	i.endStatus = s.Status
}

// beginUndo makes the instance undo what it did, or the part of it that a person wants undone.
func (i *instance) beginUndo(ctx workflow.Context, requestedUndo *approval.UndoOrder) {
	palette, _, _ := i.dataflow.StartParameters()
	var undoToolNames []string
	for _, t := range palette.Tools {
		undoToolNames = append(undoToolNames, t.EffectiveUndo(palette.BindingByTool[t.Name]).Tool)
	}
	i.loadMissingTools(ctx, undoToolNames)
	i.markChanged(ctx)
	var order approval.UndoOrder
	if requestedUndo != nil {
		order = *requestedUndo
		order.RequestedBy = cmp.Or(requestedUndo.RequestedBy, "somebody")
	}
	i.revertQueuedStarts()
	u := undo.PlanInstanceUndo(i.dataflow, i.setup.ProcessID, order,
		func(call string) string { return protocol.DelegateID(i.setup.ProcessID, call) })
	i.dataflow.BeginUndo(u)
}

// applyDecision takes a person's decision on a Call, and returns how many people have decided the same so far.
func (i *instance) applyDecision(ctx workflow.Context, d approval.Decision) (votes approval.VoteCount, err error) {
	i.loadMissingTools(ctx, []string{ideafile.ParseWrittenCall(d.Replacement).Tool})
	i.startReadyBeforeDecision(ctx, d.CallID)
	i.verifyProof(ctx, &d)
	i.markChanged(ctx)
	if err := i.dataflow.ApplyDecision(d); err != nil {
		return votes, err
	}
	if approval.IsRemark(d.Kind) {
		return approval.VoteCount{Have: 1, Want: 1}, nil
	}
	i.MustCheckAncestors = true
	call := i.dataflow.FindCall(ideafile.CallIDWithExactToken(d.CallID, i.start.InstanceToken))
	return approval.CountAgreeingDecisions(call.Decisions, d.SignalID), nil
}

// startReadyBeforeDecision asks people about a Call that became ready just before their decision on it arrived. They
// may have been asked already, in a workflow task that was lost: a task that continues as new is lost if a signal
// arrives meanwhile.
func (i *instance) startReadyBeforeDecision(ctx workflow.Context, callID string) {
	rec := i.dataflow.FindCall(ideafile.CallIDWithExactToken(callID, i.start.InstanceToken))
	if rec != nil && rec.Status == ideafile.CallWaiting && mailbox.IsPatched(ctx, "who decides was asked") {
		i.markChanged(ctx)
		i.startReadyCalls(ctx)
	}
}

// markChanged notes that something has happened after which more may be able to start.
func (i *instance) markChanged(ctx workflow.Context) {
	i.dataflow.SetTime(workflow.Now(ctx))
	i.HasUnhandledChange = true
}

// setAwaitingAttribute updates the search attribute that counts the Calls that wait for a person.
func (i *instance) setAwaitingAttribute(ctx workflow.Context, awaitingCallCount int) {
	display.SearchAttributes{AreRegistered: i.setup.CanSetSearchAttributes}.SetAwaitingCount(ctx, awaitingCallCount)
}

// verifyProof has a worker check the proof of a decision, if there is one.
func (i *instance) verifyProof(ctx workflow.Context, d *approval.Decision) {
	rec := i.dataflow.FindCall(ideafile.CallIDWithExactToken(d.CallID, i.start.InstanceToken))
	if d.Proof == "" || rec == nil || rec.PendingApproval == nil {
		return // there is nothing to prove
	}
	d.Verification = activity.VerifyProof(ctx, d.Proof, "a decision on "+d.CallID, i.setup.ProcessID)
}
