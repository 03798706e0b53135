package turn

import "time"

// Refusal is a signal that changed nothing, and why.
type Refusal struct {
	ID     string    `json:"id,omitempty"` // as the signal gave it
	Signal string    `json:"signal"`
	Call   string    `json:"call,omitempty"` // as the signal gave it
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// Refusals keeps the last hundred and counts them all.
type Refusals struct {
	Last  []Refusal `json:"last"`
	Count int       `json:"count"`
}

const keptRefusals = 100

// Add keeps one more.
func (r *Refusals) Add(one Refusal) {
	r.Count++
	if r.Last = append(r.Last, one); len(r.Last) > keptRefusals {
		r.Last = r.Last[1:]
	}
}
