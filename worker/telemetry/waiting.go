package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	"processidea/client"
)

// waitingCallReader counts the Calls that wait for people, only when the metrics are read.
type waitingCallReader struct {
	countWaitingCalls func(context.Context) ([]client.WaitingCallCount, error)
	mu                sync.Mutex
	countedAt         time.Time // when they were counted last
}

const (
	// waitingCallCountTimeout bounds how long reading the metrics waits for the count; waitingCallCountMaxAge is how
	// long a count is used.
	waitingCallCountTimeout = 5 * time.Second
	waitingCallCountMaxAge  = 5 * time.Second
)

// SetWaitingCallCounter adds what waits for people in all processes to the metrics, as counted by countWaitingCalls.
// Every worker exports the same numbers, so they must not be added up. countWaitingCalls runs before the metrics are
// collected, not during, since the metrics of countWaitingCalls's own client would wait for the end of the collection.
func (m *Metrics) SetWaitingCallCounter(countWaitingCalls func(context.Context) ([]client.WaitingCallCount, error)) {
	m.waitingCallReader.countWaitingCalls = countWaitingCalls
}

// recordWaitingCalls updates the gauges. If countWaitingCalls fails, they stay as they are: perhaps no worker answers
// just now.
func (m *Metrics) recordWaitingCalls(ctx context.Context) {
	w := &m.waitingCallReader
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.countWaitingCalls == nil || !w.countedAt.IsZero() && time.Since(w.countedAt) < waitingCallCountMaxAge {
		return
	}
	countCtx, cancel := context.WithTimeout(ctx, waitingCallCountTimeout)
	defer cancel()
	waitingCallCounts, err := w.countWaitingCalls(countCtx)
	w.countedAt = time.Now()
	if err != nil {
		return
	}
	for _, toolCount := range waitingCallCounts {
		oldestAge := time.Duration(0)
		if toolCount.Count > 0 {
			oldestAge = time.Since(toolCount.OldestSince)
		}
		m.setGauge(toolCount.Count, "waiting", "Calls that wait for a person, in all processes, by tool.", "tool",
			toolCount.Tool)
		oldestGauge, _ := m.meter.Float64Gauge("processidea_waiting_oldest", metric.WithUnit("s"),
			metric.WithDescription("How long the oldest of these Calls has waited, by tool."))
		oldestGauge.Record(ctx, oldestAge.Seconds(), attributes([]string{"tool", toolCount.Tool}))
	}
}
