package turn

import "time"

// RefusedSignal is a signal that was refused and changed nothing, with the reason.
type RefusedSignal struct {
	// ID, Call and By are as the signal's payload had them.
	ID     string    `json:"id,omitempty"`
	Signal string    `json:"signal"`
	Call   string    `json:"call,omitempty"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// RefusedSignals holds the last hundred refused signals and the number of all.
type RefusedSignals struct {
	Last  []RefusedSignal `json:"last"`
	Count int             `json:"count"`
}

const maxRefusedSignals = 100

// Add appends a signal, and drops the oldest when there are too many.
func (r *RefusedSignals) Add(s RefusedSignal) {
	r.Count++
	r.Last = append(r.Last, s)
	if len(r.Last) > maxRefusedSignals {
		r.Last = r.Last[1:]
	}
}
