package turn

import "time"

// RefusedSignal is a signal that was refused and changed nothing, with the reason.
type RefusedSignal struct {
	// ID, Call and By are as the signal's payload had them.
	ID        string    `json:"id,omitempty"`
	Signal    string    `json:"signal"`
	CallID    string    `json:"call,omitempty"`
	By        string    `json:"by,omitempty"`
	Reason    string    `json:"reason"`
	RefusedAt time.Time `json:"at"`
}

// RefusedSignals holds the last hundred refused signals and the number of all.
type RefusedSignals struct {
	MostRecent []RefusedSignal `json:"last"`
	TotalCount int             `json:"count"`
}

const maxRefusedSignals = 100

// Add appends a signal, and drops the oldest when there are too many.
func (r *RefusedSignals) Add(s RefusedSignal) {
	r.TotalCount++
	r.MostRecent = append(r.MostRecent, s)
	if len(r.MostRecent) > maxRefusedSignals {
		r.MostRecent = r.MostRecent[1:]
	}
}
