// Package devtest gives tests a real Temporal server in a separate operating-system process.
//
// Test binaries do not link the server, since linking it would take each of them a minute. The race detector does not
// slow it down either. "go run" builds the server and caches it. After a change to package devserver, the first test
// that needs the server waits for the build.
package devtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
)

// Options are the options of devserver.Options that tests set.
type Options struct {
	Dir              string // the folder of the database
	Port             int    // of the frontend; 0: a free one
	SearchAttributes map[string]enumspb.IndexedValueType
}

// Server is a running Temporal server.
type Server struct {
	address string
	stop    func()
}

// Address is where the frontend listens, as host:port.
func (s *Server) Address() string { return s.address }

// Namespace is the namespace that exists from the start.
func (s *Server) Namespace() string { return "default" }

// Stop ends the server and returns when it is down. Every call waits for that; only the first one does it.
func (s *Server) Stop() { s.stop() }

// Start runs a server, with its file in t.TempDir(), until the test is over.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := StartWithOptions(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// StartShared runs one server for all tests of a package. Call it from TestMain. The returned function stops the server
// and removes its file; it must run before os.Exit.
func StartShared(attributes map[string]enumspb.IndexedValueType) (*Server, func(), error) {
	dir, err := os.MkdirTemp("", "devserver-")
	if err != nil {
		return nil, nil, fmt.Errorf("devtest: create folder: %w", err)
	}
	s, err := StartWithOptions(Options{Dir: dir, SearchAttributes: attributes})
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, nil, err
	}
	return s, func() {
		s.Stop()
		_ = os.RemoveAll(dir)
	}, nil
}

// serverMemoryLimit bounds a server's memory, in bytes: the tests of a package leave thousands of workflows in it, and
// with less it would collect garbage most of the time.
const serverMemoryLimit = 2 << 30

// StartWithOptions runs a server until it is stopped, or until this process is gone.
func StartWithOptions(o Options) (*Server, error) {
	root, err := statServerSources()
	if err != nil {
		return nil, fmt.Errorf("devtest: find the server: %w", err)
	}
	optionsJSON, err := json.Marshal(struct {
		Options
		UIPort      int
		MemoryLimit int64
	}{o, -1, serverMemoryLimit})
	if err != nil {
		return nil, fmt.Errorf("devtest: write options: %w", err)
	}
	// -buildvcs=false: otherwise the program would contain whether files have changed since the last commit, and would
	// be linked again and again. No context is needed: the program ends when its standard input closes.
	cmd := exec.Command("go", "run", "-buildvcs=false", //nolint:noctx // see above
		"./internal/devserver/devtest/temporal", string(optionsJSON))
	cmd.Dir, cmd.Stderr = root, os.Stderr
	// The pipe closes with this process, however it ends.
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("devtest: start the server: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("devtest: start the server: %w", err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("devtest: start the server: %w", errors.Join(err, cmd.Wait()))
	}
	return &Server{strings.TrimSpace(address), sync.OnceFunc(func() { stopChild(in, cmd) })}, nil
}

func stopChild(childStdin io.Closer, cmd *exec.Cmd) {
	_ = childStdin.Close()
	_ = cmd.Wait()
}

// statServerSources finds the module, and looks at the server's files. The go command reuses a test's cached result if
// all files that the test looked at are unchanged. The test binary itself does not look at these files.
func statServerSources() (moduleFolder string, err error) {
	if moduleFolder, err = moduleRoot(); err != nil {
		return "", err
	}
	for _, sourcePath := range []string{"go.mod", "internal/devserver", "internal/heap"} {
		err = errors.Join(err, filepath.WalkDir(filepath.Join(moduleFolder, sourcePath),
			func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					_, err = os.Stat(path)
				}
				return err
			}))
	}
	return moduleFolder, err
}

// moduleRoot is the nearest folder upwards with a go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := dir; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("no go.mod stands above %s", dir)
		}
	}
}
