package workflows_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"processidea/internal/longrun"
	"processidea/internal/rehearsal"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/chain"
	"processidea/worker/workertest"
)

// These tests take away what a worker stands on, see that its process says so and waits, and that it goes on once it is
// mended.

// pausedWith waits until the process is paused, and checks the reason.
func (s *scenario) pausedWith(code string, says ...string) {
	s.t.Helper()
	eventually(s.t, "the process pauses", func() bool { return s.processStatus().Status == loop.StatusPaused })
	view := s.processStatus()
	if view.Error.Code != code {
		s.t.Errorf("it pauses with %+v", view.Error)
	}
	for _, text := range says {
		if !strings.Contains(view.Error.Message, text) || !strings.Contains(view.WaitingFor[0], text) {
			s.t.Errorf("it does not say %q: %+v, %v", text, view.Error, view.WaitingFor)
		}
	}
}

const goOnce = `{"solution": {"calls": [{"_tool": "go", "_outputPath": "a"}]}}`

func TestAWrongLLMKeyPausesAProcessThatGoesOnWithTheRightOne(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	const right, wrong = "sk-right-0123456789abcdef", "sk-wrong-0123456789abcdef"
	path := "/" + c.id + "/v1/chat/completions"
	toolbox.handle(path, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+right {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error": {"message": "Incorrect API key provided: %s", "code": "invalid_api_key"}}`,
				r.Header.Get("Authorization"))
			return
		}
		r.URL.Path = "/v1/chat/completions"
		llm.ServeHTTP(w, r)
	})
	base := envLLM + "=" + toolbox.server.URL + strings.TrimSuffix(path, "/chat/completions")
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(c.tool("go", nil), "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`, goOnce, nothingMore)
	first := c.productionWith([]string{base, "OPENAI_API_KEY=" + wrong})
	run := c.start(s)
	s.pausedWith(turn.CodeLLMError, "the LLM's server answered 401: Incorrect API key provided")
	if m := s.processStatus().Error.Message; strings.Contains(m, wrong) {
		t.Errorf("the key stands in %q", m)
	}
	first.Signal(syscall.SIGTERM)
	stopped(t, first)
	c.productionWith([]string{base, "OPENAI_API_KEY=" + right})
	s.signal(s.id, approval.SteerResume, map[string]any{"by": "ann"})
	if r := c.finish(run); r.Calls.Done != 1 || len(c.calls("go")) != 1 {
		t.Errorf("%+v", r)
	}
}

// A namespace of one's own has no search attributes until somebody registers them.
func TestOnAServerWithoutTheSearchAttributesAProcessRunsAndNoneIsSet(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	c.production()
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(c.tool("go", nil), `, "_approval": true`)+
		`}}, "context": [{"type": "text", "text": "Go."}]}`,
		goOnce, nothingMore)
	run := c.start(s)
	s.waitsFor(1)
	s.decide(policy.Approve, "1.1", "")
	if r := c.finish(run); r.Calls.Done != 1 {
		t.Errorf("%+v", r)
	}
	for _, id := range []string{s.id, s.id + "/main"} {
		events := c.client.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			// What arrives while a workflow ends fails its last task, and that is tried again.
			late :=
				e.GetWorkflowTaskFailedEventAttributes().GetCause() == enumspb.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND
			switch e.GetEventType() {
			case enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES, enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED:
				if late {
					continue
				}
				t.Errorf("%s: %v", id, e)
			}
		}
	}
}

// broken is a store's folder that can be taken away and put back.
type broken struct {
	t   *testing.T
	dir string
	is  atomic.Bool
}

// breaks leaves nothing to write to: where the folder was, there is a file. (A read-only folder would not stop root.)
func (b *broken) breaks() {
	if err := os.Rename(b.dir, b.dir+".away"); err != nil {
		b.t.Error(err)
	}
	if err := os.WriteFile(b.dir, nil, 0o600); err != nil {
		b.t.Error(err)
	}
	b.is.Store(true)
}

func (b *broken) mend() {
	b.t.Helper()
	err := os.Remove(b.dir)
	if err == nil {
		err = os.Rename(b.dir+".away", b.dir)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// failing is what the last attempt of an activity said that is tried again and again; empty where none is.
func (c *crash) failing(id string) string {
	d, err := c.client.DescribeWorkflowExecution(c.t.Context(), id, "")
	if err != nil {
		return ""
	}
	for _, a := range d.GetPendingActivities() {
		if f := a.GetLastFailure(); f != nil && a.GetAttempt() > 1 {
			return a.GetActivityType().GetName() + ": " + f.GetMessage()
		}
	}
	return ""
}

func TestAProcessWhoseStoreCannotBeWrittenWaitsAndGoesOnWhenItCan(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	b := &broken{t: t, dir: filepath.Join(t.TempDir(), "store")}
	url := c.tool("go", func(int, *http.Request) { b.breaks() })
	p := workertest.Start(t, []string{"TEMPORAL_ADDRESS=" + addressOf(c.id), "TEMPORAL_NAMESPACE=" + c.id,
		"PROCESSIDEA_STORE=" + b.dir, "PROCESSIDEA_LOST_AFTER=5s",
		envLLM + "=" + llmURL + "/v1", "PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(toolbox.server.URL, "http://")})
	eventually(t, "the worker is ready", p.IsReady)
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(url, "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`, goOnce, nothingMore)
	run := c.start(s)
	eventually(t, "an activity says what it waits for",
		func() bool { return b.is.Load() && strings.Contains(c.failing(s.id), "Seal: chain: seal Idea") })
	eventually(t, "the worker says that it misses its store", func() bool {
		status, body := p.Get("/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, "store: ")
	})
	eventually(t, "the process says that its store holds it up, and what mends it", func() bool {
		v := s.processStatus()
		return len(v.HoldUps) == 1 && strings.HasPrefix(v.HoldUps[0].CauseCode, "store_") &&
			v.HoldUps[0].Remedy != "" &&
			slices.Contains(v.WaitingFor, v.HoldUps[0].String())
	})
	_, metrics := p.Get("/metrics")
	for _, counted := range []string{
		`processidea_held_up{[^}]*cause="store_[a-z]+"[^}]*} 1\n`,
		`processidea_processes_total{[^}]*status="began"[^}]*} 1\n`,
		`# HELP processidea_processes_total Processes that began`,
	} {
		if !regexp.MustCompile(counted).MatchString(metrics) {
			t.Errorf("the metrics do not count %s", counted)
		}
	}
	b.mend()
	r := c.finish(run)
	if r.Status != loop.StatusCompleted || r.Calls.Done != 1 || len(c.calls("go")) != 1 ||
		len(s.processStatus().HoldUps) > 0 {
		t.Errorf("%+v after %d calls", r, len(c.calls("go")))
	}
	p.Signal(syscall.SIGTERM)
	_, log := p.Wait()
	for _, says := range []string{"the process began", "the process is held up", "the process has ended"} {
		if n := strings.Count(log, `"msg":"`+says+`"`); n != 1 {
			t.Errorf("the log says %d times that %s", n, says)
		}
	}
	if strings.Contains(log, "Started Worker") {
		t.Error("the log holds what the SDK tells of itself")
	}
	kept, err := blobs.Open(t.Context(), b.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = kept.Close() }()
	for at := 1; at <= r.IdeaCount; at++ {
		if _, err := chain.New(kept).Load(t.Context(), s.id, at); err != nil {
			t.Error(err)
		}
	}
}

// What a tool did is not lost, nor done twice, because its result could not be stored at once.
func TestALargeResultWaitsForTheStoreAndItsToolIsNotRunAgain(t *testing.T) {
	t.Parallel()
	for name, size := range longrun.SampleRows(t, 2, map[string]int{"by-its-handle": 200_000, "in-a-payload": 20_000}) {
		t.Run(name, func(t *testing.T) { largeResultWaits(t, size) })
	}
}

func largeResultWaits(t *testing.T, size int) {
	t.Parallel()
	c := newCrash(t)
	b := &broken{t: t, dir: filepath.Join(t.TempDir(), "store")}
	answered := make(chan struct{})
	url := toolbox.handle("/"+c.id+"/large", func(w http.ResponseWriter, _ *http.Request) {
		b.breaks()
		fmt.Fprintf(w, "%q", strings.Repeat("x", size))
		close(answered) // twice would panic
	})
	p := c.productionWith([]string{"PROCESSIDEA_STORE=" + b.dir})
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(url, "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`, goOnce, nothingMore)
	c.start(s)
	<-answered
	eventually(t, "the worker says that it misses its store", func() bool {
		status, body := p.Get("/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, "store: ")
	})
	b.mend()
	// The result itself may lie in the store of the worker, which this program's client does not read.
	eventually(t, "the process ends", func() bool { return s.processStatus().Status == loop.StatusCompleted })
	if r := s.processStatus(); r.Calls.Done != 1 {
		t.Errorf("%+v", r)
	}
}

// A Tool is not run in vain: as long as the store is known to be away, its result could not be kept.
func TestCallsWaitForAStoreThatIsAwayAndNoneHasFailedOrRunInVain(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	b := &broken{t: t, dir: filepath.Join(t.TempDir(), "store")}
	url := c.tool("go", nil)
	c.productionWith([]string{"PROCESSIDEA_STORE=" + b.dir})
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(url, `, "_retry": {"attempts": 1}`)+`,
		"formatText": {"type": "object", "properties": {"template": {"type": "string"}, "values": {"type": "object"}}, "_retry": {"attempts": 1}}}},
		"context": [{"type": "text", "text": "Go."}, {"type": "state", "text": "`+strings.Repeat("x", 7000)+`"}]}`)
	s.options = []rehearsal.Option{rehearsal.WithGate(func(_ context.Context, request, sent int) {
		if request == 1 && sent == 0 {
			b.breaks()
		}
	})}
	large := `{"_tool": "formatText", "template": "` + strings.Repeat("{text}",
		12) + `", "values": {"text": "†state.text"}, "_outputPath": "`
	s.script(`{"solution": {"calls": [`+large+`a"}, `+large+`b"}, {"_tool": "go", "_outputPath": "c"}]}}`, nothingMore)
	run := c.start(s)
	eventually(t, "three Calls wait for the store", func() bool { return c.awaitingStore(s.id+"/main") == 3 })
	if n := len(c.calls("go")); n > 0 {
		t.Errorf("the tool ran %d times", n)
	}
	b.mend()
	if r := c.finish(run); r.Calls.Done != 3 || r.Calls.Failed != 0 || len(c.calls("go")) != 1 {
		t.Errorf("%+v after %d calls", r, len(c.calls("go")))
	}
}

// awaitingStore counts the Calls of an instance that wait for the store.
func (c *crash) awaitingStore(id string) (n int) {
	d, err := c.client.DescribeWorkflowExecution(c.t.Context(), id, "")
	if err != nil {
		return 0
	}
	for _, a := range d.GetPendingActivities() {
		if a.GetActivityType().GetName() == protocol.ActivityAwaitStore && a.GetLastFailure() != nil {
			n++
		}
	}
	return n
}

func TestAWorkerThatIsStartedWhileItsStoreIsAwayWaitsForItAndBeginsNone(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	dir := filepath.Join(t.TempDir(), "store")
	first := c.productionWith([]string{"PROCESSIDEA_STORE=" + dir})
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(c.tool("go", nil), "")+
		`}}, "context": [{"type": "text", "text": "Go."}]}`, goOnce, nothingMore)
	c.finish(c.start(s))
	first.Signal(syscall.SIGTERM)
	stopped(t, first)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Temporal lists the process", func() bool {
		n, err := c.client.CountWorkflow(t.Context(),
			&workflowservice.CountWorkflowExecutionsRequest{Query: "WorkflowType = 'Process'"})
		return err == nil && n.GetCount() == 1
	})
	second := workertest.Start(t, []string{"TEMPORAL_ADDRESS=" + addressOf(c.id), "TEMPORAL_NAMESPACE=" + c.id,
		"PROCESSIDEA_STORE=" + dir})
	eventually(t, "the worker says what it waits for", func() bool {
		status, body := second.Get("/readyz")
		return status == http.StatusServiceUnavailable &&
			strings.Contains(body, "store: the store is not there: "+dir+" is empty, but Temporal knows 1 processes")
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it wrote %v, %v", left, err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the worker is ready", second.IsReady)
	second.Signal(syscall.SIGTERM)
	if code, log := second.Wait(); code != 0 || !strings.Contains(log, "waiting for the store") {
		t.Errorf("it ended with %d and logged %s", code, log)
	}
}
