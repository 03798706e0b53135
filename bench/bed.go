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

	"processidea/activities"
	"processidea/activities/blobs"
	"processidea/activities/httptool"
	"processidea/devserver"
	"processidea/model"
	"processidea/rehearsal"
	"processidea/worker/engine"
	"processidea/workflows"
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
}

func newBed(ctx context.Context) (*bed, error) {
	b := &bed{arrived: map[int]time.Time{}}
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
	b.llm = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { b.script.ServeHTTP(w, r) }))
	b.worker, err = engine.NewWorker(b.client, engine.Parts{
		Store: b.store, LLM: activities.LLM{BaseURL: b.llm.URL + "/v1"},
		HTTP: httptool.New(httptool.Options{Allow: strings.TrimPrefix(b.tool.URL, "http://"), LookupEnv: os.LookupEnv}),
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

// closingByteToTool runs one process whose stream holds n Calls.
func (b *bed) closingByteToTool(ctx context.Context, round, n int) ([]time.Duration, error) {
	var calls []string
	closes := map[int]int{} // characters after which a Call has closed
	at := len(`{"calls":[`)
	for i := 1; i <= n; i++ {
		c := fmt.Sprintf(`{"_tool":"go","n":%d,"_outputPath":"r%d","_reasoningForCall":"%s"}`, i, i, strings.Repeat("because ", 8))
		calls = append(calls, c)
		at += len(c)
		closes[i] = at
		at++
	}
	plan := fmt.Sprintf(`{"solution": {"calls": [%s], "output": null}, "ttft_ms": 300, "tps": 100}`, strings.Join(calls, ","))
	replies, err := rehearsal.Parse([]byte(plan + "\n" + `{"solution": {"calls": []}}`))
	if err != nil {
		return nil, err
	}
	sent := map[int]time.Time{}
	b.script = rehearsal.NewHandler(replies, rehearsal.OnChunk(func(request, chars int) {
		now := time.Now()
		for i, c := range closes {
			if _, done := sent[i]; !done && request == 1 && chars >= c {
				sent[i] = now
			}
		}
	}))
	if err := b.runProcess(ctx, fmt.Sprintf("stream-%d", round)); err != nil {
		return nil, err
	}
	var lags []time.Duration
	for i, t := range sent {
		lags = append(lags, b.arrived[i].Sub(t))
	}
	return lags, nil
}

func (b *bed) runProcess(ctx context.Context, id string) error {
	source, err := model.DecodeObject([]byte(fmt.Sprintf(`{"schema": {"tools": {"go": {"type": "object",
		"properties": {"n": {"type": "integer"}}, "_activity": {"http": {"url": %q}}}}}, "context": [{"type": "text", "text": "Go."}]}`, b.tool.URL)))
	if err != nil {
		return err
	}
	idea, problems := model.ReadIdea(source)
	if len(problems) > 0 {
		return problems
	}
	run, _, err := engine.StartOrAttach(ctx, b.client, b.server.Namespace(), engine.StartProcess{
		ID: id, Idea: idea, Start: workflows.Start{Idea: source}, File: id,
	})
	if err != nil {
		return err
	}
	return run.Get(ctx, nil)
}
