package turn

import (
	"math"
	"time"
)

// HoldUp is something that holds a process up and that nothing inside the process can mend. The process waits, and
// goes on by itself once the cause is gone: it is not paused.
type HoldUp struct {
	// CauseCode is an error code, such as CodeLLMUnreachable. Message describes the cause in plain words, Remedy what
	// to do about it.
	CauseCode string `json:"cause"`
	Message   string `json:"message"`
	Remedy    string `json:"mend,omitempty"`
	// Since is when the cause was first found; zero: unknown. NextAttempt is the time of the next attempt, PauseAt the
	// time at which the process pauses because of the cause; zero: no fixed time.
	Since       time.Time `json:"since,omitzero"`
	NextAttempt time.Time `json:"next,omitzero"`
	PauseAt     time.Time `json:"until,omitzero"`
	// HasNeverWorked means that it has never worked for this process, so that a mistake in a setting is likely.
	HasNeverWorked bool `json:"untried,omitempty"`
	// ProcessID is the part or the delegate that is held up; empty: the process itself.
	ProcessID string `json:"process,omitempty"`
}

// TemporalPauseHoldUp says that somebody paused something by Temporal's own means. kind is its kind in the temporal
// command, such as activity.
func TemporalPauseHoldUp(subject, temporalSubcommand string) HoldUp {
	return HoldUp{CauseCode: CodeTemporalPaused, Message: "somebody paused " + subject + " in Temporal itself",
		Remedy: "unpause it there (temporal " + temporalSubcommand + " unpause); then it goes on by itself"}
}

// WorkerFailureHoldUp says what a running worker cannot do.
func WorkerFailureHoldUp(failingAction string) HoldUp {
	return HoldUp{CauseCode: CodeWorkerFails, Message: "a worker runs, but cannot " + failingAction,
		Remedy: "the worker's log says why; then it goes on by itself"}
}

// NoPatienceLimit is the patience of ScheduleRetry for waits that are limited elsewhere.
const NoPatienceLimit = time.Duration(math.MaxInt64)

// ScheduleRetry decides whether to retry something unavailable after a pause. It retries while patience lasts, counted
// from the first attempt. It sets Since, Next and Until.
func (h *HoldUp) ScheduleRetry(firstAttempt, now time.Time, retryDelay, patience time.Duration) (shouldRetry bool) {
	h.Since, h.NextAttempt = firstAttempt, now.Add(retryDelay)
	if patience == NoPatienceLimit {
		h.Since = now // earlier attempts only asked whether it was ready
		return true
	}
	h.PauseAt = firstAttempt.Add(patience)
	return !h.NextAttempt.After(h.PauseAt)
}

// HeldUpPrefix begins the line that String returns for the process itself, not for a part or a delegate.
const HeldUpPrefix = "held up"

// String describes the HoldUp in one line. Times are UTC.
func (h HoldUp) String() string {
	text := h.prefix()
	if !h.Since.IsZero() {
		text += " since " + h.formatTime(h.Since)
	}
	text += ": " + h.Message
	if !h.NextAttempt.IsZero() {
		text += "; asked again at " + h.formatTime(h.NextAttempt)
	}
	return text
}

// ShortText describes the HoldUp for a list that cuts off long lines: the next attempt first, then the cause.
func (h HoldUp) ShortText() string {
	text := h.prefix()
	if !h.NextAttempt.IsZero() {
		text += ", next try " + h.formatTime(h.NextAttempt)
	}
	return text + ": " + h.Message
}

func (h HoldUp) prefix() string {
	if h.ProcessID != "" {
		return h.ProcessID + " is " + HeldUpPrefix
	}
	return HeldUpPrefix
}

// formatTime omits the day if Next is at most 12 hours after Since.
func (h HoldUp) formatTime(t time.Time) string {
	layout := "15:04:05 UTC"
	if nextAttempt := h.NextAttempt; nextAttempt.IsZero() || nextAttempt.Sub(h.Since) > 12*time.Hour {
		layout = time.RFC3339
	}
	return t.UTC().Format(layout)
}

// HoldUpsWithProcessID sets the part or the delegate that is held up, in entries that do not name one yet.
func HoldUpsWithProcessID(processID string, list []HoldUp) []HoldUp {
	out := make([]HoldUp, len(list))
	for n, h := range list {
		if out[n] = h; h.ProcessID == "" {
			out[n].ProcessID = processID
		}
	}
	return out
}
