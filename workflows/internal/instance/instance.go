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
	setup       protocol.InstanceSetup
	start       protocol.InstanceStart
	loadedTools map[string]bool // Tools of a stored palette that were loaded, by name
	dataflow    *dataflow.Instance

	inbox  *mailbox.Inbox
	outbox *mailbox.Outbox

	endStatus  ideafile.InstanceStatus // how the process ended the instance; empty: it has not
	isOrphaned bool                    // the process is gone
	CarriedFields
	// isReportWanted: the process wants a report up to its pause. Not carried: while it is set, a report is on its way.
	isReportWanted bool

	brokenRequests map[int]bool       // Requests that the process closed because they broke off
	lastReport     indexedReportState // what has been reported to the process

	queuedCalls        []dataflow.ReadyCall            // Calls that may run and wait for others to end
	runningActivities  int                             // activities in flight
	cancelWaitByCall   map[string]workflow.CancelFunc  // of the Calls that executeAfterWait lets wait
	workerLossesByCall map[string]int                  // how many workers were lost, by Call
	delegateByCall     map[string]protocol.DelegateRef // under way, by their Calls

	loopIterations        int       // of the main loop, in this run of the workflow
	continueAsNewDueSince time.Time // since when it should continue as new and nothing of it runs; zero: it need not
}

func newInstance(ctx workflow.Context, setup protocol.InstanceSetup, start protocol.InstanceStart,
	carried *ContinueAsNewInput) *instance {
	i := &instance{
		setup: setup, start: start, brokenRequests: map[int]bool{},
		cancelWaitByCall: map[string]workflow.CancelFunc{}, workerLossesByCall: map[string]int{},
		delegateByCall: map[string]protocol.DelegateRef{},
		CarriedFields:  CarriedFields{Quota: turn.Unlimited},
		lastReport:     indexedReportState{ReportState{Idle: true}, map[string]dataflow.ReportedCall{}},
		loadedTools:    map[string]bool{}, inbox: mailbox.NewInbox(ctx),
	}
	i.outbox, i.inbox.SendsReports = mailbox.NewOutbox(i.inbox), true
	i.outbox.AlwaysSignalsByCommand = setup.SaveActions
	palette := ideafile.Palette{
		Tools: activity.ReadTools(setup.Tools), BindingByTool: setup.Bindings, ApprovalOverride: setup.Oversight,
		AdaptValuesWithLLM: setup.Adapt, KeepsUndoableCallParams: setup.UndoOnFailure,
	}
	context := readContextMessages(setup.Context, start.Context)
	palette.Tools = append(palette.Tools, i.loadTools(ctx,
		append(toolNamesOfPlans(context), carried.toolNames()...))...)
	if carried == nil && start.Reopened != nil {
		carried = inputForReopened(setup, start)
	}
	if carried != nil {
		i.dataflow = dataflow.Restore(palette, context, start.Token, carried.Dataflow)
		i.restore(carried)
	} else {
		i.dataflow = dataflow.New(palette, context, start.Token)
	}
	i.dataflow.SetStartersAndPriorDecisions(setup.StartedBy, setup.PriorDecisions)
	i.dataflow.SetCausers(start.CausedBy)
	i.registerHandlers(ctx)
	if carried == nil {
		i.startFirstRun(ctx)
	} else {
		for _, rec := range i.dataflow.CallRecords() {
			if rec.IsThrottled() && !rec.Status.IsFinal() {
				i.awaitThrottle(ctx, rec)
			}
		}
		i.outbox.Restore(ctx, carried.UnsentSignals)
		i.inbox.RedeliverSignals(ctx, carried.UndeliveredSignals)
	}
	return i
}

// startFirstRun begins a new instance. If a Plan runs directly, the instance takes the Plan in first: the Plan came
// with the start, so that no signal can be late or lost.
func (i *instance) startFirstRun(ctx workflow.Context) {
	i.HeldByPause = i.setup.Held
	if i.start.Quota != nil {
		i.Quota = *i.start.Quota
	}
	if !i.dataflow.HasDirectPlan() {
		return
	}
	i.lastReport.Idle = false // the process waits for what becomes of the Plan
	i.markChanged(ctx)
	i.dataflow.StartDirectPlan()
}

// registerHandlers registers the handlers of signals. The selector offers pending signals in this order, which never
// changes.
func (i *instance) registerHandlers(ctx workflow.Context) {
	b := i.inbox
	mailbox.OnSignal(b, ctx, protocol.SignalCalls, "From the Request: Calls, as they close in the stream.",
		i.onCallsSignal)
	mailbox.OnSignal(b, ctx, protocol.SignalClose, "From the process: a Request broke off.", i.onCloseRequest)
	mailbox.OnSignal(b, ctx, protocol.SignalDelegate, "From a delegate: what it has come to.", i.onDelegateReport)
	mailbox.OnSignal(b, ctx, protocol.SignalHold, "From the process: it is paused, or goes on.", i.onHoldSignal)
	mailbox.OnSignal(b, ctx, protocol.SignalCorrect, "From the process: a person's correction.", i.onCorrectSignal)
	mailbox.OnSignal(b, ctx, protocol.SignalEnd, "From the process: the instance has reached its goal, or failed.",
		i.onEndSignal)
	signals.RegisterInstanceSignals(ctx, b, i.setup.Process, i.applyDecision)
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
	if s.Request <= i.LastRefusedRequest && !s.IsRest && !s.Review {
		return // from a worker that was thought dead
	}
	i.addCausers(s.CausedBy...)
	acceptCall := i.dataflow.AcceptCall
	if s.IsRest {
		acceptCall = i.dataflow.AcceptRedeliveredCall
	}
	for _, c := range s.Calls {
		isAccepted := !s.Review && acceptCall(s.Request, c.Index, c.Call)
		if s.Review {
			i.startReadyCalls(ctx) // what could start by now does not wait for a person
		}
		if (isAccepted || s.Review) && c.ReviewReason != "" {
			i.dataflow.RequireReview(ideafile.FormatCallID(s.Request, c.Index, i.start.Token), c.ReviewReason)
		}
	}
	for _, r := range s.Results {
		switch {
		case s.Request <= i.LastClosedRequest:
		case r.Fitted:
			i.dataflow.ApplyAdaptedParams(r.Call, r.Params)
		default:
			i.dataflow.SucceedCall(r.Call, r.Output)
		}
	}
	if s.Last {
		i.closeRequest(s.Request)
	}
}

func (i *instance) onCloseRequest(ctx workflow.Context, s protocol.CloseSignal) {
	i.markChanged(ctx)
	i.brokenRequests[s.Request] = true
	if s.ReportCalls {
		i.reportCallsAgain(s.Request)
	}
	if s.RestComes {
		i.dataflow.StopAcceptingCalls(s.Request)
		i.LastRefusedRequest = max(i.LastRefusedRequest, s.Request)
		return
	}
	i.closeRequest(s.Request)
}

func (i *instance) closeRequest(request int) {
	i.dataflow.CloseRequest(request)
	i.LastClosedRequest, i.LastRefusedRequest = max(i.LastClosedRequest, request), max(i.LastRefusedRequest, request)
}

func (i *instance) onHoldSignal(ctx workflow.Context, s protocol.HoldSignal) {
	if s.Quota != nil {
		i.Quota = *s.Quota
	}
	shouldResume, shouldPause := s.Resume || (i.HeldByPause && !s.Held), s.Held && !i.HeldByPause
	i.LastResumeNumber = max(i.LastResumeNumber, s.ResumeNumber)
	i.HeldByPause, i.isReportWanted = s.Held, s.Report || (i.isReportWanted && s.Held)
	if i.isHeld() {
		i.cancelCallWaits(ctx)
	}
	switch {
	case shouldPause:
		i.steerDelegates(ctx, protocol.SteerChildSignal{Steer: approval.SteerPause, Reason: s.Reason})
	case shouldResume:
		i.steerDelegates(ctx, protocol.SteerChildSignal{Steer: approval.SteerResume})
	}
}

func (i *instance) onCorrectSignal(ctx workflow.Context, s protocol.CorrectionSignal) {
	context := readContextMessages(s.Context)
	i.loadMissingTools(ctx, toolNamesOfPlans(context))
	i.markChanged(ctx)
	i.addCausers(policy.Identity{Name: s.By, Account: s.Account})
	i.dataflow.ApplyRevision(context, s.By, s.Reason)
	i.CorrectionCount++
}

func (i *instance) onEndSignal(ctx workflow.Context, s protocol.EndSignal) {
	if s.Undo {
		i.addCausers(s.CausedBy...)
		i.beginUndo(ctx, s.UndoOf)
		return
	}
	i.endStatus = s.Status
}

// beginUndo makes the instance undo what it did, or the part of it that a person wants undone.
func (i *instance) beginUndo(ctx workflow.Context, requested *approval.UndoOrder) {
	palette, _, _ := i.dataflow.StartParameters()
	var names []string
	for _, t := range palette.Tools {
		names = append(names, t.UndoWithBinding(palette.BindingByTool[t.Name]).Tool)
	}
	i.loadMissingTools(ctx, names)
	i.markChanged(ctx)
	var order approval.UndoOrder
	if requested != nil {
		order = *requested
		order.RequestedBy = cmp.Or(requested.RequestedBy, "somebody")
	}
	i.revertQueuedStarts()
	u := undo.PlanInstanceUndo(i.dataflow, i.setup.Process, order,
		func(call string) string { return protocol.DelegateID(i.setup.Process, call) })
	i.dataflow.BeginUndo(u)
}

// applyDecision takes a person's decision on a Call, and returns how many people have decided the same so far.
func (i *instance) applyDecision(ctx workflow.Context, d approval.Decision) (count approval.VoteCount, err error) {
	i.loadMissingTools(ctx, []string{ideafile.ParseWrittenCall(d.Replacement).Tool})
	i.requestReadyDecisions(ctx, d.CallID)
	i.verifyProof(ctx, &d)
	i.markChanged(ctx)
	if err := i.dataflow.ApplyDecision(d); err != nil {
		return count, err
	}
	if approval.IsRemark(d.Kind) {
		return approval.VoteCount{Have: 1, Want: 1}, nil
	}
	i.MustCheckAncestors = true
	call := i.dataflow.FindCall(ideafile.CallIDWithExactToken(d.CallID, i.start.Token))
	return approval.CountAgreeingDecisions(call.Decisions, d.SignalID), nil
}

// requestReadyDecisions asks people about a Call that became ready just before their decision on it arrived. They may
// have been asked already, in a workflow task that was lost: a task that continues as new is lost if a signal arrives
// meanwhile.
func (i *instance) requestReadyDecisions(ctx workflow.Context, call string) {
	rec := i.dataflow.FindCall(ideafile.CallIDWithExactToken(call, i.start.Token))
	if rec != nil && rec.Status == ideafile.Waiting && mailbox.KnowsChange(ctx, "who decides was asked") {
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
func (i *instance) setAwaitingAttribute(ctx workflow.Context, count int) {
	display.SearchAttributes{Registered: i.setup.HasAttributes}.SetAwaitingCount(ctx, count)
}

// verifyProof has a worker check the proof of a decision, if there is one.
func (i *instance) verifyProof(ctx workflow.Context, d *approval.Decision) {
	rec := i.dataflow.FindCall(ideafile.CallIDWithExactToken(d.CallID, i.start.Token))
	if d.Proof == "" || rec == nil || rec.PendingApproval == nil {
		return // there is nothing to prove
	}
	d.Verification = activity.VerifyProof(ctx, d.Proof, "a decision on "+d.CallID, i.setup.Process)
}
