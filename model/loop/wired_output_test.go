package loop_test

import (
	"fmt"
	"testing"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func TestTheOutputIsThatOfTheSolutionThatSettledTheProcess(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema)
	s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":{"summary":"too early"}}`)
	s.WantEqual("beside Calls it is dropped", outputJSON(s), "null")
	s.ReplyWith(`{"calls":[],"output":{"summary":"all is well"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"summary":"all is well"}`)
}

func TestWithoutAFormTheOutputIsNull(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":"†state.b"}`)
	s.WantEqual("nothing is wired", s.DescribeInstances(), "working")
	s.ReplyWith(`{"calls":[],"output":"whatever"}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), "null")
}

func TestReferencesInAnOutputStandForValues(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, `{"type": "object", "properties": {"a": {}, "b": {"type": "array"}, "c": {"type": "string"}}}`, `"context": [{"type": "input", "rules": ["x"]},
		{"type": "state", "mood": null}]`)
	s.ReplyWith(`{"calls":[],"output":{"a":"†state.mood","b":["†input.rules[0]","†input.rules"],"c":"††state"}}`)
	s.WantEqual("the output", outputJSON(s), `{"a":null,"b":["x",["x"]],"c":"†state"}`)
}

func TestAWrongOutputIsSentBackAndTheThirdInARowPauses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, output, why string }{
		{"none", `null`, `there are no calls and no output; the output form wants one`},
		{"one that does not fit", `{"summary":5}`,
			`the output does not fit its form: /summary: expected string, but got number`},
		{"a Reference that finds nothing", `{"summary":"†state.nowhere"}`,
			`the output: reference †state.nowhere: nothing there`},
		{"a Reference of a kind that there is not", `{"summary":"†memo"}`,
			`the output: reference †memo: nothing there`},
		{"a Reference to what does not fit", `{"summary":"†state.a"}`,
			`the output does not fit its form: /summary: expected string, but got number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modeltest.NewScenario(t, modeltest.SummarySchema, `"context": [{"type": "state", "a": 1}]`)
			for range 2 {
				s.ReplyWith(`{"calls":[],"output":` + c.output + `}`)
				s.WantEqual("nobody settles", s.DescribeInstances(), "working")
				step, b := s.Loop.Advance(s.Now)
				if step != loop.StepRequest || describeErrors(b) != "bad_output: "+c.why {
					t.Fatalf("%s: %s", step, describeErrors(b))
				}
			}
			s.ReplyWith(`{"calls":[],"output":` + c.output + `}`)
			s.ExpectStep(loop.StepPaused)
			s.WantEqual("why", s.Loop.PauseReason.Error(),
				"bad_outputs: 3 bad outputs in a row; the last one: "+c.why)
			s.Loop.Resume(ideafile.Limits{})
			s.ReplyWith(`{"calls":[],"output":{"summary":"at last"}}`)
			s.ExpectStep(loop.StepFinished)
			s.WantEqual("the output", outputJSON(s), `{"summary":"at last"}`)
		})
	}
}

func TestAWiredOutputEndsTheProcessInOneRequest(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","x":"well","_outputPath":"b"},{"_tool":"log"}],"output":{"summary":"†state.b"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"summary":"well"}`)
	s.WantEqual("the instance", s.DescribeInstances(), "settled")
	if len(s.EndedInstances) != 1 || s.Loop.Result(loop.StatusCompleted, false).RequestCount != 1 {
		t.Errorf("ended %v", s.EndedInstances)
	}
}

func TestAWiredOutputOfManyInstancesIsAnObjectByToken(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t,
		`{"type": "object", "properties": {"all": {"type": "object", "additionalProperties": {"type": "integer"}}, "lang": {"type": "string"}}}`,
		`"context": [{"type": "input", "lang": "en"}, {"type": "state", "_instance": "①", "state": {"a": 1}},
			{"type": "state", "_instance": "②", "state": {"a": 2}}]`)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"b"}],"output":{"all":"†state.b","lang":"†input.lang"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"all":{"①":1,"②":2},"lang":"en"}`)
}

func TestAnOutputLeavesOutInstancesWithoutAValue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ form, written, want string }{
		"one has it": {`{"type": "object"}`, `{"list":["†state.b"]}`, `{"list":[{"①":"work done"}]}`},
		"each has one of two": {`{"type": "object"}`, `{"all":"†state.b || †state.c"}`,
			`{"all":{"①":"work done","②":"work done"}}`},
		"one has a part of it": {`{"type": "object"}`, `{"b":"†state.b","c":"†state.c"}`,
			`{"b":{"①":"work done"},"c":{"②":"work done"}}`},
		"a text that reads it": {`{"type": "object"}`, "{\"t\":\"†`${state.b}!`\"}",
			`{"t":"{\"①\":\"work done\"}!"}`},
		"none has it": {`{"type": "object"}`, `{"all":"†state.d"}`, ``},
		"the form wants more of them": {
			`{"type": "object", "properties": {"all": {"type": "object", "minProperties": 2}}}`,
			`{"all":"†state.b"}`, ``},
	} {
		s := modeltest.NewScenario(t, c.form, modeltest.TwoInstancesContext)
		s.ReplyWith(
			`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"c"}],"output":` + c.written + `}`)
		if c.want == "" {
			s.WantEqual(name, s.DescribeInstances(), "① working, ② working")
			continue
		}
		s.ExpectStep(loop.StepFinished)
		s.WantEqual(name, outputJSON(s), c.want)
	}
}

func TestAnOutputThatReadsWhatNoInstanceHasIsRefusedInTheseWords(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, `{"type": "object"}`, modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[],"output":{"all":"†state.bb"}}`)
	s.WantEqual("told", describeErrors(s.ExpectRequest()),
		"bad_output: the output: reference †state.bb: nothing there in any instance")
	s.ReplyWith(`{"calls":[],"output":{"x":"†input.y","all":"†state.a"}}`)
	s.WantEqual("told", describeErrors(s.ExpectRequest()),
		"bad_output: the output: reference †input.y: nothing there")
}

// Who has failed lacks what its schema requires: the others' values are the output all the same.
func TestAnOutputLeavesOutInstancesThatFailed(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, `{"type": "object"}`, `"context": [{"type": "state", "_instance": "①", "state": {}, `+stateSchemaRequiringMood+`},
		{"type": "state", "_instance": "②", "state": {"mood": "good"}}]`)
	for range 4 {
		s.ReplyWith(`{"calls":[],"output":null}`)
	}
	s.WantEqual("they are", s.DescribeInstances(), "① failed, ② settled")
	s.ReplyWith(`{"calls":[],"output":{"moods":"†state.mood"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"moods":{"②":"good"}}`)
}

func TestALargeOutputIsNotLookedInto(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema)
	s.RunTool = func(string, map[string]any) (any, *diag.Fault) {
		return modeltest.NewBlobHandleValue("string", 100_000), nil
	}
	s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s),
		string(jsonval.Encode(map[string]any{"summary": modeltest.NewBlobHandleValue("string", 100_000)})))
}

func TestAWiredOutputCountsOnlyWhenEverythingCameToAValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, reply, context string }{
		{"a Call failed",
			`{"calls":[{"_tool":"work","x":"y","_outputPath":"b"},{"_tool":"fail"}],"output":{"summary":"†state.b"}}`,
			``},
		{"a Call is blocked",
			`{"calls":[{"_tool":"work","x":"y","_outputPath":"b"},{"_tool":"work","x":"†state.never"}],"output":{"summary":"†state.b"}}`, ``},
		{"a Call names no covered instance",
			`{"calls":[{"_tool":"work","x":"y","_outputPath":"b"},{"_tool":"work","_instance":"③"}],"output":{"summary":"†state.b"}}`, ``},
		{"a Reference finds nothing",
			`{"calls":[{"_tool":"work","x":"y","_outputPath":"b"}],"output":{"summary":"†state.c"}}`, ``},
		{"a Reference is bad", `{"calls":[{"_tool":"work","x":"y","_outputPath":"b"}],"output":{"summary":"†"}}`, ``},
		{"the result does not fit the form",
			`{"calls":[{"_tool":"work","x":5,"_outputPath":"b"}],"output":{"summary":"†state.b"}}`, ``},
		{"a leaf is no Reference",
			`{"calls":[{"_tool":"work","x":"y","_outputPath":"b"}],"output":{"summary":"it went well"}}`, ``},
		{"there is nothing in it", `{"calls":[{"_tool":"work","x":"y","_outputPath":"b"}],"output":{}}`, ``},
		{"State lacks what its schema requires",
			`{"calls":[{"_tool":"work","x":"y","_outputPath":"b"}],"output":{"summary":"†state.b"}}`,
			`{"type": "state", "state": {}, ` + stateSchemaRequiringMood + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modeltest.NewScenario(t, modeltest.SummarySchema, `"context": [`+c.context+`]`)
			s.ReplyWith(c.reply)
			s.WantEqual("it goes on", s.DescribeInstances(), "working")
			s.WantEqual("without an output", outputJSON(s), "null")
			for _, trouble := range s.ExpectRequest().Errors {
				if trouble.Fault.Code == ideafile.CodeBadOutput {
					t.Errorf("a dropped output is no error: %s", describeErrors(s.RequestInput))
				}
			}
		})
	}
}

func TestACallThatWasSkippedAsItsValueWasThereCameToAValue(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, `"context": [{"type": "state", "b": "there"}]`)
	s.ReplyWith(`{"calls":[{"_tool":"work","x":"y","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"summary":"there"}`)
}

func TestAWiredOutputThatCoversOnlySomeInstancesIsDropped(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","x":"y","_outputPath":"b"}],"output":null}`)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"①","x":"y","_outputPath":"c"}],"output":{"summary":"†input.x"}}`)
	s.WantEqual("it goes on", s.DescribeInstances(), "① working, ② settled")
}

func TestWhatMayBeLeftOutOfAnOutputMayBeNull(t *testing.T) {
	t.Parallel()
	const form = `{"type": "object", "properties": {"summary": {"type": "string"}, "note": {"type": "string"}, "deep": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "integer"}}}}}, "required": ["summary"]}`
	s := modeltest.NewScenario(t, form)
	s.ReplyWith(`{"calls":[],"output":{"summary":"s","note":null,"deep":[{"x":null},{"x":1}]}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"deep":[{},{"x":1}],"summary":"s"}`)

	s = modeltest.NewScenario(t, form)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","x":"well","_outputPath":"b"}],"output":{"summary":"†state.b","note":null,"deep":null}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the wired output", outputJSON(s), `{"summary":"well"}`)
}

func TestAnOutputThatWasGivenForSomeIsAskedForOnceMoreOverAll(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","x":"y","_outputPath":"b"}],"output":{"summary":"only ②"}}`)
	s.WantEqual("② has settled", s.DescribeInstances(), "① working, ② settled")
	s.ReplyWith(`{"calls":[],"output":{"summary":"only ①"}}`)
	s.WantEqual("both have", s.DescribeInstances(), "① settled, ② settled")
	s.WantEqual("there is no output yet", outputJSON(s), "null")
	b := s.ExpectRequest()
	if !b.IsOutputOnly || fmt.Sprint(b.InstanceTokens()) != "[① ②]" || b.RequestNumber != 3 {
		t.Fatalf("the closing Request: %+v", b)
	}
	s.WantEqual("it sees the final States", string(jsonval.Encode(b.Instances[0].State)), `{"a":1,"b":"y"}`)
	s.ReplyWith(`{"calls":[],"output":{"summary":"both"}}`)
	if len(s.EndedInstances) != 0 {
		t.Errorf("nobody ends twice: %v", s.EndedInstances)
	}
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"summary":"both"}`)
}

func TestAnOutputGivenForAllAtOnceIsFinal(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","x":"y","_outputPath":"b"}],"output":null}`)
	s.ReplyWith(`{"calls":[],"output":{"summary":"both"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"summary":"both"}`)
}

func TestAClosingRequestWithoutAGoodOutputIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.ReplyWith(modeltest.EmptyReply)
	for range 2 {
		s.ReplyWith(`{"calls":[],"output":{"summary":1}}`)
		if b := s.ExpectRequest(); !b.IsOutputOnly ||
			describeErrors(
				b) != "bad_output: the output does not fit its form: /summary: expected string, but got number" {
			t.Fatalf("%+v", b)
		}
	}
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①"}],"output":null}`)
	s.ExpectStep(loop.StepPaused)
	s.WantEqual("why", s.Loop.PauseReason.Code, turn.CodeBadOutputs)
}
