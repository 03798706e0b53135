package loop_test

import (
	"fmt"
	"testing"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func TestAnInstanceSettlesWhenARequestCoveredItAndGaveItNoCall(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstances)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.WantEqual("after the first", s.DescribeInstances(), "① working, ② settled")
	if len(s.Ended) != 1 || s.Ended[0].Token != "②" {
		t.Errorf("ended: %v", s.Ended)
	}
	s.ReplyWith(modeltest.EmptyReply)
	s.WantEqual("after the second", s.DescribeInstances(), "① settled, ② settled")
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the outcome", string(s.Loop.FinalStatus()), "completed")
}

func TestAProcessWithoutTokensSettlesTheSameWay(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.WantEqual("after Calls", s.DescribeInstances(), "working")
	s.ReplyWith(modeltest.EmptyReply)
	s.WantEqual("after none", s.DescribeInstances(), "settled")
	s.ExpectStep(loop.StepFinished)
}

func TestACallForEveryInstanceCountsForEveryCoveredOne(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstances)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② working")
}

func TestSettledInstancesAreNotSentAgain(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstances)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
	b := s.ExpectRequest()
	s.WantEqual("covered", fmt.Sprint(b.InstanceTokens()), "[②]")
}

func TestACallCountsEvenWhenItIsInvalid(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstances)
	s.ReplyWith(`{"calls":[{"_tool":"nonsense","_instance":"①"}],"output":null}`)
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② settled")
	s.WantEqual("the next Request is told", modeltest.DescribeErrors(s.ExpectRequest()),
		`1.1 unknown_tool: unknown tool "nonsense" in ①`)
}

func TestNobodySettlesByACallThatNamesNoCoveredInstance(t *testing.T) {
	t.Parallel()
	for _, call := range []string{`{"_tool":"work","_instance":"③"}`, `{"_tool":"work"}`,
		`{"_tool":"work","_instance":5}`, `"work"`} {
		s := modeltest.NewScenario(t, "", modeltest.TwoInstances)
		s.ReplyWith(`{"calls":[` + call + `],"output":null}`)
		s.WantEqual(call, s.DescribeInstances(), "① working, ② working")
		if len(s.ExpectRequest().Errors) != 1 {
			t.Errorf("%s: told %s", call, modeltest.DescribeErrors(s.Input))
		}
	}
}

func TestATruncatedSolutionSettlesNobody(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstances)
	s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeTruncated, "cut")},
		`{"_tool":"work","_instance":"①","_outputPath":"b"}`)
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② working")
	s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeTruncated, "cut")})
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② working")
}

func TestAnInstanceThatLacksWhatItsSchemaRequiresIsToldThreeTimesThenItHasFailed(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"context": [{"type": "state", "_instance": "①", "state": {}, `+modeltest.StateSchemaRequiringMood+`},
		{"type": "state", "_instance": "②", "state": {}}]`)
	s.WantEqual("what the first Request says is missing",
		fmt.Sprint(s.ExpectRequest().Instances[0].MissingRequiredPaths), "[]")
	s.Conclude(func() turn.LLMReply { r := s.DeliverCalls(nil); r.Complete = true; return r }())
	s.WantEqual("after the first", s.DescribeInstances(), "① working, ② settled")
	for n := range 3 {
		b := s.ExpectRequest()
		s.WantEqual("covered", fmt.Sprint(b.InstanceTokens()), "[①]")
		s.WantEqual(fmt.Sprint("told for the ", n+1, ". time"), fmt.Sprint(b.Instances[0].MissingRequiredPaths),
			"[mood]")
		s.Conclude(func() turn.LLMReply { r := s.DeliverCalls(nil); r.Complete = true; return r }())
		if failed := n == 2; (len(s.Ended) == 1) != failed {
			t.Errorf("ended after %d: %v", n+1, s.Ended)
		}
	}
	s.WantEqual("in the end", s.DescribeInstances(), "① failed, ② settled")
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the process", string(s.Loop.FinalStatus()), "failed")
	s.WantEqual("why", s.Loop.Result(loop.StatusFailed, false).Error.Error(),
		"missing_required: 1 of 2 instances failed; the first, ①: its State still lacks [mood]")
}

const goalIsMood = `"context": [{"type": "state", "state": {}, ` + modeltest.StateSchemaRequiringMood + `}]`

func TestAnInstanceThatGetsWhatItsSchemaRequiresSettlesWithoutBeingAsked(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", goalIsMood)
	s.ReplyWith(`{"calls":[{"_tool":"work","x":"good","_outputPath":"mood"}],"output":null}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("in the end", s.DescribeInstances(), "settled")
	s.WantEqual("the process", string(s.Loop.FinalStatus()), "completed")
}

func TestTheLLMIsAskedBeforeAnInstanceSettlesWhere(t *testing.T) {
	t.Parallel()
	const mood = `{"_tool":"work","x":"good","_outputPath":"mood"}`
	for name, c := range map[string]struct{ options, calls string }{
		"config says so":                {`"config": {"settle": "asked"}, ` + goalIsMood, mood},
		"a Call failed":                 {goalIsMood, mood + `,{"_tool":"fail"}`},
		"a Call is blocked":             {goalIsMood, mood + `,{"_tool":"work","x":"†state.never"}`},
		"a Call was malformed":          {goalIsMood, mood + `,"work"`},
		"something required is missing": {goalIsMood, `{"_tool":"work","_outputPath":"b"}`},
		"nothing is required":           {`"context": [{"type": "state", "state": {}}]`, mood},
		"all that is required was there first": {`"context": [{"type": "state", "state": {"mood": "good"}, ` +
			modeltest.StateSchemaRequiringMood + `}]`, `{"_tool":"work","_outputPath":"b"}`},
	} {
		s := modeltest.NewScenario(t, "", c.options)
		s.ReplyWith(`{"calls":[` + c.calls + `],"output":null}`)
		s.ExpectRequest()
		s.WantEqual(name, s.DescribeInstances(), "working")
	}
}

// Calls for one path are alternatives: who reached the goal by the second of them has nothing left to be asked about.
func TestAnInstanceWhoseGoalAnAlternativeReachedSettlesWithoutBeingAsked(t *testing.T) {
	t.Parallel()
	const other = `{"_tool":"work","x":"good","_outputPath":"mood"}`
	for name, calls := range map[string]string{
		"the first failed":              `{"_tool":"fail","_outputPath":"mood"},` + other,
		"the first is blocked":          `{"_tool":"work","x":"†state.never","_outputPath":"mood"},` + other,
		"the first is malformed":        `{"_tool":"work","n":"no number","_outputPath":"mood"},` + other,
		"one within what another wrote": `{"_tool":"fail","_outputPath":"note.a"},{"_tool":"work","x":{"a":1},"_outputPath":"note"},` + other,
		"two of three failed":           `{"_tool":"fail","_outputPath":"mood"},{"_tool":"fail","_outputPath":"†state.mood"},` + other,
		"both of its paths are there":   `{"_tool":"work","x":"†state.never","_outputPath":"†state.mood && †state.b"},{"_tool":"work","_outputPath":"b"},` + other,
	} {
		s := modeltest.NewScenario(t, "", goalIsMood)
		s.ReplyWith(`{"calls":[` + calls + `],"output":null}`)
		s.ExpectStep(loop.StepFinished)
		s.WantEqual(name, s.DescribeInstances(), "settled")
		s.WantEqual(name, string(s.Loop.FinalStatus()), "completed")
	}
}

func TestAnAlternativeDoesNotMakeUpForACallWhere(t *testing.T) {
	t.Parallel()
	const mood = `{"_tool":"work","x":"good","_outputPath":"mood"}`
	for name, calls := range map[string]string{
		"it was run for its effect":   `{"_tool":"fail"},` + mood,
		"its own path is still empty": `{"_tool":"fail","_outputPath":"b"},` + mood,
		"one of its paths is": `{"_tool":"work","x":"†state.never","_outputPath":"†state.mood && †state.b"},` +
			mood,
		"it was for the whole State": `{"_tool":"work","x":"†state.never","_outputPath":"†state"},` +
			mood,
		"it would have changed what was there":      `{"_tool":"log"},{"_tool":"log","nonsense":1},` + mood,
		"nobody knows where it would have written":  `{"_tool":"fail","_outputPath":"]["},` + mood,
		"another Call for another path failed, too": `{"_tool":"fail","_outputPath":"mood"},{"_tool":"fail","_outputPath":"b"},` + mood,
	} {
		s := modeltest.NewScenario(t, "", goalIsMood)
		s.ReplyWith(`{"calls":[` + calls + `],"output":null}`)
		s.ExpectRequest()
		s.WantEqual(name, s.DescribeInstances(), "working")
	}
}

// Who refuses a Call says why, and may say how to go on: the LLM reads it, whatever an alternative has brought
// meanwhile.
func TestWhatAPersonSaidOfARefusedCallIsReadBeforeTheInstanceSettles(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenarioWithPeople(t, "", `"context": [{"type": "state", "_instance": "①", "state": {}, `+
		modeltest.StateSchemaRequiringMood+`}]`)
	s.ReplyWith(
		`{"calls":[{"_tool":"pay","_instance":"①","_outputPath":"mood"},{"_tool":"work","_instance":"①","x":"good","_outputPath":"mood"}]}`)
	s.ExpectWait(0)
	s.Decide(policy.Reject, "1.1@①", `{"reason":"write to them first"}`)
	s.WantEqual("the alternative", modeltest.StateOf(s.Loop, "①"), `{"mood":"good"}`)
	s.ExpectRequestFor("①")
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectStep(loop.StepFinished)
}

func TestACallThatAPersonChangedAndThatFailedThenIsToldToTheLLM(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenarioWithPeople(t, "", `"context": [{"type": "state", "_instance": "①", "state": {}, `+
		modeltest.StateSchemaRequiringMood+`}]`)
	s.ReplyWith(
		`{"calls":[{"_tool":"pay","_instance":"①","_outputPath":"mood"},{"_tool":"work","_instance":"①","x":"good","_outputPath":"mood"}]}`)
	s.ExpectWait(0)
	s.Decide(policy.Replace, "1.1@①", `{"with":{"_tool":"fail"}}`)
	s.ExpectRequestFor("①")
}

func TestATruncatedPlanThatReachesTheGoalIsToldBeforeAnybodySettles(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", goalIsMood)
	s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeTruncated, "cut")},
		`{"_tool":"work","x":"good","_outputPath":"mood"}`)
	s.ExpectRequest()
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectStep(loop.StepFinished)
}

func TestWhoHasReachedItsGoalIsNotShownAgainAndTheOutputIsAskedForAtTheEnd(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, `"context": [{"type": "state", "state": {}, `+modeltest.StateSchemaRequiringMood+`},
		{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}}]`)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"①","x":"good","_outputPath":"mood"},{"_tool":"fail","_instance":"②"}],"output":null}`)
	b := s.ExpectRequest()
	s.WantEqual("covered", fmt.Sprint(b.InstanceTokens(), b.Others, b.ReplyMayHoldOutput()), "[②] {1 0 0 0} false")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"②","x":"good","_outputPath":"mood"}]}`)
	b = s.ExpectRequest()
	s.WantEqual("the closing one", fmt.Sprint(b.InstanceTokens(), b.OutputOnly, b.ReplyMayHoldOutput()),
		"[① ②] true true")
	s.ReplyWith(`{"calls":[],"output":{"summary":"done"}}`)
	s.ExpectStep(loop.StepFinished)
}

func TestTheOutputIsThatOfTheSolutionThatSettledTheProcess(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema)
	s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":{"summary":"too early"}}`)
	s.WantEqual("beside Calls it is dropped", s.OutputJSON(), "null")
	s.ReplyWith(`{"calls":[],"output":{"summary":"all is well"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", s.OutputJSON(), `{"summary":"all is well"}`)
}

func TestWithoutAFormTheOutputIsNull(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":"†state.b"}`)
	s.WantEqual("nothing is wired", s.DescribeInstances(), "working")
	s.ReplyWith(`{"calls":[],"output":"whatever"}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", s.OutputJSON(), "null")
}

func TestReferencesInAnOutputStandForValues(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, `{"type": "object", "properties": {"a": {}, "b": {"type": "array"}, "c": {"type": "string"}}}`, `"context": [{"type": "input", "rules": ["x"]},
		{"type": "state", "mood": null}]`)
	s.ReplyWith(`{"calls":[],"output":{"a":"†state.mood","b":["†input.rules[0]","†input.rules"],"c":"††state"}}`)
	s.WantEqual("the output", s.OutputJSON(), `{"a":null,"b":["x",["x"]],"c":"†state"}`)
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
				if step != loop.StepRequest || modeltest.DescribeErrors(b) != "bad_output: "+c.why {
					t.Fatalf("%s: %s", step, modeltest.DescribeErrors(b))
				}
			}
			s.ReplyWith(`{"calls":[],"output":` + c.output + `}`)
			s.ExpectStep(loop.StepPaused)
			s.WantEqual("why", s.Loop.PauseReason.Error(),
				"bad_outputs: 3 bad outputs in a row; the last one: "+c.why)
			s.Loop.Resume(ideafile.Limits{})
			s.ReplyWith(`{"calls":[],"output":{"summary":"at last"}}`)
			s.ExpectStep(loop.StepFinished)
			s.WantEqual("the output", s.OutputJSON(), `{"summary":"at last"}`)
		})
	}
}

func TestAWiredOutputEndsTheProcessInOneRequest(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","x":"well","_outputPath":"b"},{"_tool":"log"}],"output":{"summary":"†state.b"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", s.OutputJSON(), `{"summary":"well"}`)
	s.WantEqual("the instance", s.DescribeInstances(), "settled")
	if len(s.Ended) != 1 || s.Loop.Result(loop.StatusCompleted, false).Requests != 1 {
		t.Errorf("ended %v", s.Ended)
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
	s.WantEqual("the output", s.OutputJSON(), `{"all":{"①":1,"②":2},"lang":"en"}`)
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
		s := modeltest.NewScenario(t, c.form, modeltest.TwoInstances)
		s.ReplyWith(
			`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"c"}],"output":` + c.written + `}`)
		if c.want == "" {
			s.WantEqual(name, s.DescribeInstances(), "① working, ② working")
			continue
		}
		s.ExpectStep(loop.StepFinished)
		s.WantEqual(name, s.OutputJSON(), c.want)
	}
}

func TestAnOutputThatReadsWhatNoInstanceHasIsRefusedInTheseWords(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, `{"type": "object"}`, modeltest.TwoInstances)
	s.ReplyWith(`{"calls":[],"output":{"all":"†state.bb"}}`)
	s.WantEqual("told", modeltest.DescribeErrors(s.ExpectRequest()),
		"bad_output: the output: reference †state.bb: nothing there in any instance")
	s.ReplyWith(`{"calls":[],"output":{"x":"†input.y","all":"†state.a"}}`)
	s.WantEqual("told", modeltest.DescribeErrors(s.ExpectRequest()),
		"bad_output: the output: reference †input.y: nothing there")
}

// Who has failed lacks what its schema requires: the others' values are the output all the same.
func TestAnOutputLeavesOutInstancesThatFailed(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, `{"type": "object"}`, `"context": [{"type": "state", "_instance": "①", "state": {}, `+modeltest.StateSchemaRequiringMood+`},
		{"type": "state", "_instance": "②", "state": {"mood": "good"}}]`)
	for range 4 {
		s.ReplyWith(`{"calls":[],"output":null}`)
	}
	s.WantEqual("they are", s.DescribeInstances(), "① failed, ② settled")
	s.ReplyWith(`{"calls":[],"output":{"moods":"†state.mood"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", s.OutputJSON(), `{"moods":{"②":"good"}}`)
}

func TestALargeOutputIsNotLookedInto(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema)
	s.RunTool = func(string, map[string]any) (any, *diag.Fault) {
		return modeltest.NewBlobHandleValue("string", 100_000), nil
	}
	s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", s.OutputJSON(),
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
			`{"type": "state", "state": {}, ` + modeltest.StateSchemaRequiringMood + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modeltest.NewScenario(t, modeltest.SummarySchema, `"context": [`+c.context+`]`)
			s.ReplyWith(c.reply)
			s.WantEqual("it goes on", s.DescribeInstances(), "working")
			s.WantEqual("without an output", s.OutputJSON(), "null")
			for _, trouble := range s.ExpectRequest().Errors {
				if trouble.Fault.Code == ideafile.CodeBadOutput {
					t.Errorf("a dropped output is no error: %s", modeltest.DescribeErrors(s.Input))
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
	s.WantEqual("the output", s.OutputJSON(), `{"summary":"there"}`)
}

func TestAWiredOutputThatCoversOnlySomeInstancesIsDropped(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, modeltest.TwoInstances)
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
	s.WantEqual("the output", s.OutputJSON(), `{"deep":[{},{"x":1}],"summary":"s"}`)

	s = modeltest.NewScenario(t, form)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","x":"well","_outputPath":"b"}],"output":{"summary":"†state.b","note":null,"deep":null}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the wired output", s.OutputJSON(), `{"summary":"well"}`)
}

func TestAnOutputThatWasGivenForSomeIsAskedForOnceMoreOverAll(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, modeltest.TwoInstances)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","x":"y","_outputPath":"b"}],"output":{"summary":"only ②"}}`)
	s.WantEqual("② has settled", s.DescribeInstances(), "① working, ② settled")
	s.ReplyWith(`{"calls":[],"output":{"summary":"only ①"}}`)
	s.WantEqual("both have", s.DescribeInstances(), "① settled, ② settled")
	s.WantEqual("there is no output yet", s.OutputJSON(), "null")
	b := s.ExpectRequest()
	if !b.OutputOnly || fmt.Sprint(b.InstanceTokens()) != "[① ②]" || b.RequestNumber != 3 {
		t.Fatalf("the closing Request: %+v", b)
	}
	s.WantEqual("it sees the final States", string(jsonval.Encode(b.Instances[0].State)), `{"a":1,"b":"y"}`)
	s.ReplyWith(`{"calls":[],"output":{"summary":"both"}}`)
	if len(s.Ended) != 0 {
		t.Errorf("nobody ends twice: %v", s.Ended)
	}
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", s.OutputJSON(), `{"summary":"both"}`)
}

func TestAnOutputGivenForAllAtOnceIsFinal(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, modeltest.TwoInstances)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","x":"y","_outputPath":"b"}],"output":null}`)
	s.ReplyWith(`{"calls":[],"output":{"summary":"both"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", s.OutputJSON(), `{"summary":"both"}`)
}

func TestAClosingRequestWithoutAGoodOutputIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, modeltest.TwoInstances)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.ReplyWith(modeltest.EmptyReply)
	for range 2 {
		s.ReplyWith(`{"calls":[],"output":{"summary":1}}`)
		if b := s.ExpectRequest(); !b.OutputOnly ||
			modeltest.DescribeErrors(
				b) != "bad_output: the output does not fit its form: /summary: expected string, but got number" {
			t.Fatalf("%+v", b)
		}
	}
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①"}],"output":null}`)
	s.ExpectStep(loop.StepPaused)
	s.WantEqual("why", s.Loop.PauseReason.Code, turn.CodeBadOutputs)
}

func TestInstancesThatFailedDoNotHoldUpTheOutput(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, `"context": [{"type": "state", "_instance": "①", "state": {}, `+modeltest.StateSchemaRequiringMood+`},
		{"type": "state", "_instance": "②", "state": {}}]`)
	for range 4 {
		s.ReplyWith(`{"calls":[],"output":{"summary":"early"}}`)
	}
	s.WantEqual("they are", s.DescribeInstances(), "① failed, ② settled")
	if b := s.ExpectRequest(); !b.OutputOnly {
		t.Fatalf("%+v", b)
	}
	s.ReplyWith(`{"calls":[],"output":{"summary":"half of it"}}`)
	s.ExpectStep(loop.StepFinished)
	r := s.Loop.Result(s.Loop.FinalStatus(), true)
	s.WantEqual("the result", string(jsonval.Encode(jsonval.ToJSONValue(r))),
		`{"calls":{"blocked":0,"done":0,"failed":0,"rejected":0,"skipped":0},"error":{"code":"missing_required","message":"1 of 2 instances failed; the first, ①: its State still lacks [mood]"},"failures":[],"ideas":0,`+
			`"instances":{"①":{"state":{},"status":"failed"},"②":{"state":{},"status":"settled"}},"output":{"summary":"half of it"},"process":"p","quality":null,"requests":5,"status":"failed","usage":{"completionTokens":50,"promptTokens":500}}`)
}

func TestWhereEveryInstanceFailedNoOutputIsAskedFor(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, `"context": [{"type": "state", "state": {}, `+
		modeltest.StateSchemaRequiringMood+`}]`)
	for range 4 {
		s.ReplyWith(modeltest.EmptyReply)
	}
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the process", string(s.Loop.FinalStatus()), "failed")
	s.WantEqual("why", s.Loop.Result(loop.StatusFailed, false).Error.Error(),
		"missing_required: its State still lacks [mood]")
}
