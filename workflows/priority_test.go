package workflows_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"processidea/internal/longrun"
	"processidea/model/loop"
)

// queued starts processes of one Call each. Where no worker runs, their tasks wait at the server.
func (c *crash) queued(name, config, tool string, count int) (runs []client.WorkflowRun) {
	c.t.Helper()
	for n := range count {
		s := newScenario(c.t, fmt.Sprintf(`{"config": {%s}, "schema": {"tools": {"go": {"type": "object",
			"_activity": {"http": {"url": %q}}}}}, "context": [
			{"type": "plan", "stage": "optimal", "plan": [{"_tool": "go"}]}]}`, config, tool), nothingMore)
		s.id = fmt.Sprintf("%s-%s-%d", s.id, name, n)
		runs = append(runs, c.start(s))
	}
	return runs
}

// Behind forty others that were there before it, in the long run ten thousand, an urgent process is among the first
// that are worked on.
func TestAnUrgentProcessGoesBeforeThoseThatWait(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	url := c.tool("go", nil)
	c.queued("usual", ``, url, longrun.RepeatCount(40, 10_000))
	urgent := c.queued("urgent", `"priority": 1`, url, 1)[0]
	c.work()
	c.finish(urgent)
	at := slices.IndexFunc(c.calls("go"), func(key string) bool { return strings.Contains(key, "-urgent-") })
	if at < 0 || at > 20 {
		t.Errorf("the urgent process came after %d others", at)
	}
}

// Two tenants wait, the first before the second: of the first half of the processes that begin, three of four are of
// the one that has three times the weight. (Which Calls come first says less: each step of a process waits anew.)
func TestTenantsGetTheSharesThatTheyAreGiven(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	url := c.tool("go", nil)
	light := c.queued("light", `"fairness": {"key": "light"}`, url, 40)
	heavy := c.queued("heavy", `"fairness": {"key": "heavy", "weight": 3}`, url, 40)
	c.work()
	type begun struct {
		heavy bool
		at    time.Time
	}
	var order []begun
	for n, run := range slices.Concat(light, heavy) {
		c.finish(run)
		order = append(order, begun{n >= len(light), c.begins(run)})
	}
	slices.SortFunc(order, func(a, b begun) int { return a.at.Compare(b.at) })
	count := 0
	for _, b := range order[:40] {
		if b.heavy {
			count++
		}
	}
	if count < 24 || count > 36 {
		t.Errorf("of the first 40 processes %d were of the tenant with three quarters", count)
	}
}

// begins is when a worker took the first task of a process.
func (c *crash) begins(run client.WorkflowRun) time.Time {
	c.t.Helper()
	events := c.client.GetWorkflowHistory(c.t.Context(), run.GetID(), run.GetRunID(), false,
		enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			c.t.Fatal(err)
		}
		if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED {
			return e.GetEventTime().AsTime()
		}
	}
	c.t.Fatalf("no worker has begun %s", run.GetID())
	return time.Time{}
}

// The server hands a process's priority on to its parts, instances and delegates, and to runs that continue as new.
func TestPriorityIsInherited(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"config": {"batch": 2, "partsAtOnce": 1,
			"priority": 2, "fairness": {"key": "tenant-a", "weight": 2.5}},
		"schema": {"tools": {"sub": {"type": "object", "_delegate": "sub.json"}}},
		"context": [`+rowsOf(4)+`{"type": "plan", "stage": "optimal", "plan": [{"_tool": "sub", "_outputPath": "a"}]}]}`,
		nothingMore)
	s.file("sub.json", `{"schema": {"tools": {"shout": `+textTool+`}}, "context": [
		{"type": "plan", "stage": "optimal", "plan": [{"_tool": "shout", "text": "x"}]}]}`)
	s.every = 1
	if r := s.finish(); r.Status != loop.StatusCompleted {
		t.Fatalf("%+v", r)
	}
	runs := map[string]int{}
	eventually(t, "all runs are listed", func() bool {
		list, err := s.client.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Query: fmt.Sprintf("WorkflowId STARTS_WITH %q", s.id)})
		if err != nil {
			t.Fatal(err)
		}
		runs = map[string]int{}
		for _, w := range list.GetExecutions() {
			id := w.GetExecution().GetWorkflowId()
			runs[id]++
			first, err := s.client.GetWorkflowHistory(t.Context(), id, w.GetExecution().GetRunId(), false,
				enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
			if err != nil {
				t.Fatal(err)
			}
			p := first.GetWorkflowExecutionStartedEventAttributes().GetPriority()
			if p.GetPriorityKey() != 2 || p.GetFairnessKey() != "tenant-a" || p.GetFairnessWeight() != 2.5 {
				t.Errorf("a run of %s has %v", id, p)
			}
		}
		return len(runs) == 1+2+4+4+4 || t.Failed()
	})
	if runs[s.id] < 2 {
		t.Errorf("it has not continued as new: %v", runs)
	}
}
