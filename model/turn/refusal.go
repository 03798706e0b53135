package turn

import "time"

// RefusedSignal is a signal that changed nothing, and why.
type RefusedSignal struct {
	ID     string    `json:"id,omitempty"` // as the signal gave it
	Signal string    `json:"signal"`
	Call   string    `json:"call,omitempty"` // as the signal gave it
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// RefusedSignals keeps the last hundred and counts them all.
type RefusedSignals struct {
	Last  []RefusedSignal `json:"last"`
	Count int       `json:"count"`
}

const maxRefusedSignals = 100

// Add keeps one more.
func (r *RefusedSignals) Add(one RefusedSignal) {
	r.Count++
	if r.Last = append(r.Last, one); len(r.Last) > maxRefusedSignals {
		r.Last = r.Last[1:]
	}
}
