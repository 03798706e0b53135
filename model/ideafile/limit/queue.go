package limit

import (
	"cmp"
	"slices"
	"time"
)

const (
	// TurnLease is how long a turn lasts that nobody renews.
	TurnLease = 30 * time.Second
	// MaxWaitBeforeAskingAgain is how long a caller waits at most before it asks again.
	MaxWaitBeforeAskingAgain = time.Minute
	// MaxPollingWait is how long a waiting caller stays, and asks again and again. A caller with a longer wait goes
	// away meanwhile.
	MaxPollingWait = 5 * time.Second
	// turnLeadTime is how long before its beginning a turn is given, so that one answer can give many turns.
	turnLeadTime = 2 * time.Second
	// minWaitBeforeAskingAgain is how long a caller without a turn waits at least before it asks again.
	minWaitBeforeAskingAgain = 250 * time.Millisecond
	// lateCallerGrace is how long after the agreed time a caller may return.
	lateCallerGrace = 10 * time.Second
	// defaultPriorityLevel is the priority of callers that name none.
	defaultPriorityLevel = 3
	// maxQueueLength bounds what a Queue remembers. A caller that finds no place asks again.
	maxQueueLength = 10_000
)

// TurnRequest is what a worker reports and asks for. Each key stands for one turn.
type TurnRequest struct {
	Rule        Rule      `json:"rule"`
	WantedKeys  []string  `json:"wants,omitempty"`
	WantedCosts []float64 `json:"costs,omitempty"` // the cost of each of Wants; none: one
	// PriorityLevels are the priorities of Wants, from 1, which comes first, to 5; none and 0: Temporal's own, 3.
	PriorityLevels []int    `json:"levels,omitempty"`
	HeldKeys       []string `json:"holds,omitempty"` // keys whose turns go on
	DoneKeys       []string `json:"done,omitempty"`  // keys whose turns are over
	ExtraSpentCost float64  `json:"spent,omitempty"` // what turns have spent beyond their costs
}

// TurnAnswer is the answer to a caller that wants a turn.
type TurnAnswer struct {
	IsGranted bool `json:"yours,omitempty"`
	// Wait is the time until the turn begins or, without a turn, until the caller asks again.
	Wait time.Duration `json:"in,omitempty"`
}

// Queue has the callers that wait for a turn, by priority and then by arrival, and the current turns.
type Queue struct {
	Waiting    []QueueEntry `json:"waiting,omitempty"`
	Turns      []QueueEntry `json:"turns,omitempty"`
	NextTurnAt time.Time    `json:"next"` // when another turn may begin
	// LatestTurnsPerSecond is the rate of the latest request for a turn; 0: it had none.
	LatestTurnsPerSecond float64 `json:"perSecond,omitempty"`
	// MeanTurnTime is about how long a turn lasts.
	MeanTurnTime time.Duration `json:"took,omitempty"`
	// SpentToday is what was spent on BudgetDay.
	BudgetDay  time.Time `json:"day,omitzero"`
	SpentToday float64   `json:"paid,omitempty"`
}

// QueueEntry is a place in the Queue, or a turn.
type QueueEntry struct {
	Key           string    `json:"key"`
	ExpiresAt     time.Time `json:"until"`  // when it is lost
	BeginsAt      time.Time `json:"begins"` // when the turn begins; zero: it waits
	Cost          float64   `json:"cost,omitempty"`
	PriorityLevel int       `json:"level,omitempty"` // its priority
	// IsNotPolling is set while its caller is gone and will ask again. The caller may return arbitrarily late if so
	// many wait that their attempts must wait themselves. It gets no turn before it is back.
	IsNotPolling bool `json:"away,omitempty"`
}

// RequestTurns applies a worker's request, and returns an answer for each of its Wants, in their order.
func (l *Queue) RequestTurns(now time.Time, q TurnRequest) []TurnAnswer {
	l.endTurnsAndDropLateCallers(now, q.DoneKeys)
	if len(q.WantedKeys) > 0 && q.Rule.MaxCostPerDay == 0 {
		l.applyRate(now, q.Rule.TurnsPerSecond)
	}
	if q.Rule.MaxCostPerDay > 0 {
		l.chargeBudget(now, q)
	} else if q.ExtraSpentCost > 0 {
		l.NextTurnAt = laterTime(now, l.NextTurnAt).Add(q.Rule.turnInterval(q.ExtraSpentCost))
	}
	for _, key := range q.HeldKeys {
		l.extendTurn(now, key)
	}
	l.enqueue(now, q)
	l.grantTurns(now, q.Rule)
	waitingIndexByKey := l.waitingIndexByKey()
	answers := make([]TurnAnswer, len(q.WantedKeys))
	for n, key := range q.WantedKeys {
		index, isWaiting := waitingIndexByKey[key]
		if t := l.findTurn(key); t != nil {
			if t.BeginsAt.Before(now) {
				l.beginOverdueTurn(now, t, q.Rule.turnInterval(t.Cost))
			}
			t.ExpiresAt = t.BeginsAt.Add(TurnLease)
			answers[n] = TurnAnswer{IsGranted: true, Wait: t.BeginsAt.Sub(now)}
			continue
		}
		answers[n].Wait = MaxWaitBeforeAskingAgain
		if isWaiting {
			wait, p := l.estimateTimeToTurn(now, q.Rule, index), &l.Waiting[index]
			answers[n].Wait, p.ExpiresAt, p.IsNotPolling = wait, now.Add(wait+lateCallerGrace), wait > MaxPollingWait
		}
	}
	return answers
}

// enqueue adds callers that have neither a place nor a turn, and marks those that have returned.
func (l *Queue) enqueue(now time.Time, q TurnRequest) {
	waitingIndexByKey := l.waitingIndexByKey()
	for _, key := range q.WantedKeys {
		if waitingIndex, isWaiting := waitingIndexByKey[key]; isWaiting {
			l.Waiting[waitingIndex].IsNotPolling = false
		}
	}
	for n, key := range q.WantedKeys {
		_, isWaiting := waitingIndexByKey[key]
		if isWaiting || l.findTurn(key) != nil {
			continue
		}
		p := QueueEntry{Key: key, ExpiresAt: now.Add(lateCallerGrace), Cost: 1}
		if n < len(q.WantedCosts) {
			p.Cost = q.WantedCosts[n]
		}
		if n < len(q.PriorityLevels) {
			p.PriorityLevel = q.PriorityLevels[n]
		}
		index := len(l.Waiting)
		for index > 0 && cmp.Or(l.Waiting[index-1].PriorityLevel, defaultPriorityLevel) > cmp.Or(p.PriorityLevel,
			defaultPriorityLevel) {
			index--
		}
		if index < maxQueueLength { // the last caller loses its place if there is no room
			l.Waiting = slices.Insert(l.Waiting[:min(len(l.Waiting), maxQueueLength-1)], index, p)
			waitingIndexByKey[key] = index
		}
	}
}

// waitingIndexByKey are the places in the Queue, by key.
func (l *Queue) waitingIndexByKey() map[string]int {
	indexByKey := make(map[string]int, len(l.Waiting))
	for n, p := range l.Waiting {
		indexByKey[p.Key] = n
	}
	return indexByKey
}

// applyRate applies a faster rate also to the turns that were given under a slower one. Otherwise a slow rate that one
// process asked for by mistake would delay the next turn of everybody.
func (l *Queue) applyRate(now time.Time, turnsPerSecond float64) {
	switch wait := l.NextTurnAt.Sub(now); {
	case wait <= 0 || l.LatestTurnsPerSecond == 0:
	case turnsPerSecond == 0:
		l.NextTurnAt = now
	case turnsPerSecond > l.LatestTurnsPerSecond:
		l.NextTurnAt = now.Add(time.Duration(float64(wait) * l.LatestTurnsPerSecond / turnsPerSecond))
	}
	l.LatestTurnsPerSecond = turnsPerSecond
}

const oneDay = 24 * time.Hour

// chargeBudget adds what was spent today. If the day's limit is reached, the next turn begins on the next day.
func (l *Queue) chargeBudget(now time.Time, q TurnRequest) {
	if today := now.UTC().Truncate(oneDay); !l.BudgetDay.Equal(today) {
		l.BudgetDay, l.SpentToday = today, 0
	}
	l.SpentToday += q.ExtraSpentCost
	l.NextTurnAt = now
	if l.SpentToday >= q.Rule.MaxCostPerDay {
		l.NextTurnAt = l.BudgetDay.Add(oneDay)
	}
}

// TimeToBudgetReset returns how long today's spending still counts.
func (l *Queue) TimeToBudgetReset(now time.Time) time.Duration {
	if l.SpentToday == 0 {
		return 0
	}
	return max(0, l.BudgetDay.Add(oneDay).Sub(now))
}

// endTurnsAndDropLateCallers removes turns that are over, and callers that did not come in time.
func (l *Queue) endTurnsAndDropLateCallers(now time.Time, doneKeys []string) {
	isDoneByKey := map[string]bool{}
	for _, key := range doneKeys {
		isDoneByKey[key] = true
	}
	for _, t := range l.Turns {
		if isDoneByKey[t.Key] {
			l.MeanTurnTime = (7*l.MeanTurnTime + max(0, now.Sub(t.BeginsAt))) / 8
		}
	}
	hasEnded := func(p QueueEntry) bool { return isDoneByKey[p.Key] || !p.ExpiresAt.After(now) }
	l.Waiting = slices.DeleteFunc(l.Waiting, hasEnded)
	l.Turns = slices.DeleteFunc(l.Turns, hasEnded)
}

func (l *Queue) findTurn(key string) *QueueEntry {
	n := slices.IndexFunc(l.Turns, func(p QueueEntry) bool { return p.Key == key })
	if n < 0 {
		return nil
	}
	return &l.Turns[n]
}

// extendTurn renews a turn. A turn that counted as over goes on, because nobody could stop it.
func (l *Queue) extendTurn(now time.Time, key string) {
	t := l.findTurn(key)
	if t == nil {
		l.Turns = append(l.Turns, QueueEntry{Key: key, BeginsAt: now})
		t = &l.Turns[len(l.Turns)-1]
	}
	t.ExpiresAt = now.Add(TurnLease)
}

// beginOverdueTurn begins a turn whose time has passed: at once if no other turn was given since, or else after those
// turns. A caller that waits in one activity and runs in the next may always be a little late, and must not wait for
// another turn each time.
func (l *Queue) beginOverdueTurn(now time.Time, t *QueueEntry, turnInterval time.Duration) {
	if l.NextTurnAt.After(t.BeginsAt.Add(turnInterval)) {
		now = laterTime(now, l.NextTurnAt)
	}
	t.BeginsAt, l.NextTurnAt = now, now.Add(turnInterval)
}

// grantTurns gives turns to the first in line who are present.
func (l *Queue) grantTurns(now time.Time, r Rule) {
	l.Waiting = slices.DeleteFunc(l.Waiting, func(p QueueEntry) bool {
		beginTime := laterTime(now, l.NextTurnAt)
		isFull := r.MaxConcurrentTurns > 0 && len(l.Turns) >= r.MaxConcurrentTurns
		if p.IsNotPolling || isFull || beginTime.Sub(now) > turnLeadTime {
			return false
		}
		p.BeginsAt, p.ExpiresAt = beginTime, laterTime(p.ExpiresAt, beginTime.Add(lateCallerGrace))
		l.Turns = append(l.Turns, p)
		l.NextTurnAt = beginTime.Add(r.turnInterval(p.Cost))
		return true
	})
}

// estimateTimeToTurn estimates the time until the turn of the caller at a place.
func (l *Queue) estimateTimeToTurn(now time.Time, r Rule, waitingIndex int) time.Duration {
	cost := 0.0
	for _, p := range l.Waiting[:waitingIndex] {
		cost += p.Cost
	}
	wait := laterTime(now, l.NextTurnAt).Sub(now) + r.turnInterval(cost) - turnLeadTime/2
	if r.MaxConcurrentTurns > 0 && len(l.Turns) >= r.MaxConcurrentTurns {
		// The longer the oldest turn lasts, the longer turns are expected to last, so that nobody asks in vain again
		// and again.
		turnTime := max(l.MeanTurnTime, now.Sub(l.Turns[0].BeginsAt)) / time.Duration(2*r.MaxConcurrentTurns)
		turnTime = min(turnTime, oneDay) // a turn may last for years, and there are many places
		wait = max(wait, min(turnTime, MaxPollingWait), time.Duration(waitingIndex)*turnTime)
	}
	if wait > MaxPollingWait { // the caller goes away, and must return before its turn could go to another
		wait -= MaxPollingWait - turnLeadTime
	}
	upperBound := MaxWaitBeforeAskingAgain
	if r.MaxCostPerDay > 0 {
		upperBound *= 10
	}
	return min(max(wait, minWaitBeforeAskingAgain), upperBound)
}

func laterTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
