package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"processidea/bench/internal/script"
	"processidea/devserver"
	"processidea/llm"
	"processidea/rehearsal"
	"processidea/store/blobs"
	"processidea/tools/httptool"
	"processidea/worker/engine"
)

// bed is what everything is measured on.
type bed struct {
	dir    string
	ready  time.Duration // start of the embedded server
	server *devserver.Server
	client client.Client
	worker worker.Worker
	store  *blobs.Store
	tool   *httptest.Server
	llm    *httptest.Server

	mu      sync.Mutex
	script  http.Handler
	arrived map[int]time.Time // the tool's requests, by Call

	counted map[[2]string]float64 // MB, when they were last counted, by place and kind
}

func newBed(ctx context.Context) (*bed, error) {
	b := &bed{arrived: map[int]time.Time{}, counted: map[[2]string]float64{}}
	var err error
	if b.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return nil, err
	}
	begin := time.Now()
	if b.server, err = devserver.Start(ctx, devserver.Options{Dir: b.dir, UIPort: -1, SearchAttributes: engine.SearchAttributes}); err != nil {
		return nil, err
	}
	b.ready = time.Since(begin)
	if b.store, err = blobs.Open(ctx, b.dir+"/store"); err != nil {
		return nil, err
	}
	silent := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	o := client.Options{HostPort: b.server.Address(), Namespace: b.server.Namespace(), Logger: silent}
	if b.client, err = client.DialContext(ctx, engine.ClientOptions(o, b.store)); err != nil {
		return nil, err
	}
	b.tool = httptest.NewServer(http.HandlerFunc(b.onTool))
	b.llm = httptest.NewServer(http.HandlerFunc(b.onLLM))
	b.worker, err = engine.NewWorker(b.client, engine.Parts{
		Store: b.store, Tools: newTools(), LLM: llm.Config{BaseURL: b.llm.URL + "/v1"},
		HTTP:   httptool.New(httptool.Options{Allow: strings.TrimPrefix(b.tool.URL, "http://"), LookupEnv: os.LookupEnv}),
		Limits: engine.Alone,
	})
	if err != nil {
		return nil, err
	}
	return b, b.worker.Start()
}

func (b *bed) close() {
	b.worker.Stop()
	b.client.Close()
	b.server.Stop()
	b.tool.Close()
	b.llm.Close()
	_ = os.RemoveAll(b.dir)
}

func (b *bed) onTool(w http.ResponseWriter, r *http.Request) {
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

// say makes the LLM answer from these replies from now on.
func (b *bed) say(lines []string, opts ...rehearsal.Option) (*script.Script, error) {
	s, err := script.New(lines, opts...)
	if err == nil {
		b.mu.Lock()
		b.script = s
		b.mu.Unlock()
	}
	return s, err
}

func (b *bed) onLLM(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	s := b.script
	b.mu.Unlock()
	s.ServeHTTP(w, r)
}
