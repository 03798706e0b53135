package workflows_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"processidea/model/approval/policy"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/tools"
	"processidea/tools/httptool"
	"processidea/worker/engine"
	"processidea/worker/orphans"
)

// thrifty is a namespace of its own with a worker that saves actions. It looks for orphans minutes later; until then
// tests do.
func thrifty(t *testing.T) *crash {
	t.Helper()
	c := newCrash(t)
	registry := tools.NewRegistry()
	registerTestTools(registry)
	w, err := engine.NewWorker(c.client, engine.Dependencies{
		Store: store, Tools: registry, Limits: engine.Limits{MinimizesActions: true},
		HTTP: httptool.New(httptool.Options{AllowList: strings.TrimPrefix(toolbox.server.URL, "http://"),
			LookupEnv: os.LookupEnv}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return c
}

// waiting begins a process of three instances, in parts of two, whose Calls wait for people.
func (c *crash) waiting(id string, every int) *scenario {
	s := newScenario(
		c.t,
		`{"config": {"batch": 2}, "schema": {"tools": {"shout": {"type": "object", "properties": {"text": {"type": "string"}}, "_approval": true}}}, "context": [`+
			rows(
				1, 3)+
			`, {"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "loud"}]}]}`)
	s.id, s.every = id, every
	c.start(s)
	eventually(c.t, "all of "+id+" wait", func() bool { return len(s.pending()) == 3 })
	return s
}

func (s *scenario) closedAll() (closed []string) {
	for token, id := range s.instanceIDs() {
		d, err := s.client.DescribeWorkflowExecution(s.t.Context(), id, "")
		if err != nil {
			s.t.Fatal(err)
		}
		if status := d.GetWorkflowExecutionInfo().GetStatus(); status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
			closed = append(closed, token+" "+status.String())
		}
	}
	return closed
}

// instanceIDs are the workflow ids of what waits for people.
func (s *scenario) instanceIDs() map[string]string {
	return map[string]string{"1": protocol.InstanceID(protocol.PartID(s.id, 1), "1"),
		"2": protocol.InstanceID(protocol.PartID(s.id, 1), "2"),
		"3": protocol.InstanceID(protocol.PartID(s.id, 2), "3")}
}

func TestWorkersEndTheInstancesOfAProcessThatIsGoneAndNoOthers(t *testing.T) {
	t.Parallel()
	c := thrifty(t)
	gone, here, continued := c.waiting("gone", 0), c.waiting("here", 0), c.waiting("continued", 2)
	c.terminate("gone", protocol.PartID("gone", 1), protocol.PartID("gone", 2))
	eventually(t, "the instances of the one that is gone have ended", func() bool {
		if _, err := orphans.CancelOrphans(t.Context(), c.client); err != nil {
			t.Fatal(err)
		}
		return len(gone.closedAll()) == 3
	})
	if closed := append(here.closedAll(), continued.closedAll()...); len(closed) > 0 {
		t.Errorf("%v have ended although their processes are there", closed)
	}
	if again, err := orphans.CancelOrphans(t.Context(), c.client); err != nil || again > 3 {
		t.Errorf("once more: %d, %v", again, err)
	}
	for _, s := range []*scenario{here, continued} {
		for _, waits := range s.pending() {
			s.decideOn(policy.Approve, waits.CallID)
		}
		if r := c.finish(c.client.GetWorkflow(t.Context(), s.id, "")); r.Status != loop.StatusCompleted ||
			r.Calls.Done != 3 {
			t.Errorf("%s is %s with %+v", s.id, r.Status, r.Calls)
		}
	}
}

// open lists the workflows of the namespace that have not ended.
func (c *crash) open() []*workflowpb.WorkflowExecutionInfo {
	c.t.Helper()
	list, err := c.client.ListWorkflow(c.t.Context(),
		&workflowservice.ListWorkflowExecutionsRequest{Query: "ExecutionStatus = 'Running'"})
	if err != nil {
		c.t.Fatal(err)
	}
	return list.GetExecutions()
}

// terminate ends workflows as somebody does who knows nothing of their children.
func (c *crash) terminate(ids ...string) {
	c.t.Helper()
	for _, id := range ids {
		if err := c.client.TerminateWorkflow(c.t.Context(), id, "", "for a test"); err != nil {
			c.t.Fatal(err)
		}
	}
}

// endsByLooking has a worker look until nothing is open any more.
func (c *crash) endsByLooking() {
	c.t.Helper()
	eventually(c.t, "all of it has ended", func() bool {
		if _, err := orphans.CancelOrphans(c.t.Context(), c.client); err != nil {
			c.t.Fatal(err)
		}
		return len(c.open()) == 0
	})
}

// A delegate belongs to the Call of an instance of a part of the process that is gone.
func TestWorkersEndThePartsAndDelegatesOfAProcessThatIsGone(t *testing.T) {
	t.Parallel()
	c := thrifty(t)
	s := newScenario(t, `{"config": {"batch": 2}, "schema": {"tools": {`+reviewTool+`}}, "context": [`+rows(1, 3)+
		`, {"type": "plan", "stage": "complete", "plan": [{"_tool": "review", "text": "†state.text", "_outputPath": "loud"}]}]}`)
	s.file("review.json", `{"schema": {"output": {"type": "string"}, "tools": {"shout": {"type": "object", "properties": {"text": {"type": "string"}}, "_approval": true}}}, "context": [
		{"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†input.text", "_outputPath": "loud"}], "output": "†state.loud"}]}`)
	c.start(s)
	// The process, two parts, three instances, and a delegate with an instance for each of these.
	eventually(t, "all of it waits", func() bool { return len(c.open()) == 12 })
	if n, err := orphans.CancelOrphans(t.Context(), c.client); err != nil || n > 0 {
		t.Fatalf("%d were ended although their processes are there, %v", n, err)
	}
	for _, w := range c.open() {
		id := w.GetExecution().GetWorkflowId()
		for _, e := range historyIn(t, c.id, id).Events {
			if e.GetTimerStartedEventAttributes().GetStartToFireTimeout().AsDuration() >= time.Hour {
				t.Errorf("%s looks for its process by a timer", id)
			}
		}
	}
	c.terminate(s.id)
	c.endsByLooking()
}

func TestWorkersEndTheCallsOfAProcessThatIsGone(t *testing.T) {
	t.Parallel()
	c := thrifty(t)
	begun, cut := make(chan bool, 10), make(chan bool, 10)
	url := c.tool("linger", func(_ int, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not notice that nobody waits for the answer
		begun <- true
		<-r.Context().Done()
		cut <- true
	})
	s := newScenario(t, `{"config": {"batch": 2}, "schema": {"tools": {"linger": `+httpTool(url, "")+
		`}}, "context": [`+rows(1, 3)+
		`, {"type": "plan", "stage": "complete", "plan": [{"_tool": "linger", "_outputPath": "never"}]}]}`)
	c.start(s)
	for range 3 {
		<-begun
	}
	c.terminate(s.id, protocol.PartID(s.id, 1), protocol.PartID(s.id, 2))
	c.endsByLooking()
	for range 3 {
		<-cut
	}
}

// decideOn decides on a Call by way of the process.
func (s *scenario) decideOn(what, call string) {
	s.t.Helper()
	if err := s.client.SignalWorkflow(s.t.Context(), s.id, "", what, map[string]any{"call": call}); err != nil {
		s.t.Fatal(err)
	}
}

func TestAnInstanceThatSavesActionsSetsNoTimerAndReportsByCommand(t *testing.T) {
	t.Parallel()
	c := thrifty(t)
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [`+rows(1, 3)+
		`, {"type": "plan", "stage": "complete", "plan": [{"_tool": "shout", "text": "†state.text", "_outputPath": "loud"}]}]}`)
	if r := c.finish(c.start(s)); r.Status != loop.StatusCompleted || r.Calls.Done != 3 {
		t.Fatalf("%s with %+v", r.Status, r.Calls)
	}
	kinds := map[enumspb.EventType]int{}
	h := historyIn(t, c.id, protocol.InstanceID(s.id, "2"))
	for _, e := range h.Events {
		kinds[e.GetEventType()]++
	}
	if kinds[enumspb.EVENT_TYPE_TIMER_STARTED] != 0 || kinds[enumspb.EVENT_TYPE_MARKER_RECORDED] != 0 ||
		kinds[enumspb.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED] != 1 {
		t.Errorf("%v", kinds)
	}
	if err := replay(t, store, h); err != nil {
		t.Error(err)
	}
}
