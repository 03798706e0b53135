package activities

import (
	"context"
	"crypto/rand"
	"maps"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/tools"
	"processidea/tools/runner"
)

// minReportedWait is the shortest wait for a Tool's server that is reported to its process.
const minReportedWait = 30 * time.Second

// callHoldUps are the Calls that wait for something outside, by process. If several Calls wait for about as long, only
// one is reported to the process.
type callHoldUps struct {
	mu               sync.Mutex
	workerID         string // identifies this worker; empty: nothing has waited yet
	holdUpsByProcess map[string]*processHoldUps
}

type processHoldUps struct {
	holdUpByCall    map[string]*turn.HoldUp // by instance and Call
	reportedCallKey string                  // the Call that was reported to the process
	reportedUntil   time.Time
}

// holdUpRetention is how long a wait is kept after its end, since a cancelled Call does not report that it waits no
// more.
const holdUpRetention = time.Hour

// setCallHoldUp records what a Call waits for; if holdUp is nil, that it waits no more. It returns whether to signal
// the process, and what: the longest wait, or nil for none.
func (w *callHoldUps) setCallHoldUp(in protocol.ExecuteInput,
	holdUp *turn.HoldUp) (longestHoldUp *turn.HoldUp, shouldSignal bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.workerID == "" {
		w.workerID = rand.Text()
	}
	now, callKey := time.Now(), in.InstanceToken+"/"+in.CallID
	maps.DeleteFunc(w.holdUpsByProcess,
		func(_ string, p *processHoldUps) bool { return now.Sub(p.reportedUntil) > holdUpRetention })
	p := w.holdUpsByProcess[in.ProcessID]
	if p == nil && holdUp == nil {
		return nil, false
	}
	if w.holdUpsByProcess == nil {
		w.holdUpsByProcess = map[string]*processHoldUps{}
	}
	if p == nil {
		p = &processHoldUps{holdUpByCall: map[string]*turn.HoldUp{}}
		w.holdUpsByProcess[in.ProcessID] = p
	}
	if p.holdUpByCall[callKey] = holdUp; holdUp == nil {
		delete(p.holdUpByCall, callKey)
	}
	var longestCallKey string
	for c, h := range p.holdUpByCall {
		if h.NextAttempt.After(now) && (longestHoldUp == nil || h.NextAttempt.After(longestHoldUp.NextAttempt)) {
			longestCallKey, longestHoldUp = c, h
		}
	}
	switch {
	case longestHoldUp == nil:
		delete(w.holdUpsByProcess, in.ProcessID)
	case p.holdUpByCall[p.reportedCallKey] != nil && longestHoldUp.NextAttempt.Sub(p.reportedUntil) < minReportedWait:
		return nil, false
	default:
		p.reportedCallKey, p.reportedUntil = longestCallKey, longestHoldUp.NextAttempt
	}
	return longestHoldUp, true
}

// reportCallHoldUp informs a process that a Call waits or, if holdUp is nil, that it waits no more.
func (a *Activities) reportCallHoldUp(ctx context.Context, holdUps *callHoldUps, cause string, in protocol.ExecuteInput,
	holdUp *turn.HoldUp) (wasReported bool) {
	longestHoldUp, wasReported := holdUps.setCallHoldUp(in, holdUp)
	if wasReported {
		switch {
		case a.HoldUpRecorder == nil:
		case longestHoldUp == nil:
			a.HoldUpRecorder.ForgetHoldUp(in.ProcessID, cause)
		default:
			a.HoldUpRecorder.RecordHoldUp(in.ProcessID, cause, longestHoldUp.NextAttempt.Add(holdUpMargin))
		}
		a.signalProcess(ctx, in.ProcessID, "", protocol.SignalWorkerHoldUp,
			protocol.WorkerHoldUpSignal{Cause: cause, HoldUp: longestHoldUp, WorkerID: holdUps.workerID})
	}
	return wasReported
}

// initialToolServerWait is how long a Call waits if its Tool's server refused it unread and named no time. Each further
// wait is twice as long, for maxWaitDoublings times: the number of waits has no bound, and each makes the history
// longer.
const (
	initialToolServerWait = time.Second
	maxWaitDoublings      = 9
)

// toolRetryDelay returns how long a Tool's server wants no further attempt after a failed one; 0 if no attempt follows,
// or if it may follow at any time. doesInstanceRetry: Temporal makes no further attempt but, since the server has not
// read this one, the instance waits and tries again.
func toolRetryDelay(info activity.Info, in protocol.ExecuteInput,
	err error) (wait time.Duration, doesInstanceRetry bool) {
	isLast := isLastAttempt(info)
	wait = min(runner.RetryDelay(err), maxToolServerWait)
	switch {
	case err == nil, tools.IsFinal(err), isLast && !runner.IsThrottled(err):
		return 0, false
	case isLast:
		return max(wait, initialToolServerWait<<min(in.RefusalWaitCount, maxWaitDoublings)), true
	}
	return wait, false
}

// callRetryDelay is toolRetryDelay for a Call. If the server has not read the Call, its instance also does a long wait.
// Then nothing of the Call runs, so that the process can be paused and undone meanwhile.
func callRetryDelay(info activity.Info, in protocol.ExecuteInput,
	err error) (wait time.Duration, doesInstanceRetry bool) {
	wait, doesInstanceRetry = toolRetryDelay(info, in, err)
	return wait, doesInstanceRetry || runner.IsThrottled(err) && wait >= minReportedWait
}

// reportToolWait informs a process that a retry waits until a Tool's server allows it, and when that wait is over.
func (a *Activities) reportToolWait(ctx context.Context, in protocol.ExecuteInput, waitingSubject string, err error,
	wait time.Duration) {
	if activity.GetInfo(ctx).IsLocalActivity || a.Client == nil {
		return
	}
	var holdUp *turn.HoldUp
	if wait >= minReportedWait {
		now := time.Now()
		holdUp = &turn.HoldUp{
			CauseCode: turn.CodeToolBusy, Since: now, NextAttempt: now.Add(wait),
			Message: waitingSubject + " waits because its server asked it to: " +
				jsonval.Clip(err.Error(), maxErrorChars),
			Remedy: "it goes on by itself; nothing but cancelling the process ends the wait before",
		}
	}
	if a.reportCallHoldUp(ctx, &a.toolHoldUps, turn.CodeToolBusy, in, holdUp) && holdUp != nil {
		activity.GetLogger(ctx).Warn("the Call waits because its server asked it to", "process", in.ProcessID,
			"instance", in.InstanceToken, "call", in.CallID, "tool", in.Tool, "error", err, "again", holdUp.NextAttempt)
	}
}
