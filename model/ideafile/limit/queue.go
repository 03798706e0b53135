package limit

import (
	"cmp"
	"slices"
	"time"
)

const (
	// TurnLease is how long a turn lasts that nobody renews.
	TurnLease = 30 * time.Second
	// MaxWait is how long a caller waits at most before it asks again.
	MaxWait = time.Minute
	// MaxStay is how long a waiting caller stays, and asks again and again. A caller with a longer wait goes away
	// meanwhile.
	MaxStay = 5 * time.Second
	// leadTime is how long before its beginning a turn is given, so that one answer can give many turns.
	leadTime = 2 * time.Second
	// minWait is how long a caller without a turn waits at least before it asks again.
	minWait = 250 * time.Millisecond
	// lateGrace is how long after the agreed time a caller may return.
	lateGrace = 10 * time.Second
	// usualLevel is the priority of callers that name none.
	usualLevel = 3
	// maxQueueLength bounds what a Queue remembers. A caller that finds no place asks again.
	maxQueueLength = 10_000
)

// TurnRequest is what a worker reports and asks for. Each key stands for one turn.
type TurnRequest struct {
	Rule  Rule      `json:"rule"`
	Wants []string  `json:"wants,omitempty"`
	Costs []float64 `json:"costs,omitempty"` // the cost of each of Wants; none: one
	// Levels are the priorities of Wants, from 1, which comes first, to 5; none and 0: Temporal's own, 3.
	Levels []int    `json:"levels,omitempty"`
	Holds  []string `json:"holds,omitempty"` // keys whose turns go on
	Done   []string `json:"done,omitempty"`  // keys whose turns are over
	Spent  float64  `json:"spent,omitempty"` // what turns have spent beyond their costs
}

// Turn is the answer to a caller that wants a turn.
type Turn struct {
	IsGranted bool `json:"yours,omitempty"`
	// Wait is the time until the turn begins or, without a turn, until the caller asks again.
	Wait time.Duration `json:"in,omitempty"`
}

// Queue has the callers that wait for a turn, by priority and then by arrival, and the current turns.
type Queue struct {
	Waiting    []Place   `json:"waiting,omitempty"`
	Turns      []Place   `json:"turns,omitempty"`
	NextTurnAt time.Time `json:"next"` // when another turn may begin
	// PerSecond is the rate of the latest request for a turn; 0: it had none.
	PerSecond float64 `json:"perSecond,omitempty"`
	// MeanTurnTime is about how long a turn lasts.
	MeanTurnTime time.Duration `json:"took,omitempty"`
	// SpentToday is what was spent on Day.
	Day        time.Time `json:"day,omitzero"`
	SpentToday float64   `json:"paid,omitempty"`
}

// Place is a place in the Queue, or a turn.
type Place struct {
	Key    string    `json:"key"`
	Until  time.Time `json:"until"`  // when it is lost
	Begins time.Time `json:"begins"` // when the turn begins; zero: it waits
	Cost   float64   `json:"cost,omitempty"`
	Level  int       `json:"level,omitempty"` // its priority
	// Away is set while its caller is gone and will ask again. The caller may return arbitrarily late if so many wait
	// that their attempts must wait themselves. It gets no turn before it is back.
	Away bool `json:"away,omitempty"`
}

// Ask applies a worker's request, and returns an answer for each of its Wants, in their order.
func (l *Queue) Ask(now time.Time, q TurnRequest) []Turn {
	l.endTurns(now, q.Done)
	if len(q.Wants) > 0 && q.Rule.PerDay == 0 {
		l.adoptRate(now, q.Rule.PerSecond)
	}
	if q.Rule.PerDay > 0 {
		l.countSpent(now, q)
	} else if q.Spent > 0 {
		l.NextTurnAt = laterOf(now, l.NextTurnAt).Add(q.Rule.spacing(q.Spent))
	}
	for _, key := range q.Holds {
		l.extendTurn(now, key)
	}
	l.enqueue(now, q)
	l.giveTurns(now, q.Rule)
	places := l.places()
	answers := make([]Turn, len(q.Wants))
	for n, key := range q.Wants {
		place, waits := places[key]
		if t := l.findTurn(key); t != nil {
			if t.Begins.Before(now) {
				l.beginOverdueTurn(now, t, q.Rule.spacing(t.Cost))
			}
			t.Until = t.Begins.Add(TurnLease)
			answers[n] = Turn{IsGranted: true, Wait: t.Begins.Sub(now)}
			continue
		}
		answers[n].Wait = MaxWait
		if waits {
			wait, p := l.timeToTurn(now, q.Rule, place), &l.Waiting[place]
			answers[n].Wait, p.Until, p.Away = wait, now.Add(wait+lateGrace), wait > MaxStay
		}
	}
	return answers
}

// enqueue adds callers that have neither a place nor a turn, and marks those that have returned.
func (l *Queue) enqueue(now time.Time, q TurnRequest) {
	places := l.places()
	for _, key := range q.Wants {
		if place, waits := places[key]; waits {
			l.Waiting[place].Away = false
		}
	}
	for n, key := range q.Wants {
		_, waits := places[key]
		if waits || l.findTurn(key) != nil {
			continue
		}
		p := Place{Key: key, Until: now.Add(lateGrace), Cost: 1}
		if n < len(q.Costs) {
			p.Cost = q.Costs[n]
		}
		if n < len(q.Levels) {
			p.Level = q.Levels[n]
		}
		at := len(l.Waiting)
		for at > 0 && cmp.Or(l.Waiting[at-1].Level, usualLevel) > cmp.Or(p.Level, usualLevel) {
			at--
		}
		if at < maxQueueLength { // the last caller loses its place if there is no room
			l.Waiting = slices.Insert(l.Waiting[:min(len(l.Waiting), maxQueueLength-1)], at, p)
			places[key] = at
		}
	}
}

// places are the places in the Queue, by key.
func (l *Queue) places() map[string]int {
	places := make(map[string]int, len(l.Waiting))
	for n, p := range l.Waiting {
		places[p.Key] = n
	}
	return places
}

// adoptRate applies a faster rate also to the turns that were given under a slower one. Otherwise a slow rate that one
// process asked for by mistake would delay the next turn of everybody.
func (l *Queue) adoptRate(now time.Time, perSecond float64) {
	switch wait := l.NextTurnAt.Sub(now); {
	case wait <= 0 || l.PerSecond == 0:
	case perSecond == 0:
		l.NextTurnAt = now
	case perSecond > l.PerSecond:
		l.NextTurnAt = now.Add(time.Duration(float64(wait) * l.PerSecond / perSecond))
	}
	l.PerSecond = perSecond
}

const day = 24 * time.Hour

// countSpent adds what was spent today. If the day's limit is reached, the next turn begins on the next day.
func (l *Queue) countSpent(now time.Time, q TurnRequest) {
	if today := now.UTC().Truncate(day); !l.Day.Equal(today) {
		l.Day, l.SpentToday = today, 0
	}
	l.SpentToday += q.Spent
	l.NextTurnAt = now
	if l.SpentToday >= q.Rule.PerDay {
		l.NextTurnAt = l.Day.Add(day)
	}
}

// SpentCountsFor returns how long today's spending still counts.
func (l *Queue) SpentCountsFor(now time.Time) time.Duration {
	if l.SpentToday == 0 {
		return 0
	}
	return max(0, l.Day.Add(day).Sub(now))
}

// endTurns removes turns that are over, and callers that did not come in time.
func (l *Queue) endTurns(now time.Time, done []string) {
	over := map[string]bool{}
	for _, key := range done {
		over[key] = true
	}
	for _, t := range l.Turns {
		if over[t.Key] {
			l.MeanTurnTime = (7*l.MeanTurnTime + max(0, now.Sub(t.Begins))) / 8
		}
	}
	gone := func(p Place) bool { return over[p.Key] || !p.Until.After(now) }
	l.Waiting = slices.DeleteFunc(l.Waiting, gone)
	l.Turns = slices.DeleteFunc(l.Turns, gone)
}

func (l *Queue) findTurn(key string) *Place {
	n := slices.IndexFunc(l.Turns, func(p Place) bool { return p.Key == key })
	if n < 0 {
		return nil
	}
	return &l.Turns[n]
}

// extendTurn renews a turn. A turn that counted as over goes on, because nobody could stop it.
func (l *Queue) extendTurn(now time.Time, key string) {
	t := l.findTurn(key)
	if t == nil {
		l.Turns = append(l.Turns, Place{Key: key, Begins: now})
		t = &l.Turns[len(l.Turns)-1]
	}
	t.Until = now.Add(TurnLease)
}

// beginOverdueTurn begins a turn whose time has passed: at once if no other turn was given since, or else after those
// turns. A caller that waits in one activity and runs in the next may always be a little late, and must not wait for
// another turn each time.
func (l *Queue) beginOverdueTurn(now time.Time, t *Place, spacing time.Duration) {
	if l.NextTurnAt.After(t.Begins.Add(spacing)) {
		now = laterOf(now, l.NextTurnAt)
	}
	t.Begins, l.NextTurnAt = now, now.Add(spacing)
}

// giveTurns gives turns to the first in line who are present.
func (l *Queue) giveTurns(now time.Time, r Rule) {
	l.Waiting = slices.DeleteFunc(l.Waiting, func(p Place) bool {
		begins := laterOf(now, l.NextTurnAt)
		isFull := r.MaxConcurrent > 0 && len(l.Turns) >= r.MaxConcurrent
		if p.Away || isFull || begins.Sub(now) > leadTime {
			return false
		}
		p.Begins, p.Until = begins, laterOf(p.Until, begins.Add(lateGrace))
		l.Turns = append(l.Turns, p)
		l.NextTurnAt = begins.Add(r.spacing(p.Cost))
		return true
	})
}

// timeToTurn estimates the time until the turn of the caller at a place.
func (l *Queue) timeToTurn(now time.Time, r Rule, place int) time.Duration {
	cost := 0.0
	for _, p := range l.Waiting[:place] {
		cost += p.Cost
	}
	wait := laterOf(now, l.NextTurnAt).Sub(now) + r.spacing(cost) - leadTime/2
	if r.MaxConcurrent > 0 && len(l.Turns) >= r.MaxConcurrent {
		// The longer the oldest turn lasts, the longer turns are expected to last, so that nobody asks in vain again
		// and again.
		took := max(l.MeanTurnTime, now.Sub(l.Turns[0].Begins)) / time.Duration(2*r.MaxConcurrent)
		took = min(took, day) // a turn may last for years, and there are many places
		wait = max(wait, min(took, MaxStay), time.Duration(place)*took)
	}
	if wait > MaxStay { // the caller goes away, and must return before its turn could go to another
		wait -= MaxStay - leadTime
	}
	longest := MaxWait
	if r.PerDay > 0 {
		longest *= 10
	}
	return min(max(wait, minWait), longest)
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
