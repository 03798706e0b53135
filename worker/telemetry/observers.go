package telemetry

import (
	"context"

	"processidea/activities"
)

// Observed has traces told of Requests and Calls beside metrics, which alone count what else there is.
type Observed struct {
	*Metrics
	Traces *Traces
}

// Request tells both of a Request.
func (o Observed) Request(r activities.RequestAttempt) {
	o.Metrics.Request(r)
	o.Traces.Request(r)
}

// Call tells both of a Call; the Tool gets the context of its span.
func (o Observed) Call(ctx context.Context, c activities.CallAttempt) (context.Context, func(outcome string)) {
	ctx, counted := o.Metrics.Call(ctx, c)
	ctx, traced := o.Traces.Call(ctx, c)
	return ctx, func(outcome string) {
		counted(outcome)
		traced(outcome)
	}
}
