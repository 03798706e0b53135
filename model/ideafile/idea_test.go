package ideafile_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// wholeIdea is the example of the design, with everything an Idea file may hold.
const wholeIdea = `{
  "meta":   {"path": "moderation", "version": "1"},
  "config": {"llm": {"model": "gpt-5-mini", "temperature": 0, "maxTokens": 9, "timeout": "1m"},
             "limits": {"requests": 50, "tokens": 10, "calls": 5, "duration": "1h"}, "approval": {}, "gather": 5, "batch": 10, "adapt": true},
  "schema": {
    "tools": {
      "zeta": {"_activity": "zeta"},
      "analyzeSentiment": {
        "description": "Scores the mood of a text.",
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "_output": {"type": "string", "enum": ["positive", "neutral", "negative"]}
      }
    },
    "output": {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}
  },
  "context": [
    {"type": "text", "text": "Judge every comment by the community rules."},
    {"type": "input", "rules": ["no spam"]},
    {"type": "state", "_instance": "②", "state": {"text": "This is wonderful!"},
     "schema": {"type": "object", "properties": {"text": {"type": "string"}, "sentiment": {"type": "string"}}}},
    {"type": "state", "_instance": "①", "text": "This is terrible."},
    {"type": "data", "kind": "state", "_instance": "②", "more": 1},
    {"type": "plan", "plan": [{"_tool": "analyzeSentiment", "text": "†state.text", "_outputPath": "sentiment"}]}
  ],
  "solution": {"calls": [], "output": null}
}`

func TestAnIdeaFileIsRead(t *testing.T) {
	t.Parallel()
	idea, ps := ideafile.ParseIdea([]byte(wholeIdea))
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	if idea.ProcessPath != "moderation" || idea.ProcessVersion != "1" || len(idea.Context) != 6 ||
		idea.OutputSchema == nil {
		t.Errorf("got %+v", idea)
	}
	if c := idea.Config.LLMs[0]; c.Model != "gpt-5-mini" || *c.Temperature != 0 || c.MaxTokens != 9 ||
		c.Timeout != time.Minute {
		t.Errorf("llm is %+v", c)
	}
	if l := idea.Config.Limits; l != (ideafile.Limits{Requests: 50, Tokens: 10, Calls: 5, Duration: time.Hour}) {
		t.Errorf("limits are %+v", l)
	}
	if !jsonval.Equal(idea.Source, modeltest.MustDecodeJSON(wholeIdea)) {
		t.Error("the source is not as it was written")
	}
}

func TestNullIsNoLimitAndWhatIsNotSaidIsTheDefault(t *testing.T) {
	t.Parallel()
	idea, ps := ideafile.ParseIdea([]byte(`{"config":{"limits":{"requests":null,"calls":7,"duration":null}}}`))
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	want := ideafile.Limits{Requests: ideafile.NoLimit, Tokens: 3 * ideafile.DefaultTokenLimit, Calls: 7,
		Duration: ideafile.NoLimit}
	if got := idea.Config.Limits.WithDefaults(3); got != want {
		t.Errorf("%+v", got)
	}
}

func TestThePaletteIsSortedByName(t *testing.T) {
	t.Parallel()
	idea, _ := ideafile.ParseIdea([]byte(wholeIdea))
	if len(idea.Tools) != 2 || idea.Tools[0].Name != "analyzeSentiment" || idea.Tool("zeta") != idea.Tools[1] {
		t.Errorf("got %v", idea.Tools)
	}
	if idea.Tool("nobody") != nil {
		t.Error("a tool was found that is none")
	}
}

func TestInstancesStandInTheOrderInWhichTheContextNamesThem(t *testing.T) {
	t.Parallel()
	idea, _ := ideafile.ParseIdea([]byte(wholeIdea))
	if got := idea.InstanceTokens(); !reflect.DeepEqual(got, []string{"②", "①"}) {
		t.Errorf("got %v", got)
	}
}

func TestAProcessWithoutTokensHasOneAnonymousInstance(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `{"context":[]}`,
		`{"context":[{"type":"state","a":1},{"type":"input","_instance":null}]}`} {
		idea, ps := ideafile.ParseIdea([]byte(text))
		if len(ps) > 0 || !reflect.DeepEqual(idea.InstanceTokens(), []string{""}) {
			t.Errorf("%s: %v, %v", text, idea.InstanceTokens(), ps)
		}
	}
}

func TestTokensThatAreTypedAlikeAreRefused(t *testing.T) {
	t.Parallel()
	_, problems := ideafile.ParseIdea(
		[]byte(
			`{"context": [{"type": "state", "_instance": "①"}, {"type": "input", "_instance": "①"}, {"type": "state", "_instance": "1"}]}`))
	want := `$.context[2]._instance: "1" and "①" are both typed 1, in ids and at the keyboard: one of them needs another name`
	if len(problems) != 1 || problems[0].String() != want {
		t.Errorf("%v", problems)
	}
}

func TestTokensThatLookAlikeAreWarnedOf(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"Müller", "Mu\u0308ller"}, {"A1", "Ａ１"}, {"a b", " a  b "},
		{"a1", "a\u200b1"}, {"Straße", "STRASSE"}, {"a1", "a1\u00a0"}, {"①", "１"}} {
		context := func(a, b string) []byte {
			return fmt.Appendf(nil, `{"context": [{"type": "state", "_instance": %s},
				{"type": "input", "_instance": %s}]}`, jsonval.EncodeToString(a), jsonval.EncodeToString(b))
		}
		_, problems := ideafile.ParseIdea(context(pair[0], pair[1]))
		if len(problems) != 1 || !problems[0].IsWarning || problems[0].JSONPath != "$.context[1]._instance" ||
			!strings.Contains(problems[0].Message, "looks like") {
			t.Errorf("%+q: %v", pair, problems)
		}
		if _, problems = ideafile.ParseIdea(context(pair[1], pair[1])); len(problems) > 0 {
			t.Errorf("%+q twice: %v", pair[1], problems)
		}
	}
	_, problems := ideafile.ParseIdea([]byte(`{"context": [{"type": "state", "_instance": "order-1"},
		{"type": "state", "_instance": "order-2"}, {"type": "state", "_instance": "Мария"}]}`))
	if len(problems) > 0 {
		t.Errorf("%v", problems)
	}
}

func TestAnIdeaSaysNothingMoreThanItMust(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `{"meta":null,"config":null,"schema":null,"context":null,"solution":null}`,
		`{"config":{"llm":{},"limits":null,"approval":null,"mcp":null}}`} {
		idea, ps := ideafile.ParseIdea([]byte(text))
		if len(ps) > 0 {
			t.Fatalf("%s: %s", text, ps)
		}
		if idea.Config.LLMs[0] != ideafile.DefaultLLMs()[0] || idea.Config.Limits != (ideafile.Limits{}) {
			t.Errorf("%s: config is %+v", text, idea.Config)
		}
	}
}

func TestAnIdeaFileIsRefusedWhen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"it does not parse", `{"meta":`, "$: decode JSON: the text ends"},
		{"a key stands twice", `{"meta":{},"meta":{}}`, "$.meta: the key stands twice"},
		{"it is no object", `[]`, "$: an Idea is an object, not array"},
		{"it has an unknown key", `{"tools":{}}`,
			`$.tools: unknown key "tools"; an Idea has $schema, meta, config, schema, context, solution, delegates`},
		{"an unknown key needs quotes", `{"my tools":{}}`, `$["my tools"]: unknown key`},
		{"meta is no object", `{"meta":"x"}`, "$.meta: want an object, not string"},
		{"its path is no string", `{"meta":{"path":1}}`, "$.meta.path: want a string, not number"},
		{"its version is a number", `{"meta":{"version":1}}`, "$.meta.version: want a string, not number"},
		{"config is a list", `{"config":[]}`, "$.config: want an object, not array"},
		{"config has an unknown key", `{"config":{"model":"x"}}`,
			`$.config.model: unknown key "model"; config has adapt, approval, batch, fairness, gather, instanceName, ` +
				`limits, llm, mcp, onFailure, partsAtOnce, prices, priority, quality and settle`},
		{"instances settle in a way that is unknown", `{"config":{"settle":"alone"}}`,
			`$.config.settle: want "asked" (the LLM is asked before`},
		{"llm is no object", `{"config":{"llm":"gpt"}}`, "$.config.llm: want an object, or a list of objects"},
		{"llm has an unknown key", `{"config":{"llm":{"key":"s"}}}`, `$.config.llm.key: unknown key "key"`},
		{"the model is no string", `{"config":{"llm":{"model":null}}}`, "$.config.llm.model: want a string, not null"},
		{"a list of llms is empty", `{"config":{"llm":[]}}`, "$.config.llm: want 1 to 8 LLMs, not 0"},
		{"a list of llms holds a name", `{"config":{"llm":[{"model":"a"},"b"]}}`,
			"$.config.llm[1]: want an object, not string"},
		{"a second llm has an unknown key", `{"config":{"llm":[{},{"key":"s"}]}}`,
			`$.config.llm[1].key: unknown key "key"; llm has batch, maxTokens, model, patience, server, temperature and timeout`},
		{"the temperature is text", `{"config":{"llm":{"temperature":"hot"}}}`,
			"$.config.llm.temperature: want a number from 0 to 2"},
		{"the temperature is too high", `{"config":{"llm":{"temperature":2.1}}}`, "want a number from 0 to 2"},
		{"maxTokens is zero", `{"config":{"llm":{"maxTokens":0}}}`,
			"$.config.llm.maxTokens: want a whole number from 1"},
		{"the timeout is no duration", `{"config":{"llm":{"timeout":"x"}}}`, "$.config.llm.timeout: want a duration"},
		{"limits are a number", `{"config":{"limits":5}}`, "$.config.limits: want an object, not number"},
		{"a limit is unknown", `{"config":{"limits":{"apples":5}}}`, `$.config.limits.apples: unknown limit "apples"`},
		{"a limit is negative", `{"config":{"limits":{"requests":-1}}}`,
			"$.config.limits.requests: want a whole number from 1"},
		{"a limit is text", `{"config":{"limits":{"tokens":"5"}}}`,
			"$.config.limits.tokens: want a whole number from 1"},
		{"a limit is a fraction", `{"config":{"limits":{"calls":1.5}}}`,
			"$.config.limits.calls: want a whole number from 1"},
		{"a limit of money is text", `{"config":{"limits":{"money":"5 USD"}}}`,
			"$.config.limits.money: want a number of US dollars above zero"},
		{"a limit of money is zero", `{"config":{"limits":{"money":0}}}`,
			"$.config.limits.money: want a number of US dollars above zero"},
		{"a price is negative", `{"config":{"prices":{"m":{"input":-1,"output":2}}}}`,
			"$.config.prices.m.input: want a price in US dollars for a million tokens"},
		{"a price is missing", `{"config":{"prices":{"m":{"input":1}}}}`,
			"$.config.prices.m.output: want a price in US dollars for a million tokens"},
		{"the limit of time is none", `{"config":{"limits":{"duration":"x"}}}`,
			"$.config.limits.duration: want a duration"},
		{"gather is no duration", `{"config":{"gather":"x"}}`, "$.config.gather: want a duration"},
		{"batch is a word", `{"config":{"batch":"all"}}`, `$.config.batch: want a whole number from 1 to 2147483647, not "all"; or "auto"`},
		{"a share is over 1", `{"config":{"quality":{"recheck":1.01}}}`, "$.config.quality.recheck: want a share from 0 to 1"},
		{"a share is under 0", `{"config":{"quality":{"limit":-0.01}}}`, "$.config.quality.limit: want a share from 0 to 1"},
		{"quality does what is not", `{"config":{"quality":{"onLimit":"stop"}}}`, `$.config.quality.onLimit: want "shrink", "pause" or "tell"`},
		{"quality has an unknown key", `{"config":{"quality":{"shares":1}}}`, `$.config.quality.shares: unknown key "shares"; quality has before`},
		{"quality is no object", `{"config":{"quality":0.05}}`, "$.config.quality: want an object"},
		{"quality names no LLM", `{"config":{"quality":{"llm":"x"}}}`, "$.config.quality.llm: want an object"},
		{"quality asks by batch", `{"config":{"quality":{"llm":{"model":"m","batch":true}}}}`,
			"$.config.quality.llm: rechecks are not asked by batches"},
		{"batch is zero", `{"config":{"batch":0}}`, "$.config.batch: want a whole number from 1"},
		{"no part may work", `{"config":{"partsAtOnce":0}}`,
			"$.config.partsAtOnce: want a whole number from 1 to 1000"},
		{"the priority is zero", `{"config":{"priority":0}}`,
			"$.config.priority: want a whole number from 1 to 5, not 0"},
		{"the priority is too low", `{"config":{"priority":6}}`, "$.config.priority: want a whole number from 1 to 5"},
		{"fairness is a name", `{"config":{"fairness":"a"}}`, "$.config.fairness: want an object, not string"},
		{"fairness has a weight alone", `{"config":{"fairness":{"weight":2}}}`, "$.config.fairness: it names no key"},
		{"fairness is empty", `{"config":{"fairness":{}}}`, "$.config.fairness: it names no key"},
		{"fairness is for nobody", `{"config":{"fairness":{"key":""}}}`,
			`$.config.fairness.key: want a name of 1 to 64 bytes`},
		{"fairness is for a number", `{"config":{"fairness":{"key":7}}}`, "$.config.fairness.key: want a name"},
		{"a key is too long", `{"config":{"fairness":{"key":"` + strings.Repeat("a", 65) + `"}}}`,
			"$.config.fairness.key: want a name of 1 to 64 bytes"},
		{"a weight is zero", `{"config":{"fairness":{"key":"a","weight":0}}}`,
			"$.config.fairness.weight: want a number from 0.001 to 1000, not 0"},
		{"a weight is huge", `{"config":{"fairness":{"key":"a","weight":1e300}}}`, "want a number from 0.001 to 1000"},
		{"fairness has more", `{"config":{"fairness":{"key":"a","share":1}}}`,
			`$.config.fairness.share: unknown key "share"; fairness has key and weight`},
		{"adapt is text", `{"config":{"adapt":"no"}}`, "$.config.adapt: want true or false"},
		{"approval is a list", `{"config":{"approval":["refund"]}}`, "$.config.approval: want an object, not array"},
		{"approval has an unknown key", `{"config":{"approval":{"tool":["refund"]}}}`,
			`$.config.approval.tool: unknown key "tool"; approval has all, by, escalate, plan, proof, remind and tools`},
		{"approval for all is text", `{"config":{"approval":{"all":"yes"}}}`,
			`$.config.approval.all: want {"tools": ["name"]} or {"all": true}`},
		{"approval names tools by a text", `{"config":{"approval":{"tools":"refund"}}}`,
			`$.config.approval.tools: want {"tools": ["name"]}`},
		{"approval names no tool", `{"config":{"approval":{"tools":["refund"]}}}`,
			`$.config.approval.tools[0]: unknown tool "refund"`},
		{"schema has an unknown key", `{"schema":{"tool":{}}}`,
			`$.schema.tool: unknown key "tool"; schema has tools, output; did you mean tools?`},
		{"the palette is a list", `{"schema":{"tools":[]}}`, "$.schema.tools: want an object, not array"},
		{"a tool is wrong, with its place", `{"schema":{"tools":{"my tool":{"_x":1}}}}`,
			`$.schema.tools["my tool"]._x: unknown meta property`},
		{"the output form is no schema", `{"schema":{"output":{"type":"x"}}}`, "$.schema.output: compile schema: "},
		{"context is an object", `{"context":{}}`, "$.context: want a list of messages, not object"},
		{"a message is wrong, with its place", `{"context":[{"type":"text","text":"x"},{"type":"tekst"}]}`,
			`$.context[1].type: unknown type "tekst"`},
		{"the solution is a list", `{"solution":[]}`, "$.solution: want an object, not array"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ps := ideafile.ParseIdea([]byte(c.text))
			if len(ps.Errors()) != 1 || !strings.Contains(ps.Error(), c.want) {
				t.Errorf("got %q, want one problem that says %q", ps.Error(), c.want)
			}
			formIsRefused(t, c.text, ps.Error())
		})
	}
}

func TestEverythingWrongWithAFileIsToldAtOnceInTheOrderOfItsParts(t *testing.T) {
	t.Parallel()
	_, ps := ideafile.ParseIdea(
		[]byte(
			`{"x":1,"meta":{"path":1},"config":{"batch":0},"schema":{"tools":{"a":1,"b":1}},"context":[{},{}],"solution":1}`))
	var places []string
	for _, p := range ps {
		places = append(places, p.JSONPath)
	}
	want := "$.x $.meta.path $.config.batch $.schema.tools.a $.schema.tools.b $.context[0].type $.context[1].type " +
		"$.solution"
	if got := strings.Join(places, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzParseIdea(f *testing.F) {
	for _, seed := range []string{
		wholeIdea, `{}`, `[]`,
		`{"schema":{"tools":{"a":{"properties":{"†":{"const":"†state.x"}},"_outputPath":"†state"}}}}`,
		`{"context":[{"type":"data","kind":"state"},{"type":"state","state":null},{"type":"plan","plan":[1,{"_tool":"a"}]}]}`,
		`{"config":{"limits":{"requests":1e10000000}}}`, `{"config":{"gather":1e308}}`,
		`{"schema":{"output":{"$ref":"file:///etc/passwd"}}}`,
		`{"schema":{"tools":{"a":{"_retry":{"attempts":1e3}}}}}`, strings.Repeat(`{"context":[`, 80),
		`{"meta":{},"meta":{}}`, "{\"\xff\":1}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		idea, ps := ideafile.ParseIdea(data)
		_, again := ideafile.ParseIdea(data)
		if !reflect.DeepEqual(ps, again) {
			t.Fatalf("first\n%s\nthen\n%s", ps, again)
		}
		if idea == nil {
			if len(ps) == 0 {
				t.Fatal("there is neither an Idea nor a problem")
			}
			return
		}
		for _, token := range idea.InstanceTokens() {
			r := dataflow.New(ideafile.Palette{Tools: idea.Tools}, idea.Context, token)
			for _, m := range idea.Context {
				for i, call := range m.PlanCalls {
					r.AcceptCall(1, i+1, ideafile.ParseWrittenCall(call))
				}
			}
			r.CloseRequest(1)
			for ready := r.Advance(); len(ready) > 0; ready = r.Advance() {
				r.SucceedCall(ready[0].Record.ID, map[string]any{"x": nil})
				for _, other := range ready[1:] {
					r.FailCall(other.Record.ID, diag.Faultf(ideafile.CodeToolFailed, "no"))
				}
			}
			for _, rec := range r.CallRecords() {
				if !rec.Status.IsFinal() {
					t.Fatalf("%s is still %s", rec.ID, rec.Status)
				}
			}
		}
	})
}

// Each schema has room for its patterns, and so has the file, with its delegates.
func TestThePatternsOfAFileAreBoundedTogether(t *testing.T) {
	t.Parallel()
	tool := func(n int) string {
		return fmt.Sprintf(`"t%d": {"properties": {"a": {"pattern": "(abcdefgh){900}%d"}}}`, n, n)
	}
	var tools []string
	for n := range 80 {
		tools = append(tools, tool(n))
	}
	for place, file := range map[string]string{
		"Tools":     `{"schema": {"tools": {` + strings.Join(tools, ",") + `}}}`,
		"delegates": `{"delegates": {"a.json": {"schema": {"tools": {` + strings.Join(tools, ",") + `}}}}}`,
	} {
		if idea, ps := ideafile.ParseIdea([]byte(file)); idea == nil || !strings.Contains(ps.Error(), "500000 steps") {
			t.Errorf("%s: %v", place, ps)
		}
	}
	_, ps := ideafile.ParseIdea([]byte(`{"schema": {"tools": {` + strings.Join(tools[:40], ",") + `}}}`))
	if len(ps.Errors()) > 0 {
		t.Error(ps)
	}
}

// Without a seed the instances would stand in the order of the file, and those at its beginning be asked about twice.
func TestAnIdeaWithAnEmptySeedGetsOne(t *testing.T) {
	t.Parallel()
	for meta, want := range map[string]string{`{}`: "new", `{"seed": ""}`: "new", `{"seed": null}`: "new",
		`{"seed": "own"}`: "own"} {
		source := modeltest.IdeaFrom(t, `{"meta": `+meta+`}`).Source
		if got := jsonval.Lookup(ideafile.WithQualitySeed(source, "new"), "meta", "seed"); got != want {
			t.Errorf("%s: %v", meta, got)
		}
	}
}
