package workflows_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"processidea/client/ideafiles"
	"processidea/connect"
	"processidea/examples/texttools"
	"processidea/internal/devserver/devtest"
	"processidea/internal/rehearsal"
	llmclient "processidea/llm"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/tools"
	"processidea/tools/builtin"
	"processidea/tools/httptool"
	"processidea/tools/mcptool"
	"processidea/tools/mcptool/mcptest"
	"processidea/worker/engine"
)

// The parts that all tests share: one real Temporal server with one worker, a store, and an LLM server that plays the
// script of the process that asks. Namespaces with workers of their own are on another server: SQLite has one writer,
// and one server leaves half of the machine idle.
var (
	server         *devtest.Server
	temporalClient client.Client
	ownServer      *devtest.Server
	ownClient      client.Client
	store          *blobs.Store
	storeDir       string
	llmURL         string
	llm            = newScripts()
	toolbox        = &toolServer{answers: map[string]http.HandlerFunc{}}
)

// continueEvery has the workflows of all scenarios continue as new.
var continueEvery = flag.Int("continue", 0,
	"passes through its loop after which a workflow continues as new; 0: when Temporal suggests it")

// saveActions has all scenarios do what saves the actions that a hosted server bills.
var saveActions = flag.Bool("save-actions", false,
	"processes save actions, as those of a worker beside no embedded server do")

func TestMain(m *testing.M) {
	mcptest.RunIfServer()
	if address := os.Getenv(envWorker); address != "" {
		os.Exit(runAsWorker(address))
	}
	devtest.SetParallel(6)
	os.Exit(run(m))
}

func run(m *testing.M) int {
	release, err := devtest.LockMachineShared()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer release()
	var stop func()
	if server, stop, err = devtest.StartShared(connect.SearchAttributeTypes); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	var stopOwn func()
	if ownServer, stopOwn, err = devtest.StartShared(nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stopOwn()
	if ownClient, err = client.Dial(client.Options{HostPort: ownServer.Address(), Logger: quiet{}}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer ownClient.Close()
	if storeDir, err = os.MkdirTemp("", "store"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(storeDir) }()
	defer func() { _ = os.Remove(decidersFile()) }()
	if store, err = blobs.Open(context.Background(), storeDir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if temporalClient, err = client.Dial(connect.ClientOptions(client.Options{
		HostPort: server.Address(), Namespace: server.Namespace(), Logger: quiet{},
	}, store)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer temporalClient.Close()
	w, err := startWorker()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer w.Stop()
	return m.Run()
}

// addressOf is the address of the server that has a namespace.
func addressOf(namespace string) string {
	if namespace == server.Namespace() {
		return server.Address()
	}
	return ownServer.Address()
}

// variables are what tests add to the worker's environment while it works: that of the process is all tests'.
var variables sync.Map

func lookupVariable(name string) (string, bool) {
	if v, ok := variables.Load(name); ok {
		return v.(string), true
	}
	return os.LookupEnv(name)
}

func startWorker() (worker.Worker, error) {
	llmURL = httptest.NewServer(llm).URL
	toolbox.server = httptest.NewServer(toolbox)
	registry := tools.NewRegistry()
	builtin.Register(registry, nil)
	texttools.Register(registry)
	registerTestTools(registry)
	registerDoze(registry)
	reached := httptool.New(httptool.Options{AllowList: strings.TrimPrefix(toolbox.server.URL, "http://"),
		AllowedSecrets: "TEST_*@*", LookupEnv: lookupVariable})
	deciders, err := signers.open()
	if err != nil {
		return nil, err
	}
	w, err := engine.NewWorker(temporalClient, engine.Dependencies{
		// As a worker of its own has it: the tests' server may be slow to hear that somebody is alive.
		Limits: engine.Limits{MinimizesActions: *saveActions, HeartbeatTimeout: 30 * time.Second},
		Store:  store, DeciderKeys: deciders, Tools: registry, LLM: llmclient.Config{BaseURL: llmURL + "/v1"},
		HTTP: reached,
		MCP: mcptool.New(mcptool.Options{AllowedCommands: "node *; " + os.Args[0] + " " + mcptest.ServerArgument + " *",
			HTTP: reached}),
	})
	if err != nil {
		return nil, err
	}
	return w, w.Start()
}

// quiet drops the SDK's logs.
type quiet struct{}

func (quiet) Debug(string, ...any)      {}
func (quiet) Info(string, ...any)       {}
func (quiet) Warn(m string, kv ...any)  { sdkLog("warn", m, kv) }
func (quiet) Error(m string, kv ...any) { sdkLog("error", m, kv) }

// sdkLog prints what the SDK has to complain about, where a test's author wants to see it.
func sdkLog(level, m string, kv []any) {
	if os.Getenv("SDK_LOG") != "" {
		fmt.Fprintln(os.Stderr, append([]any{level, m}, kv...)...)
	}
}

var _ log.Logger = quiet{}

// scripts is an LLM server that plays, for each process, the script that the test wrote for it: the process asks for an
// LLM of its own name.
type scripts struct {
	byName  sync.Map
	batches *batchServer
}

func newScripts() *scripts {
	s := &scripts{}
	s.batches = newBatchServer(s)
	return s
}

func (s *scripts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		s.batches.ServeHTTP(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var asked struct {
		LLM string `json:"model"`
	}
	_ = json.Unmarshal(body, &asked)
	h, ok := s.byName.Load(asked.LLM)
	if !ok {
		http.Error(w, "no script for "+asked.LLM, http.StatusNotFound)
		return
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	h.(http.Handler).ServeHTTP(w, r)
}

// toolServer is the HTTP server of the tests' tools; every test adds its own paths.
type toolServer struct {
	server  *httptest.Server
	mu      sync.Mutex
	answers map[string]http.HandlerFunc

	prefix, to string
}

func (t *toolServer) handle(path string, f http.HandlerFunc) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers[path] = f
	return t.server.URL + path
}

// forward sends what comes under a prefix to another server.
func (t *toolServer) forward(prefix, url string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prefix, t.to = prefix, url
}

func (t *toolServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.mu.Lock()
	f := t.answers[r.URL.Path]
	if under, ok := strings.CutPrefix(r.URL.Path, t.prefix); ok && t.prefix != "" && f == nil {
		to, _ := url.Parse(t.to)
		r.URL.Path = "/" + under
		f = httputil.NewSingleHostReverseProxy(to).ServeHTTP
	}
	t.mu.Unlock()
	if f == nil {
		http.NotFound(w, r)
		return
	}
	f(w, r)
}

// scenario is one process to be run: an Idea, and what the LLM says.
type scenario struct {
	t       *testing.T
	id      string
	idea    map[string]any
	llm     *rehearsal.Handler
	options []rehearsal.Option

	files     map[string]any // Idea files of delegates
	scripted  string         // replies that travel with the process, in place of an LLM's server
	startedBy []string       // who starts it
	withCalls bool           // it begins with the Calls of the Idea's solution
	every     int            // passes after which its workflows continue as new, where the flag says none
	client    client.Client  // where it runs
	namespace string
}

// ideaSchema is the schema that editors check Idea files with.
var ideaSchema = sync.OnceValue(func() *jsonschema.Schema {
	source, err := jsonval.DecodeObject(ideafiles.Schema)
	if err != nil {
		panic(err)
	}
	s, err := jsonschema.CompileSchema(source)
	if err != nil {
		panic(err)
	}
	return s
})

// newScenario reads an Idea and the lines of a replies file.
func newScenario(t *testing.T, idea string, replies ...string) *scenario {
	t.Helper()
	source, err := jsonval.DecodeObject([]byte(idea))
	if err != nil {
		t.Fatal(err)
	}
	s := &scenario{t: t, client: temporalClient, namespace: server.Namespace(),
		id: strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()), idea: source}
	if _, problems := ideafile.ReadIdea(source); len(problems.Errors()) == 0 {
		if err := ideaSchema().Validate(source); err != nil {
			t.Errorf("the JSON Schema of Idea files refuses what the reader takes: %s", err)
		}
	}
	config, _ := source["config"].(map[string]any)
	source["config"] = jsonval.DeepMerge(config, map[string]any{"llm": map[string]any{"model": s.id}})
	s.script(replies...)
	return s
}

func (s *scenario) script(replies ...string) {
	s.t.Helper()
	for i, r := range replies {
		replies[i] = strings.ReplaceAll(r, "\n", " ") // a line is a line, however it is written here
	}
	parsed, err := rehearsal.Parse([]byte(strings.Join(replies, "\n")))
	if err != nil {
		s.t.Fatal(err)
	}
	s.llm = rehearsal.NewHandler(parsed, s.options...)
	llm.byName.Store(s.id, s.llm)
}

// start starts the process.
func (s *scenario) start() client.WorkflowRun {
	s.t.Helper()
	idea, problems := ideafile.ReadIdea(s.idea)
	if len(problems) > 0 {
		s.t.Fatal(problems)
	}
	run, _, err := connect.StartOrAttachProcess(s.t.Context(), s.client, s.namespace, connect.StartSpec{
		ID: s.id, Idea: idea, Start: protocol.ProcessStart{Idea: s.idea, ScriptedReplies: s.scripted,
			StartedBy:            policy.IdentitiesNamed(s.startedBy...),
			IterationsPerRun:     max(*continueEvery, s.every, roundOf(s.t)),
			Delegation:           protocol.DelegationContext{Files: s.files},
			ResumesSolutionCalls: s.withCalls}, ContentDigest: "test",
	}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return run
}

// atLength leaves a test out where only a part is wanted: it plays many instances, or kills processes.
func atLength(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short")
	}
}

// finish runs the process to its end.
func (s *scenario) finish() loop.ProcessResult {
	s.t.Helper()
	var r loop.ProcessResult
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	if err := s.start().Get(ctx, &r); err != nil {
		s.t.Fatalf("the process ended with %v\n%s %s", err, s.story(), asJSON(s.processStatus()))
	}
	s.shows(r.Status)
	return r
}

// shows checks what a process that has ended says of itself.
func (s *scenario) shows(want loop.Status) {
	s.t.Helper()
	if v := s.processStatus(); v.Status != want {
		s.t.Errorf("it has ended as %s, and says %s", want, v.Status)
	}
}

// story is what the LLM was told, for a failing test's reader.
func (s *scenario) story() string {
	var b strings.Builder
	for _, seen := range s.llm.Requests() {
		fmt.Fprintf(&b, "--- request %d (%s)\n", seen.RequestNumber, seen.EndReason)
		for _, m := range seen.Messages[1:] {
			fmt.Fprintln(&b, m.Content)
		}
	}
	return b.String()
}

// prompt is all that the LLM was told in its nth Request.
func (s *scenario) prompt(n int) string {
	s.t.Helper()
	seen := s.llm.Requests()
	if len(seen) < n {
		s.t.Fatalf("there were only %d Requests", len(seen))
	}
	var b strings.Builder
	for _, m := range seen[n-1].Messages {
		fmt.Fprintln(&b, m.Content)
	}
	return b.String()
}

var faultSubject = regexp.MustCompile(`(?m)^- (\d+\.\d+) [^:]*: `)

// faultsTold is prompt with what went wrong named by the Call's id alone: "1.2: code: message".
func (s *scenario) faultsTold(n int) string {
	s.t.Helper()
	return faultSubject.ReplaceAllString(s.prompt(n), "$1: ")
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	devtest.Eventually(t, what, holds)
}

func asJSON(v any) string { return string(jsonval.Encode(jsonval.ToJSONValue(v))) }

func registerTestTools(r *tools.Registry) {
	type text struct {
		Text string `json:"text"`
	}
	tools.Register(r, "shout", func(_ context.Context, in text) (string, error) {
		return strings.ToUpper(in.Text), nil
	})
	tools.Register(r, "refuse", func(_ context.Context, in text) (string, error) {
		return "", tools.Final(fmt.Errorf("I will not say %q", in.Text))
	})
	tools.Register(r, "whisper", func(_ context.Context, in text) (string, error) {
		return strings.ToLower(in.Text), nil
	}, tools.Pure())
	var stumbled sync.Map
	tools.Register(r, "stumble", func(_ context.Context, in text) (string, error) {
		if _, before := stumbled.LoadOrStore(in.Text, true); !before {
			return "", fmt.Errorf("I stumbled over %q", in.Text)
		}
		return in.Text, nil
	}, tools.Pure())
	var faltered sync.Map
	tools.Register(r, "falter", func(_ context.Context, in text) (string, error) {
		n, _ := faltered.LoadOrStore(in.Text, new(atomic.Int32))
		return "", fmt.Errorf("I faltered %d times over %q", n.(*atomic.Int32).Add(1), in.Text)
	}, tools.Pure())
	tools.Register(r, "balk", func(_ context.Context, in text) (string, error) {
		return "", tools.Final(fmt.Errorf("I balk at %q", in.Text))
	}, tools.Pure())
}

// processStatus asks the process where it stands.
func (s *scenario) processStatus() protocol.ProcessView {
	s.t.Helper()
	var view protocol.ProcessView
	eventually(s.t, "the process answers", func() bool {
		v, err := s.client.QueryWorkflow(s.t.Context(), s.id, "", protocol.QueryStatus)
		return err == nil && v.Get(&view) == nil
	})
	return view
}
