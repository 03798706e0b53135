package workflows_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"processidea/connect"
	"processidea/internal/rehearsal"
	llmclient "processidea/llm"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/tools/httptool"
	"processidea/worker/engine"
)

// These tests kill a worker with SIGKILL and start another. The worker is this test binary, run as a worker. Every test
// has a namespace of its own, so that no other worker takes its work, and it takes nobody else's down.

// The environment that makes this binary a worker.
const (
	envWorker = "TEST_WORKER_ADDRESS"
	envSpace  = "TEST_WORKER_NAMESPACE"
	envStore  = "TEST_WORKER_STORE"
	envLLM    = "OPENAI_BASE_URL"
	envSaves  = "TEST_WORKER_SAVES_ACTIONS"
)

// runAsWorker works until it is told to stop, or killed.
func runAsWorker(address string) int {
	s, err := blobs.Open(context.Background(), os.Getenv(envStore))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	c, err := client.Dial(connect.ClientOptions(client.Options{HostPort: address, Namespace: os.Getenv(envSpace),
		Logger: quiet{}}, s))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	w, err := engine.NewWorker(c, engine.Dependencies{Store: s,
		Limits: engine.Limits{MinimizesActions: os.Getenv(envSaves) != ""}})
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	<-stop
	return 0
}

// crash is a process whose worker can be killed.
type crash struct {
	t      *testing.T
	client client.Client
	id     string

	mu   sync.Mutex
	seen map[string][]string // Idempotency-Keys by tool path
}

var crashes atomic.Int64

func newCrash(t *testing.T) *crash {
	t.Helper()
	atLength(t)
	space := fmt.Sprintf("%s-%d", t.Name(), crashes.Add(1)) // with -count a test runs again
	_, err := ownClient.WorkflowService().RegisterNamespace(t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: space, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Dial(connect.ClientOptions(client.Options{
		HostPort: addressOf(space), Namespace: space, Logger: quiet{}}, store))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	eventually(t, "the namespace is there", func() bool {
		_, err := c.DescribeTaskQueue(t.Context(), "process-idea", 1)
		return err == nil
	})
	return &crash{t: t, client: c, id: space, seen: map[string][]string{}}
}

// work starts a worker and gives what kills it.
func (c *crash) work() (kill func()) {
	c.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envWorker+"="+addressOf(c.id), envSpace+"="+c.id, envStore+"="+storeDir,
		envLLM+"="+llmURL+"/v1", "PROCESSIDEA_HTTP_ALLOW="+strings.TrimPrefix(toolbox.server.URL, "http://"))
	if *saveActions {
		cmd.Env = append(cmd.Env, envSaves+"=1")
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	c.t.Cleanup(kill)
	return kill
}

// tool is a path of the tool server that notes who calls; it answers its name once `then` returns.
func (c *crash) tool(name string, then func(nth int, r *http.Request)) string {
	return toolbox.handle("/"+c.id+"/"+name, func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.seen[name] = append(c.seen[name], r.Header.Get("Idempotency-Key"))
		n := len(c.seen[name])
		c.mu.Unlock()
		if then != nil {
			then(n, r)
		}
		fmt.Fprintf(w, "%q", name)
	})
}

func (c *crash) calls(name string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.seen[name]...)
}

func (c *crash) start(s *scenario) client.WorkflowRun {
	c.t.Helper()
	s.client, s.namespace = c.client, c.id
	return s.start()
}

// killOnce kills a worker, and runs another, when what must have happened before has.
func (c *crash) killOnce(s *scenario, reached func()) loop.ProcessResult {
	c.t.Helper()
	kill := c.work()
	run := c.start(s)
	reached()
	kill()
	c.work()
	return c.finish(run)
}

func (c *crash) finish(run client.WorkflowRun) loop.ProcessResult {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Minute)
	defer cancel()
	var r loop.ProcessResult
	if err := run.Get(ctx, &r); err != nil {
		c.t.Fatal(err)
	}
	return r
}

func httpTool(url, more string) string {
	return fmt.Sprintf(
		`{"type": "object", "properties": {"n": {"type": "integer"}}, "_activity": {"http": {"url": %q}}%s}`, url, more)
}

// stopBehind holds the first Request's stream behind a number of characters, until the client is gone.
func stopBehind(chars int) rehearsal.Option {
	return rehearsal.WithGate(func(ctx context.Context, request, sent int) {
		if request == 1 && sent >= chars {
			<-ctx.Done()
		}
	})
}

const call = `{"_tool": "go", "n": %d, "_outputPath": "r%d"}`

func eightCalls() (all string, third int) {
	var calls []string
	for n := 1; n <= 8; n++ {
		calls = append(calls, fmt.Sprintf(call, n, n))
		if n == 3 {
			third = len(`{"calls":[`) + len(strings.Join(calls, ",")) + 8
		}
	}
	return strings.Join(calls, ","), third
}

func TestAWorkerKilledInTheMiddleOfAStreamDoesNotMakeTheLLMSpeakTwice(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(c.tool("go", nil), "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`)
	calls, third := eightCalls()
	s.options = []rehearsal.Option{stopBehind(third)}
	s.script(`{"solution": {"calls": [`+calls+`]}}`, `{"solution": {"calls": []}}`)
	r := c.killOnce(s, func() {
		eventually(t, "the tool was called three times", func() bool { return len(c.calls("go")) == 3 })
	})
	if n := len(s.llm.Requests()); n != 2 || r.RequestCount != 2 {
		t.Errorf("the LLM was asked %d times, %d of them counted", n, r.RequestCount)
	}
	if got := asJSON(r.Instances[""].State); got != `{"r1":"go","r2":"go","r3":"go"}` {
		t.Error(got)
	}
	if p := s.prompt(2); !strings.Contains(p, "worker_lost") || !strings.Contains(p, "→ r3: ") {
		t.Error(p)
	}
}

// workHandingOutTo starts a worker in this process that hands out the Calls of the first Request to one instance only,
// and whose heartbeats do not reach the server.
func (c *crash) workHandingOutTo(token string) {
	c.t.Helper()
	lossy := func(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, call grpc.UnaryInvoker,
		options ...grpc.CallOption) error {
		isLost := false
		switch in := in.(type) {
		case *workflowservice.RecordActivityTaskHeartbeatRequest:
			isLost = true
		case *workflowservice.SignalWorkflowExecutionRequest:
			sent := in.Input.String()
			isLost = in.SignalName == protocol.SignalCalls && strings.Contains(sent, `\"request\":1,`) &&
				!strings.Contains(sent, `\"rest\":true`) &&
				in.WorkflowExecution.WorkflowId != protocol.InstanceID(c.t.Name(), token)
		}
		if isLost {
			<-ctx.Done()
			return ctx.Err()
		}
		return call(ctx, method, in, out, conn, options...)
	}
	own, err := client.Dial(connect.ClientOptions(client.Options{HostPort: addressOf(c.id), Namespace: c.id,
		Logger: quiet{},
		ConnectionOptions: client.ConnectionOptions{
			DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(lossy)}}}, store))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(own.Close)
	w, err := engine.NewWorker(own, engine.Dependencies{Store: store, LLM: llmclient.Config{BaseURL: llmURL + "/v1"},
		HTTP: httptool.New(httptool.Options{AllowList: strings.TrimPrefix(toolbox.server.URL, "http://")})})
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(w.Stop)
}

// The process learns the Calls of a reply that it never had from the instances: also from those that had been told that
// no more come.
func TestCallsAreHandedOnThoughTheWorkerIsLostWhenSomeInstancesHaveTheWholeReply(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(c.tool("go", nil), "")+`}}, "context": [
		{"type": "state", "_instance": "1", "state": {"n": 1}}, {"type": "state", "_instance": "2", "state": {"n": 2}}, {"type": "state", "_instance": "3", "state": {"n": 3}}]}`,
		`{"solution": {"calls": [{"_tool": "go", "_instance": "*", "n": "†state.n", "_outputPath": "gone"}]}}`,
		`{"solution": {"calls": []}}`)
	c.workHandingOutTo("2")
	r := c.finish(c.start(s))
	if r.Calls.Done != 3 || r.Calls.Failed > 0 || r.RequestCount != 2 ||
		!strings.Contains(s.prompt(2), "worker_lost") ||
		!strings.Contains(s.prompt(2), "done (all 3)") {
		t.Errorf("%+v\n%s", r, s.story())
	}
}

func TestAWorkerKilledBeforeTheFirstCallMakesExactlyOneMoreRequest(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(c.tool("go", nil), "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`)
	calls, _ := eightCalls()
	reached := make(chan struct{})
	var once sync.Once
	s.options = []rehearsal.Option{rehearsal.WithGate(func(ctx context.Context, _, sent int) {
		first := false
		once.Do(func() { first = true })
		if first {
			close(reached)
			<-ctx.Done()
		}
	})}
	plan := `{"solution": {"calls": [` + calls + `]}}`
	s.script(plan, plan, `{"solution": {"calls": []}}`)
	r := c.killOnce(s, func() { <-reached })
	if n := len(s.llm.Requests()); n != 3 || len(c.calls("go")) != 8 || r.Calls.Done != 8 {
		t.Errorf("the LLM was asked %d times, the tool %d times; %+v", n, len(c.calls("go")), r)
	}
}

func TestACallThatTookItsWorkerDownThreeTimesFailsAndSaysSo(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	hold := func(_ int, r *http.Request) { <-r.Context().Done() }
	s := newScenario(t, `{"schema": {"tools": {"deadly": `+httpTool(c.tool("deadly", hold), "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "deadly", "_outputPath": "a"}]}}`, `{"solution": {"calls": []}}`)
	kill := c.work()
	run := c.start(s)
	for n := 1; n <= 3; n++ {
		eventually(t, fmt.Sprintf("it was called %d times", n), func() bool { return len(c.calls("deadly")) == n })
		kill()
		kill = c.work()
	}
	r := c.finish(run)
	if r.Calls.Failed != 1 || len(c.calls("deadly")) != 3 {
		t.Errorf("it was called %d times: %+v", len(c.calls("deadly")), r)
	}
	if p := s.prompt(2); !strings.Contains(p, "3 workers were lost while the tool ran") {
		t.Error(p)
	}
}

func TestACallCutOffBetweenEffectAndReportComesAgainWithTheSameKey(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	hold := func(nth int, r *http.Request) {
		if nth == 1 {
			<-r.Context().Done() // the effect is there; the answer never arrives
		}
	}
	s := newScenario(t, `{"schema": {"tools": {"again": `+httpTool(c.tool("again", hold), "")+`,
		"once": `+httpTool(c.tool("once", hold), `, "_retry": {"attempts": 1}`)+`,
		"before": `+httpTool(c.tool("before", nil), "")+`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "before", "_outputPath": "a"}, {"_tool": "again", "_outputPath": "b"},
			{"_tool": "once", "_outputPath": "c"}]}}`, `{"solution": {"calls": []}}`)
	kill := c.work()
	run := c.start(s)
	eventually(t, "all three were called", func() bool {
		return len(c.calls("again")) == 1 && len(c.calls("once")) == 1 && len(c.calls("before")) == 1
	})
	eventually(t, "the first is in history", func() bool {
		v, err := c.client.QueryWorkflow(t.Context(), s.id+"/main", "", "status")
		var view struct {
			State map[string]any `json:"state"`
		}
		return err == nil && v.Get(&view) == nil && view.State["a"] != nil
	})
	kill()
	second := c.productionWith(nil)
	waits := func() []approval.PendingCall {
		var v struct{ Approvals []approval.PendingCall }
		q, err := c.client.QueryWorkflow(t.Context(), s.id+"/main", "", "approvals")
		if err != nil || q.Get(&v) != nil {
			return nil
		}
		return v.Approvals
	}
	eventually(t, "a person is asked about the Call that must not run twice", func() bool { return len(waits()) == 1 })
	if p := waits()[0]; p.CallID != "1.3" || !strings.Contains(p.ReviewReason, "the worker was lost") ||
		len(c.calls("once")) != 1 {
		t.Errorf("%+v after %d calls", p, len(c.calls("once")))
	}
	if err := c.client.SignalWorkflow(t.Context(), s.id, "", policy.Answer,
		map[string]any{"call": "1.3", "by": "ann", "output": "seen"}); err != nil {
		t.Fatal(err)
	}
	r := c.finish(run)
	if k := c.calls("again"); len(k) != 2 || k[0] != k[1] || k[0] != s.id+"/main/1.2" {
		t.Errorf("again: %q", k)
	}
	_, metrics := second.Get("/metrics")
	second.Signal(syscall.SIGTERM)
	_, log := second.Wait()
	if !regexp.MustCompile(`processidea_calls_repeated_total{[^}]*tool="again"[^}]*} 1\n`).MatchString(metrics) ||
		strings.Count(log, `"msg":"a Call is run again`) != 1 {
		t.Errorf("it is not said that a Call came again:\n%s", log)
	}
	if len(c.calls("once")) != 1 || len(c.calls("before")) != 1 {
		t.Errorf("once %d times, before %d times", len(c.calls("once")), len(c.calls("before")))
	}
	if got := asJSON(r.Instances[""].State); got != `{"a":"before","b":"again","c":"seen"}` ||
		!strings.Contains(s.prompt(2), "answered by ann") {
		t.Errorf("%s\n%s", got, s.prompt(2))
	}
}

func TestASplitProcessGoesOnWhereItsWorkersWereKilled(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	hold := func(nth int, r *http.Request) {
		if nth > 4 && nth <= 12 || nth > 14 && nth <= 20 {
			<-r.Context().Done()
		}
	}
	s := newScenario(t, `{"config": {"batch": 4, "gather": "5m"}, "schema": {"tools": {"go": `+httpTool(c.tool("go", hold), "")+`}},
		"context": [{"type": "text", "text": "Go."}, `+rows(1, 12)+`]}`)
	s.scripted = `{"when": "\"r1\":", "solution": {"calls": []}}
{"solution": {"calls": [{"_tool": "go", "_instance": "*", "n": 1, "_outputPath": "r1"}]}}`
	kill := c.work()
	run := c.start(s)
	for _, calls := range []int{12, 20} { // four are done when the first worker is killed, two more when the second is
		eventually(t, "every other Call runs", func() bool { return len(c.calls("go")) >= calls })
		kill()
		kill = c.work()
	}
	r := c.finish(run)
	if r.Status != loop.StatusCompleted || r.Calls.Done != 12 || len(r.Instances) != 12 {
		t.Errorf("%s %+v, %d instances", r.Status, r.Calls, len(r.Instances))
	}
	keys := map[string]int{}
	for _, key := range c.calls("go") {
		keys[key]++
	}
	if len(keys) != 12 {
		t.Errorf("12 Calls came under %d keys: %v", len(keys), keys)
	}
	for token, i := range r.Instances {
		if i.Status != ideafile.InstanceSettled || asJSON(i.State) != fmt.Sprintf(`{"r1":"go","text":"t%s"}`, token) {
			t.Errorf("%s is %s with %s", token, i.Status, asJSON(i.State))
		}
	}
}

// A recheck that was cut off with its worker is made again: the process comes to the same end, with the same verdict.
func TestARecheckIsMadeAgainWhoseWorkerWasKilled(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	s := newScenario(t, judged(`"quality": {"recheck": 1}`))
	reached, once := make(chan struct{}), sync.Once{}
	s.options = []rehearsal.Option{rehearsal.WithGate(func(ctx context.Context, request, sent int) {
		if request == 2 && sent > 20 {
			once.Do(func() { close(reached) })
			<-ctx.Done()
		}
	})}
	second := moods("judge", "good", "bad", "bad", "bad")
	s.script(moods("judge", "good", "good", "bad", "bad"), second, second)
	r := c.killOnce(s, func() { <-reached })
	if n := len(s.llm.Requests()); n != 3 || r.Status != loop.StatusCompleted || r.RequestCount != 1 {
		t.Errorf("%s after %d Requests; the LLM was asked %d times", r.Status, r.RequestCount, n)
	}
	if q := r.Quality; q == nil || q.RecheckedCount != 4 || q.DifferedCount != 1 || q.FailedCount != 0 {
		t.Errorf("its verdict is %s", asJSON(q))
	}
	if got := s.rechecked(); len(got) != 4 || !got["2"].HasDiffered || got["1"].HasDiffered ||
		asJSON(r.Instances["2"].State) != `{"mood":"good","text":"t2"}` {
		t.Errorf("the chain keeps %s, the States are %s", asJSON(got), asJSON(r.Instances))
	}
}
