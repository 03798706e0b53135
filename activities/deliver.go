package activities

import (
	"context"
	"fmt"

	"processidea/internal/safego"
	"processidea/protocol"
)

// DeliverSignals signals workflows, several at a time, and returns the ids of those that do not exist or have ended.
func (a *Activities) DeliverSignals(ctx context.Context, list []protocol.SignalDelivery) ([]string, error) {
	missing := make([]bool, len(list))
	g, ctx := safego.WithContext(ctx)
	g.SetLimit(maxConcurrentSignals)
	for n, d := range list {
		g.Go("activities.deliver", func() error {
			err := a.Client.SignalWorkflow(ctx, d.To, "", d.Signal, d.Payload)
			missing[n] = isNotFound(err)
			if err != nil && !missing[n] {
				return fmt.Errorf("signal %s: %w", d.To, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
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
