package loop_test

import (
	"testing"

	"processidea/model/loop"
	"processidea/model/modeltest"
)

func TestWhoNeedsNoMoreCallsIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	if !s.ExpectRequest().MayBeLast {
		t.Error("the LLM cannot say that nothing is left")
	}
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"finished":true}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("they are", s.DescribeInstances(), "① settled, ② settled")
}

func TestWhoSaysThatMoreIsToComeIsAskedAgain(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"finished":false}`)
	s.WantEqual("covered", s.ExpectRequest().InstanceTokens()[0], "①")
}

func TestAFailedCallIsToldOfEvenIfNothingWasLeftToPlan(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"fail","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"b"}],"finished":true}`)
	s.WantEqual("the next Request is told", describeErrors(s.ExpectRequest()),
		`1.1 tool_failed: no luck in ①`)
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② settled")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"c"}]}`)
	s.WantEqual("the word of an earlier reply counts no more", s.ExpectRequest().InstanceTokens()[0], "①")
}

func TestAnAlternativeMakesUpForAFailedCallOfTheLastReply(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	s.ReplyWith(`{"calls":[{"_tool":"fail","_outputPath":"b"},{"_tool":"work","_outputPath":"b"}],"finished":true}`)
	s.ExpectStep(loop.StepFinished)
}

func TestTheLLMIsNotBelievedWhereAGoalOrAnOutputTells(t *testing.T) {
	t.Parallel()
	goal := `"context": [{"type": "state", "state": {}, "schema": {"type": "object", "required": ["b"]}}]`
	for name, s := range map[string]*modeltest.Scenario{
		"a goal":                          modeltest.NewScenario(t, "", goal),
		"an output":                       modeltest.NewScenario(t, `{"type": "string"}`),
		"a process that is always asked ": modeltest.NewScenario(t, "", `"config": {"settle": "asked"}`),
	} {
		if s.ExpectRequest().MayBeLast {
			t.Errorf("%s: the LLM may say that nothing is left", name)
		}
		s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"c"}],"finished":true}`)
		s.WantEqual(name, s.DescribeInstances(), "working")
		s.ExpectRequest()
	}
}
