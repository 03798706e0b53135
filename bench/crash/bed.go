package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	sdk "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"processidea/client"
	"processidea/connect"
	"processidea/internal/pause"
	"processidea/store/blobs"
)

// testBed holds everything that a trial runs on: the two programs that are killed, and the tools and the LLM, which are
// not.
type testBed struct {
	dir, address   string
	temporary      bool
	server, worker *program
	tools          *toolbox
	toolServer     *httptest.Server
	llm            *llm
	llmServer      *httptest.Server
	store          *blobs.Store
	client         *client.Client
}

// newBed builds the programs and starts them.
func newBed(ctx context.Context, keepDir string) (b *testBed, err error) {
	b = &testBed{dir: keepDir, tools: newToolbox(), llm: newLLM()}
	if keepDir == "" {
		b.temporary = true
		if b.dir, err = os.MkdirTemp("", "crash"); err != nil {
			return nil, err
		}
	}
	b.toolServer, b.llmServer = httptest.NewServer(b.tools), httptest.NewServer(b.llm)
	build := exec.CommandContext(ctx, "go", "build", "-o", b.dir+"/", "./starter")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return b, fmt.Errorf("build the programs: %w", err)
	}
	if b.address, err = freeAddress(ctx); err != nil {
		return b, err
	}
	_, port, _ := net.SplitHostPort(b.address)
	b.server = b.program("starter", "dev", "--worker=false", "--port", port, "--ui-port", "-1", "--data", b.dataDir())
	b.worker = b.program("starter", "worker", "--listen", "127.0.0.1:0") // it has the Tools of the examples
	if err := errors.Join(b.server.start(), b.worker.start()); err != nil {
		return b, err
	}
	if b.store, err = blobs.Open(ctx, filepath.Join(b.dataDir(), "store")); err != nil {
		return b, err
	}
	return b, b.dial(ctx)
}

func (b *testBed) dataDir() string { return filepath.Join(b.dir, "data") }

func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// dial connects to the server, which may take a while to start.
func (b *testBed) dial(ctx context.Context) error {
	silentLogger := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	o := connect.ClientOptions(sdk.Options{HostPort: b.address, Logger: silentLogger}, b.store)
	return eventually(ctx, time.Minute, func() error {
		c, err := sdk.DialContext(ctx, o)
		if err == nil {
			b.client = client.New(c, sdk.DefaultNamespace, b.store)
		}
		return err
	})
}

// environment returns the variables through which the programs find each other.
func (b *testBed) environment() []string {
	return append(os.Environ(), "TEMPORAL_ADDRESS="+b.address, "TEMPORAL_NAMESPACE=default",
		"PROCESSIDEA_LOST_AFTER=5s", "PROCESSIDEA_STORE="+filepath.Join(b.dataDir(), "store"),
		"OPENAI_BASE_URL="+b.llmServer.URL+"/v1", "OPENAI_API_KEY=",
		"PROCESSIDEA_HTTP_ALLOW="+strings.TrimPrefix(b.toolServer.URL, "http://"))
}

func (b *testBed) close() {
	for _, p := range []*program{b.worker, b.server} {
		p.kill()
	}
	if b.client != nil {
		b.client.Temporal().Close()
	}
	if b.store != nil {
		_ = b.store.Close()
	}
	b.toolServer.Close()
	b.llmServer.Close()
	if b.temporary {
		_ = os.RemoveAll(b.dir)
	}
}

// eventually repeats try until it succeeds or the time is up.
func eventually(ctx context.Context, timeout time.Duration, attempt func() error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		err := attempt()
		if err == nil {
			return nil
		}
		if pause.For(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("not within %s: %w", timeout, err)
		}
	}
}
