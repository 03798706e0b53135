package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

func TestTheOutputOfAPlanIsTheProcesss(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, `"context": [{"type": "input", "title": "T"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "fail", "_outputPath": "ok || bad"}],
		"output": {"summary": "†state.ok || †state.bad.message"}}]`)
	s.RunDirectPlans()
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("of the anonymous instance", outputJSON(s), `{"summary":"no luck"}`)

	s = modeltest.NewScenario(t, "",
		directContext(ideafile.PlanStageOptimal, `{"_tool":"work","x":"†state.a","_outputPath":"b"}`,
			`, "output": {"all": "†state.b", "text": "as is"}`, `{"a":1}`, `{"a":2}`))
	s.RunDirectPlans()
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("of several", outputJSON(s), `{"all":{"①":1,"②":2},"text":"as is"}`)

	s = modeltest.NewScenario(t, "", `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "a": 2},
		{"type": "plan", "_instance": "①", "stage": "complete", "plan": [], "output": {"all": "†state.a", "first": "†state.a"}},
		{"type": "plan", "_instance": "②", "stage": "complete", "plan": [], "output": {"all": "†state.a"}}]`)
	s.RunDirectPlans()
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("of different Plans", outputJSON(s), `{"all":{"①":1,"②":2},"first":{"①":1}}`)
}

func TestAPlanWithoutAnOutputLeavesItToOneClosingRequest(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{"none": "", "one that does not fit": `, "output": {"summary": 7}`,
		"one that does not resolve": `, "output": {"summary": "†state.never"}`} {
		s := modeltest.NewScenario(t, modeltest.SummarySchema,
			directContext(ideafile.PlanStageOptimal, `{"_tool":"work","_outputPath":"b"}`, more, `{}`))
		s.RunDirectPlans()
		b := s.ExpectRequest()
		if !b.IsOutputOnly || (len(b.Errors) > 0) != (more != "") {
			t.Errorf("%s: %+v", name, b)
		}
		s.ReplyWith(`{"calls":[],"output":{"summary":"all well"}}`)
		s.ExpectStep(loop.StepFinished)
		s.WantEqual(name, outputJSON(s), `{"summary":"all well"}`)
	}
}

func TestAnOutputOfSomePlansAloneIsNone(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, `{"type": "object"}`, `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "a": 2},
		{"type": "plan", "_instance": "①", "stage": "optimal", "plan": [], "output": {"all": "†state.a"}}, {"type": "plan", "_instance": "②", "stage": "optimal", "plan": []}]`)
	s.RunDirectPlans()
	if b := s.ExpectRequest(); !b.IsOutputOnly || len(b.Errors) > 0 {
		t.Errorf("%+v", b)
	}
}

func TestACompletePlanWhoseOutputCannotBeHadFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ form, more, want string }{
		"none, and the form wants one": {modeltest.SummarySchema, "",
			"bad_output: the output form wants an output, and the Plan has none"},
		"one that does not fit": {modeltest.SummarySchema, `, "output": {"summary": 7}`,
			"bad_output: the Plan's output does not fit its form: "},
		"one that does not resolve": {"", `, "output": "†state.never"`,
			"bad_output: the Plan's output: reference †state.never: nothing there in any instance"},
	} {
		s := modeltest.NewScenario(t, c.form, directContext(ideafile.PlanStageComplete, "", c.more, `{"a":1}`, `{}`))
		s.RunDirectPlans()
		s.ExpectStep(loop.StepFinished)
		s.WantEqual(name, string(s.Loop.FinalStatus()), "failed")
		if f := s.Loop.Result(loop.StatusFailed, false).Error; f == nil || !strings.HasPrefix(f.Error(), c.want) {
			t.Errorf("%s: %v", name, f)
		}
	}
}

func TestACompletePlansOutputLeavesOutInstancesWithoutAValue(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", directContext(ideafile.PlanStageComplete, "", `, "output": "†state.a"`,
		`{"a":1}`, `{}`))
	s.RunDirectPlans()
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the process", string(s.Loop.FinalStatus()), "completed")
	s.WantEqual("the output", outputJSON(s), `{"①":1}`)
}

func TestAPlansOutputSparesTheClosingRequestWhereSomeWentToTheLLM(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, `{"type": "object"}`,
		directContext(ideafile.PlanStageOptimal, `{"_tool":"work","n":"†state.a","_outputPath":"b"}`,
			`, "output": {"all": "†state.b"}`, `{"a":1}`, `{"a":"two"}`), notAdapted)
	s.RunDirectPlans()
	s.WantEqual("covered", fmt.Sprint(s.ExpectRequest().InstanceTokens()), "[②]")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"②","x":2,"_outputPath":"b"}],"output":null}`)
	s.ReplyWith(`{"calls":[],"output":{"all":"mine alone"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"all":{"①":"work done","②":2}}`)
}
