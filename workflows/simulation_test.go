package workflows_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/store/chain"
)

// counted is an HTTP tool that counts its requests.
func counted(t *testing.T) (url string, n *atomic.Int64) {
	n = &atomic.Int64{}
	return toolbox.handle("/"+t.Name(), func(w http.ResponseWriter, _ *http.Request) {
		n.Add(1)
		_, _ = w.Write([]byte(`{"cents": 1}`))
	}), n
}

// simulate marks the scenario's Idea.
func (s *scenario) simulate(tools, plans string) *scenario {
	s.idea = ideafile.Simulation{ToolResultsFrom: tools, LLMRepliesFrom: plans}.MarkIdea(s.idea)
	return s
}

// market is a palette of every kind of Tool, of which pay wants a person.
func market(url string) string {
	return `"schema": {"tools": {
		"price": {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"], "_activity": {"http": {"url": "` + url + `"}},
			"_output": {"type": "object", "properties": {"cents": {"type": "integer", "minimum": 5}}, "required": ["cents"]}},
		"pay": {"type": "object", "properties": {"cents": {"type": "integer"}}, "required": ["cents"], "_approval": true, "_retry": {"attempts": 1},
			"_activity": {"http": {"url": "` + url + `"}}},
		"files": {"type": "object", "properties": {}, "_activity": {"mcp": {"server": "files", "tool": "t"}}},
		"foreign": {"type": "object", "properties": {}, "_activity": "knownElsewhere"},
		"ask": {"type": "object", "properties": {"text": {"type": "string"}}, "_delegate": "ask.json", "_output": {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}}},
		"output": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 2}}, "required": ["n"]}}`
}

const marketPlan = `{"type": "plan", "plan": [
	{"_tool": "price", "item": "†state.item", "_outputPath": "price"},
	{"_tool": "pay", "cents": "†state.price.cents", "_outputPath": "paid"},
	{"_tool": "files", "_outputPath": "file"},
	{"_tool": "foreign", "_outputPath": "thing"},
	{"_tool": "ask", "text": "†state.item", "_outputPath": "answer"}]}`

const askFile = `{"schema": {"tools": {"look": {"type": "object", "properties": {}, "_activity": {"http": {"url": "URL"}}, "_output": {"type": "string"}}}},
	"context": [{"type": "text", "text": "Say."}]}`

const marketConfig = `"config": {"gather": "5m", "mcp": {"files": {"url": "https://files.invalid/mcp"}}}`

func TestASimulationRunsWholeAndTouchesNothing(t *testing.T) {
	t.Parallel()
	url, n := counted(t)
	s := newScenario(t, `{`+marketConfig+`, `+market(url)+
		`, "context": [{"type": "state", "_instance": "①", "item": "lamp"}, {"type": "state", "_instance": "②", "item": "chair"}, `+marketPlan+`]}`).
		simulate(ideafile.FakedBySchemas, ideafile.FakedBySchemas)
	s.file("ask.json", strings.ReplaceAll(askFile, "URL", url))
	r := s.finish()
	if r.Status != loop.StatusCompleted || r.RequestCount != 2 || r.Calls.Done != 10 || asJSON(r.Output) != `{"n":2}` ||
		r.Usage.PromptTokens == 0 || r.Simulation == nil {
		t.Fatalf("%+v\n%s", r, s.story())
	}
	want := `{"answer":{"said":"simulated"},"file":"simulated: files","item":"lamp","paid":"simulated: pay","price":{"cents":5},"thing":"simulated: foreign"}`
	if got := asJSON(r.Instances["①"].State); got != want {
		t.Error(got)
	}
	if n.Load() != 0 || len(s.llm.Requests()) != 0 {
		t.Errorf("the tool server had %d requests, the LLM %d", n.Load(), len(s.llm.Requests()))
	}
	for _, c := range s.instance("②").Calls {
		asked := len(c.Decisions) == 1 && c.Decisions[0].DecidedBy == ideafile.SimulatedDecider
		if asked != (c.Tool == "pay") {
			t.Errorf("%s: %+v", c.Tool, c.Decisions)
		}
	}
	s.marked(s.id, 2)
	s.marked(protocol.DelegateID(s.id, "1.5@①"), 2)
	s.replays("①")
}

// marked checks that every Idea of a chain says that it is a simulation, and that the chain is whole.
func (s *scenario) marked(process string, ideas int) {
	s.t.Helper()
	chains := chain.New(store)
	report, err := chains.Verify(s.t.Context(), process)
	if err != nil || !report.IsIntact || report.IdeaCount != ideas || report.Simulated == nil {
		s.t.Errorf("the chain of %s: %+v, %v", process, report, err)
		return
	}
	for at := 1; at <= ideas; at++ {
		idea, err := chains.Load(s.t.Context(), process, at)
		if text := asJSON(idea); err != nil || strings.Count(text, `"_simulated":true`) == 0 ||
			!strings.Contains(text, `"simulated":{`) {
			s.t.Errorf("Idea %d of %s has no mark: %s, %v", at, process, text, err)
		}
	}
}

func TestASimulationOfPartsThatContinueAsNewIsOneToo(t *testing.T) {
	t.Parallel()
	atLength(t)
	url, n := counted(t)
	s := newScenario(t, `{"config": {"batch": 5, "gather": "5m", "mcp": {"files": {"url": "https://files.invalid/mcp"}}}, `+market(url)+`, "context": [`+strings.ReplaceAll(rows(1, 12), `"text"`, `"item"`)+`,
		{"type": "plan", "plan": [{"_tool": "price", "item": "†state.item", "_outputPath": "price"}, {"_tool": "pay", "cents": "†state.price.cents", "_outputPath": "paid"}]}]}`).
		simulate(ideafile.FakedBySchemas, ideafile.FakedBySchemas)
	s.file("ask.json", strings.ReplaceAll(askFile, "URL", url))
	s.every = 1
	r := s.finish()
	if r.Status != loop.StatusCompleted || r.Calls.Done != 24 || r.Simulation == nil || n.Load() != 0 ||
		asJSON(r.Instances["12"].State) != `{"item":"t12","paid":"simulated: pay","price":{"cents":5}}` {
		t.Fatalf("%+v, %d requests, %s", r, n.Load(), s.story())
	}
	s.marked(s.id, 2)
	s.marked(protocol.PartID(s.id, 3), 2)
}

func TestALLMThatPlaysWritesResultsAndNoToolRuns(t *testing.T) {
	t.Parallel()
	url, n := counted(t)
	s := newScenario(t, `{`+marketConfig+`, `+market(url)+
		`, "context": [{"type": "text", "text": "Go."}, {"type": "state", "item": "lamp"}]}`,
		`{"solution": {"calls": [{"_tool": "price", "item": "†state.item", "_outputPath": "price", "_output": {"cents": 9}},
			{"_tool": "pay", "cents": "†state.price.cents", "_outputPath": "paid"}]}}`,
		`{"solution": {"calls": [{"_call": "1.2", "_output": "paid in full"}]}}`,
		`{"solution": {"calls": [], "output": {"n": 3}}}`).
		simulate(ideafile.FakedByLLM, ideafile.FakedByLLM)
	s.file("ask.json", strings.ReplaceAll(askFile, "URL", url))
	r := s.finish()
	if got := asJSON(r.Instances[""].State); got != `{"item":"lamp","paid":"paid in full","price":{"cents":9}}` ||
		n.Load() != 0 || r.RequestCount != 3 {
		t.Fatalf("%s %+v, %d requests, %s", got, r, n.Load(), s.story())
	}
	s.marked(s.id, 2)
}

func TestAToolForWhichNothingFitsFailsByName(t *testing.T) {
	t.Parallel()
	url, n := counted(t)
	s := newScenario(t, `{"schema": {"tools": {"odd": {"type": "object", "properties": {}, "_activity": {"http": {"url": "`+url+`"}}, "_output": {"type": "string", "minLength": 2, "maxLength": 1}}}},
		"context": [{"type": "plan", "plan": [{"_tool": "odd"}]}]}`).simulate(ideafile.FakedBySchemas, ideafile.FakedBySchemas)
	r := s.finish()
	if f := s.callFault("1.1"); f == nil || !strings.Contains(f.Message, "the tool odd cannot be simulated") ||
		r.Calls.Failed != 1 || n.Load() != 0 {
		t.Errorf("%+v, %+v, %d requests", f, r.Calls, n.Load())
	}
}

func TestAPlanThatMayAskNobodyIsPlayedBySchemasEvenWhereAnLLMPlays(t *testing.T) {
	t.Parallel()
	url, n := counted(t)
	s := newScenario(t, `{`+marketConfig+`, `+strings.Replace(market(url), `"_approval": true, `, "", 1)+`, "context": [{"type": "state", "item": "lamp"}, {"type": "plan", "stage": "complete", "output": {"n": "†state.price.cents"},
		"plan": [{"_tool": "price", "item": "†state.item", "_outputPath": "price"}]}]}`).simulate(ideafile.FakedByLLM, ideafile.FakedByLLM)
	s.file("ask.json", strings.ReplaceAll(askFile, "URL", url))
	if r := s.finish(); r.Status != loop.StatusCompleted || asJSON(r.Output) != `{"n":5}` || n.Load() != 0 ||
		r.RequestCount != 0 {
		t.Errorf("%+v, %d requests, %s", r, n.Load(), s.story())
	}
}
