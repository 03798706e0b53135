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

	sdk "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"

	"processidea/bench/internal/script"
	"processidea/client"
	"processidea/client/actions"
	"processidea/connect"
	"processidea/examples/diamond/shop"
	"processidea/internal/devserver"
	"processidea/internal/rehearsal"
	"processidea/llm"
	"processidea/model/loop"
	"processidea/store/blobs"
	"processidea/tools/httptool"
	"processidea/worker/engine"
)

// TestBed is one complete environment for processes.
type TestBed struct {
	dir             string
	server          *devserver.Server
	temporal        sdk.Client
	client          *client.Client // on the same connection
	uncountedClient *client.Client // on a connection that is not counted
	worker          worker.Worker
	store           *blobs.Store
	toolServer      *httptest.Server
	llmServer       *httptest.Server

	temporalRequestCounter actions.RequestCounter // of the client and the worker

	mu                 sync.Mutex
	scriptedLLM        http.Handler
	arrivalByToolInput map[int]time.Time // the tool's requests, by Call

	workerLimits         engine.Limits
	tally                Tally
	lastMBByPlaceAndKind map[[2]string]float64 // MB at the last call of GrowthSinceLastCall, by place and kind
}

// HostedLimits are the limits of a worker whose server runs in another program.
var HostedLimits = engine.Limits{MinimizesActions: true, HeartbeatTimeout: 30 * time.Second}

// New starts everything. The limits apply to the worker.
func New(ctx context.Context, limits engine.Limits) (*TestBed, error) {
	b := &TestBed{arrivalByToolInput: map[int]time.Time{}, lastMBByPlaceAndKind: map[[2]string]float64{},
		workerLimits: limits}
	var err error
	if b.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return nil, err
	}
	b.server, err = devserver.Start(ctx, devserver.Options{
		Dir: b.dir, UIPort: -1, SearchAttributes: connect.SearchAttributeTypes,
	})
	if err != nil {
		return nil, err
	}
	if b.store, err = blobs.Open(ctx, b.dir+"/store"); err != nil {
		return nil, err
	}
	silentLogger := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	o := sdk.Options{HostPort: b.server.Address(), Namespace: b.server.Namespace(), Logger: silentLogger}
	if b.uncountedClient, err = b.dial(ctx, o); err != nil {
		return nil, err
	}
	o.ConnectionOptions.DialOptions = []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(b.temporalRequestCounter.Interceptor())}
	if b.client, err = b.dial(ctx, o); err != nil {
		return nil, err
	}
	b.temporal = b.client.Temporal()
	b.toolServer = httptest.NewServer(b.toolsHandler())
	b.llmServer = httptest.NewServer(http.HandlerFunc(b.serveLLM))
	return b, b.startWorker()
}

func (b *TestBed) dial(ctx context.Context, o sdk.Options) (*client.Client, error) {
	c, err := sdk.DialContext(ctx, connect.ClientOptions(o, b.store))
	return client.New(c, o.Namespace, b.store), err
}

func (b *TestBed) startWorker() (err error) {
	b.worker, err = engine.NewWorker(b.temporal, engine.Dependencies{
		Store: b.store, Tools: newToolRegistry(), LLM: llm.Config{BaseURL: b.llmServer.URL + "/v1"},
		HTTP: httptool.New(httptool.Options{AllowList: strings.TrimPrefix(b.toolServer.URL, "http://"),
			LookupEnv: os.LookupEnv}),
		Limits: b.workerLimits,
	})
	if err != nil {
		return err
	}
	return b.worker.Start()
}

// Close stops everything and deletes its files.
func (b *TestBed) Close() {
	b.worker.Stop()
	b.temporal.Close()
	b.uncountedClient.Temporal().Close()
	b.server.Stop()
	b.toolServer.Close()
	b.llmServer.Close()
	_ = os.RemoveAll(b.dir)
}

// Watch follows a process until it has ended, in the same way as a program whose server is not embedded. Like Await, it
// returns the reason if the process is paused.
func (b *TestBed) Watch(ctx context.Context, processID string) error {
	for e, err := range b.client.Process(processID).Events(ctx) {
		if err != nil {
			return fmt.Errorf("watch %s: %w", processID, err)
		}
		if e.Status.Status == loop.StatusPaused {
			return pausedError(processID, e.Status)
		}
	}
	return nil
}

// ToolURL is the address of a tool over HTTP.
func (b *TestBed) ToolURL() string { return b.toolServer.URL }

// LLMURL is the address of the scripted LLM.
func (b *TestBed) LLMURL() string { return b.llmServer.URL }

// ToolArrivalTimes returns the times at which the HTTP tool got its requests, by the number in the request.
func (b *TestBed) ToolArrivalTimes() map[int]time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.arrivalByToolInput)
}

// shopPath is where the bed serves the shop of the examples.
const shopPath = "/shop"

// toolsHandler serves everything that answers over HTTP except the LLM.
func (b *TestBed) toolsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(shopPath+"/", http.StripPrefix(shopPath, shop.Handler()))
	mux.HandleFunc("/", b.serveTool)
	return mux
}

// serveTool answers at once, and records when the request came.
func (b *TestBed) serveTool(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	body, _ := io.ReadAll(r.Body)
	var in struct{ N int }
	_ = json.Unmarshal(body, &in)
	b.mu.Lock()
	b.arrivalByToolInput[in.N] = now
	b.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, `"ok"`)
}

// UseScript sets the LLM's replies from now on.
func (b *TestBed) UseScript(replyLines []string, opts ...rehearsal.Option) (*script.ScriptedLLM, error) {
	s, err := script.New(replyLines, opts...)
	if err == nil {
		b.mu.Lock()
		b.scriptedLLM = s
		b.mu.Unlock()
	}
	return s, err
}

func (b *TestBed) serveLLM(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	s := b.scriptedLLM
	b.mu.Unlock()
	s.ServeHTTP(w, r)
}
