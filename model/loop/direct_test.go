package loop_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/approval"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

// directContext is a context of States and one Plan that runs directly.
func directContext(stage, calls, more string, states ...string) string {
	var messages []string
	for n, state := range states {
		messages = append(messages, fmt.Sprintf(`{"type": "state", "_instance": %q, "state": %s}`,
			string('①'+rune(n)), state))
	}
	messages = append(messages, `{"type": "plan", "stage": "`+stage+`", "plan": [`+calls+`]`+more+`}`)
	return `"context": [` + strings.Join(messages, ", ") + `]`
}

func TestAPlanRunsDirectlyWithNoRequest(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{ideafile.PlanStageOptimal, ideafile.PlanStageComplete} {
		s := modeltest.NewScenario(t, "", directContext(stage, `{"_tool":"work","x":"†state.a","_outputPath":"b"}`, "",
			`{"a":1}`, `{"a":2}`))
		s.ExpectStep(loop.StepWait)
		s.RunDirectPlans()
		s.ExpectStep(loop.StepFinished)
		s.WantEqual("they", s.DescribeInstances(), "① settled, ② settled")
		s.WantEqual("the outcome", string(s.Loop.FinalStatus()), "completed")
		s.WantEqual("its Calls", s.InstanceByToken["②"].CallRecords()[0].ID, "0.1@②")
		r := s.Loop.Result(loop.StatusCompleted, true)
		s.WantEqual("②", string(jsonval.Encode(r.Instances["②"].State)), `{"a":2,"b":2}`)
		if r.RequestCount != 0 || r.Calls.Done != 2 || r.Output != nil {
			t.Errorf("%+v", r)
		}
	}
}

func TestThePlanOfAnInstanceIsTheFirstWhoseConditionHolds(t *testing.T) {
	t.Parallel()
	when := func(kind, key string) string {
		return fmt.Sprintf(`, "when": {"properties": {%q: {"required": [%q]}}, "required": [%q]}`, kind, key, kind)
	}
	plan := func(name, instance, more string) string {
		return fmt.Sprintf(
			`{"type": "plan", "stage": "optimal", "name": %q%s, "plan": [{"_tool": "work", "x": %q, "_outputPath": "b"}]%s}`,
			name, instance, name, more)
	}
	s := modeltest.NewScenario(t, "", `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "c": 1}, {"type": "input", "_instance": "③", "go": 1},
		{"type": "state", "_instance": "④", "a": 1}, {"type": "text", "_instance": "⑤", "text": "none"},`+
		plan("for a", "", when("state", "a"))+","+
		plan(
			"for a or c", "",
			`, "when": {"properties": {"state": {"anyOf": [{"required": ["a"]}, {"required": ["c"]}]}}}`)+","+
		plan("for input", "", when("input", "go"))+","+plan("own", `, "_instance": "④"`, "")+`]`)
	s.RunDirectPlans()
	step, b := s.Loop.Advance(s.Now)
	if step != loop.StepRequest || fmt.Sprint(b.InstanceTokens()) != "[⑤]" {
		t.Fatalf("%s for %v", step, b)
	}
	for token, want := range map[string]string{"①": "for a", "②": "for a or c", "③": "for input", "④": "own"} {
		got, _ := jsonval.ValueAt(s.InstanceByToken[token].State(), jsonval.Path{"b"})
		s.WantEqual(token, fmt.Sprint(got), want)
	}
	if s.InstanceByToken["⑤"].HasDirectPlan() {
		t.Error("⑤ has a Plan of which no condition holds")
	}
}

func TestInstancesInWhichSomethingFailsGoBackToTheLLMTogether(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "",
		directContext(ideafile.PlanStageOptimal,
			`{"_tool":"work","x":"†state.a","_outputPath":"b"},{"_tool":"work","x":"†state.b","_outputPath":"c"}`, "",
			`{"a":1}`, `{"a":2}`, `{"a":3}`))
	s.RunTool = func(_ string, params map[string]any) (any, *diag.Fault) {
		if x := string(jsonval.Encode(params["x"])); x == "1" || x == "3" {
			return nil, diag.Faultf(ideafile.CodeToolFailed, "no luck")
		}
		return params["x"], nil
	}
	s.RunDirectPlans()
	b := s.ExpectRequest()
	s.WantEqual("covered", fmt.Sprint(b.InstanceTokens()), "[① ③]")
	s.WantEqual("they", s.DescribeInstances(), "① working, ② settled, ③ working")
	s.WantEqual("the Plan it is shown", describePlan(b), "0.1 failed 2; 0.2 blocked 2")
	s.WantEqual("the errors", describeErrors(b), "0.1 tool_failed: no luck in ①, ③\n0.2 blocked: †state.b "+
		"would come from 0.1@① (failed) in ①\n0.2 blocked: †state.b would come from 0.1@③ (failed) in ③")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","x":7,"_outputPath":"b"}],"output":null}`)
	b = s.ExpectRequest()
	s.WantEqual("the second", fmt.Sprintf("%d %v %s %s", b.RequestNumber, b.InstanceTokens(), describePlan(b),
		describeErrors(b)), "2 [① ③] 1.1 done 2 ")
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("at the end", s.DescribeInstances(), "① settled, ② settled, ③ settled")
	if r := s.Loop.Result(loop.StatusCompleted, false); r.RequestCount != 2 || r.Calls.Failed != 2 ||
		r.Calls.Blocked != 2 || r.Calls.Done != 4 {
		t.Errorf("%+v", r)
	}
}

// Calls of different Plans have the same numbers, and are different Calls.
func TestTheLLMIsToldOfEachInstanceWhatItsOwnPlanCameTo(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "b": 2},
		{"type": "plan", "name": "for a", "stage": "optimal", "when": {"properties": {"state": {"required": ["a"]}}}, "plan": [{"_tool": "work"}, {"_tool": "fail"}]},
		{"type": "plan", "stage": "optimal", "plan": [{"_tool": "fail", "_outputPath": "c"}]}]`)
	s.RunDirectPlans()
	b := s.ExpectRequest()
	var told []string
	for _, e := range b.PlanEntries {
		told = append(told, fmt.Sprintf("%s %q at %d %s %s", e.CallID, e.PlanName, e.DirectPlanPosition,
			jsonval.Encode(e.Call),
			jsonval.Encode(jsonval.ToJSONValue(e.CountByStatus))))
	}
	s.WantEqual("the Plans", strings.Join(told, "; "),
		`0.1 "for a" at 3 {"_tool":"work"} {"done":1}; 0.2 "for a" at 3 {"_tool":"fail"} {"failed":1}; 0.1 "" at 4 {"_outputPath":"c","_tool":"fail"} {"failed":1}`)
	s.WantEqual("the errors", describeErrors(b),
		"0.2 tool_failed: no luck in ①\n0.1 tool_failed: no luck in ②")
	again := modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil)
	s.WantEqual("the records", string(jsonval.Encode(again.Context[0].PlanRecordByCallID))+
		string(jsonval.Encode(again.Context[1].PlanRecordByCallID)),
		`{"0.1":{"done":["①"],"results":{"①":"work done"}},`+
			`"0.2":{"errors":[{"error":{"code":"tool_failed","message":"no luck"},"instances":["①"]}],"failed":["①"]}}`+
			`{"0.1":{"errors":[{"error":{"code":"tool_failed","message":"no luck"},"instances":["②"]}],"failed":["②"]}}`)
}

// One that comes back waits for others that still run, as ever.
func TestInstancesThatComeBackAreGathered(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenarioWithTools(t, modeltest.ScenarioToolsJSON+`, "slow": {"type": "object", "properties": {}}`, "", `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "a": 2},
		{"type": "plan", "_instance": "①", "stage": "optimal", "plan": [{"_tool": "fail"}]},
		{"type": "plan", "_instance": "②", "stage": "optimal", "plan": [{"_tool": "slow"}]}]`)
	s.RunDirectPlans()
	s.ExpectStep(loop.StepWait)
	if want := s.Now.Add(ideafile.DefaultGatherDelay); !s.Loop.NextWakeTime().Equal(want) {
		t.Errorf("it wakes at %s", s.Loop.NextWakeTime())
	}
	s.InstanceByToken["②"].FailCall("0.1@②", diag.Faultf(ideafile.CodeToolFailed, "no luck"))
	s.DeliverReport(s.TakeReport("②", 0))
	s.WantEqual("covered", fmt.Sprint(s.ExpectRequest().InstanceTokens()), "[① ②]")
}

func TestAFailureThatAnAlternativeCoversIsNone(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{ideafile.PlanStageOptimal, ideafile.PlanStageComplete} {
		s := modeltest.NewScenario(t, "", directContext(stage, `{"_tool":"fail","_outputPath":"b"},{"_tool":"work","_outputPath":"b"},
			{"_tool":"fail","_outputPath":"†state.c || †state.d"},{"_tool":"work","x":"†state.c","_outputPath":"e"},{"_tool":"work","x":"†state.d.code","_outputPath":"e"}`, "", `{}`))
		s.RunDirectPlans()
		s.ExpectStep(loop.StepFinished)
		s.WantEqual(stage, s.DescribeInstances(), "① settled")
		s.WantEqual(stage, string(jsonval.Encode(s.InstanceByToken["①"].State())),
			`{"b":"work done","d":{"code":"tool_failed","message":"no luck"},"e":"tool_failed"}`)
	}
}

func TestAFailureThatNothingCoversFailsAnInstanceOfACompletePlan(t *testing.T) {
	t.Parallel()
	for name, calls := range map[string]string{
		"a Call with a value":            `{"_tool":"fail","_outputPath":"b"},{"_tool":"fail","_outputPath":"b"}`,
		"a Call for its effect":          `{"_tool":"fail"},{"_tool":"work","_outputPath":"b"}`,
		"an update":                      `{"_tool":"work","_outputPath":"log"},{"_tool":"log"},{"_tool":"log","odd":1}`,
		"a Call that waits for ever":     `{"_tool":"work","x":"†state.never","_outputPath":"b"}`,
		"a broken Call":                  `{"_tool":"work","n":"one","_outputPath":"b"}`,
		"one of two paths":               `{"_tool":"fail","_outputPath":"b && c"},{"_tool":"work","_outputPath":"b"}`,
		"a result that the LLM may not ": `{"_tool":"think","_outputPath":"b"}`,
	} {
		s := modeltest.NewScenario(t, "", directContext(ideafile.PlanStageComplete, calls, "", `{}`))
		s.RunDirectPlans()
		s.ExpectStep(loop.StepFinished)
		s.WantEqual(name, s.DescribeInstances(), "① failed")
		s.WantEqual(name, string(s.Loop.FinalStatus()), "failed")
		if r := s.Loop.Result(loop.StatusFailed, true); r.RequestCount != 0 || r.Error == nil ||
			!strings.Contains(r.Error.Message, "0.") {
			t.Errorf("%s: %+v", name, r.Error)
		}
	}
}

func TestAStateThatLacksWhatItsSchemaRequiresIsAFailureOfThePlan(t *testing.T) {
	t.Parallel()
	context := func(stage string) string {
		return `"context": [{"type": "state", "state": {}, ` + stateSchemaRequiringMood +
			`}, {"type": "plan", "stage": "` + stage + `", "plan": [{"_tool": "work"}]}]`
	}
	s := modeltest.NewScenario(t, "", context(ideafile.PlanStageComplete))
	s.RunDirectPlans()
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("complete", s.Loop.Result(loop.StatusFailed, false).Error.Error(),
		"missing_required: its State still lacks [mood]")
	s = modeltest.NewScenario(t, "", context(ideafile.PlanStageOptimal))
	s.RunDirectPlans()
	s.WantEqual("optimal", fmt.Sprint(s.ExpectRequest().Instances[0].MissingRequiredPaths), "[mood]")
}

func TestAnInstanceForWhichNoCompletePlanHoldsFails(t *testing.T) {
	t.Parallel()
	never := `, "when": {"properties": {"state": {"required": ["never"]}}}`
	s := modeltest.NewScenario(t, "", directContext(ideafile.PlanStageComplete, "", never, `{}`))
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("complete", s.DescribeInstances(), "① failed")
	if len(s.Loop.TakeEndedInstances()) != 1 {
		t.Error("nobody tells the instance")
	}
	s = modeltest.NewScenario(t, "", directContext(ideafile.PlanStageOptimal, "", never, `{}`))
	s.WantEqual("optimal", fmt.Sprint(s.ExpectRequest().InstanceTokens()), "[①]")
}

func TestWhatARecordCallsDoneIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ record, ran string }{
		{`{"0.1": "done"}`, "0.2@① 0.1@② 0.2@②"},
		{`{"0.1@①": "done", "0.2@②": "done"}`, "0.2@① 0.1@②"},
		{`{"0.1": {"done": 2}, "0.2": {"done": 1, "failed": 1}}`, "0.2@① 0.2@②"},
		{`{"0.2": {"done": 1, "skipped": 1}}`, "0.1@① 0.1@②"},
		{`{"2.7": {"failed": 2}, "10.1": {"done": 2}}`, "0.1@① 0.1@②"},
		{`{"2.7": {"done": 2}}`, "0.1@① 0.2@① 0.1@② 0.2@②"},
		{`{"0.1": "failed"}`, "0.1@① 0.2@① 0.1@② 0.2@②"},
	} {
		s := modeltest.NewScenario(t, "", directContext(ideafile.PlanStageOptimal, `{"_tool":"work"},{"_tool":"work"}`,
			`, "record": `+c.record, `{}`, `{}`))
		if c.record == `{"0.1": "done"}` {
			c.ran = "0.2@① 0.2@②"
		}
		s.RunDirectPlans()
		s.ExpectStep(loop.StepFinished)
		var ran []string
		for _, token := range s.Loop.InstanceTokens() {
			for _, rec := range s.InstanceByToken[token].CallRecords() {
				if rec.Status != ideafile.CallDone {
					t.Errorf("%s: %s is %s", c.record, rec.ID, rec.Status)
				} else if !rec.IsFromEarlierProcess {
					ran = append(ran, rec.ID)
				}
			}
		}
		s.WantEqual(c.record, strings.Join(ran, " "), c.ran)
	}
}

func TestACallOfAPlanMayBeForOneInstance(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "",
		directContext(ideafile.PlanStageComplete,
			`{"_tool":"work","_instance":"②","_outputPath":"b"},{"_tool":"work","_instance":"*","_outputPath":"c"}`,
			"", `{}`, `{}`))
	s.RunDirectPlans()
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("they", s.DescribeInstances(), "① settled, ② settled")
	s.WantEqual("①", string(jsonval.Encode(s.InstanceByToken["①"].State())), `{"c":"work done"}`)
	s.WantEqual("②", string(jsonval.Encode(s.InstanceByToken["②"].State())), `{"b":"work done","c":"work done"}`)
}

func TestLatentCallsOfADirectPlanAreAskedForByThemselves(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", directContext(ideafile.PlanStageOptimal, `{"_tool":"think","x":"†state.a","_outputPath":"b"},{"_tool":"work","x":"†state.b","_outputPath":"c"},
		{"_tool":"work","_outputPath":"d"}`, "", `{"a":1}`, `{"a":2}`))
	s.RunDirectPlans()
	b := s.ExpectRequest()
	if len(b.Questions) != 2 || b.Questions[1].CallID != "0.1@②" {
		t.Fatalf("%+v", b.Questions)
	}
	s.ReplyWith(`{"calls":[{"_call":"0.1@①","_output":"one"},{"_call":"0.1@②","_output":"two"}],"output":null}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("②", string(jsonval.Encode(s.InstanceByToken["②"].State())),
		`{"a":2,"b":"two","c":"two","d":"work done"}`)
	if log := s.Loop.TakeUnsealedLog(); len(log) != 6 {
		t.Errorf("the next Idea is told of %d writes", len(log))
	}
}

func TestAPlanThatRunsDirectlyTakesThePlaceOfNoneWhereNoneIsAtWork(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	revise := func(text string) error {
		_, err := s.Loop.ApplyRevision(approval.SteeringPayload{Context: modeltest.DecodeJSON(t, text).([]any)})
		return err
	}
	if err := revise(`[{"type":"plan","stage":"optimal","plan":[]}]`); err == nil ||
		!strings.Contains(err.Error(), "without its stage") {
		t.Errorf("%v", err)
	}
	if err := revise(`[{"type":"plan","plan":[]}]`); err != nil {
		t.Errorf("one that guides: %s", err)
	}
}

func TestInstancesThatAreAddedRunTheirPlanToo(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "",
		directContext(ideafile.PlanStageOptimal, `{"_tool":"work","x":"†state.a","_outputPath":"b"}`,
			`, "output": {"all": "†state.b"}`, `{"a":1}`))
	s.RunDirectPlans()
	tokens, err := s.Loop.AddInstances(
		approval.SteeringPayload{Context: modeltest.DecodeJSON(t, `[{"type":"state","_instance":"②","a":2}]`).([]any)})
	if err != nil {
		t.Fatal(err)
	}
	s.Idea = s.Loop.Idea
	s.StartInstances(tokens)
	s.ExpectStep(loop.StepWait)
	s.RunDirectPlans()
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"all":{"①":1,"②":2}}`)
}

func TestAPersonsCorrectionCanCoverAFailure(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenarioWithTools(t, modeltest.ScenarioToolsJSON+`, "slow": {"type": "object", "properties": {}}`,
		"",
		directContext(ideafile.PlanStageComplete, `{"_tool":"fail","_outputPath":"b"},{"_tool":"slow"}`, "", `{}`))
	s.RunDirectPlans()
	s.Revise(`{"context": [{"type":"state","_instance":"①","state":{"b":"by hand"}}]}`)
	s.ApplyCorrections("①", "ann")
	s.InstanceByToken["①"].SucceedCall("0.2@①", nil)
	s.DeliverReport(s.TakeReport("①", 0))
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("it", s.DescribeInstances(), "① settled")
}

// An Idea of such a process is a file that goes on with the same Plan: what is done stays done.
func TestAnIdeaOfADirectPlanGoesOnWithIt(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "",
		directContext(ideafile.PlanStageOptimal,
			`{"_tool":"work","x":"†state.a"},{"_tool":"work","n":"†state.a","_outputPath":"b"}`, "", `{"a":1}`,
			`{"a":"two"}`, `{"a":3}`), notAdapted)
	s.RunTool = func(tool string, params map[string]any) (any, *diag.Fault) {
		if string(jsonval.Encode(params["x"])) == "3" {
			return nil, diag.Faultf(ideafile.CodeToolFailed, "no luck")
		}
		return "done", nil
	}
	s.RunDirectPlans()
	c := s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`)
	s.WantEqual("covered", fmt.Sprint(c.InstanceTokens()), "[② ③]")
	again := modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil)
	plan := again.Context[0]
	s.WantEqual("the record", string(jsonval.Encode(plan.PlanRecordByCallID)), `{"0.1":{"done":["①","②"],`+
		`"errors":[{"error":{"code":"tool_failed","message":"no luck"},"instances":["③"]}],"failed":["③"],"results":{"①":"done","②":"done"}}}`)
	s.WantEqual("those that the LLM plans for", fmt.Sprint(plan.FallbackInstanceTokens), "[② ③]")
	if plan.PlanStage != ideafile.PlanStageOptimal || again.Context[len(again.Context)-1].PlanStage != "" {
		t.Errorf("%+v", again.Context)
	}
	s = &modeltest.Scenario{T: t, Idea: again, InstanceByToken: map[string]*dataflow.Instance{},
		ReportedCallsByToken: map[string]map[string]dataflow.LastReportedCall{}, Bindings: s.Bindings,
		RunTool: s.RunTool, Now: s.Now,
		AckedCorrectionCountByToken: s.AckedCorrectionCountByToken}
	s.Loop = loop.New(again, "q", s.Bindings, modeltest.StartTime)
	s.StartInstances(again.InstanceTokens())
	s.RunDirectPlans()
	s.WantEqual("it", s.DescribeInstances(), "① settled, ② working, ③ working")
	for token, instance := range s.InstanceByToken {
		if len(instance.CallRecords()) > 0 {
			t.Errorf("%s: %+v comes again", token, instance.CallRecords()[0].ID)
		}
	}
}

func TestNobodyIsAskedForACompletePlanWhateverHappens(t *testing.T) {
	t.Parallel()
	failed := 0
	rapid.Check(t, func(rt *rapid.T) {
		p := modeltest.GeneratePlan(rt, modeltest.PlanOptions{MaxCalls: 6, MaxRequests: 1})
		var calls []any
		fails := map[string]bool{}
		for n, c := range p.Requests[0] {
			delete(c.Source, "_scopes")
			c.Source["n"] = json.Number(strconv.Itoa(n))
			fails[strconv.Itoa(n)] = c.Fails
			calls = append(calls, c.Source)
		}
		tools := `"work": {"_outputMethod": {"type": "string"}}, "think": {"_output": {}, "_outputMethod": {"type": "string"}}`
		plan := map[string]any{"type": "plan", "stage": "complete", "plan": calls}
		form := rapid.SampledFrom([]string{"", `{"type": "object"}`}).Draw(rt, "form")
		if rapid.Bool().Draw(rt, "output") {
			plan["output"] = map[string]any{"x": "†state.a"}
		}
		context := append(p.Context[:len(p.Context):len(p.Context)], plan)
		s := modeltest.NewScenarioWithTools(rt, tools, form, `"context": `+string(jsonval.Encode(context)))
		s.RunTool = func(_ string, params map[string]any) (any, *diag.Fault) {
			if fails[string(jsonval.Encode(params["n"]))] {
				return nil, diag.Faultf(ideafile.CodeToolFailed, "no luck")
			}
			return map[string]any{"b": 1}, nil
		}
		s.RunDirectPlans()
		if step, _ := s.Loop.Advance(s.Now); step != loop.StepFinished {
			rt.Fatalf("the step is %s in\n%s", step, p)
		}
		for _, rec := range s.InstanceByToken[""].CallRecords() {
			if !rec.Status.IsFinal() && len(s.InstanceByToken[""].CallsAwaitingLLM()) == 0 {
				rt.Fatalf("%s is %s in\n%s", rec.ID, rec.Status, p)
			}
		}
		if s.Loop.FinalStatus() == loop.StatusFailed {
			if failed++; s.Loop.Result(loop.StatusFailed, true).Error.Message == "" {
				rt.Fatalf("it does not say why it failed")
			}
		}
	})
	if !testing.Short() && failed == 0 {
		t.Error("no process failed: the test tests too little")
	}
}
