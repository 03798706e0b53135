package simulate

import (
	"errors"
	"strings"
	"testing"

	"processidea/learn/harden"
	"processidea/learn/past"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/delegate"
	"processidea/model/jsonschema/sample"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/turn"
)

const someTools = `"schema": {"tools": {
	"price": {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"], "_output": {"type": "object", "properties": {"cents": {"type": "integer", "minimum": 5}}, "required": ["cents"]}},
	"pay": {"type": "object", "properties": {"cents": {"type": "integer"}, "note": {"type": "string"}}, "required": ["cents"], "_approval": true}}}`

func TestTheMarkOfASimulationIsReadWhereverItStands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ idea, tools, plans string }{
		{`{}`, "", ""},
		{`{"meta": {"simulated": false}}`, "", ""},
		{`{"meta": {"simulated": true}}`, ideafile.FakedBySchemas, ideafile.FakedBySchemas},
		{`{"meta": {"simulated": {"tools": "llm", "plans": "replies"}}}`, ideafile.FakedByLLM,
			ideafile.RecordedReplies},
		{`{"context": [{"type": "state", "state": {"a": 1}, "_simulated": true}]}`, ideafile.FakedBySchemas,
			ideafile.FakedBySchemas},
		{`{"context": [{"type": "input", "input": {"a": 1}, "_simulated": true}]}`, ideafile.FakedBySchemas,
			ideafile.FakedBySchemas},
		{`{"context": [{"type": "data", "kind": "k", "data": 7, "_simulated": true}]}`, ideafile.FakedBySchemas,
			ideafile.FakedBySchemas},
		{`{"context": [{"type": "state", "a": 1, "_simulated": true}]}`, "", ""}, // a payload's own key
	} {
		got, of := modeltest.IdeaFrom(t, c.idea).Simulation,
			ideafile.SimulationOf(modeltest.DecodeJSON(t, c.idea).(map[string]any))
		if !jsonval.Equal(jsonval.ToJSONValue(got), jsonval.ToJSONValue(of)) {
			t.Errorf("%s: %v and %v", c.idea, got, of)
		}
		if c.tools == "" && got != nil || c.tools != "" &&
			(got == nil || got.ToolResultsFrom != c.tools || got.LLMRepliesFrom != c.plans) {
			t.Errorf("%s: %+v", c.idea, got)
		}
	}
	for _, bad := range []string{`7`, `"yes"`, `{"tools": "people"}`, `{"who": "llm"}`} {
		if _, ps := ideafile.ParseIdea([]byte(`{"meta": {"simulated": ` + bad + `}}`)); len(ps.Errors()) == 0 {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestEverySnapshotOfASimulationIsMarkedAndItsStatesToo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		idea   string
		marked bool
	}{
		{`{"meta": {"path": "p", "simulated": {"tools": "llm", "plans": "llm"}}, "context": [{"type": "state", "a": 1}]}`, true},
		{`{"context": [{"type": "state", "state": {"a": 1}, "_simulated": true}]}`, true},
		{`{"meta": {"path": "p"}, "context": [{"type": "state", "a": 1}]}`, false},
	} {
		brief := &turn.RequestInput{Instances: []turn.InstanceInput{{Token: "①", State: map[string]any{"b": "2"}},
			{Token: "②", State: map[string]any{}}}}
		snapshot := turn.SnapshotIdea(modeltest.DecodeJSON(t, c.idea).(map[string]any), brief, nil, nil)
		text := string(jsonval.Encode(snapshot))
		idea, ps := ideafile.ReadIdea(snapshot)
		if (idea.Simulation != nil) != c.marked || len(ps) > 0 ||
			strings.Contains(text, ideafile.SimulatedMessageKey) != c.marked {
			t.Errorf("%s: %s %v", c.idea, text, ps)
		}
		if c.marked && !strings.Contains(text, `"_instance":"①","_simulated":true,"state":{"b":"2"}`) {
			t.Errorf("%s: the State has no mark: %s", c.idea, text)
		}
	}
}

// played is an instance whose Tools are simulated, with one Call of each Tool accepted.
func played(t *testing.T, sim *ideafile.Simulation, calls string) *dataflow.Instance {
	idea := modeltest.IdeaFrom(t, `{`+someTools+`}`)
	p := ideafile.Palette{Tools: idea.Tools,
		BindingByTool: map[string]ideafile.ToolBinding{"price": {Kind: ideafile.KindHTTP},
			"pay": {Kind: ideafile.KindGo}}}
	for name, b := range p.BindingByTool {
		if sim != nil {
			p.BindingByTool[name] = sim.SimulateBinding(b)
		}
	}
	r := dataflow.New(p, idea.Context, "")
	for n, c := range modeltest.DecodeJSON(t, calls).([]any) {
		r.AcceptCall(1, n+1, ideafile.ParseWrittenCall(c))
	}
	r.CloseRequest(1)
	return r
}

func TestNobodyIsAskedInASimulationAndTheRecordSaysSo(t *testing.T) {
	t.Parallel()
	const pay = `[{"_tool": "pay", "cents": 3}]`
	r := played(t, nil, pay)
	if ready := r.Advance(); len(ready) != 0 || len(r.PendingApprovals()) != 1 {
		t.Fatalf("a real Call is not asked about: %v", ready)
	}
	r = played(t, &ideafile.Simulation{ToolResultsFrom: ideafile.FakedBySchemas}, pay)
	ready := r.Advance()
	if len(ready) != 1 || len(r.PendingApprovals()) != 0 {
		t.Fatalf("%v, %v", ready, r.PendingApprovals())
	}
	d := ready[0].Record.Decisions
	if len(d) != 1 || d[0].DecidedBy != ideafile.SimulatedDecider || d[0].Kind != policy.Approve ||
		d[0].ApprovalDigest == "" || d[0].Reason == "" {
		t.Errorf("%+v", d)
	}
}

func TestAnLLMThatPlaysMakesEveryToolLatentAndSchemasMakeItPure(t *testing.T) {
	t.Parallel()
	for _, kind := range []ideafile.ToolKind{ideafile.KindGo, ideafile.KindHTTP, ideafile.KindMCP, ideafile.KindLatent,
		ideafile.KindDelegate} {
		bySchemas, byLLM := ideafile.Simulation{ToolResultsFrom: ideafile.FakedBySchemas}.SimulateBinding(
			ideafile.ToolBinding{Kind: kind}),
			ideafile.Simulation{ToolResultsFrom: ideafile.FakedByLLM}.SimulateBinding(ideafile.ToolBinding{Kind: kind})
		if bySchemas.Simulation == nil || byLLM.Simulation == nil || bySchemas.Kind != kind {
			t.Errorf("%s: %+v, %+v", kind, bySchemas, byLLM)
		}
		if want := kind != ideafile.KindLatent && kind != ideafile.KindDelegate; bySchemas.IsPureFunction != want {
			t.Errorf("%s: pure %t", kind, bySchemas.IsPureFunction)
		}
		if want := kind; byLLM.Kind != ideafile.KindLatent && want != ideafile.KindDelegate {
			t.Errorf("%s is %s for the LLM", kind, byLLM.Kind)
		}
	}
}

func TestAResultIsMadeUpToFitTheToolAndTheState(t *testing.T) {
	t.Parallel()
	state := modeltest.DecodeJSON(t,
		`{"type": "object", "properties": {"n": {"type": "integer", "minimum": 7}, "s": {"type": "string"}, "e": {"$ref": "#/$defs/e"}}, "$defs": {"e": {"enum": ["x", "y"]}}}`)
	at := func(path string) *statelog.ResultContract {
		return &statelog.ResultContract{StateSchema: state, OutputPath: refexpr.NewOutputPath(jsonval.Path{path})}
	}
	for _, c := range []struct {
		output  string
		landing *statelog.ResultContract
		want    string
	}{
		{`null`, nil, `"simulated: t"`},
		{`null`, at("s"), `"simulated: t"`},
		{`null`, at("n"), `7`},
		{`null`, at("e"), `"x"`},
		{`{"type": "integer"}`, nil, `0`},
		{`{"type": "integer"}`, at("n"), `7`},
		{`{"type": "integer", "minimum": 9}`, at("n"), `9`},
		{`{"type": "string"}`, at("e"), `"x"`},
		{`{"type": "string"}`, at("n"), `"simulated"`}, // no value fits both: the instance reports that
	} {
		var output any
		if c.output != "null" {
			output = modeltest.DecodeJSON(t, c.output)
		}
		v, err := FakeResult("t", output, c.landing)
		if got := string(jsonval.Encode(v)); err != nil || got != c.want {
			t.Errorf("%s at %v: %s, want %s, %v", c.output, c.landing, got, c.want, err)
		}
	}
	if _, err := FakeResult("t", modeltest.DecodeJSON(t, `{"not": {}}`), nil); !errors.Is(err, sample.ErrNoSample) {
		t.Errorf("%v", err)
	}
}

func TestNothingSimulatedIsTakenForReal(t *testing.T) {
	t.Parallel()
	marked := modeltest.DecodeJSON(t, `{"context": [{"type": "state", "state": {"a": 1}, "_simulated": true}]}`).(map[string]any)
	for _, kind := range []string{approval.SteerAddInstances, approval.SteerRevise} {
		if _, err := approval.ReadSteering(kind, marked); err == nil || !strings.Contains(err.Error(), "simulated") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	parent := `{"schema": {"tools": {"ask": {"_delegate": "d.json"}}}%s}`
	files := map[string]any{"d.json": modeltest.DecodeJSON(t, `{"meta": {"simulated": true}}`)}
	if ps := delegate.CheckFiles(modeltest.IdeaFrom(t, strings.Replace(parent, "%s", "", 1)), "",
		files); len(ps) != 1 || !strings.Contains(ps[0].Message, "simulation") {
		t.Errorf("%v", ps)
	}
	if ps := delegate.CheckFiles(modeltest.IdeaFrom(t, strings.Replace(parent, "%s", `, "meta": {"simulated": true}`,
		1)), "", files); len(ps) > 0 {
		t.Errorf("%v", ps)
	}
	idea := modeltest.DecodeJSON(t,
		`{"meta": {"simulated": true}, "context": [{"type": "state", "state": {}, "_status": "settled"}]}`).(map[string]any)
	if _, err := harden.Harden([]past.RecordedProcess{{ProcessID: "p", Ideas: []map[string]any{idea}}}, nil,
		false); err == nil || !strings.Contains(err.Error(), "simulated") {
		t.Errorf("%v", err)
	}
}

func TestDataThatNobodyGivesAreMadeUpAndMarked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, context, names, payloads string }{
		{"what is there is left",
			`[{"type": "input", "item": "lamp"}, {"type": "plan", "plan": [{"_tool": "price", "item": "†input.item"}]}]`, ``, ``},
		{"what a Call reads fits its parameter",
			`[{"type": "plan", "plan": [{"_tool": "pay", "cents": "†input.order.total", "note": "†state.why"}]}]`,
			`†input.order.total †state.why`, `{"order":{"total":0}} {"why":"simulated"}`},
		{"State that a Call writes is left open",
			`[{"type": "plan", "plan": [{"_tool": "price", "item": "lamp", "_outputPath": "p"}, {"_tool": "pay", "cents": "†state.p.cents"}]}]`, ``, ``},
		{"the message's own schema counts too",
			`[{"type": "input", "schema": {"properties": {"total": {"minimum": 40}}}}, {"type": "plan", "plan": [{"_tool": "pay", "cents": "†input.total"}]}]`,
			`†input.total`, `{"total":40}`},
		{"input of which there is a schema alone",
			`[{"type": "input", "a": 1, "schema": {"type": "object", "properties": {"a": {}, "b": {"enum": ["x"]}}}}]`,
			`†input.b`, `{"b":"x"}`},
		{"State of which there is a schema alone is left open",
			`[{"type": "state", "schema": {"type": "object", "properties": {"a": {}}}}]`, ``, ``},
		{"what stands beside it stays",
			`[{"type": "input", "order": {"id": 7}}, {"type": "state", "_instance": "①", "x": 1}, {"type": "plan", "plan": [{"_tool": "pay", "cents": "†input.order.total"}]}]`,
			`†input.order.total`, `{"order":{"id":7,"total":0}}`},
		{"other data", `[{"type": "plan", "plan": [{"_tool": "pay", "cents": "†prices.lamp"}]}]`, `†prices.lamp`,
			`{"lamp":0}`},
	} {
		i := modeltest.IdeaFrom(t, `{`+someTools+`, "context": `+c.context+`}`)
		messages, names := FakeInputs(i)
		var payloads []string
		for _, raw := range messages {
			m, ok := ideafile.ReadMessage(raw, "", new(diag.Problems))
			if !ok || !m.IsSimulated {
				t.Errorf("%s: %s", c.name, jsonval.Encode(raw))
			}
			payloads = append(payloads, string(jsonval.Encode(m.Payload)))
		}
		if strings.Join(names, " ") != c.names || strings.Join(payloads, " ") != c.payloads {
			t.Errorf("%s: %v %v", c.name, names, payloads)
		}
	}
}

func TestAFakeReplyPlansWhatTheFileGuidesToOnce(t *testing.T) {
	t.Parallel()
	const plan = `{"type": "plan", "plan": [{"_tool": "price", "item": "lamp", "_outputPath": "p"}]}`
	bindings := map[string]ideafile.ToolBinding{"price": {Kind: ideafile.KindHTTP}, "pay": {Kind: ideafile.KindGo}}
	for _, c := range []struct{ name, idea, tokens, want string }{
		{"its Plan", `"context": [` + plan + `]`, ``, `[{"_outputPath":"p","_tool":"price","item":"lamp"}]`},
		{"its Plan, for all", `"context": [` + plan + `]`, `①②`,
			`[{"_instance":"*","_outputPath":"p","_tool":"price","item":"lamp"}]`},
		{"its Plan where its condition holds, and each Tool once for the other instance",
			`"context": [{"type": "plan", "when": {"required": ["state"], "properties": {"state": {"required": ["x"]}}}, "plan": [{"_tool": "pay", "cents": 1}]}, {"type": "state", "_instance": "①", "x": 1}, {"type": "state", "_instance": "②"}]`, `①②`,
			`[{"_instance":"②","_outputPath":"†state.pay","_tool":"pay","cents":0},{"_instance":"②","_outputPath":"†state.price","_tool":"price","item":"simulated"},{"_instance":"①","_tool":"pay","cents":1}]`},
		{"each Tool once, wired by name",
			`"context": [{"type": "input", "item": "lamp"}, {"type": "state", "cents": 12}]`, ``,
			`[{"_outputPath":"†state.pay","_tool":"pay","cents":"†state.cents"},{"_outputPath":"†state.price","_tool":"price","item":"†input.item"}]`},
		{"at the properties that State must have",
			`"context": [{"type": "state", "schema": {"type": "object", "properties": {"a": {"type": "string"}, "cost": {"type": "object"}}, "required": ["cost"], "additionalProperties": false}}]`, ``,
			`[{"_outputPath":"†state.a","_tool":"pay","cents":0},{"_outputPath":"†state.cost","_tool":"price","item":"simulated"}]`},
	} {
		i := modeltest.IdeaFrom(t, `{`+someTools+`, `+c.idea+`}`)
		b := &turn.RequestInput{RequestNumber: 1}
		for _, token := range c.tokens {
			b.Instances = append(b.Instances, turn.InstanceInput{Token: string(token)})
		}
		if c.tokens == "" {
			b.Instances = []turn.InstanceInput{{}}
		}
		if got := string(jsonval.Encode(FakeSolution(i, bindings, b)["calls"])); got != c.want {
			t.Errorf("%s:\n%s\n%s", c.name, got, c.want)
		}
		if b.RequestNumber = 2; len(FakeSolution(i, bindings, b)["calls"].([]any)) > 0 {
			t.Errorf("%s: it plans again", c.name)
		}
	}
}

func TestAFakeReplyAnswersEveryQuestionWithWhatFits(t *testing.T) {
	t.Parallel()
	i := modeltest.IdeaFrom(t, `{`+someTools+`}`)
	b := &turn.RequestInput{RequestNumber: 3, Questions: []turn.QuestionToLLM{
		{CallID: "1.1", Tool: "price", Params: map[string]any{"item": "lamp"}},
		{CallID: "1.2", Tool: "pay", Params: map[string]any{"cents": "twelve", "note": "n"},
			ParamsError: "it is a text"},
	}}
	calls := FakeSolution(i, nil, b)["calls"]
	if got := string(
		jsonval.Encode(
			calls)); got != `[{"_call":"1.1","_output":{"cents":5}},{"_call":"1.2","_params":{"cents":0,"note":"n"}}]` {
		t.Error(got)
	}
	for n, raw := range calls.([]any) {
		a, _, _, f := turn.ReadLLMAnswer(i, b, ideafile.ParseWrittenCall(raw))
		if f != nil || a.CallID != b.Questions[n].CallID {
			t.Errorf("%v %v", a, f)
		}
	}
	if !AnswersRequest(b, calls.([]any)) || AnswersRequest(b, []any{map[string]any{"_tool": "pay"}}) {
		t.Error("results answer a question for results, and Calls do not")
	}
	again := &turn.RequestInput{RequestNumber: 2,
		PlanEntries: []turn.PlannedCallSummary{{Call: ideafile.ParseWrittenCall(map[string]any{"_tool": "pay"})}}}
	if AnswersRequest(again, []any{map[string]any{"_tool": "pay"}}) ||
		!AnswersRequest(again, []any{map[string]any{"_tool": "price"}}) || !AnswersRequest(again, nil) {
		t.Error("what was planned before is no answer; something new is, and nothing more")
	}
}

func TestTheOutputOfAFakeReplyIsNeverAReference(t *testing.T) {
	t.Parallel()
	i := modeltest.IdeaFrom(t,
		`{"schema": {"output": {"type": "object", "properties": {"a": {"enum": ["†state.x"]}, "b": {"type": "array", "items": {"const": "†"}}}}}}`)
	out := FakeSolution(i, nil, &turn.RequestInput{IsOutputOnly: true, RequestNumber: 4})["output"]
	if got := string(jsonval.Encode(out)); got != `{"a":"††state.x","b":["††"]}` {
		t.Error(got)
	}
}
