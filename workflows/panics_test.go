package workflows_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"processidea/internal/safego/safegotest"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/tools/mcptool"
	"processidea/tools/mcptool/mcptest"
	"processidea/worker/workertest"
)

// One goroutine panics at every place that starts one in a worker: the worker lives, what runs on it comes to its end,
// and the log says where.
func TestNoGoroutineEndsAWorker(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	server := newMCPServer(t)
	large := `"` + strings.Repeat("large ", 40_000) + `"`
	s := newScenario(t, fmt.Sprintf(`{"config": {"mcp": {"calc": {"command": %s, "tools": ["add"]}, "web": {"url": %q, "tools": ["add"]}}}, "schema": {"tools": {
		"free": {"_activity": {"mcp": {"server": "calc", "tool": "add"}}, "_approval": false, "_retry": {"attempts": 9}},
		"far": {"_activity": {"mcp": {"server": "web", "tool": "add"}}, "_approval": false, "_retry": {"attempts": 9}},
		"get": %s, "scoreSentiment": %s}}, "context": [{"type": "text", "text": %s}]}`,
		asJSON([]string{os.Args[0], mcptest.ServerArgument, "Adds two numbers."}), server.url,
		httpTool(c.tool("get", nil), `, "_retry": {"attempts": 9}, "_rate": {"perSecond": 100}`), textTool, large), wholePlan, wholePlan, wholePlan,
		nothingMore, nothingMore)
	s.every = 2
	list, err := json.Marshal(placesOfWorkers)
	if err != nil {
		t.Fatal(err)
	}
	worker := c.productionWith([]string{safegotest.PanicsVariable + "=" + string(list),
		mcptool.CommandsVariable + "=" + os.Args[0] + " " + mcptest.ServerArgument + " *"})
	if r := c.finish(c.start(s)); r.Status != loop.StatusCompleted {
		t.Errorf("it ended as %s: %s", r.Status, asJSON(r))
	} else if state, _ := r.Instances[""].State.(map[string]any); asJSON(state["far"]) != `{"sum":3}` ||
		asJSON(state["free"]) != `{"sum":5}` || state["get"] != "get" {
		t.Errorf("the State is %s", asJSON(state))
	}
	scripted := newScenario(t, `{"context": [{"type": "text", "text": "Go."}]}`)
	scripted.id += "-scripted"
	scripted.scripted = nothingMore + "\n" + nothingMore // a Request that is repeated plays the next line
	if r := c.finish(c.start(scripted)); r.Status != loop.StatusCompleted {
		t.Errorf("the scripted one ended as %s", r.Status)
	}
	if status, _ := worker.Get("/healthz"); status != http.StatusOK {
		t.Errorf("the worker answers %d", status)
	}
	worker.Signal(syscall.SIGTERM)
	code, log := worker.Wait()
	if code != 0 {
		t.Errorf("it ended with %d", code)
	}
	for place := range placesOfWorkers {
		if !strings.Contains(log, `"place":"`+place+`","panic":"a fault that was put in"`) {
			t.Errorf("the log does not say that %s panicked", place)
		}
	}
}

func TestAPanicOfTheWorkerItselfEndsItWithTheReason(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	p := workertest.Start(t, []string{"TEMPORAL_ADDRESS=" + addressOf(c.id), "TEMPORAL_NAMESPACE=" + c.id,
		"PROCESSIDEA_STORE=" + storeDir,
		safegotest.PanicsVariable + `={"worker.run": 0}`})
	if code, log := p.Wait(); code != 1 ||
		!strings.Contains(log, "run worker: worker.run panicked: a fault that was put in") {
		t.Errorf("it ended with %d", code)
	}
}

const wholePlan = `{"solution": {"calls": [{"_tool": "scoreSentiment", "text": "good", "_outputPath": "p"},
	{"_tool": "scoreSentiment", "text": "bad", "_outputPath": "q"}, {"_tool": "get", "n": 1, "_outputPath": "get"},
	{"_tool": "free", "a": 2, "b": 3, "_outputPath": "free"}, {"_tool": "far", "a": 1, "b": 2, "_outputPath": "far"}]}}`

// placesOfWorkers are those of workers that no other test has panic, each with how many of its goroutines are spared.
// A test of package safego finds a place that no test names.
var placesOfWorkers = map[string]int{
	"activities.burst": 0, "activities.burst.call": 0, "activities.callsender": 0, "activities.deliver": 0,
	"activities.tool": 0, "activities.turns": 0, "blobs.join": 0, "blobs.put": 0, "engine.holdups": 0,
	"engine.orphans": 0, "engine.requests": 0, "heap.adjust": 0, "http.dial": 0, "llm.drain": 0, "mcp.close": 0,
	"mcp.ended": 0, "mcp.exact": 0, "mcp.program": 0, "mcp.read": 0, "mcp.send": 0, "rehearsal.serve": 0,
	"worker.health": 0, "worker.signals": 0,
	"connect.grpc": 30, // those before connect the worker
}

// Nothing that panics at each attempt is tried for ever in silence: a Request has no limit of attempts but the one that
// its activity keeps.
func TestARequestThatPanicsAtEachAttemptPausesItsProcess(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	c.productionWith([]string{safegotest.PanicsVariable + `={"activities.request": -1}`})
	var all []*scenario
	for n, batch := range []string{"false", "true"} {
		s := newScenario(t, `{"config": {"llm": {"batch": `+batch+`}}, "context": [{"type": "text", "text": "Go."}]}`,
			nothingMore)
		s.id += fmt.Sprint(n)
		c.start(s)
		all = append(all, s)
	}
	for _, s := range all {
		s.pausedWith(ideafile.CodeToolFailed, "activities.request panicked: a fault that was put in")
	}
}
