package telemetry

import (
	"context"

	"processidea/activities"
)

// CombinedObserver reports Requests and Calls to metrics and traces, and everything else to metrics only.
type CombinedObserver struct {
	*Metrics
	Traces *Traces
}

// Request reports a Request to both.
func (o CombinedObserver) Request(r activities.RequestAttempt) {
	o.Metrics.Request(r)
	o.Traces.Request(r)
}

// Call reports a Call to both; the Tool gets the context of its span.
func (o CombinedObserver) Call(ctx context.Context, c activities.CallAttempt) (context.Context, func(outcome string)) {
	ctx, endMetrics := o.Metrics.Call(ctx, c)
	ctx, endTrace := o.Traces.Call(ctx, c)
	return ctx, func(outcome string) {
		endMetrics(outcome)
		endTrace(outcome)
	}
}
