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

// ObserveRequest reports a Request to both.
func (o CombinedObserver) ObserveRequest(r activities.RequestAttempt) {
	o.Metrics.ObserveRequest(r)
	o.Traces.ObserveRequest(r)
}

// ObserveCall reports a Call to both; the Tool gets the context of its span.
func (o CombinedObserver) ObserveCall(ctx context.Context,
	c activities.CallAttempt) (context.Context, func(outcome string)) {
	ctx, endMetrics := o.Metrics.ObserveCall(ctx, c)
	ctx, endTrace := o.Traces.ObserveCall(ctx, c)
	return ctx, func(outcome string) {
		endMetrics(outcome)
		endTrace(outcome)
	}
}
