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
	ownSetup    protocol.InstanceStart
	loadedTools map[string]bool // Tools of a stored palette that were loaded, by name
	dataflow    *dataflow.Instance

	inbox  *mailbox.Inbox
	outbox *mailbox.Outbox

	endStatus ideafile.InstanceStatus // how the process ended the instance; empty: it has not
	orphaned  bool                    // the process is gone
	Carried
	// reportWanted: the process wants a report up to its pause. Not carried: while it is set, a report is on its way.
	reportWanted bool

	brokenRequests map[int]bool // Requests that the process closed because they broke off
	reported       reportState  // what has been reported to the process

	queuedCalls  []dataflow.ReadyCall            // Calls that may run and wait for others to end
	running      int                             // activities in flight
	endWaits     map[string]workflow.CancelFunc  // of the Calls that executeAfter lets wait
	workerLosses map[string]int                  // how many workers were lost, by Call
	delegates    map[string]protocol.DelegateRef // under way, by their Calls

	loopIterations        int       // of the main loop, in this run of the workflow
	continueAsNewDueSince time.Time // since when it should continue as new and nothing of it runs; zero: it need not
}

func newInstance(ctx workflow.Context, setup protocol.InstanceSetup, own protocol.InstanceStart,
	carried *ContinueAsNewInput) *instance {
	i := &instance{
		setup: setup, ownSetup: own, brokenRequests: map[int]bool{},
		endWaits: map[string]workflow.CancelFunc{}, workerLosses: map[string]int{},
		delegates:   map[string]protocol.DelegateRef{},
		Carried:     Carried{Quota: turn.Unlimited},
		reported:    reportState{ReportState{Idle: true}, map[string]dataflow.ReportedCall{}},
		loadedTools: map[string]bool{}, inbox: mailbox.NewInbox(ctx),
	}
	i.outbox, i.inbox.Reports = mailbox.NewOutbox(i.inbox), true
	i.outbox.AlwaysByCommand = setup.SaveActions
	palette := ideafile.Palette{
		Tools: activity.ReadTools(setup.Tools), BindingByTool: setup.Bindings, ApprovalOverride: setup.Oversight,
		AdaptValuesWithLLM: setup.Adapt, KeepsParams: setup.UndoOnFailure,
	}
	context := readContextMessages(setup.Context, own.Context)
	palette.Tools = append(palette.Tools, i.loadTools(ctx, append(toolsOfPlans(context), carried.toolNames()...))...)
	if carried == nil && own.Reopened != nil {
		carried = inputForReopened(setup, own)
	}
	if carried != nil {
		i.dataflow = dataflow.Restore(palette, context, own.Token, carried.Dataflow)
		i.restore(carried)
	} else {
		i.dataflow = dataflow.New(palette, context, own.Token)
	}
	i.dataflow.KnowsChange = func(change string) bool { return mailbox.KnowsChange(ctx, change) }
	i.dataflow.SetPeopleAllowedToDecide(setup.StartedBy, setup.Decided)
	i.dataflow.SetCausers(own.CausedBy)
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
		i.inbox.Redeliver(ctx, carried.UndeliveredSignals)
	}
	return i
}

// startFirstRun begins a new instance. If a Plan runs directly, the instance takes the Plan in first: the Plan came
// with the start, so that no signal can be late or lost.
func (i *instance) startFirstRun(ctx workflow.Context) {
	i.Held = i.setup.Held
	if i.ownSetup.Quota != nil {
		i.Quota = *i.ownSetup.Quota
	}
	if !i.dataflow.HasDirectPlan() {
		return
	}
	i.reported.Idle = false // the process waits for what becomes of the Plan
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
	for _, who := range people {
		if !slices.Contains(i.ownSetup.CausedBy, who) {
			i.ownSetup.CausedBy = append(slices.Clone(i.ownSetup.CausedBy), who)
		}
	}
	i.dataflow.SetCausers(i.ownSetup.CausedBy)
}

func (i *instance) onCallsSignal(ctx workflow.Context, s protocol.CallsSignal) {
	i.loadMissingTools(ctx, toolsOfCalls(s))
	i.markChanged(ctx)
	if s.Request <= i.RefusedThrough && !s.Rest && !s.Review {
		return // from a worker that was thought dead
	}
	i.addCausers(s.CausedBy...)
	accept := i.dataflow.AcceptCall
	if s.Rest {
		accept = i.dataflow.AcceptRedeliveredCall
	}
	for _, c := range s.Calls {
		accepted := !s.Review && accept(s.Request, c.Index, c.Call)
		if s.Review {
			i.startReadyCalls(ctx) // what could start by now does not wait for a person
		}
		if (accepted || s.Review) && c.ReviewReason != "" {
			i.dataflow.RequireReview(ideafile.FormatCallID(s.Request, c.Index, i.ownSetup.Token), c.ReviewReason)
		}
	}
	for _, r := range s.Results {
		switch {
		case s.Request <= i.ClosedThrough:
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
	if s.TellCalls {
		i.reportCallsAgain(s.Request)
	}
	if s.RestComes {
		i.dataflow.SuspendRequest(s.Request)
		i.RefusedThrough = max(i.RefusedThrough, s.Request)
		return
	}
	i.closeRequest(s.Request)
}

func (i *instance) closeRequest(request int) {
	i.dataflow.CloseRequest(request)
	i.ClosedThrough, i.RefusedThrough = max(i.ClosedThrough, request), max(i.RefusedThrough, request)
}

func (i *instance) onHoldSignal(ctx workflow.Context, s protocol.HoldSignal) {
	if s.Quota != nil {
		i.Quota = *s.Quota
	}
	resumes, pauses := s.Resume || (i.Held && !s.Held), s.Held && !i.Held
	i.ReleaseNumber = max(i.ReleaseNumber, s.ReleaseNumber)
	i.Held, i.reportWanted = s.Held, s.Report || (i.reportWanted && s.Held)
	if i.isHeld() {
		i.endWaitsOfCalls(ctx)
	}
	switch {
	case pauses:
		i.steerDelegates(ctx, protocol.SteerChildSignal{Steer: approval.SteerPause, Reason: s.Reason})
	case resumes:
		i.steerDelegates(ctx, protocol.SteerChildSignal{Steer: approval.SteerResume})
	}
}

func (i *instance) onCorrectSignal(ctx workflow.Context, s protocol.CorrectionSignal) {
	context := readContextMessages(s.Context)
	i.loadMissingTools(ctx, toolsOfPlans(context))
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
func (i *instance) beginUndo(ctx workflow.Context, of *approval.UndoOrder) {
	palette, _, _ := i.dataflow.StartParameters()
	var names []string
	for _, t := range palette.Tools {
		names = append(names, t.UndoUnder(palette.BindingByTool[t.Name]).Tool)
	}
	i.loadMissingTools(ctx, names)
	i.markChanged(ctx)
	var order approval.UndoOrder
	if of != nil {
		order = *of
		order.By = cmp.Or(of.By, "somebody")
	}
	i.revertQueuedStarts()
	u := undo.OfInstance(i.dataflow, i.setup.Process, order,
		func(call string) string { return protocol.DelegateID(i.setup.Process, call) })
	i.dataflow.BeginUndo(u)
}

// applyDecision takes a person's decision on a Call, and returns how many people have decided the same so far.
func (i *instance) applyDecision(ctx workflow.Context, d approval.Decision) (count approval.Count, err error) {
	i.loadMissingTools(ctx, []string{ideafile.ParseWrittenCall(d.Replacement).Tool})
	i.requestReadyDecisions(ctx, d.CallID)
	i.verifyProof(ctx, &d)
	i.markChanged(ctx)
	if err := i.dataflow.ApplyDecision(d); err != nil {
		return count, err
	}
	if approval.IsRemark(d.Kind) {
		return approval.Count{Have: 1, Want: 1}, nil
	}
	i.MustCheckOwners = true
	call := i.dataflow.FindCall(ideafile.CallIDInInstance(d.CallID, i.ownSetup.Token))
	return approval.CountAgreeing(call.Decisions, d.SignalID), nil
}

// requestReadyDecisions asks people about a Call that became ready just before their decision on it arrived. They may
// have been asked already, in a workflow task that was lost: a task that continues as new is lost if a signal arrives
// meanwhile.
func (i *instance) requestReadyDecisions(ctx workflow.Context, call string) {
	rec := i.dataflow.FindCall(ideafile.CallIDInInstance(call, i.ownSetup.Token))
	if rec != nil && rec.Status == ideafile.Waiting && mailbox.KnowsChange(ctx, "who decides was asked") {
		i.markChanged(ctx)
		i.startReadyCalls(ctx)
	}
}

// markChanged notes that something has happened after which more may be able to start.
func (i *instance) markChanged(ctx workflow.Context) {
	i.dataflow.SetTime(workflow.Now(ctx))
	i.ChangedSinceStarting = true
}

// setAwaitingAttribute updates the search attribute that counts the Calls that wait for a person.
func (i *instance) setAwaitingAttribute(ctx workflow.Context, count int) {
	display.SearchAttributes{Registered: i.setup.Attributes}.SetAwaitingCount(ctx, count)
}
