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
	if s.gatewayAddress == "" {
		return nil
	}
	o := s.gatewayOptions
	s.health.addCondition(&readinessCondition{name: "gateway", check: func(ctx context.Context) error {
		return access.CheckReady(ctx, o.Guard)
	}, logsItself: true})
	o.Client, o.Log = client.New(s.client, s.namespace, s.store), s.log
	gatewayServer, err := server.Listen(ctx, s.gatewayAddress, o)
	if err != nil {
		return fmt.Errorf("%w; choose another address with --gateway (%s), or none", err, envVarOf("gateway"))
	}
	s.cleanups = append(s.cleanups, gatewayServer.Stop)
	return nil
}
