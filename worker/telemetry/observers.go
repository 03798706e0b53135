package telemetry

import (
	"context"

	"processidea/activities"
)

// Observed reports Requests and Calls to metrics and traces, and everything else to metrics only.
type Observed struct {
	*Metrics
	Traces *Traces
}

// Request reports a Request to both.
func (o Observed) Request(r activities.RequestAttempt) {
	o.Metrics.Request(r)
	o.Traces.Request(r)
}

// Call reports a Call to both; the Tool gets the context of its span.
func (o Observed) Call(ctx context.Context, c activities.CallAttempt) (context.Context, func(outcome string)) {
	ctx, counted := o.Metrics.Call(ctx, c)
	ctx, traced := o.Traces.Call(ctx, c)
	return ctx, func(outcome string) {
		counted(outcome)
		traced(outcome)
	}
}
