package instance

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/activity"
	"processidea/workflows/internal/lifecycle"
	"processidea/workflows/internal/mailbox"
)

// This file runs Calls.

// MaxRunningCalls bounds how many Calls of one instance run at the same time. Over two thousand pending activities
// would leave the workflow stuck, and over 4 MB of commands in one task would end it: two hundred with payloads below
// the store's threshold stay far below both.
const MaxRunningCalls = 200

// pausedWaitsChangeID names the rule that a pause reverts the start of a Call of which nothing has run, since it waits
// for its turn or for the store.
const pausedWaitsChangeID = "a pause reverts what waits for its turn"

// maxWorkerLosses is how many workers may be lost while one Call runs. The Call is then taken for the cause, and not
// run again, since the workers run the Calls of others too.
const maxWorkerLosses = 3

// startReadyCalls runs every Call that may run now, up to MaxRunningCalls at a time.
//
// Before the first start after a wait for a person, it checks that the process still exists: a terminated process does
// not notify its instances, and nothing may run for it any more.
func (i *instance) startReadyCalls(ctx workflow.Context) {
	isHeld := i.isHeld()
	if !isHeld {
		i.queuedCalls = append(i.queuedCalls, i.dataflow.Advance()...)
		i.HasUnhandledChange, i.RevertedStartCount = false, 0
	}
	i.startBlobUpdates(ctx)
	if isHeld {
		i.revertQueuedStarts()
		return
	}
	if len(i.queuedCalls) > 0 && i.MustCheckAncestors {
		i.MustCheckAncestors = false
		i.isOrphaned = lifecycle.IsAnyProcessGone(ctx, i.setup.Owners())
		if i.isOrphaned {
			return
		}
	}
	freeSlots := MaxRunningCalls - i.runningActivityCount - len(i.delegateByCall)
	if freeSlots > 0 && !i.shouldHoldCalls(ctx) {
		nextCalls := i.takeQueuedCalls(freeSlots, i.remainingCallQuota())
		i.OwnQuotaUse.Calls += len(nextCalls)
		i.executeCalls(ctx, nextCalls)
	}
	i.allocateDelegateQuotas(ctx)
	if i.HasUnhandledChange { // a delegate could not be started, or an update not be made
		i.startReadyCalls(ctx)
	}
}

// isHeld reports whether nothing new starts, since the process is paused and not undone meanwhile.
func (i *instance) isHeld() bool { return i.IsHeldByPause && !i.dataflow.IsUndoOrderedByPerson() }

// takeQueuedCalls takes at most room Calls out of the queue. The quota does not limit Calls that undo others: a process
// that is paused at its limits can be undone.
func (i *instance) takeQueuedCalls(freeSlots, callQuota int) (nextCalls []dataflow.ReadyCall) {
	i.queuedCalls = slices.DeleteFunc(i.queuedCalls, func(r dataflow.ReadyCall) bool {
		isUndo := r.Record.Key().IsUndo()
		isTaken := len(nextCalls) < freeSlots && (isUndo || callQuota > 0) && !r.Record.IsThrottled()
		if isTaken {
			nextCalls = append(nextCalls, r)
		}
		if isTaken && !isUndo {
			callQuota--
		}
		return isTaken
	})
	return nextCalls
}

// revertQueuedStarts empties the queue; none of its Calls has run. While the process is paused, nothing may wait for
// these Calls, and what they read may be undone. They are queued again when the process goes on. Reports still contain
// their need of quota: a report without it could be taken for the answer to a grant that comes with the end of the
// pause.
func (i *instance) revertQueuedStarts() {
	for _, r := range i.queuedCalls {
		i.dataflow.RevertStart(r.Record.ID)
		i.HasUnhandledChange = true
	}
	i.RevertedStartCount += len(i.queuedCalls)
	i.queuedCalls = nil
}

// executeCall starts a Call's activity, or its delegate. Its end comes in through the inbox.
func (i *instance) executeCall(ctx workflow.Context, r dataflow.ReadyCall) {
	attemptsLeft := r.Tool.MaxAttempts
	if r.Record.Throttle != nil {
		attemptsLeft = r.Record.Throttle.AttemptsLeft
	}
	i.executeWithAttempts(ctx, r, attemptsLeft)
}

// queueThrottled queues a Call again that its Tool's server refused without reading it. The Call starts when the server
// allows it.
func (i *instance) queueThrottled(ctx workflow.Context, r dataflow.ReadyCall, throttleErr error) {
	i.requeueCall(r, dataflow.Throttle{WaitCount: 1,
		ThrottledUntil: workflow.Now(ctx).Add(protocol.RetryDelay(throttleErr)),
		AttemptsLeft:   protocol.AttemptsLeft(throttleErr)})
	i.startThrottleTimer(ctx, r.Record)
}

// requeueCall queues a Call of which nothing has run.
func (i *instance) requeueCall(r dataflow.ReadyCall, t dataflow.Throttle) {
	if previous := r.Record.Throttle; previous != nil {
		t.WaitCount += previous.WaitCount
	}
	r.Record.Throttle = &t
	i.queuedCalls = append(i.queuedCalls, r)
	i.OwnQuotaUse.Calls--
}

// startThrottleTimer sets a timer that lets a Call start when its Tool's server allows it.
func (i *instance) startThrottleTimer(ctx workflow.Context, rec *dataflow.CallRecord) {
	t := rec.Throttle
	timer := workflow.NewTimerWithOptions(ctx, t.ThrottledUntil.Sub(workflow.Now(ctx)), workflow.TimerOptions{
		Summary: callSummary(i.start.InstanceToken, rec) + ": wait for the tool's server"})
	i.inbox.OnFutureReady(timer, func(f workflow.Future) {
		if f.Get(ctx, nil) != nil {
			return // the instance ends
		}
		t.ThrottledUntil = time.Time{}
		i.markChanged(ctx)
	})
}

// executeWithAttempts executes a Call that has some of its attempts left.
func (i *instance) executeWithAttempts(ctx workflow.Context, r dataflow.ReadyCall, attemptsLeft int) {
	if r.Binding.Kind == ideafile.KindDelegate {
		i.startDelegate(ctx, r)
		return
	}
	if !canRunLocally(r) {
		i.executeAsActivity(ctx, r, attemptsLeft)
		return
	}
	i.watchExecution(ctx, r, workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx,
		workflow.LocalActivityOptions{
			StartToCloseTimeout: r.Tool.Timeout, ScheduleToCloseTimeout: activity.AllAttemptsTimeout,
			RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: int32(attemptsLeft)},
			Summary:     i.callActivitySummary(r),
		}), protocol.ActivityExecute, i.executeInput(r)))
}

func (i *instance) executeAsActivity(ctx workflow.Context, r dataflow.ReadyCall, attemptsLeft int) {
	i.watchExecution(ctx, r, workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: r.Tool.Timeout,
		HeartbeatTimeout:    activity.HeartbeatTimeout(ctx),
		RetryPolicy:         callRetryPolicy(attemptsLeft),
		Summary:             i.callActivitySummary(r),
	}), protocol.ActivityExecute, i.executeInput(r)))
}

// watchExecution makes the inbox handle the end of a Call's activity.
func (i *instance) watchExecution(ctx workflow.Context, r dataflow.ReadyCall, f workflow.Future) {
	i.runningActivityCount++
	resumeNumber := i.LastResumeNumber
	i.inbox.OnFutureReady(f, func(f workflow.Future) { i.onCallExecuted(ctx, r, f, resumeNumber < i.LastResumeNumber) })
}

func (i *instance) callActivitySummary(r dataflow.ReadyCall) string {
	summary := callSummary(i.start.InstanceToken, r.Record)
	if r.Binding.Simulation != nil {
		return "simulated: " + summary
	}
	return summary
}

// executeAfterWait runs a Call that had no effect because it lacks something, such as the store or its turn. First the
// activity awaits waits for what is lacking; the history says so. Then the Call runs as an activity, which may take
// long, with the attempts that are left. A pause ends the wait: the Call is queued again.
func (i *instance) executeAfterWait(ctx workflow.Context, r dataflow.ReadyCall, attemptsLeft int, waitActivityName,
	awaitedResource string, activityArgs ...any) {
	throttle := dataflow.Throttle{AttemptsLeft: attemptsLeft}
	if i.isHeld() && mailbox.IsPatched(ctx, pausedWaitsChangeID) {
		i.requeueCall(r, throttle)
		return
	}
	i.runningActivityCount++
	waitCtx, cancelWait := workflow.WithCancel(ctx)
	i.cancelWaitByCall[r.Record.ID] = cancelWait
	f := workflow.ExecuteActivity(workflow.WithActivityOptions(waitCtx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2,
			MaximumInterval: 15 * time.Second},
		Summary: i.callActivitySummary(r) + ": wait for " + awaitedResource,
	}), waitActivityName, activityArgs...)
	i.inbox.OnFutureReady(f, func(f workflow.Future) {
		i.runningActivityCount--
		delete(i.cancelWaitByCall, r.Record.ID)
		switch err := f.Get(ctx, nil); {
		case waitCtx.Err() != nil && ctx.Err() == nil, err == nil && i.isHeld() &&
			mailbox.IsPatched(ctx, pausedWaitsChangeID):
			i.requeueCall(r, throttle)
			i.markChanged(ctx)
		case err != nil:
			i.dataflow.FailCall(r.Record.ID, protocol.FaultOf(err))
			i.markChanged(ctx)
		default:
			i.executeAsActivity(ctx, r, attemptsLeft)
		}
	})
}

// cancelCallWaits ends the waits of executeAfterWait.
func (i *instance) cancelCallWaits(ctx workflow.Context) {
	if len(i.cancelWaitByCall) == 0 || !mailbox.IsPatched(ctx, pausedWaitsChangeID) {
		return
	}
	for _, cancelWait := range jsonval.Sorted(i.cancelWaitByCall) {
		cancelWait()
	}
}

// maxLocalParamsBytes bounds the parameters of a Call that runs within a workflow task, in bytes.
const maxLocalParamsBytes = 4 * jsonval.LargeValueBytes

// canRunLocally reports whether a Call runs within a workflow task: it is small, and depends only on data in the
// workflow, so that no harm is done if it runs twice.
func canRunLocally(r dataflow.ReadyCall) bool {
	return r.Binding.IsPureFunction && r.Tool.RateLimit == nil && !jsonval.ContainsBlobHandle(r.Params) &&
		jsonval.SizeUpToLimit(r.Params, maxLocalParamsBytes) <= maxLocalParamsBytes
}

// callRetryPolicy counts the Tool's own failures. The loss of a worker does not count: it ends the activity
// immediately, and the instance decides.
func callRetryPolicy(attemptsLeft int) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute,
		MaximumAttempts: int32(attemptsLeft), NonRetryableErrorTypes: []string{protocol.HeartbeatTimeoutErrorType},
	}
}

func (i *instance) executeInput(r dataflow.ReadyCall) protocol.ExecuteInput {
	in := protocol.ExecuteInput{
		UndoneCall: r.Record.Undoes,
		ProcessID:  i.setup.ProcessID, InstanceToken: i.start.InstanceToken, CallID: r.Record.ID, Tool: r.Tool.Name,
		Binding: r.Binding,
		Params:  r.Params, ScopeValues: r.ScopeValues, ResultContract: i.dataflow.ResultContract(r.Record),
		OutputSchema:          r.Tool.Source["_output"],
		RunnerSpec:            r.Tool.RunnerSpec(r.Binding, i.setup.MCPServers),
		IsResultForWholeState: r.Record.OutputPath.WritesWholeState(),
		LostWorkerCount:       i.workerLossCountByCall[r.Record.ID],
	}
	if r.Record.Throttle != nil {
		in.RefusalWaitCount = r.Record.Throttle.WaitCount
	}
	if jsonval.ContainsBlobHandle(r.Params) {
		in.ParamsSchema = r.Tool.Source
	}
	if r.Binding.Simulation == nil {
		in.RateLimit = r.Tool.RateLimit
	}
	return in
}

// rateLimitInput describes a Call that waits for its turn.
func (i *instance) rateLimitInput(r dataflow.ReadyCall) protocol.ExecuteInput {
	return protocol.ExecuteInput{ProcessID: i.setup.ProcessID, InstanceToken: i.start.InstanceToken,
		CallID: r.Record.ID,
		Tool:   r.Tool.Name, UndoneCall: r.Record.Undoes, RateLimit: r.Tool.RateLimit}
}

// onCallExecuted handles the end of a Call's activity. If its worker was lost, or the Tool says so, it is unknown
// whether the Tool had its effect; a Call that may run only once is then left to a person. wasResumedSince is whether
// the process was resumed since the Call began.
func (i *instance) onCallExecuted(ctx workflow.Context, r dataflow.ReadyCall, f workflow.Future, wasResumedSince bool) {
	i.runningActivityCount--
	i.markChanged(ctx)
	callID := r.Record.ID
	var value any
	err := f.Get(ctx, &value)
	switch {
	case err == nil:
		i.dataflow.SucceedCall(callID, value)
	case protocol.FaultCodeOf(err) == ideafile.CodeStoreUnavailable:
		i.executeAfterWait(ctx, r, r.Tool.MaxAttempts, protocol.ActivityAwaitStore, "the store")
	case protocol.FaultCodeOf(err) == turn.CodeRateLimited:
		i.executeAfterWait(ctx, r, protocol.AttemptsLeft(err), protocol.ActivityAwaitLimitTurn, "its turn",
			i.rateLimitInput(r))
	case protocol.FaultCodeOf(err) == turn.CodeToolBusy:
		i.queueThrottled(ctx, r, err)
	case protocol.FaultCodeOf(err) == ideafile.CodeMCPInputRequired:
		i.dataflow.RequireResultFromPerson(callID, protocol.FaultOf(err).Message)
	case protocol.FaultCodeOf(err) == ideafile.CodeOutcomeUnknown && r.Tool.MaxAttempts == 1:
		i.dataflow.RequireUnknownOutcomeReview(callID,
			protocol.FaultOf(err).Message+"; the tool may have had its effect, and it must not run twice")
	case ideafile.FaultCodeNeedsOperator(protocol.FaultCodeOf(err)):
		i.dataflow.PostponeCall(callID, protocol.FaultOf(err))
		if wasResumedSince {
			_ = i.dataflow.TakePauseFault() // what it lacked may be there now: retry without a pause
		} else {
			i.IsHeldByPause = true // until the process, which pauses now, goes on
		}
	case !protocol.IsWorkerLost(err):
		f := protocol.FaultOf(err)
		if _, isTimeout := errors.AsType[*temporal.TimeoutError](err); isTimeout && !r.Binding.IsPureFunction {
			f.Code = ideafile.CodeOutcomeUnknown
		}
		i.dataflow.FailCall(callID, f)
	case r.Tool.MaxAttempts == 1:
		i.dataflow.RequireUnknownOutcomeReview(callID,
			"the worker was lost while the tool ran; it may have had its effect, and it must not run twice")
	default:
		i.onWorkerLost(ctx, r)
	}
}

// onWorkerLost runs a Call again after the loss of its worker, unless too many workers were lost.
func (i *instance) onWorkerLost(ctx workflow.Context, r dataflow.ReadyCall) {
	callID := r.Record.ID
	i.workerLossCountByCall[callID]++
	if i.workerLossCountByCall[callID] < maxWorkerLosses {
		i.executeCall(ctx, r)
		return
	}
	i.dataflow.FailCall(callID, &diag.Fault{Code: ideafile.CodeOutcomeUnknown, Message: fmt.Sprintf(
		"%d workers were lost while the tool ran: it may be what takes them down, and is not run again",
		maxWorkerLosses)})
}

// callSummary is what the Temporal UI shows of a Call: ② analyzeSentiment → sentiment.
func callSummary(instanceToken string, rec *dataflow.CallRecord) string {
	s := rec.Tool
	if instanceToken != "" {
		s = instanceToken + " " + s
	}
	if len(rec.OutputPath) > 0 {
		path := rec.OutputPath.String()
		if path == "" {
			path = "†state"
		}
		s += " → " + path
	}
	if r := []rune(s); len(r) > 100 {
		return string(r[:99]) + "…"
	}
	return s
}

// startBlobUpdates starts activities that combine values in the store with the results that update them. It does so
// even while the process is paused, since the Tools have run. If the store does not answer, the Calls wait for as long
// as it takes, and an operator sees it.
func (i *instance) startBlobUpdates(ctx workflow.Context) {
	for _, u := range i.dataflow.TakeBlobUpdates() {
		if !mailbox.IsPatched(ctx, "updates of stored values") {
			i.markChanged(ctx)
			i.dataflow.FailBlobUpdate(u.CallID,
				diag.Faultf(ideafile.CodeBadOutput, "updates of values over 64 KB are not built yet"))
			continue
		}
		i.runningActivityCount++
		f := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: 2 * time.Minute, HeartbeatTimeout: activity.HeartbeatTimeout(ctx),
			Summary: "update what is stored: " + callSummary(i.start.InstanceToken, i.dataflow.FindCall(u.CallID)),
		}), protocol.ActivityUpdateBlobs, protocol.BlobUpdateInput{OutputMethod: u.OutputMethod, Updates: u.Updates,
			ResultContract: u.ResultContract})
		i.inbox.OnFutureReady(f, func(f workflow.Future) { i.onBlobUpdateDone(ctx, u, f) })
	}
}

func (i *instance) onBlobUpdateDone(ctx workflow.Context, u dataflow.BlobUpdate, f workflow.Future) {
	i.runningActivityCount--
	i.markChanged(ctx)
	var updatedValues []any
	if err := f.Get(ctx, &updatedValues); err != nil {
		i.dataflow.FailBlobUpdate(u.CallID, protocol.FaultOf(err))
		return
	}
	i.dataflow.ApplyBlobUpdate(u, updatedValues)
}
