package workflows_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"processidea/connect"
	"processidea/internal/rehearsal"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/worker/workertest"
)

// These tests look at the production worker from outside: its endpoints, and the limits that it is given.

// wire is a connection to the Temporal server that can be cut and mended.
type wire struct {
	t       *testing.T
	address string

	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
}

func newWire(t *testing.T) *wire {
	t.Helper()
	w := &wire{t: t, address: "127.0.0.1:0"}
	w.mend()
	t.Cleanup(w.cut)
	return w
}

// mend lets connections through, at the same address as before.
func (w *wire) mend() {
	w.t.Helper()
	l, err := net.Listen("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.address, w.listener = l.Addr().String(), l
	w.mu.Unlock()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(c)
		}
	}()
}

func (w *wire) carry(from net.Conn) {
	to, err := net.Dial("tcp", ownServer.Address())
	if err != nil {
		_ = from.Close()
		return
	}
	w.mu.Lock()
	w.open = append(w.open, from, to)
	w.mu.Unlock()
	go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
	_, _ = io.Copy(from, to)
	_ = from.Close()
}

// cut ends all connections and takes no more.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.listener.Close()
	for _, c := range w.open {
		_ = c.Close()
	}
	w.open = nil
}

func TestAWorkerIsReadyWhileTemporalAnswersAndItsStoreCanBeWritten(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	w := newWire(t)
	dir := t.TempDir() + "/store"
	p := workertest.Start(t, []string{"TEMPORAL_ADDRESS=" + w.address, "TEMPORAL_NAMESPACE=" + c.id,
		"PROCESSIDEA_STORE=" + dir})
	eventually(t, "it is ready", p.IsReady)
	w.cut()
	eventually(t, "it misses Temporal", func() bool {
		status, body := p.Get("/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, "temporal: it does not answer")
	})
	if status, _ := p.Get("/healthz"); status != http.StatusOK {
		t.Errorf("it is not alive: %d", status)
	}
	w.mend()
	eventually(t, "it is ready again", p.IsReady)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // where the store's folder was
		t.Fatal(err)
	}
	eventually(t, "it misses its store", func() bool {
		status, body := p.Get("/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, "store: ")
	})
}

func TestAWorkerOfANamespaceThatDoesNotExistEndsAndNamesIt(t *testing.T) {
	t.Parallel()
	p := workertest.Start(t, []string{"TEMPORAL_ADDRESS=" + server.Address(), "TEMPORAL_NAMESPACE=nowhere",
		"PROCESSIDEA_STORE=" + storeDir})
	if code, log := p.Wait(); code != 1 || !strings.Contains(log, "worker: run worker: ") ||
		!strings.Contains(log, "nowhere") {
		t.Errorf("it ended with %d:\n%s", code, log)
	}
}

// metric reads one value of a worker's metrics; empty where there is none.
func metric(p *workertest.WorkerProcess, series string) string {
	_, body := p.Get("/metrics")
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(body)
	if found == nil {
		return ""
	}
	return found[1]
}

func TestTheMetricsCountWhatAProcessDid(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	url, _ := keyed("/"+c.id+"/go", func(w http.ResponseWriter, _ *http.Request, nth int) {
		if nth == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprint(w, `"done"`)
	})
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(url, "")+`, "shout": {"_activity": "formatText", "type": "object",
		"properties": {"template": {"type": "string"}, "values": {"type": "object"}}}}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"status": 503}`,
		`{"solution": {"calls": [{"_tool": "go", "_outputPath": "a"}, {"_tool": "shout", "template": "{x}", "values": {"x": "a secret"}, "_outputPath": "b"}]}}`,
		`{"raw": "nonsense"}`, `{"solution": {"calls": []}}`)
	p := c.production()
	if r := c.finish(c.start(s)); r.Calls.Done != 2 {
		t.Fatalf("%+v", r)
	}
	llm := `llm="` + s.id + `"`
	for series, want := range map[string]string{
		`processidea_requests_total{` + llm + `,outcome="whole"}`:                 "2",
		`processidea_requests_total{` + llm + `,outcome="llm_unreachable"}`:       "1",
		`processidea_requests_total{` + llm + `,outcome="not_json"}`:              "1",
		`processidea_request_time_to_first_byte_seconds_count{` + llm + `}`:       "3",
		`processidea_calls_total{outcome="done",tool="go"}`:                       "1",
		`processidea_calls_total{outcome="tool_failed",tool="go"}`:                "1",
		`processidea_calls_total{outcome="done",tool="shout"}`:                    "1",
		`processidea_call_duration_seconds_count{outcome="done",tool="go"}`:       "1",
		`processidea_request_wait_seconds_count`:                                  "4",
		`processidea_request_duration_seconds_count{` + llm + `,outcome="whole"}`: "2",
	} {
		if metric(p, series) != want {
			t.Errorf("%s is %q, not %s", series, metric(p, series), want)
		}
	}
	for _, kind := range []string{"input", "output"} {
		if n := metric(p, `processidea_tokens_total{`+llm+`,type="`+kind+`"}`); n == "" || n == "0" {
			t.Errorf("there are %q %s tokens", n, kind)
		}
	}
	_, all := p.Get("/metrics")
	for _, name := range []string{"temporal_workflow_completed_total", "temporal_num_pollers", "go_goroutines",
		"process_open_fds"} {
		if !strings.Contains(all, "\n"+name) {
			t.Errorf("there is no %s", name)
		}
	}
	if strings.Contains(all, "a secret") {
		t.Error("the metrics hold a parameter")
	}
}

func TestNoMoreRequestsAreUnderWayThanAWorkerMayMake(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	var mu sync.Mutex
	underWay, most := 0, 0
	second := make(chan struct{})
	var once sync.Once
	count := func(by int) {
		mu.Lock()
		defer mu.Unlock()
		underWay += by
		most = max(most, underWay)
		if underWay == 2 {
			once.Do(func() { close(second) })
		}
	}
	p := c.production("--max-requests", "2")
	var runs []client.WorkflowRun
	for n := range 8 {
		s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+
			`}}, "context": [{"type": "text", "text": "Go."}]}`)
		s.id = fmt.Sprintf("%s-%d", s.id, n)
		s.idea["config"] = map[string]any{"llm": map[string]any{"model": s.id}}
		// It is under way from its arrival to its first token: the worker cannot have ended it by then. The first one
		// waits for another.
		var begin, end sync.Once
		s.options = []rehearsal.Option{rehearsal.WithGate(func(ctx context.Context, _, sent int) {
			if sent > 0 {
				end.Do(func() { count(-1) })
				return
			}
			begin.Do(func() { count(1) })
			select {
			case <-second:
			case <-ctx.Done():
			}
		})}
		s.script(`{"solution": {"calls": []}, "ttft_ms": 200}`)
		runs = append(runs, c.start(s))
	}
	for _, run := range runs {
		c.finish(run)
	}
	if most != 2 {
		t.Errorf("%d Requests were under way at once", most)
	}
	if n := metric(p, "processidea_request_wait_seconds_count"); n != "8" {
		t.Errorf("%q Requests have had their turn", n)
	}
}

// built builds the example as its user would, in its own module.
func built(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "custom-worker")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "examples", "custom-worker")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build in %s: %v\n%s\nif modules are missing there: go build -mod=mod", build.Dir, err, said)
	}
	return program
}

func TestAWorkerThatAUserBuildsRunsTheUsersTools(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	// As a client does before it starts a process, which may be there before this worker is.
	if err := connect.InitializeStore(t.Context(), c.client, store); err != nil {
		t.Fatal(err)
	}
	worker := exec.CommandContext(t.Context(), built(t), "worker", "--listen", "")
	worker.Env = append(os.Environ(), "TEMPORAL_ADDRESS="+addressOf(c.id), "TEMPORAL_NAMESPACE="+c.id,
		"PROCESSIDEA_STORE="+storeDir,
		envLLM+"="+llmURL+"/v1")
	var log strings.Builder
	worker.Stderr = &log
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	idea, replies := example(t, "custom-worker")
	s := newScenario(t, asJSON(idea), strings.Split(strings.TrimSpace(replies), "\n")...)
	r := c.finish(c.start(s))
	want := `{"chairs":40,"lamps":3,"reserved":{"chair":{"article":"chair","count":2,"left":38},"lamp":{"article":"lamp","count":1,"left":2}}}`
	if got := asJSON(r.Instances[""].State); got != want || r.Status != loop.StatusCompleted {
		t.Errorf("%s with %s", r.Status, got)
	}
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := worker.Wait(); err != nil || !strings.Contains(log.String(), "stopped") {
		t.Errorf("the worker ended with %v:\n%s", err, log.String())
	}
}

// current makes a version the current one of the test's deployment, once a worker of it has been seen.
func (c *crash) current(build string) {
	c.t.Helper()
	eventually(c.t, "version "+build+" is current", func() bool {
		_, err := c.client.WorkerDeploymentClient().GetHandle(c.id).SetCurrentVersion(c.t.Context(),
			client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build})
		return err == nil
	})
}

// servedBy says which version a workflow was last served by, and how it is to be versioned.
func (c *crash) servedBy(id string) (build string, behavior enumspb.VersioningBehavior) {
	c.t.Helper()
	d, err := c.client.DescribeWorkflowExecution(c.t.Context(), id, "")
	if err != nil {
		c.t.Fatal(err)
	}
	v := d.GetWorkflowExecutionInfo().GetVersioningInfo()
	return v.GetDeploymentVersion().GetBuildId(), v.GetBehavior()
}

func TestAVersionedWorkerServesAProcessOnceItsVersionIsCurrentAndTheNextGoesOnWithIt(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	release := make(chan struct{})
	url, seen := keyed("/"+c.id+"/go", func(w http.ResponseWriter, _ *http.Request, _ int) {
		<-release
		fmt.Fprint(w, `1`)
	})
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(url, "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "go", "_outputPath": "a"}]}}`, `{"solution": {"calls": []}}`)
	run := c.start(s)
	first := c.production("--deployment", c.id, "--build-id", "1")
	c.current("1")
	eventually(t, "its Call runs", func() bool { return len(seen()) == 1 })
	for _, id := range []string{s.id, s.id + "/main"} {
		if build, behavior := c.servedBy(id); build != "1" || behavior != enumspb.VERSIONING_BEHAVIOR_AUTO_UPGRADE {
			t.Errorf("%s is served by %q, %v", id, build, behavior)
		}
	}
	c.production("--deployment", c.id, "--build-id", "2")
	c.current("2")
	stop(t, first)
	close(release)
	stopped(t, first)
	if r := c.finish(run); r.Calls.Done != 1 || seen()[s.id+"/main/1.1"] != 1 {
		t.Errorf("%+v after %v", r.Calls, seen())
	}
	for _, id := range []string{s.id, s.id + "/main"} {
		if build, _ := c.servedBy(id); build != "2" {
			t.Errorf("%s was served by %q to its end", id, build)
		}
	}
}

// Every heartbeat is an action that a hosted server bills: how soon a worker counts as lost is the worker's to say.
func TestAWorkerSaysAfterHowLongItsCallsCountAsLost(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(c.tool("go", func(int, *http.Request) {}), "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`,
		goOnce, nothingMore)
	c.production("--lost-after", "30s")
	c.finish(c.start(s))
	for _, id := range []string{s.id, protocol.InstanceID(s.id, "")} {
		seen := 0
		for _, e := range historyIn(t, c.id, id).Events {
			a := e.GetActivityTaskScheduledEventAttributes()
			if got := a.GetHeartbeatTimeout().AsDuration(); got == 30*time.Second {
				seen++
			} else if got > 0 {
				t.Errorf("%s of %s counts as lost after %v", a.GetActivityType().GetName(), id, got)
			}
		}
		if seen == 0 {
			t.Errorf("nothing that %s did has heartbeats", id)
		}
	}
}

// What people decide is counted once it is on record, and so is what nobody decided in time.
func TestAWorkerCountsDecisionsAndHowLongTheyTook(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	p := c.production()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"pay": `+till.pay(`true`)+`,
		"due": `+till.pay(`{"timeout": "1s", "onTimeout": "approve"}`)+`}}, "context": [{"type": "plan", "stage": "complete",
		"plan": [{"_tool": "pay", "n": 1, "_outputPath": "a"}, {"_tool": "due", "n": 2, "_outputPath": "b"}]}]}`)
	run := c.start(s)
	for _, w := range s.waitsFor(2) {
		if w.Tool == "pay" {
			eventually(t, "it is counted as one that waits", func() bool {
				return metric(p, `processidea_waiting{tool="pay"}`) == "1"
			})
			if age := metric(p, `processidea_waiting_oldest_seconds{tool="pay"}`); age == "" || age == "0" {
				t.Errorf("it has waited for %q", age)
			}
			s.signal(s.id, "approve", map[string]any{"call": w.CallID, "by": "ann"})
		}
	}
	c.finish(run)
	eventually(t, "nobody is waited for", func() bool {
		return metric(p, `processidea_waiting{tool="pay"}`)+metric(p, `processidea_waiting_oldest_seconds{tool="pay"}`) ==
			"00"
	})
	for _, which := range []string{`{by="person",decision="approve",tool="pay"}`,
		`{by="deadline",decision="approve",tool="due"}`} {
		for _, series := range []string{"processidea_decisions_total", "processidea_decision_seconds_count"} {
			if got := metric(p, series+which); got != "1" {
				t.Errorf("%s%s is %q", series, which, got)
			}
		}
	}
}
