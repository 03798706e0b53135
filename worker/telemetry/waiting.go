package telemetry

import (
	"context"
	"sync"
	"time"

	"processidea/client"
)

// waitingReader counts the Calls that wait for people, only when the metrics are read.
type waitingReader struct {
	count func(context.Context) ([]client.WaitingCount, error)
	mu    sync.Mutex
	at    time.Time // when they were counted last
}

const (
	// waitingTimeout bounds how long reading the metrics waits for the count; waitingMaxAge is how long a count is
	// used.
	waitingTimeout = 5 * time.Second
	waitingMaxAge  = 5 * time.Second
)

// CountWaiting adds what waits for people in all processes to the metrics, as counted by count. Every worker exports
// the same numbers, so they must not be added up. count runs before the metrics are collected, not during, since the
// metrics of count's own client would wait for the end of the collection.
func (m *Metrics) CountWaiting(count func(context.Context) ([]client.WaitingCount, error)) {
	m.waiting.count = count
}

// readWaiting updates the gauges. If count fails, they stay as they are: perhaps no worker answers just now.
func (m *Metrics) readWaiting(ctx context.Context) {
	w := &m.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count == nil || !w.at.IsZero() && time.Since(w.at) < waitingMaxAge {
		return
	}
	asking, cancel := context.WithTimeout(ctx, waitingTimeout)
	defer cancel()
	list, err := w.count(asking)
	w.at = time.Now()
	if err != nil {
		return
	}
	for _, one := range list {
		which, age := labels("tool", one.Tool), time.Duration(0)
		if one.Count > 0 {
			age = time.Since(one.Oldest)
		}
		m.meters.waiting.Record(ctx, int64(one.Count), which)
		m.meters.oldest.Record(ctx, age.Seconds(), which)
	}
}
