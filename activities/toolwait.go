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

// toolWaits are the Calls that wait for something outside, by process. If several Calls wait for about as long, only
// one is reported to the process.
type toolWaits struct {
	mu             sync.Mutex
	workerID       string // identifies this worker; empty: nothing has waited yet
	waitsByProcess map[string]*processWaits
}

type processWaits struct {
	heldUpByCall  map[string]*turn.HeldUp // by instance and Call
	reportedCall  string                  // the Call that was reported to the process
	reportedUntil time.Time
}

// waitRetention is how long a wait is kept after its end, since a cancelled Call does not report that it waits no more.
const waitRetention = time.Hour

// setCallWait records what a Call waits for; if held is nil, that it waits no more. It returns whether to signal the
// process, and what: the longest wait, or nil for none.
func (w *toolWaits) setCallWait(in protocol.ExecuteInput, heldUp *turn.HeldUp) (longest *turn.HeldUp, mustSignal bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.workerID == "" {
		w.workerID = rand.Text()
	}
	now, call := time.Now(), in.Token+"/"+in.Call
	maps.DeleteFunc(w.waitsByProcess,
		func(_ string, p *processWaits) bool { return now.Sub(p.reportedUntil) > waitRetention })
	p := w.waitsByProcess[in.Process]
	if p == nil && heldUp == nil {
		return nil, false
	}
	if w.waitsByProcess == nil {
		w.waitsByProcess = map[string]*processWaits{}
	}
	if p == nil {
		p = &processWaits{heldUpByCall: map[string]*turn.HeldUp{}}
		w.waitsByProcess[in.Process] = p
	}
	if p.heldUpByCall[call] = heldUp; heldUp == nil {
		delete(p.heldUpByCall, call)
	}
	var longestCall string
	for c, h := range p.heldUpByCall {
		if h.NextAttempt.After(now) && (longest == nil || h.NextAttempt.After(longest.NextAttempt)) {
			longestCall, longest = c, h
		}
	}
	switch {
	case longest == nil:
		delete(w.waitsByProcess, in.Process)
	case p.heldUpByCall[p.reportedCall] != nil && longest.NextAttempt.Sub(p.reportedUntil) < minReportedWait:
		return nil, false
	default:
		p.reportedCall, p.reportedUntil = longestCall, longest.NextAttempt
	}
	return longest, true
}

// reportCallWait informs a process that a Call waits or, if held is nil, that it waits no more.
func (a *Activities) reportCallWait(ctx context.Context, waits *toolWaits, cause string, in protocol.ExecuteInput,
	heldUp *turn.HeldUp) (reported bool) {
	longest, reported := waits.setCallWait(in, heldUp)
	if reported {
		a.signalWait(ctx, in.Process, "", protocol.SignalWorkerHoldUp,
			protocol.WorkerHoldUpSignal{Cause: cause, HeldUp: longest, Worker: waits.workerID})
	}
	return reported
}

// initialToolWait is how long a Call waits if its Tool's server refused it unread and named no time. Each further wait
// is twice as long, for maxDoublings times: the number of waits has no bound, and each makes the history longer.
const (
	initialToolWait = time.Second
	maxDoublings    = 9
)

// toolWait returns how long a Tool's server wants no further attempt after a failed one; 0 if no attempt follows, or if
// it may follow at any time. instanceRetries: Temporal makes no further attempt but, since the server has not read this
// one, the instance waits and tries again.
func toolWait(info activity.Info, in protocol.ExecuteInput, err error) (wait time.Duration, instanceRetries bool) {
	isLast := isLastAttempt(info)
	wait = min(runner.RetryDelay(err), maxToolWait)
	switch {
	case err == nil, tools.IsFinal(err), isLast && !runner.IsThrottled(err):
		return 0, false
	case isLast:
		return max(wait, initialToolWait<<min(in.WaitCount, maxDoublings)), true
	}
	return wait, false
}

// callWait is toolWait for a Call. If the server has not read the Call, its instance also does a long wait. Then
// nothing of the Call runs, so that the process can be paused and undone meanwhile.
func callWait(info activity.Info, in protocol.ExecuteInput, err error) (wait time.Duration, instanceRetries bool) {
	wait, instanceRetries = toolWait(info, in, err)
	return wait, instanceRetries || runner.IsThrottled(err) && wait >= minReportedWait
}

// reportToolWait informs a process that a retry waits until a Tool's server allows it, and when that wait is over.
func (a *Activities) reportToolWait(ctx context.Context, in protocol.ExecuteInput, subject string, err error,
	wait time.Duration) {
	if activity.GetInfo(ctx).IsLocalActivity || a.Client == nil {
		return
	}
	var heldUp *turn.HeldUp
	if wait >= minReportedWait {
		now := time.Now()
		heldUp = &turn.HeldUp{
			Cause: turn.CodeToolWaits, Since: now, NextAttempt: now.Add(wait),
			Message: subject + " waits because its server asked it to: " + jsonval.Clip(err.Error(), maxErrorChars),
			Remedy:  "it goes on by itself; nothing but cancelling the process ends the wait before",
		}
	}
	if a.reportCallWait(ctx, &a.toolWaits, turn.CodeToolWaits, in, heldUp) && heldUp != nil {
		activity.GetLogger(ctx).Warn("the Call waits because its server asked it to", "process", in.Process,
			"instance", in.Token, "call", in.Call, "tool", in.Tool, "error", err, "again", heldUp.NextAttempt)
	}
}
