package model

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// directContext is a context of States and one Plan that runs directly.
func directContext(stage, calls, more string, states ...string) string {
	var messages []string
	for n, state := range states {
		messages = append(messages, fmt.Sprintf(`{"type": "state", "_instance": %q, "state": %s}`, string('①'+rune(n)), state))
	}
	messages = append(messages, `{"type": "plan", "stage": "`+stage+`", "plan": [`+calls+`]`+more+`}`)
	return `"context": [` + strings.Join(messages, ", ") + `]`
}

func TestAPlanRunsDirectlyWithNoRequest(t *testing.T) {
	for _, stage := range []string{StageOptimal, StageComplete} {
		s := onStage(t, "", directContext(stage, `{"_tool":"work","x":"†state.a","_outputPath":"b"}`, "", `{"a":1}`, `{"a":2}`))
		s.expect(StepWait)
		s.runsPlans()
		s.expect(StepOver)
		s.want("they", s.statuses(), "① settled, ② settled")
		s.want("the outcome", string(s.mind.Outcome()), "completed")
		s.want("its Calls", s.runs["②"].Records()[0].ID, "0.1@②")
		r := s.mind.Result(StatusCompleted, true)
		s.want("②", string(Encode(r.Instances["②"].State)), `{"a":2,"b":2}`)
		if r.Requests != 0 || r.Calls.Done != 2 || r.Output != nil {
			t.Errorf("%+v", r)
		}
	}
}

func TestThePlanOfAnInstanceIsTheFirstWhoseConditionHolds(t *testing.T) {
	when := func(kind, key string) string {
		return fmt.Sprintf(`, "when": {"properties": {%q: {"required": [%q]}}, "required": [%q]}`, kind, key, kind)
	}
	plan := func(name, instance, more string) string {
		return fmt.Sprintf(`{"type": "plan", "stage": "optimal", "name": %q%s, "plan": [{"_tool": "work", "x": %q, "_outputPath": "b"}]%s}`,
			name, instance, name, more)
	}
	s := onStage(t, "", `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "c": 1}, {"type": "input", "_instance": "③", "go": 1},
		{"type": "state", "_instance": "④", "a": 1}, {"type": "text", "_instance": "⑤", "text": "none"},`+
		plan("for a", "", when("state", "a"))+","+plan("for a or c", "", `, "when": {"properties": {"state": {"anyOf": [{"required": ["a"]}, {"required": ["c"]}]}}}`)+","+
		plan("for input", "", when("input", "go"))+","+plan("own", `, "_instance": "④"`, "")+`]`)
	s.runsPlans()
	step, b := s.mind.Next(s.now)
	if step != StepAsk || fmt.Sprint(b.Tokens()) != "[⑤]" {
		t.Fatalf("%s for %v", step, b)
	}
	for token, want := range map[string]string{"①": "for a", "②": "for a or c", "③": "for input", "④": "own"} {
		got, _ := Lookup(s.runs[token].State(), Path{"b"})
		s.want(token, fmt.Sprint(got), want)
	}
	if s.runs["⑤"].Direct() {
		t.Error("⑤ has a Plan of which no condition holds")
	}
}

func TestInstancesInWhichSomethingFailsGoBackToTheLLMTogether(t *testing.T) {
	s := onStage(t, "", directContext(StageOptimal, `{"_tool":"work","x":"†state.a","_outputPath":"b"},{"_tool":"work","x":"†state.b","_outputPath":"c"}`, "",
		`{"a":1}`, `{"a":2}`, `{"a":3}`))
	s.work = func(_ string, params map[string]any) (any, *Fault) {
		if x := string(Encode(params["x"])); x == "1" || x == "3" {
			return nil, fault(CodeToolFailed, "no luck")
		}
		return params["x"], nil
	}
	s.runsPlans()
	b := s.asks()
	s.want("covered", fmt.Sprint(b.Tokens()), "[① ③]")
	s.want("they", s.statuses(), "① working, ② settled, ③ working")
	s.want("the Plan it is shown", plannedIn(b), "0.1 failed 2; 0.2 blocked 2")
	s.want("the errors", troublesOf(b), "0.1 tool_failed: no luck in ①, ③\n0.2 blocked: †state.b would come from 0.1@① (failed) in ①\n0.2 blocked: †state.b would come from 0.1@③ (failed) in ③")
	s.says(`{"calls":[{"_tool":"work","_instance":"*","x":7,"_outputPath":"b"}],"output":null}`)
	b = s.asks()
	s.want("the second", fmt.Sprintf("%d %v %s %s", b.Number, b.Tokens(), plannedIn(b), troublesOf(b)), "2 [① ③] 1.1 done 2 ")
	s.says(noCalls)
	s.expect(StepOver)
	s.want("at the end", s.statuses(), "① settled, ② settled, ③ settled")
	if r := s.mind.Result(StatusCompleted, false); r.Requests != 2 || r.Calls.Failed != 2 || r.Calls.Blocked != 2 || r.Calls.Done != 4 {
		t.Errorf("%+v", r)
	}
}

// Calls of different Plans have the same numbers, and are different Calls.
func TestTheLLMIsToldOfEachInstanceWhatItsOwnPlanCameTo(t *testing.T) {
	s := onStage(t, "", `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "b": 2},
		{"type": "plan", "name": "for a", "stage": "optimal", "when": {"properties": {"state": {"required": ["a"]}}}, "plan": [{"_tool": "work"}, {"_tool": "fail"}]},
		{"type": "plan", "stage": "optimal", "plan": [{"_tool": "fail", "_outputPath": "c"}]}]`)
	s.runsPlans()
	b := s.asks()
	var told []string
	for _, e := range b.Plan {
		told = append(told, fmt.Sprintf("%s %q at %d %s %s", e.ID, e.Plan, e.Direct, Encode(e.Call), Encode(Normal(e.How))))
	}
	s.want("the Plans", strings.Join(told, "; "), `0.1 "for a" at 3 {"_tool":"work"} {"done":1}; 0.2 "for a" at 3 {"_tool":"fail"} {"failed":1}; 0.1 "" at 4 {"_outputPath":"c","_tool":"fail"} {"failed":1}`)
	s.want("the errors", troublesOf(b), "0.2 tool_failed: no luck in ①\n0.1 tool_failed: no luck in ②")
	again := sealed(t, s.idea, s.mind.Final(), nil, nil)
	s.want("the records", string(Encode(again.Context[0].Record))+string(Encode(again.Context[1].Record)), `{"0.1":{"done":1},"0.2":{"failed":1}}{"0.1":{"failed":1}}`)
}

// One that comes back waits for others that still run, as ever.
func TestInstancesThatComeBackAreGathered(t *testing.T) {
	s := onStageWith(t, stagedTools+`, "slow": {"type": "object", "properties": {}}`, "", `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "a": 2},
		{"type": "plan", "_instance": "①", "stage": "optimal", "plan": [{"_tool": "fail"}]},
		{"type": "plan", "_instance": "②", "stage": "optimal", "plan": [{"_tool": "slow"}]}]`)
	s.runsPlans()
	s.expect(StepWait)
	if want := s.now.Add(DefaultGather); !s.mind.Wake().Equal(want) {
		t.Errorf("it wakes at %s", s.mind.Wake())
	}
	s.runs["②"].Fail("0.1@②", fault(CodeToolFailed, "no luck"))
	s.heard(s.report("②", 0))
	s.want("covered", fmt.Sprint(s.asks().Tokens()), "[① ②]")
}

func TestAFailureThatAnAlternativeCoversIsNone(t *testing.T) {
	for _, stage := range []string{StageOptimal, StageComplete} {
		s := onStage(t, "", directContext(stage, `{"_tool":"fail","_outputPath":"b"},{"_tool":"work","_outputPath":"b"},
			{"_tool":"fail","_outputPath":"†state.c || †state.d"},{"_tool":"work","x":"†state.c","_outputPath":"e"},{"_tool":"work","x":"†state.d.code","_outputPath":"e"}`, "", `{}`))
		s.runsPlans()
		s.expect(StepOver)
		s.want(stage, s.statuses(), "① settled")
		s.want(stage, string(Encode(s.runs["①"].State())), `{"b":"work done","d":{"code":"tool_failed","message":"no luck"},"e":"tool_failed"}`)
	}
}

func TestAFailureThatNothingCoversFailsAnInstanceOfACompletePlan(t *testing.T) {
	for name, calls := range map[string]string{
		"a Call with a value":            `{"_tool":"fail","_outputPath":"b"},{"_tool":"fail","_outputPath":"b"}`,
		"a Call for its effect":          `{"_tool":"fail"},{"_tool":"work","_outputPath":"b"}`,
		"an update":                      `{"_tool":"work","_outputPath":"log"},{"_tool":"log"},{"_tool":"log","odd":1}`,
		"a Call that waits for ever":     `{"_tool":"work","x":"†state.never","_outputPath":"b"}`,
		"a broken Call":                  `{"_tool":"work","n":"one","_outputPath":"b"}`,
		"one of two paths":               `{"_tool":"fail","_outputPath":"b && c"},{"_tool":"work","_outputPath":"b"}`,
		"a result that the LLM may not ": `{"_tool":"think","_outputPath":"b"}`,
	} {
		s := onStage(t, "", directContext(StageComplete, calls, "", `{}`))
		s.runsPlans()
		s.expect(StepOver)
		s.want(name, s.statuses(), "① failed")
		s.want(name, string(s.mind.Outcome()), "failed")
		if r := s.mind.Result(StatusFailed, true); r.Requests != 0 || r.Error == nil || !strings.Contains(r.Error.Message, "0.") {
			t.Errorf("%s: %+v", name, r.Error)
		}
	}
}

func TestAStateThatLacksWhatItsSchemaRequiresIsAFailureOfThePlan(t *testing.T) {
	context := func(stage string) string {
		return `"context": [{"type": "state", "state": {}, ` + needsMood + `}, {"type": "plan", "stage": "` + stage + `", "plan": [{"_tool": "work"}]}]`
	}
	s := onStage(t, "", context(StageComplete))
	s.runsPlans()
	s.expect(StepOver)
	s.want("complete", s.mind.Result(StatusFailed, false).Error.Error(), "missing_required: its State still lacks [mood]")
	s = onStage(t, "", context(StageOptimal))
	s.runsPlans()
	s.want("optimal", fmt.Sprint(s.asks().Covered[0].Missing), "[mood]")
}

func TestAnInstanceForWhichNoCompletePlanHoldsFails(t *testing.T) {
	never := `, "when": {"properties": {"state": {"required": ["never"]}}}`
	s := onStage(t, "", directContext(StageComplete, "", never, `{}`))
	s.expect(StepOver)
	s.want("complete", s.statuses(), "① failed")
	if len(s.mind.TakeEnded()) != 1 {
		t.Error("nobody tells the instance")
	}
	s = onStage(t, "", directContext(StageOptimal, "", never, `{}`))
	s.want("optimal", fmt.Sprint(s.asks().Tokens()), "[①]")
}

func TestWhatARecordCallsDoneIsNotDoneAgain(t *testing.T) {
	for _, c := range []struct{ record, ran string }{
		{`{"0.1": "done"}`, "0.2@① 0.1@② 0.2@②"},
		{`{"0.1@①": "done", "0.2@②": "done"}`, "0.2@① 0.1@②"},
		{`{"0.1": {"done": 2}, "0.2": {"done": 1, "failed": 1}}`, "0.2@① 0.2@②"},
		{`{"0.2": {"done": 1, "skipped": 1}}`, "0.1@① 0.1@②"},
		{`{"2.7": {"failed": 2}, "10.1": {"done": 2}}`, "0.1@① 0.1@②"},
		{`{"2.7": {"done": 2}}`, "0.1@① 0.2@① 0.1@② 0.2@②"},
		{`{"0.1": "failed"}`, "0.1@① 0.2@① 0.1@② 0.2@②"},
	} {
		s := onStage(t, "", directContext(StageOptimal, `{"_tool":"work"},{"_tool":"work"}`, `, "record": `+c.record, `{}`, `{}`))
		if c.record == `{"0.1": "done"}` {
			c.ran = "0.2@① 0.2@②"
		}
		s.runsPlans()
		s.expect(StepOver)
		var ran []string
		for _, token := range s.mind.Tokens() {
			for _, rec := range s.runs[token].Records() {
				if rec.Status == Done {
					ran = append(ran, rec.ID)
				} else if rec.Status != Skipped || rec.By != Start {
					t.Errorf("%s: %s is %s by %s", c.record, rec.ID, rec.Status, rec.By)
				}
			}
		}
		s.want(c.record, strings.Join(ran, " "), c.ran)
	}
}

func TestACallOfAPlanMayBeForOneInstance(t *testing.T) {
	s := onStage(t, "", directContext(StageComplete, `{"_tool":"work","_instance":"②","_outputPath":"b"},{"_tool":"work","_instance":"*","_outputPath":"c"}`, "", `{}`, `{}`))
	s.runsPlans()
	s.expect(StepOver)
	s.want("they", s.statuses(), "① settled, ② settled")
	s.want("①", string(Encode(s.runs["①"].State())), `{"c":"work done"}`)
	s.want("②", string(Encode(s.runs["②"].State())), `{"b":"work done","c":"work done"}`)
}

func TestLatentCallsOfADirectPlanAreAskedForByThemselves(t *testing.T) {
	s := onStage(t, "", directContext(StageOptimal, `{"_tool":"think","x":"†state.a","_outputPath":"b"},{"_tool":"work","x":"†state.b","_outputPath":"c"},
		{"_tool":"work","_outputPath":"d"}`, "", `{"a":1}`, `{"a":2}`))
	s.runsPlans()
	b := s.asks()
	if len(b.Asking) != 2 || b.Asking[1].ID != "0.1@②" {
		t.Fatalf("%+v", b.Asking)
	}
	s.says(`{"calls":[{"_call":"0.1@①","_output":"one"},{"_call":"0.1@②","_output":"two"}],"output":null}`)
	s.expect(StepOver)
	s.want("②", string(Encode(s.runs["②"].State())), `{"a":2,"b":"two","c":"two","d":"work done"}`)
	if log := s.mind.TakeLog(); len(log) != 6 {
		t.Errorf("the next Idea is told of %d writes", len(log))
	}
}

func TestTheOutputOfAPlanIsTheProcesss(t *testing.T) {
	s := onStage(t, aSummary, `"context": [{"type": "input", "title": "T"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "fail", "_outputPath": "ok || bad"}],
		"output": {"summary": "†state.ok || †state.bad.message"}}]`)
	s.runsPlans()
	s.expect(StepOver)
	s.want("of the anonymous instance", s.output(), `{"summary":"no luck"}`)

	s = onStage(t, "", directContext(StageOptimal, `{"_tool":"work","x":"†state.a","_outputPath":"b"}`, `, "output": {"all": "†state.b", "text": "as is"}`, `{"a":1}`, `{"a":2}`))
	s.runsPlans()
	s.expect(StepOver)
	s.want("of several", s.output(), `{"all":{"①":1,"②":2},"text":"as is"}`)

	s = onStage(t, "", `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "a": 2},
		{"type": "plan", "_instance": "①", "stage": "complete", "plan": [], "output": {"all": "†state.a", "first": "†state.a"}},
		{"type": "plan", "_instance": "②", "stage": "complete", "plan": [], "output": {"all": "†state.a"}}]`)
	s.runsPlans()
	s.expect(StepOver)
	s.want("of different Plans", s.output(), `{"all":{"①":1,"②":2},"first":{"①":1}}`)
}

func TestAPlanWithoutAnOutputLeavesItToOneClosingRequest(t *testing.T) {
	for name, more := range map[string]string{"none": "", "one that does not fit": `, "output": {"summary": 7}`, "one that does not resolve": `, "output": {"summary": "†state.never"}`} {
		s := onStage(t, aSummary, directContext(StageOptimal, `{"_tool":"work","_outputPath":"b"}`, more, `{}`))
		s.runsPlans()
		b := s.asks()
		if !b.Closing || (len(b.Troubles) > 0) != (more != "") {
			t.Errorf("%s: %+v", name, b)
		}
		s.says(`{"calls":[],"output":{"summary":"all well"}}`)
		s.expect(StepOver)
		s.want(name, s.output(), `{"summary":"all well"}`)
	}
}

func TestAnOutputOfSomePlansAloneIsNone(t *testing.T) {
	s := onStage(t, `{"type": "object"}`, `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "a": 2},
		{"type": "plan", "_instance": "①", "stage": "optimal", "plan": [], "output": {"all": "†state.a"}}, {"type": "plan", "_instance": "②", "stage": "optimal", "plan": []}]`)
	s.runsPlans()
	if b := s.asks(); !b.Closing || len(b.Troubles) > 0 {
		t.Errorf("%+v", b)
	}
}

func TestACompletePlanWhoseOutputCannotBeHadFails(t *testing.T) {
	for name, c := range map[string]struct{ form, more, want string }{
		"none, and the form wants one":     {aSummary, "", "bad_output: the output form wants an output, and the Plan has none"},
		"one that does not fit":            {aSummary, `, "output": {"summary": 7}`, "bad_output: the Plan's output does not fit its form: "},
		"one that does not resolve":        {"", `, "output": "†state.never"`, "bad_output: the Plan's output: reference †state.never: nothing there"},
		"one that does not resolve in one": {"", `, "output": "†state.a"`, "bad_output: the Plan's output: reference †state.a: nothing there"},
	} {
		s := onStage(t, c.form, directContext(StageComplete, "", c.more, `{"a":1}`, `{}`))
		s.runsPlans()
		s.expect(StepOver)
		s.want(name, string(s.mind.Outcome()), "failed")
		if f := s.mind.Result(StatusFailed, false).Error; f == nil || !strings.HasPrefix(f.Error(), c.want) {
			t.Errorf("%s: %v", name, f)
		}
	}
}

func TestAPlansOutputSparesTheClosingRequestWhereSomeWentToTheLLM(t *testing.T) {
	s := onStage(t, `{"type": "object"}`, directContext(StageOptimal, `{"_tool":"work","n":"†state.a","_outputPath":"b"}`, `, "output": {"all": "†state.b"}`, `{"a":1}`, `{"a":"two"}`), notAdapted)
	s.runsPlans()
	s.want("covered", fmt.Sprint(s.asks().Tokens()), "[②]")
	s.says(`{"calls":[{"_tool":"work","_instance":"②","x":2,"_outputPath":"b"}],"output":null}`)
	s.says(`{"calls":[],"output":{"all":"mine alone"}}`)
	s.expect(StepOver)
	s.want("the output", s.output(), `{"all":{"①":"work done","②":2}}`)
}

func TestAPlanThatRunsDirectlyIsNotRevised(t *testing.T) {
	s := onStage(t, "", directContext(StageOptimal, `{"_tool":"work"}`, "", `{}`))
	revise := func(text string) error {
		_, err := s.mind.Revise(Steering{Context: value(t, text).([]any)})
		return err
	}
	if err := revise(`[{"type":"plan","stage":"optimal","plan":[]}]`); err == nil || !strings.Contains(err.Error(), "without its stage") {
		t.Errorf("%v", err)
	}
	if err := revise(`[{"type":"plan","plan":[]}]`); err != nil {
		t.Errorf("one that guides: %s", err)
	}
}

func TestInstancesThatAreAddedRunTheirPlanToo(t *testing.T) {
	s := onStage(t, "", directContext(StageOptimal, `{"_tool":"work","x":"†state.a","_outputPath":"b"}`, `, "output": {"all": "†state.b"}`, `{"a":1}`))
	s.runsPlans()
	tokens, err := s.mind.Add(Steering{Context: value(t, `[{"type":"state","_instance":"②","a":2}]`).([]any)})
	if err != nil {
		t.Fatal(err)
	}
	s.idea = s.mind.Idea()
	s.join(tokens)
	s.expect(StepWait)
	s.runsPlans()
	s.expect(StepOver)
	s.want("the output", s.output(), `{"all":{"①":1,"②":2}}`)
}

func TestAPersonsCorrectionCanCoverAFailure(t *testing.T) {
	s := onStageWith(t, stagedTools+`, "slow": {"type": "object", "properties": {}}`, "", directContext(StageComplete, `{"_tool":"fail","_outputPath":"b"},{"_tool":"slow"}`, "", `{}`))
	s.runsPlans()
	s.revise(`{"context": [{"type":"state","_instance":"①","state":{"b":"by hand"}}]}`)
	s.takesIn("①", "ann")
	s.runs["①"].Succeed("0.2@①", nil)
	s.heard(s.report("①", 0))
	s.expect(StepOver)
	s.want("it", s.statuses(), "① settled")
}

// An Idea of such a process is a file that goes on with the same Plan: what is done stays done.
func TestAnIdeaOfADirectPlanGoesOnWithIt(t *testing.T) {
	s := onStage(t, "", directContext(StageOptimal, `{"_tool":"work","x":"†state.a"},{"_tool":"work","n":"†state.a","_outputPath":"b"}`, "", `{"a":1}`, `{"a":"two"}`, `{"a":3}`), notAdapted)
	s.work = func(tool string, params map[string]any) (any, *Fault) {
		if string(Encode(params["x"])) == "3" {
			return nil, fault(CodeToolFailed, "no luck")
		}
		return "done", nil
	}
	s.runsPlans()
	c := s.says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`)
	s.want("covered", fmt.Sprint(c.Brief.Tokens()), "[② ③]")
	again := sealed(t, s.idea, s.mind.Final(), nil, nil)
	plan := again.Context[0]
	s.want("the record", string(Encode(plan.Record)), `{"0.1":{"done":2,"failed":1},"0.1@①":"done","0.1@②":"done"}`)
	if plan.Stage != StageOptimal || again.Context[len(again.Context)-1].Stage != "" {
		t.Errorf("%+v", again.Context)
	}
	s = &stage{t: t, idea: again, runs: map[string]*Run{}, said: map[string]map[string]said{}, bindings: s.bindings, work: s.work, now: s.now, corrected: s.corrected}
	s.mind = NewMind(again, "q", s.bindings, began)
	s.join(again.Tokens())
	s.runsPlans()
	s.want("it", s.statuses(), "① settled, ② working, ③ working")
	for token, want := range map[string]string{"②": "skipped failed", "③": "failed skipped"} {
		records := s.runs[token].Records()
		s.want(token, fmt.Sprint(records[0].Status, " ", records[1].Status), want)
	}
}

func TestNobodyIsAskedForACompletePlanWhateverHappens(t *testing.T) {
	failed := 0
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, planKnobs{calls: 6, requests: 1})
		var calls []any
		fails := map[string]bool{}
		for n, c := range p.requests[0] {
			delete(c.raw, "_scopes")
			c.raw["n"] = json.Number(strconv.Itoa(n))
			fails[strconv.Itoa(n)] = c.fails
			calls = append(calls, c.raw)
		}
		tools := `"work": {"_outputMethod": {"type": "string"}}, "think": {"_output": {}, "_outputMethod": {"type": "string"}}`
		plan := map[string]any{"type": "plan", "stage": "complete", "plan": calls}
		form := rapid.SampledFrom([]string{"", `{"type": "object"}`}).Draw(rt, "form")
		if rapid.Bool().Draw(rt, "output") {
			plan["output"] = map[string]any{"x": "†state.a"}
		}
		context := append(p.context[:len(p.context):len(p.context)], plan)
		s := onStageWith(rt, tools, form, `"context": `+string(Encode(context)))
		s.work = func(_ string, params map[string]any) (any, *Fault) {
			if fails[string(Encode(params["n"]))] {
				return nil, fault(CodeToolFailed, "no luck")
			}
			return map[string]any{"b": 1}, nil
		}
		s.runsPlans()
		if step, _ := s.mind.Next(s.now); step != StepOver {
			rt.Fatalf("the step is %s in\n%s", step, p)
		}
		for _, rec := range s.runs[""].Records() {
			if !rec.Status.Ended() && len(s.runs[""].Asking()) == 0 {
				rt.Fatalf("%s is %s in\n%s", rec.ID, rec.Status, p)
			}
		}
		if s.mind.Outcome() == StatusFailed {
			if failed++; s.mind.Result(StatusFailed, true).Error.Message == "" {
				rt.Fatalf("it does not say why it failed")
			}
		}
	})
	if !few() && failed == 0 {
		t.Error("no process failed: the test tests too little")
	}
}
