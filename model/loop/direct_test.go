package loop_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/statelog"
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
	for _, stage := range []string{ideafile.StageOptimal, ideafile.StageComplete} {
		s := modeltest.OnStage(t, "", directContext(stage, `{"_tool":"work","x":"†state.a","_outputPath":"b"}`, "", `{"a":1}`, `{"a":2}`))
		s.Expect(loop.StepWait)
		s.RunsPlans()
		s.Expect(loop.StepOver)
		s.Want("they", s.Statuses(), "① settled, ② settled")
		s.Want("the outcome", string(s.Mind.Outcome()), "completed")
		s.Want("its Calls", s.Runs["②"].Records()[0].ID, "0.1@②")
		r := s.Mind.Result(loop.StatusCompleted, true)
		s.Want("②", string(jsonval.Encode(r.Instances["②"].State)), `{"a":2,"b":2}`)
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
	s := modeltest.OnStage(t, "", `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "c": 1}, {"type": "input", "_instance": "③", "go": 1},
		{"type": "state", "_instance": "④", "a": 1}, {"type": "text", "_instance": "⑤", "text": "none"},`+
		plan("for a", "", when("state", "a"))+","+plan("for a or c", "", `, "when": {"properties": {"state": {"anyOf": [{"required": ["a"]}, {"required": ["c"]}]}}}`)+","+
		plan("for input", "", when("input", "go"))+","+plan("own", `, "_instance": "④"`, "")+`]`)
	s.RunsPlans()
	step, b := s.Mind.Next(s.Now)
	if step != loop.StepAsk || fmt.Sprint(b.Tokens()) != "[⑤]" {
		t.Fatalf("%s for %v", step, b)
	}
	for token, want := range map[string]string{"①": "for a", "②": "for a or c", "③": "for input", "④": "own"} {
		got, _ := jsonval.Lookup(s.Runs[token].State(), jsonval.Path{"b"})
		s.Want(token, fmt.Sprint(got), want)
	}
	if s.Runs["⑤"].Direct() {
		t.Error("⑤ has a Plan of which no condition holds")
	}
}

func TestInstancesInWhichSomethingFailsGoBackToTheLLMTogether(t *testing.T) {
	s := modeltest.OnStage(t, "", directContext(ideafile.StageOptimal, `{"_tool":"work","x":"†state.a","_outputPath":"b"},{"_tool":"work","x":"†state.b","_outputPath":"c"}`, "",
		`{"a":1}`, `{"a":2}`, `{"a":3}`))
	s.Work = func(_ string, params map[string]any) (any, *diag.Fault) {
		if x := string(jsonval.Encode(params["x"])); x == "1" || x == "3" {
			return nil, diag.Faultf(ideafile.CodeToolFailed, "no luck")
		}
		return params["x"], nil
	}
	s.RunsPlans()
	b := s.Asks()
	s.Want("covered", fmt.Sprint(b.Tokens()), "[① ③]")
	s.Want("they", s.Statuses(), "① working, ② settled, ③ working")
	s.Want("the Plan it is shown", modeltest.PlannedIn(b), "0.1 failed 2; 0.2 blocked 2")
	s.Want("the errors", modeltest.TroublesOf(b), "0.1 tool_failed: no luck in ①, ③\n0.2 blocked: †state.b would come from 0.1@① (failed) in ①\n0.2 blocked: †state.b would come from 0.1@③ (failed) in ③")
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","x":7,"_outputPath":"b"}],"output":null}`)
	b = s.Asks()
	s.Want("the second", fmt.Sprintf("%d %v %s %s", b.Number, b.Tokens(), modeltest.PlannedIn(b), modeltest.TroublesOf(b)), "2 [① ③] 1.1 done 2 ")
	s.Says(modeltest.NoCalls)
	s.Expect(loop.StepOver)
	s.Want("at the end", s.Statuses(), "① settled, ② settled, ③ settled")
	if r := s.Mind.Result(loop.StatusCompleted, false); r.Requests != 2 || r.Calls.Failed != 2 || r.Calls.Blocked != 2 || r.Calls.Done != 4 {
		t.Errorf("%+v", r)
	}
}

// Calls of different Plans have the same numbers, and are different Calls.
func TestTheLLMIsToldOfEachInstanceWhatItsOwnPlanCameTo(t *testing.T) {
	s := modeltest.OnStage(t, "", `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "b": 2},
		{"type": "plan", "name": "for a", "stage": "optimal", "when": {"properties": {"state": {"required": ["a"]}}}, "plan": [{"_tool": "work"}, {"_tool": "fail"}]},
		{"type": "plan", "stage": "optimal", "plan": [{"_tool": "fail", "_outputPath": "c"}]}]`)
	s.RunsPlans()
	b := s.Asks()
	var told []string
	for _, e := range b.Plan {
		told = append(told, fmt.Sprintf("%s %q at %d %s %s", e.ID, e.Plan, e.Direct, jsonval.Encode(e.Call), jsonval.Encode(jsonval.Normal(e.How))))
	}
	s.Want("the Plans", strings.Join(told, "; "), `0.1 "for a" at 3 {"_tool":"work"} {"done":1}; 0.2 "for a" at 3 {"_tool":"fail"} {"failed":1}; 0.1 "" at 4 {"_outputPath":"c","_tool":"fail"} {"failed":1}`)
	s.Want("the errors", modeltest.TroublesOf(b), "0.2 tool_failed: no luck in ①\n0.1 tool_failed: no luck in ②")
	again := modeltest.Sealed(t, s.Idea, s.Mind.Final(), nil, nil)
	s.Want("the records", string(jsonval.Encode(again.Context[0].Record))+string(jsonval.Encode(again.Context[1].Record)), `{"0.1":{"done":1},"0.2":{"failed":1}}{"0.1":{"failed":1}}`)
}

// One that comes back waits for others that still run, as ever.
func TestInstancesThatComeBackAreGathered(t *testing.T) {
	s := modeltest.OnStageWith(t, modeltest.StagedTools+`, "slow": {"type": "object", "properties": {}}`, "", `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "a": 2},
		{"type": "plan", "_instance": "①", "stage": "optimal", "plan": [{"_tool": "fail"}]},
		{"type": "plan", "_instance": "②", "stage": "optimal", "plan": [{"_tool": "slow"}]}]`)
	s.RunsPlans()
	s.Expect(loop.StepWait)
	if want := s.Now.Add(ideafile.DefaultGather); !s.Mind.Wake().Equal(want) {
		t.Errorf("it wakes at %s", s.Mind.Wake())
	}
	s.Runs["②"].Fail("0.1@②", diag.Faultf(ideafile.CodeToolFailed, "no luck"))
	s.Heard(s.Report("②", 0))
	s.Want("covered", fmt.Sprint(s.Asks().Tokens()), "[① ②]")
}

func TestAFailureThatAnAlternativeCoversIsNone(t *testing.T) {
	for _, stage := range []string{ideafile.StageOptimal, ideafile.StageComplete} {
		s := modeltest.OnStage(t, "", directContext(stage, `{"_tool":"fail","_outputPath":"b"},{"_tool":"work","_outputPath":"b"},
			{"_tool":"fail","_outputPath":"†state.c || †state.d"},{"_tool":"work","x":"†state.c","_outputPath":"e"},{"_tool":"work","x":"†state.d.code","_outputPath":"e"}`, "", `{}`))
		s.RunsPlans()
		s.Expect(loop.StepOver)
		s.Want(stage, s.Statuses(), "① settled")
		s.Want(stage, string(jsonval.Encode(s.Runs["①"].State())), `{"b":"work done","d":{"code":"tool_failed","message":"no luck"},"e":"tool_failed"}`)
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
		s := modeltest.OnStage(t, "", directContext(ideafile.StageComplete, calls, "", `{}`))
		s.RunsPlans()
		s.Expect(loop.StepOver)
		s.Want(name, s.Statuses(), "① failed")
		s.Want(name, string(s.Mind.Outcome()), "failed")
		if r := s.Mind.Result(loop.StatusFailed, true); r.Requests != 0 || r.Error == nil || !strings.Contains(r.Error.Message, "0.") {
			t.Errorf("%s: %+v", name, r.Error)
		}
	}
}

func TestAStateThatLacksWhatItsSchemaRequiresIsAFailureOfThePlan(t *testing.T) {
	context := func(stage string) string {
		return `"context": [{"type": "state", "state": {}, ` + modeltest.NeedsMood + `}, {"type": "plan", "stage": "` + stage + `", "plan": [{"_tool": "work"}]}]`
	}
	s := modeltest.OnStage(t, "", context(ideafile.StageComplete))
	s.RunsPlans()
	s.Expect(loop.StepOver)
	s.Want("complete", s.Mind.Result(loop.StatusFailed, false).Error.Error(), "missing_required: its State still lacks [mood]")
	s = modeltest.OnStage(t, "", context(ideafile.StageOptimal))
	s.RunsPlans()
	s.Want("optimal", fmt.Sprint(s.Asks().Covered[0].Missing), "[mood]")
}

func TestAnInstanceForWhichNoCompletePlanHoldsFails(t *testing.T) {
	never := `, "when": {"properties": {"state": {"required": ["never"]}}}`
	s := modeltest.OnStage(t, "", directContext(ideafile.StageComplete, "", never, `{}`))
	s.Expect(loop.StepOver)
	s.Want("complete", s.Statuses(), "① failed")
	if len(s.Mind.TakeEnded()) != 1 {
		t.Error("nobody tells the instance")
	}
	s = modeltest.OnStage(t, "", directContext(ideafile.StageOptimal, "", never, `{}`))
	s.Want("optimal", fmt.Sprint(s.Asks().Tokens()), "[①]")
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
		s := modeltest.OnStage(t, "", directContext(ideafile.StageOptimal, `{"_tool":"work"},{"_tool":"work"}`, `, "record": `+c.record, `{}`, `{}`))
		if c.record == `{"0.1": "done"}` {
			c.ran = "0.2@① 0.2@②"
		}
		s.RunsPlans()
		s.Expect(loop.StepOver)
		var ran []string
		for _, token := range s.Mind.Tokens() {
			for _, rec := range s.Runs[token].Records() {
				if rec.Status == ideafile.Done {
					ran = append(ran, rec.ID)
				} else if rec.Status != ideafile.Skipped || rec.By != statelog.Start {
					t.Errorf("%s: %s is %s by %s", c.record, rec.ID, rec.Status, rec.By)
				}
			}
		}
		s.Want(c.record, strings.Join(ran, " "), c.ran)
	}
}

func TestACallOfAPlanMayBeForOneInstance(t *testing.T) {
	s := modeltest.OnStage(t, "", directContext(ideafile.StageComplete, `{"_tool":"work","_instance":"②","_outputPath":"b"},{"_tool":"work","_instance":"*","_outputPath":"c"}`, "", `{}`, `{}`))
	s.RunsPlans()
	s.Expect(loop.StepOver)
	s.Want("they", s.Statuses(), "① settled, ② settled")
	s.Want("①", string(jsonval.Encode(s.Runs["①"].State())), `{"c":"work done"}`)
	s.Want("②", string(jsonval.Encode(s.Runs["②"].State())), `{"b":"work done","c":"work done"}`)
}

func TestLatentCallsOfADirectPlanAreAskedForByThemselves(t *testing.T) {
	s := modeltest.OnStage(t, "", directContext(ideafile.StageOptimal, `{"_tool":"think","x":"†state.a","_outputPath":"b"},{"_tool":"work","x":"†state.b","_outputPath":"c"},
		{"_tool":"work","_outputPath":"d"}`, "", `{"a":1}`, `{"a":2}`))
	s.RunsPlans()
	b := s.Asks()
	if len(b.Questions) != 2 || b.Questions[1].ID != "0.1@②" {
		t.Fatalf("%+v", b.Questions)
	}
	s.Says(`{"calls":[{"_call":"0.1@①","_output":"one"},{"_call":"0.1@②","_output":"two"}],"output":null}`)
	s.Expect(loop.StepOver)
	s.Want("②", string(jsonval.Encode(s.Runs["②"].State())), `{"a":2,"b":"two","c":"two","d":"work done"}`)
	if log := s.Mind.TakeLog(); len(log) != 6 {
		t.Errorf("the next Idea is told of %d writes", len(log))
	}
}

func TestTheOutputOfAPlanIsTheProcesss(t *testing.T) {
	s := modeltest.OnStage(t, modeltest.ASummary, `"context": [{"type": "input", "title": "T"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "fail", "_outputPath": "ok || bad"}],
		"output": {"summary": "†state.ok || †state.bad.message"}}]`)
	s.RunsPlans()
	s.Expect(loop.StepOver)
	s.Want("of the anonymous instance", s.Output(), `{"summary":"no luck"}`)

	s = modeltest.OnStage(t, "", directContext(ideafile.StageOptimal, `{"_tool":"work","x":"†state.a","_outputPath":"b"}`, `, "output": {"all": "†state.b", "text": "as is"}`, `{"a":1}`, `{"a":2}`))
	s.RunsPlans()
	s.Expect(loop.StepOver)
	s.Want("of several", s.Output(), `{"all":{"①":1,"②":2},"text":"as is"}`)

	s = modeltest.OnStage(t, "", `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "a": 2},
		{"type": "plan", "_instance": "①", "stage": "complete", "plan": [], "output": {"all": "†state.a", "first": "†state.a"}},
		{"type": "plan", "_instance": "②", "stage": "complete", "plan": [], "output": {"all": "†state.a"}}]`)
	s.RunsPlans()
	s.Expect(loop.StepOver)
	s.Want("of different Plans", s.Output(), `{"all":{"①":1,"②":2},"first":{"①":1}}`)
}

func TestAPlanWithoutAnOutputLeavesItToOneClosingRequest(t *testing.T) {
	for name, more := range map[string]string{"none": "", "one that does not fit": `, "output": {"summary": 7}`, "one that does not resolve": `, "output": {"summary": "†state.never"}`} {
		s := modeltest.OnStage(t, modeltest.ASummary, directContext(ideafile.StageOptimal, `{"_tool":"work","_outputPath":"b"}`, more, `{}`))
		s.RunsPlans()
		b := s.Asks()
		if !b.Closing || (len(b.Errors) > 0) != (more != "") {
			t.Errorf("%s: %+v", name, b)
		}
		s.Says(`{"calls":[],"output":{"summary":"all well"}}`)
		s.Expect(loop.StepOver)
		s.Want(name, s.Output(), `{"summary":"all well"}`)
	}
}

func TestAnOutputOfSomePlansAloneIsNone(t *testing.T) {
	s := modeltest.OnStage(t, `{"type": "object"}`, `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "a": 2},
		{"type": "plan", "_instance": "①", "stage": "optimal", "plan": [], "output": {"all": "†state.a"}}, {"type": "plan", "_instance": "②", "stage": "optimal", "plan": []}]`)
	s.RunsPlans()
	if b := s.Asks(); !b.Closing || len(b.Errors) > 0 {
		t.Errorf("%+v", b)
	}
}

func TestACompletePlanWhoseOutputCannotBeHadFails(t *testing.T) {
	for name, c := range map[string]struct{ form, more, want string }{
		"none, and the form wants one":     {modeltest.ASummary, "", "bad_output: the output form wants an output, and the Plan has none"},
		"one that does not fit":            {modeltest.ASummary, `, "output": {"summary": 7}`, "bad_output: the Plan's output does not fit its form: "},
		"one that does not resolve":        {"", `, "output": "†state.never"`, "bad_output: the Plan's output: reference †state.never: nothing there"},
		"one that does not resolve in one": {"", `, "output": "†state.a"`, "bad_output: the Plan's output: reference †state.a: nothing there"},
	} {
		s := modeltest.OnStage(t, c.form, directContext(ideafile.StageComplete, "", c.more, `{"a":1}`, `{}`))
		s.RunsPlans()
		s.Expect(loop.StepOver)
		s.Want(name, string(s.Mind.Outcome()), "failed")
		if f := s.Mind.Result(loop.StatusFailed, false).Error; f == nil || !strings.HasPrefix(f.Error(), c.want) {
			t.Errorf("%s: %v", name, f)
		}
	}
}

func TestAPlansOutputSparesTheClosingRequestWhereSomeWentToTheLLM(t *testing.T) {
	s := modeltest.OnStage(t, `{"type": "object"}`, directContext(ideafile.StageOptimal, `{"_tool":"work","n":"†state.a","_outputPath":"b"}`, `, "output": {"all": "†state.b"}`, `{"a":1}`, `{"a":"two"}`), notAdapted)
	s.RunsPlans()
	s.Want("covered", fmt.Sprint(s.Asks().Tokens()), "[②]")
	s.Says(`{"calls":[{"_tool":"work","_instance":"②","x":2,"_outputPath":"b"}],"output":null}`)
	s.Says(`{"calls":[],"output":{"all":"mine alone"}}`)
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"all":{"①":"work done","②":2}}`)
}

func TestAPlanThatRunsDirectlyIsNotRevised(t *testing.T) {
	s := modeltest.OnStage(t, "", directContext(ideafile.StageOptimal, `{"_tool":"work"}`, "", `{}`))
	revise := func(text string) error {
		_, err := s.Mind.Revise(loop.Steering{Context: modeltest.Value(t, text).([]any)})
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
	s := modeltest.OnStage(t, "", directContext(ideafile.StageOptimal, `{"_tool":"work","x":"†state.a","_outputPath":"b"}`, `, "output": {"all": "†state.b"}`, `{"a":1}`))
	s.RunsPlans()
	tokens, err := s.Mind.Add(loop.Steering{Context: modeltest.Value(t, `[{"type":"state","_instance":"②","a":2}]`).([]any)})
	if err != nil {
		t.Fatal(err)
	}
	s.Idea = s.Mind.Idea()
	s.Join(tokens)
	s.Expect(loop.StepWait)
	s.RunsPlans()
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"all":{"①":1,"②":2}}`)
}

func TestAPersonsCorrectionCanCoverAFailure(t *testing.T) {
	s := modeltest.OnStageWith(t, modeltest.StagedTools+`, "slow": {"type": "object", "properties": {}}`, "", directContext(ideafile.StageComplete, `{"_tool":"fail","_outputPath":"b"},{"_tool":"slow"}`, "", `{}`))
	s.RunsPlans()
	s.Revise(`{"context": [{"type":"state","_instance":"①","state":{"b":"by hand"}}]}`)
	s.TakesIn("①", "ann")
	s.Runs["①"].Succeed("0.2@①", nil)
	s.Heard(s.Report("①", 0))
	s.Expect(loop.StepOver)
	s.Want("it", s.Statuses(), "① settled")
}

// An Idea of such a process is a file that goes on with the same Plan: what is done stays done.
func TestAnIdeaOfADirectPlanGoesOnWithIt(t *testing.T) {
	s := modeltest.OnStage(t, "", directContext(ideafile.StageOptimal, `{"_tool":"work","x":"†state.a"},{"_tool":"work","n":"†state.a","_outputPath":"b"}`, "", `{"a":1}`, `{"a":"two"}`, `{"a":3}`), notAdapted)
	s.Work = func(tool string, params map[string]any) (any, *diag.Fault) {
		if string(jsonval.Encode(params["x"])) == "3" {
			return nil, diag.Faultf(ideafile.CodeToolFailed, "no luck")
		}
		return "done", nil
	}
	s.RunsPlans()
	c := s.Says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`)
	s.Want("covered", fmt.Sprint(c.Brief.Tokens()), "[② ③]")
	again := modeltest.Sealed(t, s.Idea, s.Mind.Final(), nil, nil)
	plan := again.Context[0]
	s.Want("the record", string(jsonval.Encode(plan.Record)), `{"0.1":{"done":2,"failed":1},"0.1@①":"done","0.1@②":"done"}`)
	if plan.Stage != ideafile.StageOptimal || again.Context[len(again.Context)-1].Stage != "" {
		t.Errorf("%+v", again.Context)
	}
	s = &modeltest.Stage{T: t, Idea: again, Runs: map[string]*dataflow.Instance{}, Said: map[string]map[string]modeltest.Said{}, Bindings: s.Bindings, Work: s.Work, Now: s.Now, Corrected: s.Corrected}
	s.Mind = loop.New(again, "q", s.Bindings, modeltest.Began)
	s.Join(again.Tokens())
	s.RunsPlans()
	s.Want("it", s.Statuses(), "① settled, ② working, ③ working")
	for token, want := range map[string]string{"②": "skipped failed", "③": "failed skipped"} {
		records := s.Runs[token].Records()
		s.Want(token, fmt.Sprint(records[0].Status, " ", records[1].Status), want)
	}
}

func TestNobodyIsAskedForACompletePlanWhateverHappens(t *testing.T) {
	failed := 0
	rapid.Check(t, func(rt *rapid.T) {
		p := modeltest.DrawPlan(rt, modeltest.PlanKnobs{Calls: 6, Requests: 1})
		var calls []any
		fails := map[string]bool{}
		for n, c := range p.Requests[0] {
			delete(c.Raw, "_scopes")
			c.Raw["n"] = json.Number(strconv.Itoa(n))
			fails[strconv.Itoa(n)] = c.Fails
			calls = append(calls, c.Raw)
		}
		tools := `"work": {"_outputMethod": {"type": "string"}}, "think": {"_output": {}, "_outputMethod": {"type": "string"}}`
		plan := map[string]any{"type": "plan", "stage": "complete", "plan": calls}
		form := rapid.SampledFrom([]string{"", `{"type": "object"}`}).Draw(rt, "form")
		if rapid.Bool().Draw(rt, "output") {
			plan["output"] = map[string]any{"x": "†state.a"}
		}
		context := append(p.Context[:len(p.Context):len(p.Context)], plan)
		s := modeltest.OnStageWith(rt, tools, form, `"context": `+string(jsonval.Encode(context)))
		s.Work = func(_ string, params map[string]any) (any, *diag.Fault) {
			if fails[string(jsonval.Encode(params["n"]))] {
				return nil, diag.Faultf(ideafile.CodeToolFailed, "no luck")
			}
			return map[string]any{"b": 1}, nil
		}
		s.RunsPlans()
		if step, _ := s.Mind.Next(s.Now); step != loop.StepOver {
			rt.Fatalf("the step is %s in\n%s", step, p)
		}
		for _, rec := range s.Runs[""].Records() {
			if !rec.Status.Ended() && len(s.Runs[""].AwaitingLLM()) == 0 {
				rt.Fatalf("%s is %s in\n%s", rec.ID, rec.Status, p)
			}
		}
		if s.Mind.Outcome() == loop.StatusFailed {
			if failed++; s.Mind.Result(loop.StatusFailed, true).Error.Message == "" {
				rt.Fatalf("it does not say why it failed")
			}
		}
	})
	if !modeltest.Few() && failed == 0 {
		t.Error("no process failed: the test tests too little")
	}
}
