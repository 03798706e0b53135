// Package pace decides when a follower of a process queries it. A hosted server bills each query, and a worker must
// answer it; neither is true of a description. So followers poll descriptions, and query only when something has
// happened, at most sixty times an hour. Half of these are reserved for what people wait for: a change of the status,
// or of the number of Calls that wait for people.
package pace

import (
	"time"

	"golang.org/x/time/rate"
)

// Observation is the part of a description that shows changes of a process.
type Observation struct {
	RunID             string // the run id, which changes at continue-as-new
	EventCount        int64  // the length of its history
	Status            string
	AwaitingCallCount int // Calls that wait for people
}

// QueryPacer is the pace of one follower of one process. It is not safe for concurrent use.
type QueryPacer struct {
	lastQueried                   Observation
	descriptionsSinceQuery        int // descriptions in a row that led to no query
	urgentLimiter, ongoingLimiter *rate.Limiter
}

// These are the burst of queries of one limiter, and the interval after it. Two limiters allow 15 + 15 queries an hour
// each.
const (
	queryBurst          = 15
	queryRefillInterval = 4 * time.Minute
)

// New returns a Pace that queries after the first description.
func New() *QueryPacer {
	return &QueryPacer{urgentLimiter: rate.NewLimiter(rate.Every(queryRefillInterval), queryBurst),
		ongoingLimiter: rate.NewLimiter(rate.Every(queryRefillInterval), queryBurst)}
}

// ShouldQuery reports whether to query now, given a description, and assumes that the caller then does.
func (p *QueryPacer) ShouldQuery(now time.Time, current Observation) bool {
	p.descriptionsSinceQuery++
	if current == p.lastQueried {
		return false
	}
	isUrgent := current.Status != p.lastQueried.Status || current.AwaitingCallCount != p.lastQueried.AwaitingCallCount
	if !(isUrgent && p.urgentLimiter.AllowN(now, 1)) && !p.ongoingLimiter.AllowN(now, 1) {
		return false
	}
	p.lastQueried, p.descriptionsSinceQuery = current, 0
	return true
}

// DelayToNextDescribe returns how long to wait before the next description; it grows while there is nothing to query.
func (p *QueryPacer) DelayToNextDescribe() time.Duration {
	return min(500*time.Millisecond<<min(p.descriptionsSinceQuery/8, 4), 5*time.Second)
}

// RetryDelay returns the backoff after failureCount consecutive failures, at least one.
func RetryDelay(failureCount int) time.Duration {
	return min(300*time.Millisecond<<min(failureCount-1, 8), 75*time.Second)
}
