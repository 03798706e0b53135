package service

import (
	"context"
	"fmt"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/server"
)

// serveGateway serves the HTTP API beside the work, if an address is set. If the gateway fails later, the worker goes
// on.
func (s *service) serveGateway(ctx context.Context) error {
	if s.gateway == "" {
		return nil
	}
	o := s.served
	s.health.add(&condition{name: "gateway", check: func(ctx context.Context) error {
		return access.CheckReady(ctx, o.Guard)
	}, logs: true})
	o.Client, o.Log = client.New(s.client, s.namespace, s.store), s.log
	served, err := server.Listen(ctx, s.gateway, o)
	if err != nil {
		return fmt.Errorf("%w; choose another address with --gateway (%s), or none", err, variableOf("gateway"))
	}
	s.cleanups = append(s.cleanups, served.Stop)
	return nil
}
