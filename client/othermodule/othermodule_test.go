package othermodule

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"processidea/connect"
	"processidea/internal/devserver/devtest"
	"processidea/store/blobs"
	"processidea/worker/engine"
)

func TestAProgramOfAnotherModuleStartsFollowsDecidesAndReadsTheChain(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program and runs a server")
	}
	program := build(t)
	store := filepath.Join(t.TempDir(), "store")
	address := serve(t, store)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute) // far more than it takes
	defer cancel()
	run := exec.CommandContext(ctx, program)
	run.Dir = t.TempDir()
	run.Env = []string{"HOME=" + run.Dir, "TEMPORAL_ADDRESS=" + address, "PROCESSIDEA_STORE=" + store}
	var said strings.Builder
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, said.String())
	}
	want := `waits: 1.1@① note When does it come?
refused: true
ended: completed 1
attached: true
not found: true
chain: 3 true 1.1@① amend ann true
`
	if string(out) != want {
		t.Errorf("it wrote\n%s\nwant\n%s", out, want)
	}
}

// build builds the program in a module that has this one in its go.mod, and nothing beside it.
func build(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := read(t, filepath.Join("testdata", "program", "main.go"))
	// Nothing is fetched: what this module requires, the other one requires in the same versions.
	mod := strings.Replace(read(t, filepath.Join(root, "go.mod")), "module processidea",
		"module example.com/program", 1)
	mod = strings.Replace(mod, "=> ./", "=> "+root+"/", 1)
	mod += "\nrequire processidea v0.0.0\n\nreplace processidea => " + root + "\n"
	for name, text := range map[string]string{"main.go": source, "go.mod": mod,
		"go.sum": read(t, filepath.Join(root, "go.sum"))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "program")
	c := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return program
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// serve runs a server with a worker, and gives its address.
func serve(t *testing.T, store string) string {
	t.Helper()
	server := devtest.Start(t)
	values, err := blobs.Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = values.Close() })
	c, err := sdk.DialContext(t.Context(), connect.ClientOptions(sdk.Options{
		HostPort: server.Address(), Namespace: server.Namespace(),
		Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	}, values))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	w, err := engine.NewWorker(c, engine.Dependencies{Store: values})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return server.Address()
}
