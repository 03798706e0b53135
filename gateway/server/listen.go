package server

import (
	"context"
	"fmt"
	"net"

	"processidea/internal/safego"
)

// RunningGateway is a gateway that answers at an address.
type RunningGateway struct {
	Address    string
	cancel     context.CancelFunc
	endChannel chan error
}

// Listen starts a server at an address. It returns an error if it cannot listen there.
func Listen(ctx context.Context, address string, o Options) (*RunningGateway, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	runningGateway := &RunningGateway{l.Addr().String(), cancel, make(chan error, 1)}
	g := New(o)
	safego.Go("gateway.serve", func() error { return g.Serve(ctx, l) }, func(err error) {
		if err != nil {
			_ = l.Close() // new connections are refused instead of waiting
			g.Log.Error("the gateway is gone", "error", err)
		}
		runningGateway.endChannel <- err
		close(runningGateway.endChannel)
	})
	g.Log.Info("the gateway listens", "address", runningGateway.Address)
	return runningGateway, nil
}

// Ended returns a channel that receives the error with which the gateway ended, or nil, and is then closed.
func (s *RunningGateway) Ended() <-chan error { return s.endChannel }

// Stop stops the gateway, and waits at most stopTimeout for requests under way.
func (s *RunningGateway) Stop() {
	s.cancel()
	for range s.endChannel { // the error is logged already
	}
}
