package bed

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"

	"processidea/bench/internal/actions"
	"processidea/bench/internal/script"
	"processidea/devserver"
	"processidea/llm"
	"processidea/rehearsal"
	"processidea/store/blobs"
	"processidea/tools/httptool"
	"processidea/worker/engine"
)

// Bed is one set of everything that processes need.
type Bed struct {
	dir    string
	server *devserver.Server
	client client.Client
	calls  actions.Calls // of the client and the worker
	worker worker.Worker
	store  *blobs.Store
	tool   *httptest.Server
	llm    *httptest.Server

	mu      sync.Mutex
	script  http.Handler
	arrived map[int]time.Time // the tool's requests, by Call

	counted map[[2]string]float64 // MB at the last call of Grown, by place and kind
}

// New starts everything.
func New(ctx context.Context) (*Bed, error) {
	b := &Bed{arrived: map[int]time.Time{}, counted: map[[2]string]float64{}}
	var err error
	if b.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return nil, err
	}
	if b.server, err = devserver.Start(ctx, devserver.Options{Dir: b.dir, UIPort: -1, SearchAttributes: engine.SearchAttributes}); err != nil {
		return nil, err
	}
	if b.store, err = blobs.Open(ctx, b.dir+"/store"); err != nil {
		return nil, err
	}
	silent := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	o := client.Options{HostPort: b.server.Address(), Namespace: b.server.Namespace(), Logger: silent}
	o.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(b.calls.Interceptor())}
	if b.client, err = client.DialContext(ctx, engine.ClientOptions(o, b.store)); err != nil {
		return nil, err
	}
	b.tool = httptest.NewServer(http.HandlerFunc(b.serveTool))
	b.llm = httptest.NewServer(http.HandlerFunc(b.serveLLM))
	return b, b.startWorker()
}

func (b *Bed) startWorker() (err error) {
	b.worker, err = engine.NewWorker(b.client, engine.Parts{
		Store: b.store, Tools: newTools(), LLM: llm.Config{BaseURL: b.llm.URL + "/v1"},
		HTTP:   httptool.New(httptool.Options{Allow: strings.TrimPrefix(b.tool.URL, "http://"), LookupEnv: os.LookupEnv}),
		Limits: engine.Alone,
	})
	if err != nil {
		return err
	}
	return b.worker.Start()
}

// RestartWorker has another worker take the place of the one that runs. It remembers no workflow.
func (b *Bed) RestartWorker() error {
	b.worker.Stop()
	worker.PurgeStickyWorkflowCache()
	return b.startWorker()
}

// Close stops everything and deletes what it kept.
func (b *Bed) Close() {
	b.worker.Stop()
	b.client.Close()
	b.server.Stop()
	b.tool.Close()
	b.llm.Close()
	_ = os.RemoveAll(b.dir)
}

// ToolURL is the address of a tool over HTTP.
func (b *Bed) ToolURL() string { return b.tool.URL }

// LLMURL is the address of the scripted LLM.
func (b *Bed) LLMURL() string { return b.llm.URL }

// ToolArrivals gives the times at which the tool over HTTP was asked, by the number in the request.
func (b *Bed) ToolArrivals() map[int]time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.arrived)
}

// serveTool answers at once, and notes when it was asked.
func (b *Bed) serveTool(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	body, _ := io.ReadAll(r.Body)
	var in struct{ N int }
	_ = json.Unmarshal(body, &in)
	b.mu.Lock()
	b.arrived[in.N] = now
	b.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, `"ok"`)
}

// Script makes the LLM answer from these replies from now on.
func (b *Bed) Script(lines []string, opts ...rehearsal.Option) (*script.Script, error) {
	s, err := script.New(lines, opts...)
	if err == nil {
		b.mu.Lock()
		b.script = s
		b.mu.Unlock()
	}
	return s, err
}

func (b *Bed) serveLLM(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	s := b.script
	b.mu.Unlock()
	s.ServeHTTP(w, r)
}
