// Command temporal contains the programs of the containers in docker-compose.yml, for the tests of package postgres:
// the server, and the tool that makes its databases. It is built only for these tests, so it is not linked where there
// is no PostgreSQL.
package main

import (
	"fmt"
	"os"
	"strings"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	_ "go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql" // the database
	"go.temporal.io/server/temporal"
	"go.temporal.io/server/tools/sql"
)

func main() {
	if len(os.Args) > 1 {
		if err := sql.RunTool(os.Args); err != nil {
			os.Exit(1)
		}
		return
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve runs temporal-server as its container does: the configuration comes from the environment. TEMPORAL_SERVICES
// names the services if the process does not run all of them.
func serve() error {
	cfg, err := config.Load(config.WithEmbedded())
	if err != nil {
		return err
	}
	services := temporal.DefaultServices
	if serviceNames := os.Getenv("TEMPORAL_SERVICES"); serviceNames != "" {
		services = strings.Split(serviceNames, ",")
	}
	s, err := temporal.NewServer(temporal.ForServices(services), temporal.WithConfig(cfg),
		temporal.WithLogger(log.NewZapLogger(log.BuildZapLogger(cfg.Log))),
		temporal.InterruptOn(temporal.InterruptCh()),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper {
			return authorization.NewNoopClaimMapper()
		}))
	if err != nil {
		return err
	}
	return s.Start()
}
