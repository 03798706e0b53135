package approval

import "time"

// RefusedSignal is a signal that was refused and changed nothing, with the reason.
type RefusedSignal struct {
	// ID, Call and By are as the signal's payload had them.
	ID     string `json:"id,omitempty"`
	Signal string `json:"signal"`
	CallID string `json:"call,omitempty"`
	By     string `json:"by,omitempty"`
	// OrderID names the standing order under which the signal would have approved the Call, and Digest is that of the approval; empty: none.
	OrderID   string    `json:"under,omitempty"`
	Digest    string    `json:"digest,omitempty"`
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
