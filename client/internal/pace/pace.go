// Package pace says when somebody who follows a process asks it where it stands. A query is an action that a hosted
// server bills, and a worker has to answer it; a description is neither. So who follows looks at descriptions, and asks
// only when something has happened, sixty times in an hour at most: half of them are kept for what people wait for,
// that the status or the number of Calls that await them has changed.
package pace

import (
	"time"

	"golang.org/x/time/rate"
)

// Sight is what a description shows of a process.
type Sight struct {
	Run      string // the run, which is another one after a continue-as-new
	Events   int64  // the length of its history
	Status   string
	Awaiting int // Calls that wait for people
}

// Pace is that of one who follows one process. It is not safe for concurrent use.
type Pace struct {
	asked           Sight
	idle            int // looks in a row that were worth no question
	urgent, ongoing *rate.Limiter
}

// What may be asked at once, and how often after. In an hour: 15 + 15 and 15 + 15.
const (
	atOnce  = 15
	spacing = 4 * time.Minute
)

// New returns a Pace by which the first look is worth a question.
func New() *Pace {
	return &Pace{urgent: rate.NewLimiter(rate.Every(spacing), atOnce),
		ongoing: rate.NewLimiter(rate.Every(spacing), atOnce)}
}

// IsWorthAsking reports whether to ask now, given what was seen, and takes it that this is done.
func (p *Pace) IsWorthAsking(now time.Time, seen Sight) bool {
	p.idle++
	if seen == p.asked {
		return false
	}
	isUrgent := seen.Status != p.asked.Status || seen.Awaiting != p.asked.Awaiting
	if !(isUrgent && p.urgent.AllowN(now, 1)) && !p.ongoing.AllowN(now, 1) {
		return false
	}
	p.asked, p.idle = seen, 0
	return true
}

// UntilNextLook is how long to wait before the next description: the longer, the longer there was nothing to ask.
func (p *Pace) UntilNextLook() time.Duration {
	return min(500*time.Millisecond<<min(p.idle/8, 4), 5*time.Second)
}

// UntilNextAttempt is how long to wait before the process is asked again that could not be asked so many times in a
// row, from 1.
func UntilNextAttempt(failures int) time.Duration {
	return min(300*time.Millisecond<<min(failures-1, 8), 75*time.Second)
}
