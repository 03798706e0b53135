package postgres

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"processidea/connect"
	"processidea/internal/devserver/devtest"
	"processidea/internal/longrun"
	"processidea/model/loop"
)

// beds are the two servers, and what the examples need beside them.
type beds struct {
	around
	production, embedded *bed
}

func newBeds(t *testing.T) beds {
	t.Helper()
	c := readCompose(t)
	here := map[string]string{"POSTGRES_SEEDS": "127.0.0.1"}
	here["DB_PORT"] = startDatabase(t, c.Services["temporal"].Environment["POSTGRES_USER"])
	temporal := devtest.BuildProgram(t, ".", "./temporal")
	setUp(t, c, temporal, here)
	setUp(t, c, temporal, here) // as with every start of the containers
	address := startTemporal(t, c, temporal, here)
	namespace := c.Services["worker"].Environment["TEMPORAL_NAMESPACE"]
	prepare(t, address, namespace)
	server, err := devtest.StartWithOptions(devtest.Options{Dir: t.TempDir(),
		SearchAttributes: connect.SearchAttributeTypes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	a := newAround(t)
	settings := a.settings()
	var local []string
	for name, value := range settings {
		local = append(local, name+"="+value)
	}
	// The address and the store are this machine's, and so is where it listens.
	settings["PROCESSIDEA_LISTEN"] = "127.0.0.1:0"
	return beds{a, newBed(t, address, namespace, t.TempDir(), c.environment(t, "worker", settings)),
		newBed(t, server.Address(), server.Namespace(), t.TempDir(), local)}
}

// work runs a worker on both until they are told to stop.
func (b beds) work(t *testing.T, program string, args ...string) (stop func()) {
	t.Helper()
	there, here := b.production.work(t, program, args...), b.embedded.work(t, program, args...)
	return func() { there(); here() }
}

// compare runs an example on both, one after the other: two servers and two workers at work leave none of them a core.
func (b beds) compare(t *testing.T, name string) {
	t.Helper()
	idea, start := b.example(t, name)
	for try := 1; ; try++ {
		id := fmt.Sprintf("%s-%d", name, try)
		want := b.embedded.come(t, b.embedded.begin(t, id, name, idea, start))
		got := b.production.come(t, b.production.begin(t, id, name, idea, start))
		d := differences(t, b.embedded.outcome(t, want), b.production.outcome(t, got))
		if d != "" {
			lost := append(b.embedded.lost(t, want), b.production.lost(t, got)...)
			if len(lost) > 0 && try < tries {
				t.Logf("tried again, for activities were lost:\n%s\nit came to\n%s", strings.Join(lost, "\n"), d)
				continue
			}
			t.Errorf("on PostgreSQL it comes to something else than on the embedded server:\n%s", d)
		}
		if got.Status != loop.StatusCompleted || got.Calls.Done == 0 {
			t.Errorf("it comes to %s with %+v", got.Status, got.Calls)
		}
		b.production.finds(t, id, idea.ProcessPath)
		return
	}
}

// tries is how often an example may be run where a worker is taken for lost: on a machine that is very busy a heartbeat
// can come too late, and then a Request is rightly made again, which the Ideas tell.
const tries = 3

// One example says whether it works there. The long run, which has the machine to itself, plays all of them.
func TestAnExampleComesToTheSameOnPostgreSQLAsOnTheEmbeddedServer(t *testing.T) {
	t.Parallel()
	b := newBeds(t)
	defer b.work(t, os.Args[0])()
	b.compare(t, "sentiment")
}

// It is not parallel, for it has the machine to itself.
func TestEveryExampleComesToTheSameOnPostgreSQLAsOnTheEmbeddedServer(t *testing.T) {
	longrun.SkipUnlessEnabled(t)
	release, err := devtest.LockMachineExclusive()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	plain, withWorker := exampleNames(t)
	b := newBeds(t)
	t.Run("worker", func(t *testing.T) {
		defer b.work(t, os.Args[0])()
		for _, name := range plain {
			t.Run(name, func(t *testing.T) { b.compare(t, name) })
		}
	})
	for _, name := range withWorker {
		t.Run(name, func(t *testing.T) {
			defer b.work(t, build(t, name), "worker")()
			b.compare(t, name)
		})
	}
}
