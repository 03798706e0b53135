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

func TestAnInstanceSettlesWhenARequestCoveredItAndGaveItNoCall(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.Want("after the first", s.Statuses(), "① working, ② settled")
	if len(s.Ended) != 1 || s.Ended[0].Token != "②" {
		t.Errorf("ended: %v", s.Ended)
	}
	s.Says(modeltest.NoCalls)
	s.Want("after the second", s.Statuses(), "① settled, ② settled")
	s.Expect(loop.StepOver)
	s.Want("the outcome", string(s.Mind.Outcome()), "completed")
}

func TestAProcessWithoutTokensSettlesTheSameWay(t *testing.T) {
	s := modeltest.OnStage(t, "")
	s.Says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.Want("after Calls", s.Statuses(), "working")
	s.Says(modeltest.NoCalls)
	s.Want("after none", s.Statuses(), "settled")
	s.Expect(loop.StepOver)
}

func TestACallForEveryInstanceCountsForEveryCoveredOne(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.Want("they are", s.Statuses(), "① working, ② working")
}

func TestSettledInstancesAreNotSentAgain(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
	b := s.Asks()
	s.Want("covered", fmt.Sprint(b.Tokens()), "[②]")
}

func TestACallCountsEvenWhenItIsInvalid(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"nonsense","_instance":"①"}],"output":null}`)
	s.Want("they are", s.Statuses(), "① working, ② settled")
	s.Want("the next Request is told", modeltest.TroublesOf(s.Asks()), `1.1 unknown_tool: unknown tool "nonsense" in ①`)
}

func TestNobodySettlesByACallThatNamesNoCoveredInstance(t *testing.T) {
	for _, call := range []string{`{"_tool":"work","_instance":"③"}`, `{"_tool":"work"}`, `{"_tool":"work","_instance":5}`, `"work"`} {
		s := modeltest.OnStage(t, "", modeltest.TwoInstances)
		s.Says(`{"calls":[` + call + `],"output":null}`)
		s.Want(call, s.Statuses(), "① working, ② working")
		if len(s.Asks().Errors) != 1 {
			t.Errorf("%s: told %s", call, modeltest.TroublesOf(s.Brief))
		}
	}
}

func TestATruncatedSolutionSettlesNobody(t *testing.T) {
	s := modeltest.OnStage(t, "", modeltest.TwoInstances)
	s.BreaksOff(turn.Reply{End: diag.Faultf(turn.CodeTruncated, "cut")}, `{"_tool":"work","_instance":"①","_outputPath":"b"}`)
	s.Want("they are", s.Statuses(), "① working, ② working")
	s.BreaksOff(turn.Reply{End: diag.Faultf(turn.CodeTruncated, "cut")})
	s.Want("they are", s.Statuses(), "① working, ② working")
}

func TestAnInstanceThatLacksWhatItsSchemaRequiresIsToldThreeTimesThenItHasFailed(t *testing.T) {
	s := modeltest.OnStage(t, "", `"context": [{"type": "state", "_instance": "①", "state": {}, `+modeltest.NeedsMood+`},
		{"type": "state", "_instance": "②", "state": {}}]`)
	s.Want("what the first Request says is missing", fmt.Sprint(s.Asks().Covered[0].Missing), "[]")
	s.Concludes(func() turn.Reply { r := s.Hear(nil); r.Whole = true; return r }())
	s.Want("after the first", s.Statuses(), "① working, ② settled")
	for n := range 3 {
		b := s.Asks()
		s.Want("covered", fmt.Sprint(b.Tokens()), "[①]")
		s.Want(fmt.Sprint("told for the ", n+1, ". time"), fmt.Sprint(b.Covered[0].Missing), "[mood]")
		s.Concludes(func() turn.Reply { r := s.Hear(nil); r.Whole = true; return r }())
		if failed := n == 2; (len(s.Ended) == 1) != failed {
			t.Errorf("ended after %d: %v", n+1, s.Ended)
		}
	}
	s.Want("in the end", s.Statuses(), "① failed, ② settled")
	s.Expect(loop.StepOver)
	s.Want("the process", string(s.Mind.Outcome()), "failed")
	s.Want("why", s.Mind.Result(loop.StatusFailed, false).Error.Error(), "missing_required: 1 of 2 instances failed; the first, ①: its State still lacks [mood]")
}

func TestAnInstanceThatGetsWhatItLacksSettles(t *testing.T) {
	s := modeltest.OnStage(t, "", `"context": [{"type": "state", "state": {}, `+modeltest.NeedsMood+`}]`)
	s.Says(modeltest.NoCalls)
	s.Says(`{"calls":[{"_tool":"work","x":"good","_outputPath":"mood"}],"output":null}`)
	s.Want("after the Call", s.Statuses(), "working")
	s.Says(modeltest.NoCalls)
	s.Want("after none", s.Statuses(), "settled")
	s.Want("the process", string(s.Mind.Outcome()), "completed")
}

func TestTheOutputIsThatOfTheSolutionThatSettledTheProcess(t *testing.T) {
	s := modeltest.OnStage(t, modeltest.ASummary)
	s.Says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":{"summary":"too early"}}`)
	s.Want("beside Calls it is dropped", s.Output(), "null")
	s.Says(`{"calls":[],"output":{"summary":"all is well"}}`)
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"summary":"all is well"}`)
}

func TestWithoutAFormTheOutputIsNull(t *testing.T) {
	s := modeltest.OnStage(t, "")
	s.Says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":"†state.b"}`)
	s.Want("nothing is wired", s.Statuses(), "working")
	s.Says(`{"calls":[],"output":"whatever"}`)
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), "null")
}

func TestReferencesInAnOutputStandForValues(t *testing.T) {
	s := modeltest.OnStage(t, `{"type": "object", "properties": {"a": {}, "b": {"type": "array"}, "c": {"type": "string"}}}`, `"context": [{"type": "input", "rules": ["x"]},
		{"type": "state", "mood": null}]`)
	s.Says(`{"calls":[],"output":{"a":"†state.mood","b":["†input.rules[0]","†input.rules"],"c":"††state"}}`)
	s.Want("the output", s.Output(), `{"a":null,"b":["x",["x"]],"c":"†state"}`)
}

func TestAWrongOutputIsSentBackAndTheThirdInARowPauses(t *testing.T) {
	for _, c := range []struct{ name, output, why string }{
		{"none", `null`, `there are no calls and no output; the output form wants one`},
		{"one that does not fit", `{"summary":5}`, `the output does not fit its form: /summary: expected string, but got number`},
		{"a Reference that finds nothing", `{"summary":"†state.nowhere"}`, `the output: reference †state.nowhere: nothing there`},
		{"a Reference of a kind that there is not", `{"summary":"†memo"}`, `the output: reference †memo: nothing there`},
		{"a Reference to what does not fit", `{"summary":"†state.a"}`, `the output does not fit its form: /summary: expected string, but got number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modeltest.OnStage(t, modeltest.ASummary, `"context": [{"type": "state", "a": 1}]`)
			for range 2 {
				s.Says(`{"calls":[],"output":` + c.output + `}`)
				s.Want("nobody settles", s.Statuses(), "working")
				step, b := s.Mind.Next(s.Now)
				if step != loop.StepAsk || modeltest.TroublesOf(b) != "bad_output: "+c.why {
					t.Fatalf("%s: %s", step, modeltest.TroublesOf(b))
				}
			}
			s.Says(`{"calls":[],"output":` + c.output + `}`)
			s.Expect(loop.StepPaused)
			s.Want("why", s.Mind.Paused().Error(), "bad_outputs: 3 bad outputs in a row; the last one: "+c.why)
			s.Mind.Resume(ideafile.Limits{})
			s.Says(`{"calls":[],"output":{"summary":"at last"}}`)
			s.Expect(loop.StepOver)
			s.Want("the output", s.Output(), `{"summary":"at last"}`)
		})
	}
}

func TestAWiredOutputEndsTheProcessInOneRequest(t *testing.T) {
	s := modeltest.OnStage(t, modeltest.ASummary)
	s.Says(`{"calls":[{"_tool":"work","x":"well","_outputPath":"b"},{"_tool":"log"}],"output":{"summary":"†state.b"}}`)
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"summary":"well"}`)
	s.Want("the instance", s.Statuses(), "settled")
	if len(s.Ended) != 1 || s.Mind.Result(loop.StatusCompleted, false).Requests != 1 {
		t.Errorf("ended %v", s.Ended)
	}
}

func TestAWiredOutputOfManyInstancesIsAnObjectByToken(t *testing.T) {
	s := modeltest.OnStage(t, `{"type": "object", "properties": {"all": {"type": "object", "additionalProperties": {"type": "integer"}}, "lang": {"type": "string"}}}`,
		`"context": [{"type": "input", "lang": "en"}, {"type": "state", "_instance": "①", "state": {"a": 1}},
			{"type": "state", "_instance": "②", "state": {"a": 2}}]`)
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"b"}],"output":{"all":"†state.b","lang":"†input.lang"}}`)
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"all":{"①":1,"②":2},"lang":"en"}`)
}

func TestAWiredOutputThatAnInstanceCannotGiveIsDropped(t *testing.T) {
	s := modeltest.OnStage(t, `{"type": "object"}`, modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"c"}],"output":{"list":["†state.b"]}}`)
	s.Want("it goes on", s.Statuses(), "① working, ② working")
}

func TestALargeOutputIsNotLookedInto(t *testing.T) {
	s := modeltest.OnStage(t, modeltest.ASummary)
	s.Work = func(string, map[string]any) (any, *diag.Fault) { return modeltest.Handle("string", 100_000), nil }
	s.Says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), string(jsonval.Encode(map[string]any{"summary": modeltest.Handle("string", 100_000)})))
}

func TestAWiredOutputCountsOnlyWhenEverythingCameToAValue(t *testing.T) {
	for _, c := range []struct{ name, reply, context string }{
		{"a Call failed", `{"calls":[{"_tool":"work","x":"y","_outputPath":"b"},{"_tool":"fail"}],"output":{"summary":"†state.b"}}`, ``},
		{"a Call is blocked", `{"calls":[{"_tool":"work","x":"y","_outputPath":"b"},{"_tool":"work","x":"†state.never"}],"output":{"summary":"†state.b"}}`, ``},
		{"a Call names no covered instance", `{"calls":[{"_tool":"work","x":"y","_outputPath":"b"},{"_tool":"work","_instance":"③"}],"output":{"summary":"†state.b"}}`, ``},
		{"a Reference finds nothing", `{"calls":[{"_tool":"work","x":"y","_outputPath":"b"}],"output":{"summary":"†state.c"}}`, ``},
		{"a Reference is bad", `{"calls":[{"_tool":"work","x":"y","_outputPath":"b"}],"output":{"summary":"†"}}`, ``},
		{"the result does not fit the form", `{"calls":[{"_tool":"work","x":5,"_outputPath":"b"}],"output":{"summary":"†state.b"}}`, ``},
		{"a leaf is no Reference", `{"calls":[{"_tool":"work","x":"y","_outputPath":"b"}],"output":{"summary":"it went well"}}`, ``},
		{"there is nothing in it", `{"calls":[{"_tool":"work","x":"y","_outputPath":"b"}],"output":{}}`, ``},
		{"State lacks what its schema requires", `{"calls":[{"_tool":"work","x":"y","_outputPath":"b"}],"output":{"summary":"†state.b"}}`, `{"type": "state", "state": {}, ` + modeltest.NeedsMood + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modeltest.OnStage(t, modeltest.ASummary, `"context": [`+c.context+`]`)
			s.Says(c.reply)
			s.Want("it goes on", s.Statuses(), "working")
			s.Want("without an output", s.Output(), "null")
			for _, trouble := range s.Asks().Errors {
				if trouble.Fault.Code == ideafile.CodeBadOutput {
					t.Errorf("a dropped output is no error: %s", modeltest.TroublesOf(s.Brief))
				}
			}
		})
	}
}

func TestACallThatWasSkippedAsItsValueWasThereCameToAValue(t *testing.T) {
	s := modeltest.OnStage(t, modeltest.ASummary, `"context": [{"type": "state", "b": "there"}]`)
	s.Says(`{"calls":[{"_tool":"work","x":"y","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"summary":"there"}`)
}

func TestAWiredOutputThatCoversOnlySomeInstancesIsDropped(t *testing.T) {
	s := modeltest.OnStage(t, modeltest.ASummary, modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"①","x":"y","_outputPath":"b"}],"output":null}`)
	s.Says(`{"calls":[{"_tool":"work","_instance":"①","x":"y","_outputPath":"c"}],"output":{"summary":"†input.x"}}`)
	s.Want("it goes on", s.Statuses(), "① working, ② settled")
}

func TestWhatMayBeLeftOutOfAnOutputMayBeNull(t *testing.T) {
	const form = `{"type": "object", "properties": {"summary": {"type": "string"}, "note": {"type": "string"}, "deep": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "integer"}}}}}, "required": ["summary"]}`
	s := modeltest.OnStage(t, form)
	s.Says(`{"calls":[],"output":{"summary":"s","note":null,"deep":[{"x":null},{"x":1}]}}`)
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"deep":[{},{"x":1}],"summary":"s"}`)

	s = modeltest.OnStage(t, form)
	s.Says(`{"calls":[{"_tool":"work","x":"well","_outputPath":"b"}],"output":{"summary":"†state.b","note":null,"deep":null}}`)
	s.Expect(loop.StepOver)
	s.Want("the wired output", s.Output(), `{"summary":"well"}`)
}

func TestAnOutputThatWasGivenForSomeIsAskedForOnceMoreOverAll(t *testing.T) {
	s := modeltest.OnStage(t, modeltest.ASummary, modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"①","x":"y","_outputPath":"b"}],"output":{"summary":"only ②"}}`)
	s.Want("② has settled", s.Statuses(), "① working, ② settled")
	s.Says(`{"calls":[],"output":{"summary":"only ①"}}`)
	s.Want("both have", s.Statuses(), "① settled, ② settled")
	s.Want("there is no output yet", s.Output(), "null")
	b := s.Asks()
	if !b.Closing || fmt.Sprint(b.Tokens()) != "[① ②]" || b.Number != 3 {
		t.Fatalf("the closing Request: %+v", b)
	}
	s.Want("it sees the final States", string(jsonval.Encode(b.Covered[0].State)), `{"a":1,"b":"y"}`)
	s.Says(`{"calls":[],"output":{"summary":"both"}}`)
	if len(s.Ended) != 0 {
		t.Errorf("nobody ends twice: %v", s.Ended)
	}
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"summary":"both"}`)
}

func TestAnOutputGivenForAllAtOnceIsFinal(t *testing.T) {
	s := modeltest.OnStage(t, modeltest.ASummary, modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","x":"y","_outputPath":"b"}],"output":null}`)
	s.Says(`{"calls":[],"output":{"summary":"both"}}`)
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"summary":"both"}`)
}

func TestAClosingRequestWithoutAGoodOutputIsMadeAgain(t *testing.T) {
	s := modeltest.OnStage(t, modeltest.ASummary, modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.Says(modeltest.NoCalls)
	for range 2 {
		s.Says(`{"calls":[],"output":{"summary":1}}`)
		if b := s.Asks(); !b.Closing || modeltest.TroublesOf(b) != "bad_output: the output does not fit its form: /summary: expected string, but got number" {
			t.Fatalf("%+v", b)
		}
	}
	s.Says(`{"calls":[{"_tool":"work","_instance":"①"}],"output":null}`)
	s.Expect(loop.StepPaused)
	s.Want("why", s.Mind.Paused().Code, turn.CodeBadOutputs)
}

func TestInstancesThatFailedDoNotHoldUpTheOutput(t *testing.T) {
	s := modeltest.OnStage(t, modeltest.ASummary, `"context": [{"type": "state", "_instance": "①", "state": {}, `+modeltest.NeedsMood+`},
		{"type": "state", "_instance": "②", "state": {}}]`)
	for range 4 {
		s.Says(`{"calls":[],"output":{"summary":"early"}}`)
	}
	s.Want("they are", s.Statuses(), "① failed, ② settled")
	if b := s.Asks(); !b.Closing {
		t.Fatalf("%+v", b)
	}
	s.Says(`{"calls":[],"output":{"summary":"half of it"}}`)
	s.Expect(loop.StepOver)
	r := s.Mind.Result(s.Mind.Outcome(), true)
	s.Want("the result", string(jsonval.Encode(jsonval.Normal(r))), `{"calls":{"blocked":0,"done":0,"failed":0,"rejected":0,"skipped":0},"error":{"code":"missing_required","message":"1 of 2 instances failed; the first, ①: its State still lacks [mood]"},"ideas":0,`+
		`"instances":{"①":{"state":{},"status":"failed"},"②":{"state":{},"status":"settled"}},"output":{"summary":"half of it"},"process":"p","requests":5,"status":"failed","usage":{"completionTokens":50,"promptTokens":500}}`)
}

func TestWhereEveryInstanceFailedNoOutputIsAskedFor(t *testing.T) {
	s := modeltest.OnStage(t, modeltest.ASummary, `"context": [{"type": "state", "state": {}, `+modeltest.NeedsMood+`}]`)
	for range 4 {
		s.Says(modeltest.NoCalls)
	}
	s.Expect(loop.StepOver)
	s.Want("the process", string(s.Mind.Outcome()), "failed")
	s.Want("why", s.Mind.Result(loop.StatusFailed, false).Error.Error(), "missing_required: its State still lacks [mood]")
}
