// Package postgres runs the parts of docker-compose.yml without containers, with the settings that stand there, and
// checks that processes come to the same there as on the embedded server. It needs PostgreSQL's programs, and is
// skipped where there are none.
package postgres

import (
	"os"
	"testing"

	"processidea/worker/workertest"
)

func TestMain(m *testing.M) {
	workertest.RunIfWorker()
	os.Exit(m.Run())
}
