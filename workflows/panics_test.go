package workflows_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path"
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
// and the log says where. The places are found in the source: a new one is in it by itself, or has a test of its own
// that names it.
func TestNoGoroutineEndsAWorker(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	after := placesOfWorkers(t)
	server := newMCPServer(t)
	large := `"` + strings.Repeat("large ", 40_000) + `"`
	s := newScenario(t, fmt.Sprintf(`{"config": {"mcp": {"calc": {"command": %s, "tools": ["add"]}, "web": {"url": %q, "tools": ["add"]}}}, "schema": {"tools": {
		"free": {"_activity": {"mcp": {"server": "calc", "tool": "add"}}, "_approval": false, "_retry": {"attempts": 9}},
		"far": {"_activity": {"mcp": {"server": "web", "tool": "add"}}, "_approval": false, "_retry": {"attempts": 9}},
		"get": %s, "scoreSentiment": %s}}, "context": [{"type": "text", "text": %s}]}`,
		asJSON([]string{os.Args[0], mcptest.Argument, "Adds two numbers."}), server.url,
		httpTool(c.tool("get", nil), `, "_retry": {"attempts": 9}, "_rate": {"perSecond": 100}`), textTool, large), wholePlan, wholePlan, wholePlan,
		nothingMore, nothingMore)
	s.every = 2
	list, err := json.Marshal(after)
	if err != nil {
		t.Fatal(err)
	}
	worker := c.productionWith([]string{workertest.PanicsVariable + "=" + string(list),
		mcptool.CommandsVariable + "=" + os.Args[0] + " " + mcptest.Argument + " *"})
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
	for place := range after {
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
		workertest.PanicsVariable + `={"worker.run": 0}`})
	if code, log := p.Wait(); code != 1 ||
		!strings.Contains(log, "run worker: worker.run panicked: a fault that was put in") {
		t.Errorf("it ended with %d", code)
	}
}

const wholePlan = `{"solution": {"calls": [{"_tool": "scoreSentiment", "text": "good", "_outputPath": "p"},
	{"_tool": "scoreSentiment", "text": "bad", "_outputPath": "q"}, {"_tool": "get", "n": 1, "_outputPath": "get"},
	{"_tool": "free", "a": 2, "b": 3, "_outputPath": "free"}, {"_tool": "far", "a": 1, "b": 2, "_outputPath": "far"}]}}`

// placesOfWorkers are those that no other test has panic, each with how many of its goroutines are spared.
func placesOfWorkers(t *testing.T) map[string]int {
	source, after := safegotest.ReadSource(t), map[string]int{}
	for place, folder := range source.Places {
		if safegotest.IsOfWorkers(path.Clean(folder)) && !source.Named[place] {
			after[place] = 0
		}
	}
	const requests = "connect.grpc"
	after[requests] = 30 // those before connect the worker
	return after
}

// Nothing that panics at each attempt is tried for ever in silence: a Request has no limit of attempts but the one that
// its activity keeps.
func TestARequestThatPanicsAtEachAttemptPausesItsProcess(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	c.productionWith([]string{workertest.PanicsVariable + `={"activities.request": -1}`})
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
