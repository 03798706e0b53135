package workflows_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"processidea/internal/rehearsal"
	llmclient "processidea/llm"
	"processidea/model/approval/policy"
	"processidea/tools/httptool"
	"processidea/worker/engine"
	"processidea/worker/workertest"
)

// These tests stop the production worker in the middle of its work, and have another one go on.

func init() { workertest.RunIfWorker() }

// production starts the production worker on the namespace of a test, and waits until it is ready.
func (c *crash) production(flags ...string) *workertest.WorkerProcess {
	c.t.Helper()
	return c.productionWith(nil, flags...)
}

// productionWith starts it with more variables.
func (c *crash) productionWith(env []string, flags ...string) *workertest.WorkerProcess {
	c.t.Helper()
	p := workertest.Start(c.t, append([]string{
		"TEMPORAL_ADDRESS=" + addressOf(c.id), "TEMPORAL_NAMESPACE=" + c.id, "PROCESSIDEA_STORE=" + storeDir,
		"PROCESSIDEA_LOST_AFTER=5s",
		envLLM + "=" + llmURL + "/v1", "PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(toolbox.server.URL, "http://"),
	}, env...), flags...)
	eventually(c.t, "the worker is ready", p.IsReady)
	return p
}

// stop tells a worker to stop, and waits until it says that it drains.
func stop(t *testing.T, p *workertest.WorkerProcess) {
	t.Helper()
	p.Signal(syscall.SIGTERM)
	eventually(t, "the worker drains", p.IsDraining)
}

// stopped waits for a worker's end, which is a good one.
func stopped(t *testing.T, p *workertest.WorkerProcess) {
	t.Helper()
	if code, log := p.Wait(); code != 0 || !strings.Contains(log, `"msg":"stopped"`) {
		t.Errorf("the worker ended with %d", code)
	}
}

// keyed is a tool of the tool server that is told for each Idempotency-Key how often it has come.
func keyed(path string, then func(w http.ResponseWriter, r *http.Request, nth int)) (url string,
	seen func() map[string]int) {
	var mu sync.Mutex
	counts := map[string]int{}
	url = toolbox.handle(path, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		key := r.Header.Get("Idempotency-Key")
		counts[key]++
		nth := counts[key]
		mu.Unlock()
		then(w, r, nth)
	})
	return url, func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		copied := map[string]int{}
		for k, n := range counts {
			copied[k] = n
		}
		return copied
	}
}

// hundred is an Idea with ten instances, and a Plan of ten Calls for each, of a Tool that may fail once.
func hundred(url string) (idea, plan string) {
	var states, calls []string
	for n := 1; n <= 10; n++ {
		states = append(states, fmt.Sprintf(`{"type": "state", "_instance": "%d"}`, n))
		calls = append(calls, fmt.Sprintf(`{"_tool": "go", "_instance": "*", "n": %d, "_outputPath": "r%d"}`, n, n))
	}
	return `{"schema": {"tools": {"go": ` + httpTool(url, `, "_retry": {"attempts": 2}`) + `}},
		"context": [{"type": "text", "text": "Go."}, ` + strings.Join(states, ",") + `]}`,
		`{"solution": {"calls": [` + strings.Join(calls, ",") + `]}}`
}

func TestAWorkerThatIsStoppedUnderAHundredCallsFailsNoneOfThem(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	release := make(chan struct{})
	// Most of them end while the worker drains. The others are cut off, fail once for a reason of their own, and then
	// have no attempt left if being cut off was counted as one.
	cut := func(key string) bool { return strings.Contains(key, "/1.3") || strings.Contains(key, "/1.7") }
	url, seen := keyed("/"+c.id+"/go", func(w http.ResponseWriter, r *http.Request, nth int) {
		switch key := r.Header.Get("Idempotency-Key"); {
		case nth == 1 && cut(key):
			<-r.Context().Done()
		case nth == 1:
			<-release
		case nth == 2:
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, `"done"`)
	})
	idea, plan := hundred(url)
	s := newScenario(t, idea, plan, `{"solution": {"calls": []}}`)
	first := c.production("--drain", "3s")
	run := c.start(s)
	eventually(t, "all hundred run", func() bool { return len(seen()) == 100 })
	stop(t, first)
	close(release)
	c.production()
	stopped(t, first)
	r := c.finish(run)
	if r.Calls.Done != 100 || r.Calls.Failed != 0 || r.RequestCount != 2 || len(s.llm.Requests()) != 2 {
		t.Errorf("%+v after %d requests, the LLM was asked %d times", r.Calls, r.RequestCount, len(s.llm.Requests()))
	}
	if len(seen()) != 100 {
		t.Errorf("there were %d keys", len(seen()))
	}
	ended := 0
	for key, n := range seen() {
		if n == 1 {
			ended++
		}
		// On a slow machine more are cut off than are meant to be.
		if n != 3 && (n != 1 || cut(key)) {
			t.Errorf("%s was called %d times", key, n)
		}
	}
	if ended == 0 {
		t.Error("none has ended while the worker drained")
	}
}

// inside starts a worker in this process, which lives on when the worker is stopped: what it then reports arrives.
func (c *crash) inside() (stop func()) {
	c.t.Helper()
	w, err := engine.NewWorker(c.client, engine.Dependencies{
		Store: store, LLM: llmclient.Config{BaseURL: llmURL + "/v1"}, StopTimeout: time.Second,
		HTTP: httptool.New(httptool.Options{AllowList: strings.TrimPrefix(toolbox.server.URL, "http://"),
			LookupEnv: os.LookupEnv}),
	})
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	stop = sync.OnceFunc(w.Stop)
	c.t.Cleanup(stop)
	return stop
}

func TestACallThatIsCutOffHasNotFailed(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	block := func(w http.ResponseWriter, r *http.Request, nth int) {
		switch nth {
		case 1:
			<-r.Context().Done()
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprint(w, `"done"`)
	}
	again, seenAgain := keyed("/"+c.id+"/again", block)
	once, seenOnce := keyed("/"+c.id+"/once", block)
	s := newScenario(t, `{"schema": {"tools": {"again": `+httpTool(again, `, "_retry": {"attempts": 2}`)+`,
		"once": `+httpTool(once, `, "_retry": {"attempts": 1}`)+`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "again", "_outputPath": "a"}, {"_tool": "once", "_outputPath": "b"}]}}`,
		`{"solution": {"calls": []}}`)
	stop := c.inside()
	run := c.start(s)
	eventually(t, "both run", func() bool { return len(seenAgain()) == 1 && len(seenOnce()) == 1 })
	stop()
	c.inside()
	if w := s.waitsFor(1)[0]; w.CallID != "1.2" || !strings.Contains(w.ReviewReason, "it may have had its effect") {
		t.Errorf("%+v", w)
	}
	s.decide(policy.Answer, "1.2", `{"output": "seen"}`)
	r := c.finish(run)
	if got := asJSON(r.Instances[""].State); got != `{"a":"done","b":"seen"}` || seenAgain()[s.id+"/main/1.1"] != 3 {
		t.Errorf("%s after %v", got, seenAgain())
	}
	if p := s.prompt(2); seenOnce()[s.id+"/main/1.2"] != 1 || !strings.Contains(p, "answered by ann") {
		t.Errorf("%v\n%s", seenOnce(), p)
	}
}

func TestACallWhoseWorkerLosesSightOfTemporalForAMomentHasNotFailed(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	w := newWire(t)
	gone := make(chan struct{})
	url, seen := keyed("/"+c.id+"/go", func(w http.ResponseWriter, r *http.Request, nth int) {
		switch nth {
		case 1:
			_, _ = io.Copy(io.Discard, r.Body) // or nobody looks whether the client is still there
			<-r.Context().Done()               // the SDK has cancelled it, for want of heartbeats
			close(gone)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprint(w, `"done"`)
	})
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(url, `, "_retry": {"attempts": 2}`)+`}},
		"context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "go", "_outputPath": "a"}]}}`, `{"solution": {"calls": []}}`)
	c.productionWith([]string{"TEMPORAL_ADDRESS=" + w.address})
	run := c.start(s)
	eventually(t, "it runs", func() bool { return len(seen()) == 1 })
	w.cut()
	<-gone
	w.mend()
	if r := c.finish(run); r.Calls.Done != 1 || seen()[s.id+"/main/1.1"] != 3 {
		t.Errorf("%+v after %v", r.Calls, seen())
	}
}

func TestWorkersThatReplaceEachOtherLoseNoCallThatMustNotRunTwice(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	url, seen := keyed("/"+c.id+"/go", func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, `1`) })
	var chain, states []string
	for n := 1; n <= 20; n++ {
		if n <= 10 {
			chain = append(
				chain, fmt.Sprintf(`{"_tool": "go", "_instance": "*", "n": "†state.r%d", "_outputPath": "r%d"}`, n-1,
					n))
		}
		states = append(states, fmt.Sprintf(`{"type": "state", "_instance": "%d", "r0": 1}`, n))
	}
	s := newScenario(t, `{"config": {"gather": "5m"}, "schema": {"tools": {"go": `+httpTool(url, `, "_retry": {"attempts": 1}`)+`}},
		"context": [{"type": "text", "text": "Go."}, `+strings.Join(states, ",")+`]}`,
		`{"solution": {"calls": [`+strings.Join(chain, ",")+`]}}`, `{"solution": {"calls": []}}`)
	stop := c.inside()
	run := c.start(s)
	for at := 40; at < 200; at += 40 {
		eventually(t, "the Calls go on", func() bool { return len(seen()) >= at })
		next := c.inside()
		stop()
		stop = next
	}
	if r := c.finish(run); r.Calls.Done != 200 || r.Calls.Failed != 0 {
		t.Errorf("%+v", r.Calls)
	}
	for key, n := range seen() {
		if n != 1 {
			t.Errorf("%s was called %d times", key, n)
		}
	}
}

// holdBehind holds the first Request's stream behind a number of characters until it is released, or the client is
// gone.
func holdBehind(chars int, release <-chan struct{}) rehearsal.Option {
	return rehearsal.WithGate(func(ctx context.Context, request, sent int) {
		if request == 1 && sent >= chars {
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
	})
}

func TestARequestThatStreamsWhileItsWorkerDrainsIsHeardToItsEnd(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(c.tool("go", nil), "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`)
	calls, third := eightCalls()
	release := make(chan struct{})
	s.options = []rehearsal.Option{holdBehind(third, release)}
	s.script(`{"solution": {"calls": [`+calls+`]}}`, `{"solution": {"calls": []}}`)
	first := c.production("--drain", "1m")
	run := c.start(s)
	eventually(t, "the tool was called three times", func() bool { return len(c.calls("go")) == 3 })
	stop(t, first)
	c.production()
	close(release)
	stopped(t, first)
	r := c.finish(run)
	if n := len(s.llm.Requests()); n != 2 || r.RequestCount != 2 || r.Calls.Done != 8 || len(c.calls("go")) != 8 {
		t.Errorf("the LLM was asked %d times, the tool %d times; %+v", n, len(c.calls("go")), r)
	}
	if p := s.prompt(2); strings.Contains(p, "worker_lost") || strings.Contains(p, "truncated") {
		t.Error(p)
	}
}

func TestARequestThatOutlastsTheDrainIsCutLikeThatOfALostWorker(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(c.tool("go", nil), "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`)
	calls, third := eightCalls()
	s.options = []rehearsal.Option{stopBehind(third)}
	s.script(`{"solution": {"calls": [`+calls+`]}}`, `{"solution": {"calls": []}}`)
	stop := c.inside()
	run := c.start(s)
	eventually(t, "the tool was called three times", func() bool { return len(c.calls("go")) == 3 })
	stop()
	c.inside()
	r := c.finish(run)
	if n := len(s.llm.Requests()); n != 2 || r.RequestCount != 2 {
		t.Errorf("the LLM was asked %d times, %d of them counted", n, r.RequestCount)
	}
	if got := asJSON(r.Instances[""].State); got != `{"r1":"go","r2":"go","r3":"go"}` {
		t.Error(got)
	}
	if p := s.prompt(2); !strings.Contains(p, "worker_lost") || strings.Contains(p, "truncated") {
		t.Error(p)
	}
}

func TestARequestThatIsCutOffBeforeItsFirstByteIsMadeAfresh(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(c.tool("go", nil), "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`)
	s.options = []rehearsal.Option{stopBehind(0)}
	plan := `{"solution": {"calls": [{"_tool": "go", "_outputPath": "r"}]}}`
	s.script(plan, plan, `{"solution": {"calls": []}}`)
	stop := c.inside()
	run := c.start(s)
	eventually(t, "the LLM is asked", func() bool { return len(s.llm.Requests()) == 1 })
	stop()
	c.inside()
	r := c.finish(run)
	if n := len(s.llm.Requests()); n != 3 || len(c.calls("go")) != 1 || r.Calls.Done != 1 {
		t.Errorf("the LLM was asked %d times, the tool %d times; %+v", n, len(c.calls("go")), r)
	}
	if p := s.prompt(2); strings.Contains(p, "llm_unreachable") || strings.Contains(p, "truncated") {
		t.Error(p)
	}
}

func TestASecondSignalEndsAWorkerAtOnce(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	url, seen := keyed("/"+c.id+"/long", func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() })
	s := newScenario(t, `{"schema": {"tools": {"long": `+httpTool(url, "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "long", "_outputPath": "a"}]}}`)
	p := c.production("--drain", "10m")
	c.start(s)
	eventually(t, "it runs", func() bool { return len(seen()) == 1 })
	stop(t, p)
	// One that comes while the first is still being taken is the same.
	eventually(t, "another signal ends it", func() bool {
		p.Signal(syscall.SIGTERM)
		status, _ := p.Get("/healthz")
		return status == 0
	})
	if code, _ := p.Wait(); code == 0 {
		t.Error("it says that it ended well")
	}
}
