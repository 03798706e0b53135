package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	sdk "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"

	"processidea/client"
	"processidea/connect"
	"processidea/gateway/access"
	"processidea/gateway/server"
	"processidea/internal/devserver/devtest"
	"processidea/store/blobs"
	"processidea/worker/engine"
)

// What all tests share: a real Temporal server with a worker, and a store.
var (
	temporal *devtest.Server
	values   *blobs.Store
	calls    = &callCounter{byMethod: map[string]int{}}
	engineOn *client.Client
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	release, err := devtest.LockMachineShared()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer release()
	stop, err := begin()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	return m.Run()
}

func begin() (stop func(), err error) {
	var undo []func()
	stop = func() {
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i]()
		}
	}
	var stopServer func()
	if temporal, stopServer, err = devtest.StartShared(connect.SearchAttributeTypes); err != nil {
		return stop, err
	}
	undo = append(undo, stopServer)
	if values, err = blobs.Open(context.Background(), "mem://"); err != nil {
		return stop, err
	}
	quiet := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	options := sdk.Options{HostPort: temporal.Address(), Namespace: temporal.Namespace(), Logger: quiet}
	of, err := sdk.Dial(connect.ClientOptions(options, values))
	if err != nil {
		return stop, err
	}
	undo = append(undo, of.Close)
	dir, err := os.MkdirTemp("", "deciders")
	if err != nil {
		return stop, err
	}
	undo = append(undo, func() { _ = os.RemoveAll(dir) })
	trusted, err := deciders(dir)
	if err != nil {
		return stop, err
	}
	w, err := engine.NewWorker(of, engine.Dependencies{Store: values, DeciderKeys: trusted})
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		return stop, err
	}
	undo = append(undo, w.Stop)
	options.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(calls.count)}
	counted, err := sdk.Dial(connect.ClientOptions(options, values))
	if err != nil {
		return stop, err
	}
	undo = append(undo, counted.Close)
	engineOn = client.New(counted, temporal.Namespace(), values)
	return stop, nil
}

// callCounter counts what the gateway asks of the Temporal server.
type callCounter struct {
	mu       sync.Mutex
	byMethod map[string]int
}

func (c *callCounter) count(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
	next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	c.mu.Lock()
	c.byMethod[method[strings.LastIndex(method, "/")+1:]]++
	c.mu.Unlock()
	return next(ctx, method, req, reply, cc, opts...)
}

const token = "a-token-for-the-tests-of-this-package"

// house is a gateway that answers over HTTP.
type house struct {
	*testing.T
	url   string
	token string
	log   *safeBuffer
	stop  func() // what SIGTERM does
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}
func (s *safeBuffer) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

// open serves a gateway; set changes its options.
func open(t *testing.T, set ...func(*server.Options)) *house {
	t.Helper()
	log := &safeBuffer{}
	guard, err := access.NewTokenGuard(token, access.Person{Name: "ann", Groups: []string{"finance"}})
	if err != nil {
		t.Fatal(err)
	}
	o := server.Options{Client: engineOn, Guard: guard,
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for _, f := range set {
		f(&o)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	g := server.New(o)
	go func() { ended <- g.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if strings.Contains(log.String(), token) || strings.Contains(log.String(), "eyJ") {
			t.Errorf("a token stands in the log: %s", log)
		}
	})
	return &house{t, "http://" + l.Addr().String(), token, log, cancel}
}

// answer is what came back.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

// ask sends a request with the token. body is JSON: a text, or what is marshalled; headers are pairs.
func (h *house) ask(method, path string, body any, headers ...string) *answer {
	h.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case io.Reader:
		reader = b
	default:
		data, err := json.Marshal(b)
		if err != nil {
			h.Fatal(err)
		}
		reader = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(h.Context(), method, h.url+path, reader)
	if err != nil {
		h.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if h.token != "" {
		r.Header.Set("Authorization", "Bearer "+h.token)
	}
	for n := 0; n < len(headers); n += 2 {
		if r.Header.Set(headers[n], headers[n+1]); headers[n] == "Host" {
			r.Host = headers[n+1]
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		h.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		h.Fatal(err)
	}
	a := &answer{h.T, resp.StatusCode, resp.Header, data}
	a.fitsDescription(h, method, path)
	return a
}

func (h *house) get(path string) *answer            { h.Helper(); return h.ask("GET", path, nil) }
func (h *house) post(path string, body any) *answer { h.Helper(); return h.ask("POST", path, body) }

// is checks the status.
func (a *answer) is(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("it answers %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// problem checks that the answer is a problem document of a code, and gives it.
func (a *answer) problem(status int, code string) map[string]any {
	a.t.Helper()
	a.is(status)
	if ct := a.header.Get("Content-Type"); ct != "application/problem+json" {
		a.t.Errorf("an error is of type %s: %s", ct, a.body)
	}
	p := a.object()
	if p["code"] != code || p["status"] != float64(status) || p["type"] != "urn:processidea:problem:"+code ||
		p["detail"] == "" || p["title"] == "" {
		a.t.Errorf("want code %s: %s", code, a.body)
	}
	return p
}

func (a *answer) object() (m map[string]any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, &m); err != nil {
		a.t.Fatalf("%v: %s", err, a.body)
	}
	return m
}

// list gives the objects under a key.
func (a *answer) list(key string) (out []map[string]any) {
	a.t.Helper()
	l, ok := a.object()[key].([]any)
	if !ok {
		a.t.Fatalf("it has no list %s: %s", key, a.body)
	}
	for _, e := range l {
		out = append(out, e.(map[string]any))
	}
	return out
}

// description is /openapi.json of a gateway, with the schemas of its answers.
var description = sync.OnceValue(func() *openAPI {
	w := httptest.NewRecorder()
	guard, _ := access.NewTokenGuard(token, access.Person{Name: "ann"})
	r := httptest.NewRequest("GET", "http://localhost/openapi.json", nil)
	server.New(server.Options{Client: engineOn, Guard: guard}).ServeHTTP(w, r)
	o := &openAPI{compiler: jsonschema.NewCompiler(), text: w.Body.Bytes()}
	o.compiler.Draft = jsonschema.Draft2020
	if err := json.Unmarshal(o.text, &o.doc); err != nil {
		panic(err)
	}
	if err := o.compiler.AddResource("openapi.json", bytes.NewReader(o.text)); err != nil {
		panic(err)
	}
	return o
})

type openAPI struct {
	text     []byte
	doc      map[string]any
	mu       sync.Mutex
	compiler *jsonschema.Compiler
}

// fitsDescription checks the answer against what the description says of it.
func (a *answer) fitsDescription(h *house, method, path string) {
	h.Helper()
	path, _, _ = strings.Cut(path, "?")
	o := description()
	for template, methods := range o.doc["paths"].(map[string]any) {
		pattern := regexp.MustCompile("^" +
			regexp.MustCompile(`\\\{[a-z]+\\\}`).ReplaceAllString(regexp.QuoteMeta(template), "[^/]+") + "$")
		op, ok := methods.(map[string]any)[strings.ToLower(method)].(map[string]any)
		if !ok || !pattern.MatchString(path) {
			continue
		}
		responses := op["responses"].(map[string]any)
		response, ok := responses[strconv.Itoa(a.status)].(map[string]any)
		if !ok {
			h.Errorf("%s %s: %d is not described: %s", method, path, a.status, a.body)
			return
		}
		mediaType, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
		content, _ := response["content"].(map[string]any)
		if content[mediaType] == nil {
			if len(a.body) > 0 {
				h.Errorf("%s %s: %d of %q is not described", method, path, a.status, mediaType)
			}
			return
		}
		if mediaType == "text/event-stream" || mediaType == "text/html" {
			return
		}
		escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
		ref := "openapi.json#/paths/" + escape.Replace(template) + "/" + strings.ToLower(method) + "/responses/" +
			strconv.Itoa(a.status) +
			"/content/" + escape.Replace(mediaType) + "/schema"
		o.mu.Lock()
		defer o.mu.Unlock()
		schema, err := o.compiler.Compile(ref)
		if err != nil {
			h.Fatalf("%s: %v", ref, err)
		}
		var v any
		if err := json.Unmarshal(a.body, &v); err != nil {
			h.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			h.Errorf("%s %s: %d is not as it is described: %#v\n%s", method, path, a.status, err, a.body)
		}
		return
	}
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	devtest.Eventually(t, what, holds)
}
