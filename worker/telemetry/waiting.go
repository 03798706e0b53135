package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	"processidea/client"
)

// waitingReader counts the Calls that wait for people, only when the metrics are read.
type waitingReader struct {
	countWaiting func(context.Context) ([]client.WaitingCount, error)
	mu           sync.Mutex
	countedAt    time.Time // when they were counted last
}

const (
	// waitingTimeout bounds how long reading the metrics waits for the count; waitingMaxAge is how long a count is
	// used.
	waitingTimeout = 5 * time.Second
	waitingMaxAge  = 5 * time.Second
)

// SetWaitingCounter adds what waits for people in all processes to the metrics, as counted by countWaiting. Every
// worker exports the same numbers, so they must not be added up. countWaiting runs before the metrics are collected,
// not during, since the metrics of countWaiting's own client would wait for the end of the collection.
func (m *Metrics) SetWaitingCounter(countWaiting func(context.Context) ([]client.WaitingCount, error)) {
	m.waitingReader.countWaiting = countWaiting
}

// recordWaiting updates the gauges. If countWaiting fails, they stay as they are: perhaps no worker answers just now.
func (m *Metrics) recordWaiting(ctx context.Context) {
	w := &m.waitingReader
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.countWaiting == nil || !w.countedAt.IsZero() && time.Since(w.countedAt) < waitingMaxAge {
		return
	}
	countCtx, cancel := context.WithTimeout(ctx, waitingTimeout)
	defer cancel()
	waitingCounts, err := w.countWaiting(countCtx)
	w.countedAt = time.Now()
	if err != nil {
		return
	}
	for _, one := range waitingCounts {
		age := time.Duration(0)
		if one.Count > 0 {
			age = time.Since(one.OldestSince)
		}
		m.set(one.Count, "waiting", "Calls that wait for a person, in all processes, by tool.", "tool", one.Tool)
		oldestGauge, _ := m.meter.Float64Gauge("processidea_waiting_oldest", metric.WithUnit("s"),
			metric.WithDescription("How long the oldest of these Calls has waited, by tool."))
		oldestGauge.Record(ctx, age.Seconds(), attributes([]string{"tool", one.Tool}))
	}
}
