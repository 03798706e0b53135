// Package postgres runs the parts of docker-compose.yml without containers, with the settings that stand there, and
// checks that processes come to the same there as on the embedded server. It needs PostgreSQL's programs, and is skipped
// where there are none.
package postgres

import (
	"fmt"
	"os"
	"testing"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	_ "go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql" // the database
	"go.temporal.io/server/temporal"
	"go.temporal.io/server/tools/sql"

	"processidea/worker/workertest"
)

// actVariable makes this test binary one of the programs that the containers hold.
const actVariable = "POSTGRES_TEST_ACT"

func TestMain(m *testing.M) {
	workertest.Main()
	switch os.Getenv(actVariable) {
	case "temporal-sql-tool":
		if err := sql.RunTool(os.Args); err != nil {
			os.Exit(1)
		}
	case "temporal-server":
		if err := serveTemporal(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		os.Exit(m.Run())
	}
}

// serveTemporal is what temporal-server does in its container: the configuration comes from the environment.
func serveTemporal() error {
	cfg, err := config.Load(config.WithEmbedded())
	if err != nil {
		return err
	}
	s, err := temporal.NewServer(temporal.ForServices(temporal.DefaultServices), temporal.WithConfig(cfg),
		temporal.WithLogger(log.NewZapLogger(log.BuildZapLogger(cfg.Log))), temporal.InterruptOn(temporal.InterruptCh()),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }))
	if err != nil {
		return err
	}
	return s.Start()
}
