package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"processidea/client/simulation"
	"processidea/internal/rehearsal"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/starter/internal/exit"
)

// outside counts what comes to a tool's server, an MCP server and a person's notices.
func outside(t *testing.T) (url string, n *atomic.Int64) {
	n = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n.Add(1)
		_, _ = w.Write([]byte(`{"cents": 1}`))
	}))
	t.Cleanup(s.Close)
	return s.URL, n
}

// wide is an Idea that reaches out in every way there is.
func wide(url string) string {
	return strings.ReplaceAll(`{"meta": {"path": "wide"}, "config": {"gather": "5m", "mcp": {"files": {"url": "URL/mcp"}}},
	"schema": {"tools": {
		"price": {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"], "_activity": {"http": {"url": "URL/price"}},
			"_output": {"type": "object", "properties": {"cents": {"type": "integer", "minimum": 5}}, "required": ["cents"]}},
		"pay": {"type": "object", "properties": {"cents": {"type": "integer"}}, "required": ["cents"], "_approval": {"timeout": "72h"}, "_activity": {"http": {"url": "URL/pay"}}},
		"save": {"type": "object", "properties": {}, "_activity": {"mcp": {"server": "files", "tool": "save"}}},
		"foreign": {"type": "object", "properties": {}, "_activity": "knownElsewhere"}},
		"output": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
	"context": [{"type": "input", "schema": {"type": "object", "properties": {"shop": {"enum": ["north"]}}}},
		{"type": "state", "_instance": "①", "item": "lamp"}, {"type": "state", "_instance": "②", "item": "chair"},
		{"type": "plan", "plan": [{"_tool": "price", "item": "†state.item", "_outputPath": "price"}, {"_tool": "pay", "cents": "†state.price.cents"},
			{"_tool": "save"}, {"_tool": "foreign", "_outputPath": "thing"}]}]}`, "URL", url)
}

func TestASimulationTouchesNothingAndReportsWhatItWouldTake(t *testing.T) {
	url, n := outside(t)
	d := newDesk(t, map[string]string{"idea.json": wide(url)}).set("PROCESSIDEA_HTTP_ALLOW="+
		strings.TrimPrefix(url, "http://"), "PROCESSIDEA_NOTIFY_URL="+url)
	e := d.do("simulate", "idea.json", "--json").is(exit.Done)
	e.complains("nothing outside is touched", "made up from the schemas").complains("made up",
		"†input.shop").complains("MCP servers files")
	var r simulation.Report
	e.json(&r)
	if n.Load() != 0 {
		t.Errorf("%d requests went out", n.Load())
	}
	if r.Simulation == nil || r.Status != loop.StatusCompleted || r.RequestCount != 2 || r.Calls.Done != 8 ||
		r.ApprovalCount != 2 || !r.IsEstimated || r.Usage.PromptTokens == 0 || r.TotalUsage.RequestCount != 2 {
		t.Errorf("%s", e.out)
	}
	if r.CallCountsByTool["price"][ideafile.CallDone] != 2 || r.CallCountsByTool["pay"][ideafile.CallDone] != 2 ||
		len(r.CallCountsByTool) != 4 ||
		len(r.UnfinishedLines) != 0 || len(r.UnaskedMCPServers) != 1 || len(r.MadeUpRefs) != 1 {
		t.Errorf("%s", e.out)
	}
	if !strings.HasPrefix(r.MermaidGraph, "flowchart TD\n") ||
		!strings.Contains(r.MermaidGraph, `c1 -->|"price.cents"| c2`) {
		t.Errorf("%s", r.MermaidGraph)
	}
	if got := string(
		jsonval.Encode(
			r.Instances["②"].State)); got != `{"item":"chair","price":{"cents":5},"thing":"simulated: foreign"}` {
		t.Error(got)
	}
	if left, _ := filepath.Glob(filepath.Join(d.dir, ".processidea")); len(left) > 0 {
		t.Errorf("it left %s", left)
	}
}

func TestWhatIsKeptOfASimulationIsNeverTakenForReal(t *testing.T) {
	url, n := outside(t)
	d := newDesk(t, map[string]string{"idea.json": wide(url)}).set("PROCESSIDEA_HTTP_ALLOW=" +
		strings.TrimPrefix(url, "http://"))
	e := d.do("simulate", "idea.json", "--keep", "trial").is(exit.Done)
	for _, text := range []string{"completed (simulated)", "no tool, server or person was asked", "pay: 2 done",
		"asked about 2 Calls", "flowchart TD", "kept in"} {
		if !strings.Contains(e.out, text) {
			t.Errorf("it does not say %q: %s", text, e.out)
		}
	}
	id, _, _ := strings.Cut(e.out, ":")
	if !strings.HasPrefix(id, "simulated-idea-") {
		t.Fatal(id)
	}
	for _, verb := range []string{"verify", "history"} {
		if out := d.do(verb, id, "--data", "trial").is(exit.Done).out; !strings.Contains(out,
			"simulated: no Tool ran") {
			t.Errorf("%s: %s", verb, out)
		}
	}
	idea := d.do("show", id, "--data", "trial").is(exit.Done).out
	if strings.Count(idea, `"_simulated": true`) < 2 || !strings.Contains(idea, `"simulated": {`) {
		t.Errorf("it has no mark: %s", idea)
	}
	d.do("harden", id, "--data", "trial").is(exit.Usage).quiet().complains("it was simulated")
	d.do("fork", id, "--at", "1", "--data", "trial", noUI).is(exit.Usage).quiet().complains("it is a simulation")
	unmarked := strings.Replace(idea, `"simulated": {`, `"other": {`, 1) // the States still say so
	if err := os.WriteFile(filepath.Join(d.dir, "again.json"), []byte(unmarked), 0o600); err != nil {
		t.Fatal(err)
	}
	d.do("run", "again.json", noUI).is(exit.Usage).quiet().complains("it is a simulation")
	d.do("simulate", "idea.json", "--keep", "trial").is(exit.Usage).quiet().complains("the folder is not empty")
	d.do("simulate", "again.json", "--json").is(exit.Done)
	if n.Load() != 0 {
		t.Errorf("%d requests went out", n.Load())
	}
}

func TestASimulationNeedsNoDataAndSaysWhatItCannotPlay(t *testing.T) {
	d := newDesk(t, map[string]string{
		"bare.json": `{"schema": {"tools": {"price": {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"], "_activity": "elsewhere", "_output": {"type": "integer"}},
			"pay": {"type": "object", "properties": {"price": {"type": "integer"}}, "required": ["price"], "_activity": "elsewhere"}}}}`,
		"plan.json": `{"schema": {"tools": {"price": {"type": "object", "properties": {"item": {"enum": ["lamp"]}}, "_activity": "elsewhere", "_output": {"type": "integer"}}}},
			"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "price", "item": "†input.order.item", "_outputPath": "p"}], "output": "†state.p"}]}`,
		"odd.json": `{"schema": {"tools": {"odd": {"type": "object", "properties": {}, "_activity": "elsewhere", "_output": {"not": {}}}}},
			"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "odd", "_outputPath": "p"}]}]}`,
	})
	d.do("run", "plan.json", noUI).is(exit.Usage) // nobody gives what it reads
	r := d.do("simulate", "bare.json", "--json").is(exit.Done).result()
	if got := string(jsonval.Encode(r.Instances[""].State)); got != `{"pay":"simulated: pay","price":0}` {
		t.Errorf("%s", got)
	}
	r = d.do("simulate", "plan.json", "--json").is(exit.Done).result()
	if string(jsonval.Encode(r.Output)) != "0" || r.RequestCount != 0 {
		t.Errorf("%+v", r)
	}
	e := d.do("simulate", "odd.json").is(exit.Failed).complains("warning", "odd", "cannot be simulated")
	if !strings.Contains(e.out, "still open:\n  0.1 odd: failed: ") ||
		!strings.Contains(e.out, "the instance: failed") {
		t.Error(e.out)
	}
}

func TestSimulateRefusesWhatCannotBeMeant(t *testing.T) {
	d := newDesk(t, map[string]string{"idea.json": judgeIdea, "bad.json": `{"meat": {}}`,
		"replies.jsonl": oneLine(judgeReplies)})
	d.do("simulate", "idea.json", "--data", "x").is(exit.Usage).quiet().complains("a folder of its own")
	d.do("simulate", "idea.json", "--schemas", "--replies",
		"replies.jsonl").is(exit.Usage).quiet().complains("--schemas asks no LLM")
	d.do("simulate", "idea.json", "--tools", "people").is(exit.Usage).quiet().complains("want llm or schemas")
	d.do("simulate", "idea.json", "--tools", "llm").is(exit.Usage).quiet().complains("no LLM is configured")
	d.do("simulate", "idea.json", "--wait", "-1s").is(exit.Usage).quiet().complains("want a duration from ")
	d.do("simulate", "bad.json").is(exit.Usage).quiet().complains("meat")
	d.do("simulate", "none.json").is(exit.Usage).quiet()
}

// speaking is an LLM that says these things, and its address.
func speaking(t *testing.T, replies ...string) string {
	t.Helper()
	parsed, err := rehearsal.Parse([]byte(strings.Join(replies, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	llm, err := rehearsal.Start(parsed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(llm.Close)
	return llm.URL()
}

func TestAnLLMThatIsConfiguredPlansAndPlays(t *testing.T) {
	url, n := outside(t)
	spoken := speaking(
		t,
		`{"solution": {"calls": [{"_tool": "price", "_instance": "*", "item": "†state.item", "_outputPath": "price", "_output": {"cents": 77}}]}}`,
		`{"solution": {"calls": [], "output": {"n": 1}}}`)
	d := newDesk(t, map[string]string{"idea.json": wide(url)}).set("OPENAI_BASE_URL="+spoken,
		"PROCESSIDEA_HTTP_ALLOW="+strings.TrimPrefix(url, "http://"))
	e := d.do("simulate", "idea.json", "--json").is(exit.Done).complains("the LLM plans", "the LLM plays the Tools")
	var r simulation.Report
	e.json(&r)
	if got := string(jsonval.Encode(r.Instances["①"].State)); !strings.Contains(got, `"cents":77`) || r.IsEstimated ||
		n.Load() != 0 || r.Simulation.ToolResultsFrom != ideafile.FakedByLLM {
		t.Errorf("%s after %d requests", e.out, n.Load())
	}
	again := speaking(
		t,
		`{"solution": {"calls": [{"_tool": "price", "_instance": "*", "item": "†state.item", "_outputPath": "price"}]}}`, `{"solution": {"calls": [], "output": {"n": 1}}}`)
	d = d.at(d.dir).set("OPENAI_BASE_URL=" + again)
	if r := d.do("simulate", "idea.json", "--tools", "schemas",
		"--json").is(exit.Done).result(); !strings.Contains(string(jsonval.Encode(r.Instances["①"].State)),
		`"cents":5`) {
		t.Errorf("%+v", r)
	}
}

func TestEveryExampleCanBeSimulated(t *testing.T) {
	d := newDesk(t, nil)
	examples, err := filepath.Glob(filepath.Join("..", "examples", "*", "idea.json"))
	if err != nil || len(examples) < 8 {
		t.Fatal(examples, err)
	}
	for _, file := range examples {
		folder, err := filepath.Abs(filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"simulate", "--json", folder}
		if rows, err := os.ReadFile(filepath.Join(folder, "instances.jsonl")); err == nil { // some of them do
			few := strings.Join(strings.SplitAfterN(string(rows), "\n", 4)[:3], "")
			if err := os.WriteFile(filepath.Join(d.dir, "few.jsonl"), []byte(few), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, "--instances", "few.jsonl")
		}
		e := d.do(args...).is(exit.Done)
		var r simulation.Report
		e.json(&r)
		if r.Status != loop.StatusCompleted || r.MermaidGraph == "" || r.Simulation == nil {
			t.Errorf("%s: %s", folder, e.out)
		}
	}
}
