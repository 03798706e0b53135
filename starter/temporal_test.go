package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"sync"
	"testing"

	"processidea/connect"
	"processidea/examples/texttools"
	"processidea/internal/devserver/devtest"
	"processidea/starter/command"
	"processidea/starter/internal/server"
	"processidea/starter/internal/verbs"
	"processidea/tools"
	"processidea/worker/engine"
)

// onTemporal names the server that stands in for the embedded one.
const onTemporal = "STARTER_TEST_TEMPORAL"

// asStarter is the program: with the embedded server, or with a namespace of another one in its place.
func asStarter() int {
	if address := os.Getenv(onTemporal); address != "" {
		return verbs.Execute(os.Args[1:], os.Stdout, os.Stderr, offered(), sharedTemporal{address})
	}
	return command.Execute(os.Args[1:], os.Stdout, os.Stderr, command.WithName("starter"),
		command.WithTools(texttools.Register))
}

// offered is what the program has beside what every program of package command has.
func offered() engine.Additions {
	own := engine.Additions{Tools: tools.NewRegistry()}
	texttools.Register(own.Tools)
	return own
}

// sharedTemporal gives each folder a namespace of one server, in place of a server of its own. All else is the
// program's: the folder's lock and what it tells there, the worker, the gateway, the store. What a folder holds is
// still there when the program comes back to it.
type sharedTemporal struct{ address string }

func (s sharedTemporal) Start(ctx context.Context, o server.TemporalOptions) (server.TemporalServer, error) {
	n := namespace{s.address, fmt.Sprintf("%.16x", sha256.Sum256([]byte(o.DataFolder)))}
	return n, devtest.AddNamespace(ctx, n.address, n.name, connect.SearchAttributeTypes)
}

// Scrub does nothing: the folder has no database.
func (sharedTemporal) Scrub(context.Context, string, func(string) bool) error { return nil }

type namespace struct{ address, name string }

func (n namespace) Address() string   { return n.address }
func (n namespace) Namespace() string { return n.name }
func (namespace) UIURL() string       { return "" }
func (namespace) Stop()               {}

// stopShared ends the server that the tests share, where one has begun.
var stopShared = func() {}

var beginShared = sync.OnceValues(func() (*devtest.Server, error) {
	s, stop, err := devtest.StartShared(nil)
	if err == nil {
		stopShared = stop
	}
	return s, err
})

// shared is the address of the server that the tests share.
func shared(t *testing.T) string {
	t.Helper()
	s, err := beginShared()
	if err != nil {
		t.Fatal(err)
	}
	return s.Address()
}
