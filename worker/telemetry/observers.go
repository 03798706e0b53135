package telemetry

import (
	"context"

	"processidea/activities"
	"processidea/model/approval"
)

// Observers are several that are told the same.
type Observers []activities.Observer

// Request tells all of a Request.
func (all Observers) Request(r activities.RequestAttempt) {
	for _, o := range all {
		o.Request(r)
	}
}

// HeldUp tells those who want to know.
func (all Observers) HeldUp(cause string, processes int) {
	for _, o := range all {
		if o, ok := o.(activities.HoldUpObserver); ok {
			o.HeldUp(cause, processes)
		}
	}
}

// Decision tells those who want to know.
func (all Observers) Decision(d approval.Decision) {
	for _, o := range all {
		if o, ok := o.(activities.DecisionObserver); ok {
			o.Decision(d)
		}
	}
}

// Rechecked tells those who want to know of rechecks.
func (all Observers) Rechecked(llm string, instances, differed int) {
	for _, o := range all {
		if o, ok := o.(activities.RecheckObserver); ok {
			o.Rechecked(llm, instances, differed)
		}
	}
}

// Call tells all of a Call; the Tool gets what they put into its context, each on top of the one before.
func (all Observers) Call(ctx context.Context, c activities.CallAttempt) (context.Context, func(outcome string)) {
	ends := make([]func(string), len(all))
	for i, o := range all {
		ctx, ends[i] = o.Call(ctx, c)
	}
	return ctx, func(outcome string) {
		for _, end := range ends {
			end(outcome)
		}
	}
}
