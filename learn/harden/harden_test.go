package harden

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"processidea/learn/past"
	"processidea/model/check"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// hardenedTools is the palette of these tests.
const hardenedTools = `{"tools": {
	"find": {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "number"}}, "required": ["id"], "_activity": "find"},
	"search": {"type": "object", "properties": {"id": {"type": "string"}, "in": {"type": "string"}}, "required": ["id"], "_activity": "search"},
	"send": {"type": "object", "properties": {"to": {"type": "string"}, "text": {"type": "string"}}, "required": ["to", "text"], "_activity": "send"},
	"say": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}}`

// runFixture is a finished process of one instance: the State at the start and at the end, the Calls that were planned,
// and their record.
type runFixture struct {
	start, end, input, output string
	calls                     []string
	record                    string
}

func finishedRun(t *testing.T, n int, p runFixture) past.RecordedProcess {
	if p.input == "" {
		p.input = `{"shelf": "A1"}`
	}
	if p.output == "" {
		p.output = "null"
	}
	text := func(state, plan, solution, output string) map[string]any {
		idea, err := jsonval.DecodeObject([]byte(`{"meta": {"request": 1}, "schema": ` + hardenedTools + `, "context": [{"type": "text", "text": "Do it."},
			{"type": "input", "input": ` + p.input + `}, {"type": "state", "state": ` + state + `}` + plan + `],
			"solution": {"calls": ` + solution + `, "output": ` + output + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		return idea
	}
	calls := "[" + strings.Join(p.calls, ", ") + "]"
	return past.RecordedProcess{ProcessID: fmt.Sprintf("p%d", n), Ideas: []map[string]any{
		text(p.start, "", calls, "null"),
		text(p.end, `, {"type": "plan", "plan": `+calls+`, "record": `+p.record+`}`, "[]", p.output),
	}}
}

func hardenRuns(t *testing.T, list ...runFixture) *Result {
	var runs []past.RecordedProcess
	for n, fixture := range list {
		runs = append(runs, finishedRun(t, n+1, fixture))
	}
	h, err := Harden(runs, map[string]ideafile.ToolBinding{"find": {Kind: ideafile.KindGo},
		"search": {Kind: ideafile.KindGo}, "send": {Kind: ideafile.KindGo}, "say": {Kind: ideafile.KindLatent}}, false)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// planOf returns the Plan of a hardened Idea.
func planOf(t *testing.T, h *Result) ideafile.Message {
	idea, ps := ideafile.ReadIdea(h.Idea)
	if len(ps.Errors()) > 0 {
		t.Fatalf("%s", ps)
	}
	for _, m := range idea.Context {
		if m.Type == ideafile.TypePlan {
			return m
		}
	}
	t.Fatalf("it has no Plan")
	return ideafile.Message{}
}

// is checks the Plan and what was not generalized.
func (h *Result) is(t *testing.T, plan string, named ...string) {
	t.Helper()
	m := planOf(t, h)
	want, err := jsonval.Decode([]byte(plan))
	if err != nil {
		t.Fatal(err)
	}
	if !jsonval.Equal(any(m.PlanCalls), want) {
		t.Errorf("the Plan is %s\nwant %s", jsonval.Encode(m.PlanCalls), jsonval.Encode(want))
	}
	if (m.PlanStage == ideafile.PlanStageOptimal) != (len(named) == 0) {
		t.Errorf("its stage is %q", m.PlanStage)
	}
	var lines []string
	for _, p := range h.Differences {
		lines = append(lines, p.String())
		if p.DecisionNeeded == "" || !strings.HasPrefix(p.IdeaPath, "context[") {
			t.Errorf("%s: a person is not told what to decide, and where: %q", p, p.Advice())
		}
	}
	if got, want := strings.Join(lines, "\n"), strings.Join(named, "\n"); got != want {
		t.Errorf("named:\n%s\nwant:\n%s", got, want)
	}
	idea, _ := ideafile.ReadIdea(h.Idea)
	if errs := check.Check(idea, map[string]ideafile.ToolBinding{"find": {Kind: ideafile.KindGo},
		"search": {Kind: ideafile.KindGo}, "send": {Kind: ideafile.KindGo},
		"say": {Kind: ideafile.KindLatent}}).Errors(); len(errs) > 0 {
		t.Errorf("it does not pass the check: %s", errs)
	}
}

func sentRun(n int) runFixture {
	return runFixture{
		start: fmt.Sprintf(`{"order": "o%d", "mail": "m%d@x"}`, n, n),
		end:   fmt.Sprintf(`{"order": "o%d", "mail": "m%d@x", "item": "item %d", "sent": true}`, n, n, n),
		calls: []string{`{"_tool": "find", "id": "†state.order", "_outputPath": "item"}`,
			fmt.Sprintf(`{"_tool": "send", "to": "m%d@x", "text": "†state.item", "_outputPath": "†state.sent"}`, n)},
		record: `{"1.1": {"done": 1}, "1.2": {"done": 1}}`,
	}
}

func TestLiteralsThatEqualTheStartBecomeReferencesAndTheSchemaIsClosed(t *testing.T) {
	t.Parallel()
	h := hardenRuns(t, sentRun(1), sentRun(2), sentRun(3))
	h.is(t, `[{"_tool": "find", "id": "†state.order", "_outputPath": "†state.item"},
		{"_tool": "send", "to": "†state.mail", "text": "†state.item", "_outputPath": "†state.sent"}]`)
	idea, _ := ideafile.ReadIdea(h.Idea)
	schema := jsonval.AsObject(ideafile.InstanceViewOf(idea.Context, "").SchemaByKind[ideafile.TypeState])
	want, _ := jsonval.Decode([]byte(`{"type": "object", "additionalProperties": false, "required": ["item", "sent"], "properties": {
		"order": {"type": "string", "description": "read by find"}, "mail": {"type": "string", "description": "read by send"},
		"item": {"type": "string", "description": "written by find, read by send"}, "sent": {"type": "boolean", "description": "written by send"}}}`))
	if !jsonval.Equal(any(schema), want) {
		t.Errorf("the schema is %s", jsonval.Encode(schema))
	}
}

// Of 40 runs the first Call failed in 5. There the LLM planned another one in its second Request, with values in place
// of References.
func TestWhatTheLLMPlannedAfterAFailureBecomesAnAlternative(t *testing.T) {
	t.Parallel()
	var runs []runFixture
	for n := 1; n <= 40; n++ {
		p := sentRun(n)
		if n%8 == 0 {
			p.calls = append(p.calls,
				fmt.Sprintf(`{"_tool": "search", "id": "o%d", "in": "A1", "_outputPath": "item"}`, n),
				fmt.Sprintf(`{"_tool": "send", "to": "†state.mail", "text": "item %d", "_outputPath": "sent"}`, n))
			p.record = `{"1.1": {"failed": 1}, "1.2": {"blocked": 1}, "2.1": {"done": 1}, "3.1": {"done": 1}}`
		}
		runs = append(runs, p)
	}
	h := hardenRuns(t, runs...)
	h.is(t, `[{"_tool": "find", "id": "†state.order", "_outputPath": "†state.item"},
		{"_tool": "search", "id": "†state.order", "in": "†input.shelf", "_outputPath": "†state.item"},
		{"_tool": "send", "to": "†state.mail", "text": "†state.item", "_outputPath": "†state.sent"}]`)

	for _, broken := range []bool{false, true} {
		state, calls := playHardened(t, h, `{"order": "new", "mail": "y"}`, broken)
		want := map[bool]string{
			false: `find {"id":"new"}; send {"text":"found new","to":"y"}`,
			true:  `find {"id":"new"}; search {"id":"new","in":"A1"}; send {"text":"searched new","to":"y"}`,
		}[broken]
		if calls != want || jsonval.AsObject(state)["sent"] != true {
			t.Errorf("it did %s and came to %s", calls, jsonval.Encode(state))
		}
	}
}

// playHardened runs the Plan on a new State, and returns which Calls ran.
func playHardened(t *testing.T, h *Result, start string, findFails bool) (state any, calls string) {
	t.Helper()
	begin, err := jsonval.DecodeObject([]byte(start))
	if err != nil {
		t.Fatal(err)
	}
	idea, _ := ideafile.ReadIdea(h.Idea)
	context := []ideafile.Message{{Type: ideafile.TypeState, PayloadKind: ideafile.TypeState, Payload: begin}}
	for _, m := range idea.Context {
		if m.PayloadKind == ideafile.TypeState {
			context[0].PayloadSchema = m.PayloadSchema
		} else {
			context = append(context, m)
		}
	}
	bound := map[string]ideafile.ToolBinding{"find": {Kind: ideafile.KindGo}, "search": {Kind: ideafile.KindGo},
		"send": {Kind: ideafile.KindGo}}
	run := dataflow.New(ideafile.Palette{Tools: idea.Tools, BindingByTool: bound, UntargetedCallsGoToAll: true},
		context, "")
	run.StartDirectPlan()
	var list []string
	for ready := run.Advance(); len(ready) > 0; ready = run.Advance() {
		for _, r := range ready {
			list = append(list, r.Record.Tool+" "+string(jsonval.Encode(r.Params)))
			switch {
			case r.Record.Tool == "find" && findFails:
				run.FailCall(r.Record.ID, diag.Faultf(ideafile.CodeToolFailed, "not found"))
			case r.Record.Tool == "send":
				run.SucceedCall(r.Record.ID, true)
			default:
				run.SucceedCall(r.Record.ID, map[string]string{"find": "found ", "search": "searched "}[r.Record.Tool]+
					fmt.Sprint(r.Params["id"]))
			}
		}
	}
	if f := run.DirectPlanFault(); f != nil {
		t.Errorf("the Plan does not suffice: %s", f)
	}
	return run.State(), strings.Join(list, "; ")
}

func TestWhatCannotBeGeneralizedIsNamedAndNeverGuessed(t *testing.T) {
	t.Parallel()
	with := func(p runFixture, old, new string) runFixture {
		for n := range p.calls {
			p.calls[n] = strings.ReplaceAll(p.calls[n], old, new)
		}
		return p
	}
	find := `{"_tool": "find", "id": "†state.order", "_outputPath": "†state.item"}`
	send := `{"_tool": "send", "to": "†state.mail", "text": "†state.item", "_outputPath": "†state.sent"}`
	t.Run("a literal that stands nowhere", func(t *testing.T) {
		h := hardenRuns(t, sentRun(1), sentRun(2), with(sentRun(3), "m3@x", "boss@x"))
		h.is(
			t, `[`+find+`]`,
			`send → †state.sent: parameter "to" differs, and nothing at the start tells how (in p1, p2, p3)`)
	})
	t.Run("a Call that only some instances had", func(t *testing.T) {
		more := sentRun(2)
		more.calls = append(more.calls, `{"_tool": "search", "id": "†state.order", "_outputPath": "more"}`)
		more.record = `{"1.1": {"done": 1}, "1.2": {"done": 1}, "1.3": {"done": 1}}`
		more.end = strings.Replace(more.end, `"sent"`, `"more": "x", "sent"`, 1)
		h := hardenRuns(t, sentRun(1), more)
		h.is(t, `[`+find+`,`+send+`]`,
			`search → †state.more: it ran in some instances alone: †state.mail is "m2@x" in 1 of 1, and not in the other 1: too few, 3 on each side are needed (in p2)`)
	})
	t.Run("a literal that stands at two places", func(t *testing.T) {
		a, b := sentRun(1), sentRun(2)
		a.start, a.end = strings.Replace(a.start, "{", `{"copy": "m1@x", `, 1),
			strings.Replace(a.end, "{", `{"copy": "m1@x", `, 1)
		b.start, b.end = strings.Replace(b.start, "{", `{"copy": "m2@x", `, 1),
			strings.Replace(b.end, "{", `{"copy": "m2@x", `, 1)
		h := hardenRuns(t, a, b)
		h.is(
			t, `[`+find+`]`,
			`send → †state.sent: parameter "to" equals in every instance the values at †state.copy and at †state.mail: it is unclear which is meant (in p1, p2)`)
	})
	t.Run("a result that the LLM wrote", func(t *testing.T) {
		p := sentRun(1)
		p.calls = append(p.calls, `{"_tool": "say", "text": "†state.item", "_output": "hm", "_outputPath": "said"}`)
		p.record = `{"1.1": {"done": 1}, "1.2": {"done": 1}, "1.3": {"done": 1}}`
		p.end = strings.Replace(p.end, `"sent"`, `"said": "hm", "sent"`, 1)
		hardenRuns(t, p).is(t, `[`+find+`,`+send+
			`,{"_tool": "say", "text": "†state.item", "_outputPath": "†state.said"}]`,
			"say → †state.said: the tool has no code, the LLM writes its result (in p1)")
	})
	t.Run("a failure that nothing made good", func(t *testing.T) {
		p := sentRun(2)
		p.record, p.end = `{"1.1": {"done": 1}, "1.2": {"failed": 1}}`, strings.Replace(p.end, `, "sent": true`, "", 1)
		hardenRuns(t, sentRun(1), p).is(t, `[`+find+`,`+send+`]`,
			"send → †state.sent failed, and nothing was planned in its place (in p2)")
	})
	t.Run("a person who decided otherwise", func(t *testing.T) {
		p := sentRun(1)
		p.record = `{"1.1": {"done": 1}, "1.2": {"done": 1, "decided": [{"token": "", "decision": {"decision": "amend", "call": "1.2"}}]}}`
		hardenRuns(t, p).is(t, `[`+find+`,`+send+`]`, "send: a person decided otherwise: amend (in p1)")
	})
	t.Run("what a person put into State", func(t *testing.T) {
		p := sentRun(2)
		p.end = strings.Replace(p.end, `"sent"`, `"vip": true, "sent"`, 1)
		hardenRuns(t, sentRun(1), p).is(t, `[`+find+`,`+send+`]`, "the Plan comes to another State: †state.vip (in p2)")
	})
	t.Run("an output that the LLM wrote", func(t *testing.T) {
		p := sentRun(1)
		p.output = `{"summary": "one mail"}`
		hardenRuns(t, p).is(t, `[`+find+`,`+send+`]`,
			"the output of p1: the LLM wrote it, and it stands nowhere in State")
	})
}

func TestAnOutputThatStandsInStateIsWired(t *testing.T) {
	t.Parallel()
	a, b := sentRun(1), sentRun(2)
	a.output, b.output = `{"what": "item 1"}`, `{"what": "item 2"}`
	if m := planOf(t, hardenRuns(t, a, b)); string(jsonval.Encode(m.PlanOutput)) != `{"what":"†state.item"}` ||
		m.PlanStage != ideafile.PlanStageOptimal {
		t.Errorf("output %s, stage %q", jsonval.Encode(m.PlanOutput), m.PlanStage)
	}
}

func TestRepeatedCallsAreFolded(t *testing.T) {
	t.Parallel()
	p := sentRun(1)
	p.calls = append(p.calls, p.calls[0], p.calls[0])
	p.record = `{"1.1": {"failed": 1}, "1.2": {"done": 1}, "2.1": {"done": 1}, "3.1": {"skipped": 1}}`
	hardenRuns(t, p).is(t, `[{"_tool": "send", "to": "†state.mail", "text": "†state.item", "_outputPath": "†state.sent"},
		{"_tool": "find", "id": "†state.order", "_outputPath": "†state.item"}]`)
}

func TestOnlyFinishedProcessesOfOnePaletteAreHardened(t *testing.T) {
	t.Parallel()
	good := finishedRun(t, 1, sentRun(1))
	open := finishedRun(t, 2, sentRun(2))
	open.Ideas = open.Ideas[:1]
	other := finishedRun(t, 3, sentRun(3))
	other.Ideas[1]["schema"] = map[string]any{}
	for want, s := range map[string]past.RecordedProcess{
		"model: harden p2: it has not finished": open,

		"model: harden p3: its Tools or its output form differ from those of p1: harden each by itself": other,

		"model: harden none: it has no Ideas": {ProcessID: "none"},
	} {
		if _, err := Harden([]past.RecordedProcess{good, s}, nil, false); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestATemplateHoldsNobodysData(t *testing.T) {
	t.Parallel()
	h, err := Harden([]past.RecordedProcess{finishedRun(t, 1, sentRun(1)), finishedRun(t, 2, sentRun(2))}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(jsonval.Encode(h.Idea["context"])); strings.Contains(text, "o1") ||
		!strings.Contains(text, `"shelf":"A1"`) {
		t.Errorf("%s", text)
	}
}

func TestCallsThatReadWhatIsLeftOutAreLeftOutToo(t *testing.T) {
	t.Parallel()
	a, b := sentRun(1), sentRun(2)
	a.calls[0], b.calls[0] = strings.Replace(a.calls[0], "†state.order", "x", 1),
		strings.Replace(b.calls[0], "†state.order", "y", 1)
	keep := `{"_tool": "search", "id": "†state.order", "_outputPath": "found"}`
	for _, p := range []*runFixture{&a, &b} {
		p.calls, p.end = append(p.calls, keep), strings.Replace(p.end, "{", `{"found": 1, `, 1)
		p.record = `{"1.1": {"done": 1}, "1.2": {"done": 1}, "1.3": {"done": 1}}`
	}
	hardenRuns(t, a, b).is(t, `[{"_tool": "search", "id": "†state.order", "_outputPath": "†state.found"}]`,
		`find → †state.item: parameter "id" differs, and nothing at the start tells how (in p1, p2)`,
		"send → †state.sent: nothing is left that writes †state.item")
}

func TestWhereNoCallIsLeftThereIsNoPlanAndTheErrorSaysWhy(t *testing.T) {
	t.Parallel()
	a, b := sentRun(1), sentRun(2)
	a.calls[0], b.calls[0] = strings.Replace(a.calls[0], "†state.order", "x", 1),
		strings.Replace(b.calls[0], "†state.order", "y", 1)
	idle := sentRun(1)
	idle.calls, idle.record, idle.end = nil, `{}`, idle.start
	for want, list := range map[string][]runFixture{
		`nothing can be generalised: find → †state.item: parameter "id" differs`: {a, b},
		"no Call ran in p1": {idle},
	} {
		var runs []past.RecordedProcess
		for n, p := range list {
			runs = append(runs, finishedRun(t, n+1, p))
		}
		h, err := Harden(runs, nil, false)
		if !errors.Is(err, ErrNothingCommon) || !strings.Contains(err.Error(), want) || h.Idea != nil {
			t.Errorf("%v, %+v", err, h)
		}
	}
}

func TestAReferenceStandsForALiteralOnlyWhereItsValueIsThat(t *testing.T) {
	t.Parallel()
	a, b := sentRun(1), sentRun(2)
	a.calls[1] = strings.Replace(a.calls[1], "m1@x", "†state.mail", 1)
	h := hardenRuns(t, a, b)
	if len(h.Differences) > 0 {
		t.Errorf("named: %v", h.Differences)
	}
	b.calls[1] = strings.Replace(b.calls[1], "m2@x", "boss@x", 1)
	if h = hardenRuns(t, a, b); len(h.Differences) != 1 || len(planOf(t, h).PlanCalls) != 1 {
		t.Errorf("it guessed: %s", jsonval.Encode(h.Idea))
	}
}

// The first process had the value already and skipped the Call that the second one planned as its second choice.
func TestAlternativesStandInTheOrderInWhichTheyWerePlanned(t *testing.T) {
	t.Parallel()
	search := `{"_tool": "search", "id": "†state.order", "_outputPath": "item"}`
	a, b := sentRun(1), sentRun(2)
	a.start = strings.Replace(a.start, "{", `{"item": "item 1", `, 1)
	a.calls[0], a.record = search, `{"1.1": {"skipped": 1}, "1.2": {"done": 1}}`
	b.calls = []string{b.calls[0], search, b.calls[1]}
	b.record = `{"1.1": {"failed": 1}, "1.2": {"done": 1}, "1.3": {"done": 1}}`
	hardenRuns(t, a, b, sentRun(3)).is(t, `[{"_tool": "find", "id": "†state.order", "_outputPath": "†state.item"},
		{"_tool": "search", "id": "†state.order", "_outputPath": "†state.item"},
		{"_tool": "send", "to": "†state.mail", "text": "†state.item", "_outputPath": "†state.sent"}]`)
}

// A Plan that never asks an LLM has no settings of how LLMs are asked: check and start refuse them.
func TestACompletePlanLeavesOutHowLLMsAreAsked(t *testing.T) {
	t.Parallel()
	run := finishedRun(t, 1, sentRun(1))
	for _, idea := range run.Ideas {
		idea["config"] = jsonval.Object{"batch": "auto", "settle": "asked", "quality": jsonval.Object{"before": true}}
	}
	bindings := map[string]ideafile.ToolBinding{"find": {Kind: ideafile.KindGo}, "send": {Kind: ideafile.KindGo}}
	h, err := Harden([]past.RecordedProcess{run}, bindings, false)
	if err == nil {
		err = h.MarkComplete()
	}
	if err != nil {
		t.Fatal(err)
	}
	idea, problems := ideafile.ReadIdea(h.Idea)
	problems.Append(check.Check(idea, bindings)...)
	if got := string(jsonval.Encode(h.Idea["config"])); len(problems) > 0 || got != `{"batch":"auto"}` {
		t.Errorf("config is %s: %s", got, problems)
	}
}
