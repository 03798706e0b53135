package loop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// lookFirst is an instruction whose steps require that the mood was looked up before it was written, and that what is rude
// was answered.
const lookFirst = `{"type": "instruction", "file": "p.json", "instruction": {"meta": {"version": "1"}, "instruction": {"steps": [
	{"id": "look", "text": "Look first.", "require": {"properties": {"calls": {"contains": {"properties":
		{"tool": {"const": "work"}, "status": {"const": "done"}, "params": {"properties": {"x": {"const": "looked"}}, "required": ["x"]}}}}}}},
	{"id": "answer", "text": "Answer what is rude.", "when": {"properties": {"state": {"properties": {"mood": {"const": "rude"}}, "required": ["mood"]}}},
		"require": {"properties": {"state": {"required": ["answer"]}}}}]}}}`

func nothing(s *modeltest.Scenario) { s.ReplyWith(`{"calls":[],"output":null}`) }

func unfulfilled(input *turn.RequestInput) string {
	var list []string
	for _, i := range input.Instances {
		for _, s := range i.UnfulfilledSteps {
			list = append(list, strings.TrimSpace(i.Token+" "+s.StepID))
		}
	}
	return strings.Join(list, ", ")
}

func counts(s *modeltest.Scenario) string {
	var list []string
	for _, c := range s.Loop.InstructionStepCounts() {
		list = append(list, fmt.Sprintf("%s@%s %d/%d/%d", c.StepID, c.Version, c.Fulfilled, c.Unfulfilled,
			c.NotApplicable))
	}
	return strings.Join(list, ", ")
}

func TestAnInstanceThatDoesNotFulfilAStepIsToldThreeTimesThenItHasFailed(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"context": [`+lookFirst+`, {"type": "state", "_instance": "①", "state": {}},
		{"type": "state", "_instance": "②", "state": {}}]`)
	s.WantEqual("before anything was planned", unfulfilled(s.ExpectRequest()), "")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"②","x":"looked","_outputPath":"a"}],"output":null}`)
	s.WantEqual("told", unfulfilled(s.ExpectRequest()), "① look")
	nothing(s)
	s.WantEqual("after the first time", s.DescribeInstances(), "① working, ② settled")
	for range 2 {
		s.WantEqual("told again", unfulfilled(s.ExpectRequest()), "① look")
		nothing(s)
	}
	s.WantEqual("in the end", s.DescribeInstances(), "① failed, ② settled")
	s.ExpectStep(loop.StepFinished)
	if got := s.Loop.Result(loop.StatusFailed, false).Error.Error(); !strings.HasPrefix(got,
		"instruction_unfulfilled: 1 of 2 instances failed; the first, ①: step look of p.json is not fulfilled: ") {
		t.Error(got)
	}
	s.WantEqual("counted", counts(s), "look@1 1/1/0, answer@1 0/0/2")
}

// What is taken back had fulfilled a step, and the count says so.
func TestTheStepsOfAnInstanceThatTakesBackAreCountedAsBefore(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"config": {"onFailure": "undo"}`, strings.Replace(goalIsMood, "[", "["+lookFirst+",", 1))
	s.ReplyWith(`{"calls":[{"_tool":"work","x":"looked","_outputPath":"a"}],"output":null}`)
	for range 4 {
		s.ExpectRequest()
		nothing(s)
	}
	s.WantEqual("it takes back", s.DescribeInstances(), "working")
	r := s.TakeReport("", 1)
	r.Calls = []turn.CallReport{{Request: 1, Index: 1, CallState: turn.CallState{Status: ideafile.CallUndone}}}
	r.UndoResult = &turn.UndoResult{Summary: "taken back: 1.1"}
	s.DeliverReport(r)
	s.WantEqual("in the end", s.DescribeInstances()+" "+counts(s), "failed look@1 1/0/0, answer@1 0/0/1")
}

// An effect that nobody knows of may stay: the instance has not simply failed.
func TestAnInstanceOfWhichAllThatItDidIsUnknownTakesBack(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		ideafile.CodeOutcomeUnknown: "working true", ideafile.CodeToolFailed: "failed false"} {
		s := modeltest.NewScenario(t, "", `"config": {"onFailure": "undo"}`, goalIsMood)
		s.RunTool = func(string, map[string]any) (any, *diag.Fault) { return nil, diag.Faultf(code, "cut") }
		s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"mood"}],"output":null}`)
		for range 4 {
			s.ExpectRequest()
			nothing(s)
		}
		s.WantEqual(code, fmt.Sprint(s.DescribeInstances(), " ", s.Loop.Instances[0].UndoCause != nil), want)
	}
}

func TestAnInstanceThatReachedItsGoalIsToldOfTheStepBeforeItSettles(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", strings.Replace(goalIsMood, "[", "["+lookFirst+",", 1))
	s.ReplyWith(`{"calls":[{"_tool":"work","x":"rude","_outputPath":"mood"}],"output":null}`)
	s.WantEqual("told", unfulfilled(s.ExpectRequest()), "look, answer")
	s.ReplyWith(`{"calls":[{"_tool":"work","x":"looked","_outputPath":"answer"}],"output":null}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("in the end", s.DescribeInstances()+" "+counts(s), "settled look@1 1/0/0, answer@1 1/0/0")
}

func TestAnInstanceThatReachedItsGoalIsToldThreeTimesTooHoweverLongItWaits(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", `"context": [`+lookFirst+`, {"type": "state", "state": {}, `+
		stateSchemaRequiringMood+`}, {"type": "state", "_instance": "①", "state": {}},
		{"type": "state", "_instance": "②", "state": {}}]`)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","x":"good","_outputPath":"mood"},
		{"_tool":"slow","_instance":"②","_outputPath":"mood"}],"output":null}`)
	for n := range 3 {
		for range 5 {
			s.ExpectStep(loop.StepWait) // for ②, which might be asked about with ①
		}
		s.AdvanceClock(time.Minute)
		s.WantEqual("told", unfulfilled(s.ExpectRequest()), "① look")
		s.ReplyWith(fmt.Sprintf(`{"calls":[{"_tool":"work","_instance":"①","x":%d}],"output":null}`, n))
	}
	s.ExpectStep(loop.StepWait)
	s.WantEqual("in the end", s.DescribeInstances(), "① failed, ② working")
}

// An LLM that plans on and on is told after each time that it had nothing more to plan, and not in every Request.
func TestWhoIsAskedBeforeItSettlesIsToldOfAStepThreeTimesAtMostHoweverMuchIsPlanned(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"config": {"settle": "asked"}, "context": [`+lookFirst+`, {"type": "state", "state": {}}]`)
	s.ExpectRequest()
	nothing(s)
	for round := range 3 {
		s.WantEqual("told", unfulfilled(s.ExpectRequest()), "look")
		for n := range 3 {
			s.ReplyWith(fmt.Sprintf(`{"calls":[{"_tool":"work","x":%d,"_outputPath":"a%d"}],"output":null}`, n, 3*round+n))
			s.WantEqual("not told again", unfulfilled(s.ExpectRequest()), "")
		}
		nothing(s)
	}
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("in the end", s.DescribeInstances()+" "+counts(s), "failed look@1 0/1/0, answer@1 0/0/1")
}

func TestAnUnfulfilledStepEndsACompletePlanAndHandsAnOptimalOneToTheLLM(t *testing.T) {
	t.Parallel()
	for stage, want := range map[string]string{"complete": "failed", "optimal": "working"} {
		s := modeltest.NewScenario(t, "", `"context": [`+lookFirst+`, {"type": "state", "state": {}},
			{"type": "plan", "stage": "`+stage+`", "plan": [{"_tool": "work", "x": 1, "_outputPath": "a"}]}]`)
		s.RunDirectPlans()
		if stage == "complete" {
			s.ExpectStep(loop.StepFinished)
		} else {
			s.WantEqual("told", unfulfilled(s.ExpectRequest()), "look")
		}
		s.WantEqual(stage, s.DescribeInstances(), want)
	}
}

func TestWhatARequestHasPlannedLongAgoIsEvidence(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"context": [`+lookFirst+`, {"type": "state", "state": {}}]`)
	s.ReplyWith(`{"calls":[{"_tool":"work","x":"looked","_outputPath":"a"}],"output":null}`)
	for _, path := range []string{"b", "c"} {
		s.ReplyWith(`{"calls":[{"_tool":"work","x":"†state.a","_outputPath":"` + path + `"}],"output":null}`)
	}
	s.ExpectRequest()
	fork := modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil)
	nothing(s)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("here", s.DescribeInstances(), "settled")
	s = modeltest.NewScenarioFromIdea(t, fork, false)
	s.ExpectRequest()
	nothing(s)
	s.WantEqual("told", unfulfilled(s.RequestInput), "")
	s.WantEqual("in a fork", s.DescribeInstances()+" "+counts(s), "settled look@1 1/0/0, answer@1 0/0/1")
}

func TestAnInstructionThatAPersonGivesAnewCounts(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"context": [`+lookFirst+`, {"type": "state", "state": {}}]`)
	s.ExpectRequest()
	s.Conclude(func() turn.LLMReply { r := s.DeliverCalls(nil); r.IsComplete = true; return r }())
	s.ExpectRequest()
	s.Revise(`{"context": [{"type": "instruction", "file": "p.json", "instruction": {"meta": {"version": "2"},
		"instruction": {"text": "Do as you like."}}}]}`)
	nothing(s) // a reply from before
	s.WantEqual("told", unfulfilled(s.ExpectRequest()), "")
	nothing(s)
	s.WantEqual("in the end", s.DescribeInstances()+counts(s), "settled")
}

func TestAnInstructionThatNobodyCanReadIsRefused(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"context": [`+lookFirst+`, {"type": "state", "_instance": "①", "state": {}}]`)
	for message, want := range map[string]string{
		`{"type": "instruction", "file": "q.json"}`: `$.context[0].file: there is no q.json; its content may also be given beside it, as "instruction"`,
		`{"type": "instruction", "file": "q.json", "instruction": {"instruction": {"steps": [{"id": "a", "text": "x", "tools": ["u"]}]}}}`: `q.json: $.instruction.steps[0].tools: unknown tool "u"`,
		`{"type": "instruction", "file": "q.json", "instruction": {"instruction": {"steps": [{"id": "look", "text": "x"}]}}}`:              `q.json: $.instruction.steps[0].id: p.json has a step "look" too`,
	} {
		_, err := s.Loop.ApplyRevision(approval.SteeringPayload{Context: []any{modeltest.DecodeJSON(t, message)}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", message, err)
		}
		_, err = s.Loop.AddInstances(approval.SteeringPayload{Context: []any{
			modeltest.DecodeJSON(t, strings.Replace(message, "{", `{"_instance": "②", `, 1))}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with a new instance, %s: %v", message, err)
		}
	}
}

func TestAForkIsToldAtOnceOfTheStepsThatItTakesUp(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"context": [`+lookFirst+`, {"type": "state", "state": {}}]`)
	s.ReplyWith(`{"calls":[{"_tool":"work","x":"rude","_outputPath":"mood"}],"output":null}`)
	s.ExpectRequest()
	fork := modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil)
	s = modeltest.NewScenarioFromIdea(t, fork, false)
	s.WantEqual("told", unfulfilled(s.ExpectRequest()), "look, answer")
}

func TestWhatIsMadeUpIsNotHeldToSteps(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"meta": {"simulated": true}, "context": [`+lookFirst+`, {"type": "state", "state": {}}]`)
	nothing(s)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("in the end", s.DescribeInstances()+" "+counts(s), "settled look@1 0/1/0, answer@1 0/0/1")
}
