// Package devtest gives tests a real Temporal server in their own process.
package devtest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"processidea/devserver"
)

// Start runs a server without UI, with its file in t.TempDir(), until the test is over.
func Start(t testing.TB) *devserver.Server {
	t.Helper()
	s, err := devserver.Start(t.Context(), options(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Shared runs one server for all the tests of a package, to be called from TestMain. The function
// it returns stops the server and removes its file; it must run before os.Exit.
func Shared(with ...func(*devserver.Options)) (*devserver.Server, func(), error) {
	dir, err := os.MkdirTemp("", "devserver-")
	if err != nil {
		return nil, nil, fmt.Errorf("devtest: create folder: %w", err)
	}
	o := options(dir)
	for _, set := range with {
		set(&o)
	}
	s, err := devserver.Start(context.Background(), o)
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, nil, err
	}
	return s, func() {
		s.Stop()
		_ = os.RemoveAll(dir)
	}, nil
}

func options(dir string) devserver.Options {
	return devserver.Options{Dir: dir, UIPort: -1}
}
