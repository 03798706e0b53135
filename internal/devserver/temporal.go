package devserver

import (
	"fmt"
	"log/slog"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/temporal"

	"processidea/internal/safego"
)

// runTemporal starts the four services of the server. It takes a third of a second and cannot be interrupted. If one
// service fails, those that have started run until the program ends: the server has no way to stop them.
func runTemporal(cfg *config.Config, logger *slog.Logger) (stop func(), err error) {
	logs := newServerLog(logger)
	startErrChan := make(chan error, 1)
	var server temporal.Server
	// The server gets its own goroutine, because a fatal error never returns.
	safego.Go("devserver.temporal", func() (err error) {
		if server, err = temporal.NewServer(serverOptions(cfg, logs)...); err == nil {
			err = server.Start()
		}
		return err
	}, func(err error) { startErrChan <- err })
	select {
	case err = <-startErrChan:
	case err = <-logs.fatalHandler.startErrChan:
	}
	if err != nil {
		logs.fatalHandler.setPhase(phaseStopping)
		return nil, fmt.Errorf("devserver: start server: %w", err)
	}
	logs.fatalHandler.setPhase(phaseRunning)
	return func() {
		logs.fatalHandler.setPhase(phaseStopping)
		if err := server.Stop(); err != nil {
			logger.Error("stop server", "error", err)
		}
	}, nil
}

func serverOptions(cfg *config.Config, logs serverLog) []temporal.ServerOption {
	return []temporal.ServerOption{
		temporal.WithConfig(cfg),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(serviceHosts(cfg)),
		temporal.WithDynamicConfigClient(dynamicConfig),
		temporal.WithLogger(logs),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper {
			return authorization.NewNoopClaimMapper()
		}),
	}
}
