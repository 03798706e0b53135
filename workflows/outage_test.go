package workflows_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"go.temporal.io/sdk/client"

	"processidea/internal/devserver/devtest"
	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// These tests take an LLM's server away and bring it back. The pauses are short by --llm-pause.

// outage is an LLM's server of one test that can be away.
type outage struct {
	t       *testing.T
	address string
	away    atomic.Value // http.HandlerFunc: what answers instead; nil: the LLM
	knocks  atomic.Int32 // since it is away
	server  *http.Server
}

func newOutage(t *testing.T) *outage {
	return &outage{t: t, address: net.JoinHostPort("127.0.0.1", strconv.Itoa(devtest.FreePort(t)))}
}

// answers lets the server listen: it answers as h says, or as the LLM.
func (o *outage) answers(h http.HandlerFunc) {
	o.t.Helper()
	o.away.Store(h)
	if o.server != nil {
		return
	}
	l, err := (&net.ListenConfig{}).Listen(o.t.Context(), "tcp", o.address)
	if err != nil {
		o.t.Fatal(err)
	}
	o.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := o.away.Load().(http.HandlerFunc); h != nil {
			o.knocks.Add(1)
			h(w, r)
			return
		}
		llm.ServeHTTP(w, r)
	})}
	go func() { _ = o.server.Serve(l) }()
	o.t.Cleanup(func() { _ = o.server.Close() })
}

func (o *outage) environment(more ...string) []string {
	return append([]string{envLLM + "=http://" + o.address + "/v1", "PROCESSIDEA_LLM_PAUSE=300ms"}, more...)
}

// heldUp waits until a process says that it is held up, and checks what it says.
func (s *scenario) heldUp(says ...string) {
	s.t.Helper()
	var v loop.ProcessResult
	var waiting []string
	eventually(s.t, "the process says that it is held up", func() bool {
		view := s.processStatus()
		v, waiting = view.ProcessResult, view.WaitingFor
		return len(v.HoldUps) > 0
	})
	h := v.HoldUps[0]
	if v.Status != loop.StatusRunning || h.CauseCode != turn.CodeLLMUnreachable || h.Since.IsZero() ||
		h.NextAttempt.IsZero() ||
		h.PauseAt.Before(h.NextAttempt) || h.Remedy == "" {
		s.t.Errorf("%s: %+v", v.Status, h)
	}
	for _, text := range says {
		if !strings.Contains(h.Message, text) || !strings.Contains(strings.Join(waiting, "\n"), text) {
			s.t.Errorf("it does not say %q: %+v, %q", text, h, waiting)
		}
	}
}

const outageIdea = `{"schema": {"tools": {"go": %s}}, "context": [{"type": "text", "text": "Go."}]%s}`

// hang reads what is asked, and answers nothing: only then it is noticed that whoever asks has gone.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// A server that is away holds a process up, whose worker is even killed meanwhile, and the process goes on by itself
// when it is back.
func TestAnLLMThatIsAwayHoldsAProcessUpThatGoesOnWhenItIsBack(t *testing.T) {
	t.Parallel()
	for name, row := range longrun.SampleRows(t, 2, map[string]struct {
		away   http.HandlerFunc // nil: nobody listens
		config string
		says   string
	}{
		"nobody listens": {nil, "", "connection refused"},
		"it answers 503": {status(http.StatusServiceUnavailable), "", "answered 503"},
		"it answers 529": {status(529), "", "answered 529"},
		// A tenth of the time is left to say so, which a busy machine may need.
		"it hangs": {hang, `, "config": {"llm": {"timeout": "15s"}}`, "it has sent nothing"},
		"two are away": {status(http.StatusBadGateway), `, "config": {"llm": [{"model": "a"}, {"model": "b"}]}`,
			"none of 2 LLMs answers"},
		"by batch": {status(http.StatusServiceUnavailable), `, "config": {"llm": {"batch": true}}`, "answered 503"},
	}) {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			c, o := newCrash(t), newOutage(t)
			if row.away != nil {
				o.answers(row.away)
			}
			s := newScenario(t, fmt.Sprintf(outageIdea, httpTool(c.tool("go", nil), ""), ""), goOnce, nothingMore)
			if row.config != "" {
				s.withConfig(row.config)
			}
			first := c.productionWith(o.environment())
			run := c.start(s)
			s.heldUp(row.says)
			if name == "nobody listens" {
				first.Signal(syscall.SIGKILL)
				first.Wait()
				c.productionWith(o.environment())
				s.heldUp(row.says)
			}
			o.answers(nil)
			if r := c.finish(run); r.Status != loop.StatusCompleted || r.Calls.Done != 1 || len(r.HoldUps) > 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// withConfig puts a config into the Idea; LLMs without a model that the tests' server knows are asked by the process's
// own name.
func (s *scenario) withConfig(text string) {
	s.t.Helper()
	more, err := jsonval.DecodeObject([]byte("{" + strings.TrimPrefix(text, ", ") + "}"))
	if err != nil {
		s.t.Fatal(err)
	}
	config := jsonval.AsObject(more["config"])
	if list, ok := config["llm"].([]any); ok {
		jsonval.AsObject(list[len(list)-1])["model"] = s.id
	}
	s.idea["config"] = jsonval.DeepMerge(s.idea["config"], config)
}

func TestAnLLMThatStaysAwayLongerThanThePatiencePausesTheProcess(t *testing.T) {
	t.Parallel()
	c, o := newCrash(t), newOutage(t)
	s := newScenario(t, fmt.Sprintf(outageIdea, httpTool(c.tool("go", nil), ""), ""), goOnce, nothingMore)
	s.withConfig(`, "config": {"llm": {"patience": "1s"}}`)
	c.productionWith(o.environment())
	run := c.start(s)
	s.pausedWith(turn.CodeLLMUnreachable, "connection refused", o.address, "(config.llm.patience)")
	o.answers(nil)
	s.signal(s.id, approval.SteerResume, map[string]any{})
	if r := c.finish(run); r.Calls.Done != 1 || r.RequestCount < 2 {
		t.Errorf("%+v", r)
	}
}

// A person can pause a process that waits, have it go on, and end it.
func TestAProcessThatIsHeldUpTakesAPauseAResumeAndItsEndAtOnce(t *testing.T) {
	t.Parallel()
	c, o := newCrash(t), newOutage(t)
	s := newScenario(t, fmt.Sprintf(outageIdea, httpTool(c.tool("go", nil), ""), ""), goOnce, nothingMore)
	c.productionWith([]string{envLLM + "=http://" + o.address + "/v1"}) // with pauses as they are
	c.start(s)
	s.heldUp("connection refused")
	s.signal(s.id, approval.SteerPause, map[string]any{})
	eventually(t, "it is paused", func() bool { return s.processStatus().Status == loop.StatusPaused })
	s.signal(s.id, approval.SteerResume, map[string]any{})
	eventually(t, "it is held up again", func() bool {
		v := s.processStatus()
		return v.Status == loop.StatusRunning && len(v.HoldUps) == 1
	})
	if err := c.client.CancelWorkflow(t.Context(), s.id, ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is cancelled", func() bool { return s.processStatus().Status == loop.StatusCancelled })
}

// 101 instances are two parts, and each Request of these waits; a delegate's waiting is its caller's too.
func TestPartsAndDelegatesThatAreHeldUpSaySoAndGoOn(t *testing.T) {
	t.Parallel()
	c, o := newCrash(t), newOutage(t)
	s := newScenario(t, manyInstances(newTill(t), 101, 101, `{}`), payAll, nothingMore)
	s.script(`{"when": "\"paid\":", "solution": {"calls": []}}`, payAll, payAll, payAll, payAll)
	c.productionWith(o.environment())
	run := c.start(s)
	s.heldUp("connection refused")
	if h := s.processStatus().HoldUps[0]; !strings.HasPrefix(h.ProcessID, s.id+"/~part/") || !h.HasNeverWorked {
		t.Errorf("%+v", h)
	}
	o.answers(nil)
	if r := c.finish(run); r.Status != loop.StatusCompleted || r.Calls.Done != 101 {
		t.Errorf("%s %+v", r.Status, r.Calls)
	}
}

// While a server is away, the Requests of a worker do not knock each for itself; all go on when it is back.
func TestFiftyProcessesKnockOnce(t *testing.T) {
	t.Parallel()
	c, o := newCrash(t), newOutage(t)
	o.answers(status(http.StatusServiceUnavailable))
	var all []*scenario
	var runs []client.WorkflowRun
	c.productionWith(o.environment("PROCESSIDEA_LLM_PAUSE=2s"))
	for n := range 50 {
		s := newScenario(t, fmt.Sprintf(outageIdea, httpTool(c.tool("go", nil), ""), ""),
			slices.Repeat([]string{nothingMore}, 50)...)
		s.id = fmt.Sprintf("%s-%d", s.id, n)
		all, runs = append(all, s), append(runs, c.start(s))
	}
	for _, s := range all {
		s.heldUp("answered 503")
	}
	before := o.knocks.Load()
	eventually(t, "somebody knocks ten times more", func() bool { return o.knocks.Load() >= before+10 })
	tries := int32(0)
	for _, s := range all {
		tries += c.attempts(s.id)
	}
	if n := o.knocks.Load(); tries < 2*n {
		t.Errorf("%d knocks in %d attempts", n, tries)
	}
	o.answers(nil)
	for _, run := range runs {
		if r := c.finish(run); r.Status != loop.StatusCompleted {
			t.Errorf("%+v", r)
		}
	}
}

// attempts is how often the activity of a workflow was tried that is tried now.
func (c *crash) attempts(id string) (n int32) {
	d, err := c.client.DescribeWorkflowExecution(c.t.Context(), id, "")
	if err != nil {
		return 0
	}
	for _, a := range d.GetPendingActivities() {
		n += a.GetAttempt()
	}
	return n
}
