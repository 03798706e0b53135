package turn

import (
	"math"
	"time"
)

// HeldUp is something that holds a process up and that nothing inside the process can mend. The process waits, and goes
// on by itself once the cause is gone: it is not paused.
type HeldUp struct {
	// Cause is an error code, such as CodeLLMUnreachable. Message describes the cause in plain words, Remedy what to do
	// about it.
	Cause   string `json:"cause"`
	Message string `json:"message"`
	Remedy  string `json:"mend,omitempty"`
	// Since is when the cause was first found; zero: unknown. Next is the time of the next attempt, Until the time at
	// which the process pauses because of the cause; zero: no fixed time.
	Since time.Time `json:"since,omitzero"`
	Next  time.Time `json:"next,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Untried means that it has never worked for this process, so that a mistake in a setting is likely.
	Untried bool `json:"untried,omitempty"`
	// Process is the part or the delegate that is held up; empty: the process itself.
	Process string `json:"process,omitempty"`
}

// PausedInTemporal says that somebody paused something by Temporal's own means. kind is its kind in the temporal
// command, such as activity.
func PausedInTemporal(what, kind string) HeldUp {
	return HeldUp{Cause: CodeTemporalPaused, Message: "somebody paused " + what + " in Temporal itself",
		Remedy: "unpause it there (temporal " + kind + " unpause); then it goes on by itself"}
}

// WorkerFails says what a running worker cannot do.
func WorkerFails(atWhat string) HeldUp {
	return HeldUp{Cause: CodeWorkerFails, Message: "a worker runs, but cannot " + atWhat,
		Remedy: "the worker's log says why; then it goes on by itself"}
}

// Forever is the patience of ShouldRetry for waits that are limited elsewhere.
const Forever = time.Duration(math.MaxInt64)

// ShouldRetry decides whether to retry something unavailable after a pause. It retries while patience lasts, counted
// from the first attempt. It sets Since, Next and Until.
func (h *HeldUp) ShouldRetry(begun, now time.Time, pause, patience time.Duration) (again bool) {
	h.Since, h.Next = begun, now.Add(pause)
	if patience == Forever {
		h.Since = now // earlier attempts only asked whether it was ready
		return true
	}
	h.Until = begun.Add(patience)
	return !h.Next.After(h.Until)
}

// HeldUpPrefix begins the line that String returns for the process itself, not for a part or a delegate.
const HeldUpPrefix = "held up"

// String describes the HeldUp in one line. Times are UTC.
func (h HeldUp) String() string {
	text := h.prefix()
	if !h.Since.IsZero() {
		text += " since " + h.formatTime(h.Since)
	}
	text += ": " + h.Message
	if !h.Next.IsZero() {
		text += "; asked again at " + h.formatTime(h.Next)
	}
	return text
}

// Brief describes the HeldUp for a list that cuts off long lines: the next attempt first, then the cause.
func (h HeldUp) Brief() string {
	text := h.prefix()
	if !h.Next.IsZero() {
		text += ", next try " + h.formatTime(h.Next)
	}
	return text + ": " + h.Message
}

func (h HeldUp) prefix() string {
	if h.Process != "" {
		return h.Process + " is " + HeldUpPrefix
	}
	return HeldUpPrefix
}

// formatTime omits the day if Next is at most 12 hours after Since.
func (h HeldUp) formatTime(t time.Time) string {
	form := "15:04:05 UTC"
	if last := h.Next; last.IsZero() || last.Sub(h.Since) > 12*time.Hour {
		form = time.RFC3339
	}
	return t.UTC().Format(form)
}

// HeldUpIn sets the part or the delegate that is held up, in entries that do not name one yet.
func HeldUpIn(process string, list []HeldUp) []HeldUp {
	named := make([]HeldUp, len(list))
	for n, h := range list {
		if named[n] = h; h.Process == "" {
			named[n].Process = process
		}
	}
	return named
}
