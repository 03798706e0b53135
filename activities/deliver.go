package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"processidea/internal/safego"
	"processidea/protocol"
)

// DeliverSignals signals workflows, several at a time, and returns the ids of those that do not exist or have ended.
func (a *Activities) DeliverSignals(ctx context.Context, list []protocol.SignalDelivery) ([]string, error) {
	missing := make([]bool, len(list))
	err := safego.Each(ctx, "activities.deliver", len(list), maxConcurrentSignals,
		func(ctx context.Context, n int) error {
			err := a.deliver(ctx, list[n])
			missing[n] = isNotFound(err)
			if err != nil && !missing[n] {
				return fmt.Errorf("signal %s: %w", list[n].To, err)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	var nobody []string
	for n, d := range list {
		if missing[n] {
			nobody = append(nobody, d.To)
		}
	}
	return nobody, nil
}

// deliver sends one signal. With GatherReports, a list of reports goes together with those of other instances.
func (a *Activities) deliver(ctx context.Context, d protocol.SignalDelivery) error {
	var s reportsSignal
	if !a.GatherReports || d.Signal != protocol.SignalReport || json.Unmarshal(d.Payload, &s) != nil ||
		len(s.Reports) == 0 {
		return a.Client.SignalWorkflow(ctx, d.To, "", d.Signal, d.Payload)
	}
	return a.reports.send(ctx, d.To, s, func(ctx context.Context, s reportsSignal) error {
		return a.Client.SignalWorkflow(ctx, d.To, "", d.Signal, s)
	})
}
