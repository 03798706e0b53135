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
	mu        sync.Mutex
	worker    string // identifies this worker; empty: nothing has waited yet
	ofProcess map[string]*processWaits
}

type processWaits struct {
	calls         map[string]*turn.HeldUp // by instance and Call
	reported      string                  // the Call that was reported to the process
	reportedUntil time.Time
}

// waitRetention is how long a wait is kept after its end, since a cancelled Call does not report that it waits no more.
const waitRetention = time.Hour

// set records what a Call waits for; if held is nil, that it waits no more. It returns whether to signal the process,
// and what: the longest wait, or nil for none.
func (w *toolWaits) set(in protocol.ExecuteInput, held *turn.HeldUp) (longest *turn.HeldUp, tell bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.worker == "" {
		w.worker = rand.Text()
	}
	now, call := time.Now(), in.Token+"/"+in.Call
	maps.DeleteFunc(w.ofProcess,
		func(_ string, p *processWaits) bool { return now.Sub(p.reportedUntil) > waitRetention })
	p := w.ofProcess[in.Process]
	if p == nil && held == nil {
		return nil, false
	}
	if w.ofProcess == nil {
		w.ofProcess = map[string]*processWaits{}
	}
	if p == nil {
		p = &processWaits{calls: map[string]*turn.HeldUp{}}
		w.ofProcess[in.Process] = p
	}
	if p.calls[call] = held; held == nil {
		delete(p.calls, call)
	}
	var last string
	for c, h := range p.calls {
		if h.Next.After(now) && (longest == nil || h.Next.After(longest.Next)) {
			last, longest = c, h
		}
	}
	switch {
	case longest == nil:
		delete(w.ofProcess, in.Process)
	case p.calls[p.reported] != nil && longest.Next.Sub(p.reportedUntil) < minReportedWait:
		return nil, false
	default:
		p.reported, p.reportedUntil = last, longest.Next
	}
	return longest, true
}

// reportCallWait informs a process that a Call waits or, if held is nil, that it waits no more.
func (a *Activities) reportCallWait(ctx context.Context, waits *toolWaits, cause string, in protocol.ExecuteInput,
	held *turn.HeldUp) (reported bool) {
	longest, reported := waits.set(in, held)
	if reported {
		a.signalWait(ctx, in.Process, "", protocol.SignalWorkerHoldUp,
			protocol.WorkerHoldUpSignal{Cause: cause, HeldUp: longest, Worker: waits.worker})
	}
	return reported
}

// firstToolWait is how long a Call waits if its Tool's server refused it unread and named no time. Each further wait is
// twice as long, for maxDoublings times: the number of waits has no bound, and each makes the history longer.
const (
	firstToolWait = time.Second
	maxDoublings  = 9
)

// toolWait returns how long a Tool's server wants no further attempt after a failed one; 0 if no attempt follows, or if
// it may follow at any time. ofInstance: Temporal makes no further attempt but, since the server has not read this one,
// the instance waits and tries again.
func toolWait(info activity.Info, in protocol.ExecuteInput, err error) (wait time.Duration, ofInstance bool) {
	isLast := isLastAttempt(info)
	wait = min(runner.RetryDelay(err), maxToolWait)
	switch {
	case err == nil, tools.IsFinal(err), isLast && !runner.IsThrottled(err):
		return 0, false
	case isLast:
		return max(wait, firstToolWait<<min(in.Waits, maxDoublings)), true
	}
	return wait, false
}

// callWait is toolWait for a Call. If the server has not read the Call, its instance also does a long wait. Then
// nothing of the Call runs, so that the process can be paused and undone meanwhile.
func callWait(info activity.Info, in protocol.ExecuteInput, err error) (wait time.Duration, ofInstance bool) {
	wait, ofInstance = toolWait(info, in, err)
	return wait, ofInstance || runner.IsThrottled(err) && wait >= minReportedWait
}

// reportToolWait informs a process that a retry waits until a Tool's server allows it, and when that wait is over.
func (a *Activities) reportToolWait(ctx context.Context, in protocol.ExecuteInput, what string, err error,
	wait time.Duration) {
	if activity.GetInfo(ctx).IsLocalActivity || a.Client == nil {
		return
	}
	var held *turn.HeldUp
	if wait >= minReportedWait {
		now := time.Now()
		held = &turn.HeldUp{
			Cause: turn.CodeToolWaits, Since: now, Next: now.Add(wait),
			Message: what + " waits because its server asked it to: " + jsonval.Clip(err.Error(), maxErrorMessage),
			Remedy:  "it goes on by itself; nothing but cancelling the process ends the wait before",
		}
	}
	if a.reportCallWait(ctx, &a.toolWaits, turn.CodeToolWaits, in, held) && held != nil {
		activity.GetLogger(ctx).Warn("the Call waits because its server asked it to", "process", in.Process,
			"instance", in.Token, "call", in.Call, "tool", in.Tool, "error", err, "again", held.Next)
	}
}
