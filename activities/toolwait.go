package activities

import (
	"context"
	"fmt"
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

// minToldWait is the shortest wait for a Tool's server that is reported to its process.
const minToldWait = 30 * time.Second

// toolWaits are the times until which processes know that they wait for a Tool's server, by process. Many Calls that
// wait for the same server are reported once.
type toolWaits struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// maxKept is how long after a wait it is remembered: of a Call that failed, or was cancelled, nobody hears the end.
const maxKept = time.Hour

// begin records a wait, and reports whether the process must be informed of it.
func (w *toolWaits) begin(process string, now, until time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.until, func(_ string, over time.Time) bool { return now.Sub(over) > maxKept })
	if until.Sub(w.until[process]) < minToldWait {
		return false
	}
	if w.until == nil {
		w.until = map[string]time.Time{}
	}
	w.until[process] = until
	return true
}

// end reports whether a process knows of a wait, which is over.
func (w *toolWaits) end(process string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, told := w.until[process]
	delete(w.until, process)
	return told
}

// tellOfToolWait informs a process that a Call is retried only when its server allows it, and when that is over.
func (a *Activities) tellOfToolWait(ctx context.Context, in protocol.ExecuteInput, err error) {
	info, wait := activity.GetInfo(ctx), min(runner.RetryDelay(err), maxToolWait)
	switch {
	case info.IsLocalActivity || a.Client == nil:
		return
	case err == nil:
		if info.Attempt > 1 && a.toolWaits.end(in.Process) {
			a.signalWait(ctx, in.Process, "", protocol.SignalHoldUp, protocol.HoldUpSignal{Cause: turn.CodeToolWaits})
		}
		return
	case wait < minToldWait || tools.IsFinal(err), info.RetryPolicy != nil && info.RetryPolicy.MaximumAttempts > 0 &&
		info.Attempt >= info.RetryPolicy.MaximumAttempts:
		return
	}
	now := time.Now()
	if !a.toolWaits.begin(in.Process, now, now.Add(wait)) {
		return
	}
	held := &turn.HeldUp{
		Cause: turn.CodeToolWaits, Since: now, Next: now.Add(wait),
		Message: fmt.Sprintf("Call %s of %s waits because its server asked it to: %s",
			in.Call, in.Tool, jsonval.Clip(err.Error(), maxErrorMessage)),
		Mend: "it goes on by itself; to wait no longer, reject the Call",
	}
	activity.GetLogger(ctx).Warn("the Call waits because its server asked it to", "process", in.Process,
		"instance", in.Token,
		"call", in.Call, "tool", in.Tool, "error", err, "again", held.Next)
	a.signalWait(ctx, in.Process, "", protocol.SignalHoldUp, protocol.HoldUpSignal{Cause: held.Cause, HeldUp: held})
}
