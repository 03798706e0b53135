package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"processidea/internal/safego"
	"processidea/protocol"
)

// DeliverSignals signals workflows, several at a time, and returns the ids of those that do not exist or have ended.
func (a *Activities) DeliverSignals(ctx context.Context, deliveries []protocol.SignalDelivery) ([]string, error) {
	isMissing := make([]bool, len(deliveries))
	err := safego.ForEach(ctx, "activities.deliver", len(deliveries), maxConcurrentSignals,
		func(ctx context.Context, n int) error {
			err := a.deliver(ctx, deliveries[n])
			isMissing[n] = isNotFound(err)
			if err != nil && !isMissing[n] {
				return fmt.Errorf("signal %s: %w", deliveries[n].To, err)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	var missingIDs []string
	for n, d := range deliveries {
		if isMissing[n] {
			missingIDs = append(missingIDs, d.To)
		}
	}
	return missingIDs, nil
}

// deliver sends one signal. With BatchesInstanceReports, a list of reports goes together with those of other instances.
func (a *Activities) deliver(ctx context.Context, d protocol.SignalDelivery) error {
	var s rawReportsSignal
	if !a.BatchesInstanceReports || d.Signal != protocol.SignalInstanceReport || json.Unmarshal(d.Payload, &s) != nil ||
		len(s.Reports) == 0 {
		return a.Client.SignalWorkflow(ctx, d.To, "", d.Signal, d.Payload)
	}
	return a.reports.send(ctx, d.To, s, a.CountWorkers, func(ctx context.Context, s rawReportsSignal) error {
		return a.Client.SignalWorkflow(ctx, d.To, "", d.Signal, s)
	})
}
