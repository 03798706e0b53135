package model

import (
	"fmt"
	"testing"
)

const (
	noCalls   = `{"calls":[],"output":null}`
	aSummary  = `{"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}`
	needsMood = `"schema": {"type": "object", "properties": {"mood": {"type": "string"}}, "required": ["mood"]}`
)

func TestAnInstanceSettlesWhenARequestCoveredItAndGaveItNoCall(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.want("after the first", s.statuses(), "① working, ② settled")
	if len(s.ended) != 1 || s.ended[0].Token != "②" {
		t.Errorf("ended: %v", s.ended)
	}
	s.says(noCalls)
	s.want("after the second", s.statuses(), "① settled, ② settled")
	s.expect(StepOver)
	s.want("the outcome", string(s.mind.Outcome()), "completed")
}

func TestAProcessWithoutTokensSettlesTheSameWay(t *testing.T) {
	s := onStage(t, "")
	s.says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.want("after Calls", s.statuses(), "working")
	s.says(noCalls)
	s.want("after none", s.statuses(), "settled")
	s.expect(StepOver)
}

func TestACallForEveryInstanceCountsForEveryCoveredOne(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.want("they are", s.statuses(), "① working, ② working")
}

func TestSettledInstancesAreNotSentAgain(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
	b := s.asks()
	s.want("covered", fmt.Sprint(b.Tokens()), "[②]")
}

func TestACallCountsEvenWhenItIsInvalid(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"nonsense","_instance":"①"}],"output":null}`)
	s.want("they are", s.statuses(), "① working, ② settled")
	s.want("the next Request is told", troublesOf(s.asks()), `1.1 unknown_tool: unknown tool "nonsense" in ①`)
}

func TestNobodySettlesByACallThatNamesNoCoveredInstance(t *testing.T) {
	for _, call := range []string{`{"_tool":"work","_instance":"③"}`, `{"_tool":"work"}`, `{"_tool":"work","_instance":5}`, `"work"`} {
		s := onStage(t, "", twoInstances)
		s.says(`{"calls":[` + call + `],"output":null}`)
		s.want(call, s.statuses(), "① working, ② working")
		if len(s.asks().Troubles) != 1 {
			t.Errorf("%s: told %s", call, troublesOf(s.brief))
		}
	}
}

func TestATruncatedSolutionSettlesNobody(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.breaksOff(Reply{End: fault(CodeTruncated, "cut")}, `{"_tool":"work","_instance":"①","_outputPath":"b"}`)
	s.want("they are", s.statuses(), "① working, ② working")
	s.breaksOff(Reply{End: fault(CodeTruncated, "cut")})
	s.want("they are", s.statuses(), "① working, ② working")
}

func TestAnInstanceThatLacksWhatItsSchemaRequiresIsToldThreeTimesThenItHasFailed(t *testing.T) {
	s := onStage(t, "", `"context": [{"type": "state", "_instance": "①", "state": {}, `+needsMood+`},
		{"type": "state", "_instance": "②", "state": {}}]`)
	s.want("what the first Request says is missing", fmt.Sprint(s.asks().Covered[0].Missing), "[]")
	s.concludes(func() Reply { r := s.hear(nil); r.Whole = true; return r }())
	s.want("after the first", s.statuses(), "① working, ② settled")
	for n := range 3 {
		b := s.asks()
		s.want("covered", fmt.Sprint(b.Tokens()), "[①]")
		s.want(fmt.Sprint("told for the ", n+1, ". time"), fmt.Sprint(b.Covered[0].Missing), "[mood]")
		s.concludes(func() Reply { r := s.hear(nil); r.Whole = true; return r }())
		if failed := n == 2; (len(s.ended) == 1) != failed {
			t.Errorf("ended after %d: %v", n+1, s.ended)
		}
	}
	s.want("in the end", s.statuses(), "① failed, ② settled")
	s.expect(StepOver)
	s.want("the process", string(s.mind.Outcome()), "failed")
	s.want("why", s.mind.Result(StatusFailed, false).Error.Error(), "missing_required: 1 of 2 instances failed; the first, ①: its State still lacks [mood]")
}

func TestAnInstanceThatGetsWhatItLacksSettles(t *testing.T) {
	s := onStage(t, "", `"context": [{"type": "state", "state": {}, `+needsMood+`}]`)
	s.says(noCalls)
	s.says(`{"calls":[{"_tool":"work","x":"good","_outputPath":"mood"}],"output":null}`)
	s.want("after the Call", s.statuses(), "working")
	s.says(noCalls)
	s.want("after none", s.statuses(), "settled")
	s.want("the process", string(s.mind.Outcome()), "completed")
}

func TestTheOutputIsThatOfTheSolutionThatSettledTheProcess(t *testing.T) {
	s := onStage(t, aSummary)
	s.says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":{"summary":"too early"}}`)
	s.want("beside Calls it is dropped", s.output(), "null")
	s.says(`{"calls":[],"output":{"summary":"all is well"}}`)
	s.expect(StepOver)
	s.want("the output", s.output(), `{"summary":"all is well"}`)
}

func TestWithoutAFormTheOutputIsNull(t *testing.T) {
	s := onStage(t, "")
	s.says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":"†state.b"}`)
	s.want("nothing is wired", s.statuses(), "working")
	s.says(`{"calls":[],"output":"whatever"}`)
	s.expect(StepOver)
	s.want("the output", s.output(), "null")
}

func TestReferencesInAnOutputStandForValues(t *testing.T) {
	s := onStage(t, `{"type": "object", "properties": {"a": {}, "b": {"type": "array"}, "c": {"type": "string"}}}`, `"context": [{"type": "input", "rules": ["x"]},
		{"type": "state", "mood": null}]`)
	s.says(`{"calls":[],"output":{"a":"†state.mood","b":["†input.rules[0]","†input.rules"],"c":"††state"}}`)
	s.want("the output", s.output(), `{"a":null,"b":["x",["x"]],"c":"†state"}`)
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
			s := onStage(t, aSummary, `"context": [{"type": "state", "a": 1}]`)
			for range 2 {
				s.says(`{"calls":[],"output":` + c.output + `}`)
				s.want("nobody settles", s.statuses(), "working")
				step, b := s.mind.Next(s.now)
				if step != StepAsk || troublesOf(b) != "bad_output: "+c.why {
					t.Fatalf("%s: %s", step, troublesOf(b))
				}
			}
			s.says(`{"calls":[],"output":` + c.output + `}`)
			s.expect(StepPaused)
			s.want("why", s.mind.Paused().Error(), "bad_outputs: 3 bad outputs in a row; the last one: "+c.why)
			s.mind.Resume(Limits{})
			s.says(`{"calls":[],"output":{"summary":"at last"}}`)
			s.expect(StepOver)
			s.want("the output", s.output(), `{"summary":"at last"}`)
		})
	}
}

func TestAWiredOutputEndsTheProcessInOneRequest(t *testing.T) {
	s := onStage(t, aSummary)
	s.says(`{"calls":[{"_tool":"work","x":"well","_outputPath":"b"},{"_tool":"log"}],"output":{"summary":"†state.b"}}`)
	s.expect(StepOver)
	s.want("the output", s.output(), `{"summary":"well"}`)
	s.want("the instance", s.statuses(), "settled")
	if len(s.ended) != 1 || s.mind.Result(StatusCompleted, false).Requests != 1 {
		t.Errorf("ended %v", s.ended)
	}
}

func TestAWiredOutputOfManyInstancesIsAnObjectByToken(t *testing.T) {
	s := onStage(t, `{"type": "object", "properties": {"all": {"type": "object", "additionalProperties": {"type": "integer"}}, "lang": {"type": "string"}}}`,
		`"context": [{"type": "input", "lang": "en"}, {"type": "state", "_instance": "①", "state": {"a": 1}},
			{"type": "state", "_instance": "②", "state": {"a": 2}}]`)
	s.says(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"b"}],"output":{"all":"†state.b","lang":"†input.lang"}}`)
	s.expect(StepOver)
	s.want("the output", s.output(), `{"all":{"①":1,"②":2},"lang":"en"}`)
}

func TestAWiredOutputThatAnInstanceCannotGiveIsDropped(t *testing.T) {
	s := onStage(t, `{"type": "object"}`, twoInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"c"}],"output":{"list":["†state.b"]}}`)
	s.want("it goes on", s.statuses(), "① working, ② working")
}

func TestALargeOutputIsNotLookedInto(t *testing.T) {
	s := onStage(t, aSummary)
	s.work = func(string, map[string]any) (any, *Fault) { return handle("string", 100_000), nil }
	s.says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.expect(StepOver)
	s.want("the output", s.output(), string(Encode(map[string]any{"summary": handle("string", 100_000)})))
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
		{"State lacks what its schema requires", `{"calls":[{"_tool":"work","x":"y","_outputPath":"b"}],"output":{"summary":"†state.b"}}`, `{"type": "state", "state": {}, ` + needsMood + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := onStage(t, aSummary, `"context": [`+c.context+`]`)
			s.says(c.reply)
			s.want("it goes on", s.statuses(), "working")
			s.want("without an output", s.output(), "null")
			for _, trouble := range s.asks().Troubles {
				if trouble.Fault.Code == CodeBadOutput {
					t.Errorf("a dropped output is no error: %s", troublesOf(s.brief))
				}
			}
		})
	}
}

func TestACallThatWasSkippedAsItsValueWasThereCameToAValue(t *testing.T) {
	s := onStage(t, aSummary, `"context": [{"type": "state", "b": "there"}]`)
	s.says(`{"calls":[{"_tool":"work","x":"y","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.expect(StepOver)
	s.want("the output", s.output(), `{"summary":"there"}`)
}

func TestAWiredOutputThatCoversOnlySomeInstancesIsDropped(t *testing.T) {
	s := onStage(t, aSummary, twoInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"①","x":"y","_outputPath":"b"}],"output":null}`)
	s.says(`{"calls":[{"_tool":"work","_instance":"①","x":"y","_outputPath":"c"}],"output":{"summary":"†input.x"}}`)
	s.want("it goes on", s.statuses(), "① working, ② settled")
}

func TestWhatMayBeLeftOutOfAnOutputMayBeNull(t *testing.T) {
	const form = `{"type": "object", "properties": {"summary": {"type": "string"}, "note": {"type": "string"}, "deep": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "integer"}}}}}, "required": ["summary"]}`
	s := onStage(t, form)
	s.says(`{"calls":[],"output":{"summary":"s","note":null,"deep":[{"x":null},{"x":1}]}}`)
	s.expect(StepOver)
	s.want("the output", s.output(), `{"deep":[{},{"x":1}],"summary":"s"}`)

	s = onStage(t, form)
	s.says(`{"calls":[{"_tool":"work","x":"well","_outputPath":"b"}],"output":{"summary":"†state.b","note":null,"deep":null}}`)
	s.expect(StepOver)
	s.want("the wired output", s.output(), `{"summary":"well"}`)
}

func TestAnOutputThatWasGivenForSomeIsAskedForOnceMoreOverAll(t *testing.T) {
	s := onStage(t, aSummary, twoInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"①","x":"y","_outputPath":"b"}],"output":{"summary":"only ②"}}`)
	s.want("② has settled", s.statuses(), "① working, ② settled")
	s.says(`{"calls":[],"output":{"summary":"only ①"}}`)
	s.want("both have", s.statuses(), "① settled, ② settled")
	s.want("there is no output yet", s.output(), "null")
	b := s.asks()
	if !b.Closing || fmt.Sprint(b.Tokens()) != "[① ②]" || b.Number != 3 {
		t.Fatalf("the closing Request: %+v", b)
	}
	s.want("it sees the final States", string(Encode(b.Covered[0].State)), `{"a":1,"b":"y"}`)
	s.says(`{"calls":[],"output":{"summary":"both"}}`)
	if len(s.ended) != 0 {
		t.Errorf("nobody ends twice: %v", s.ended)
	}
	s.expect(StepOver)
	s.want("the output", s.output(), `{"summary":"both"}`)
}

func TestAnOutputGivenForAllAtOnceIsFinal(t *testing.T) {
	s := onStage(t, aSummary, twoInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"*","x":"y","_outputPath":"b"}],"output":null}`)
	s.says(`{"calls":[],"output":{"summary":"both"}}`)
	s.expect(StepOver)
	s.want("the output", s.output(), `{"summary":"both"}`)
}

func TestAClosingRequestWithoutAGoodOutputIsMadeAgain(t *testing.T) {
	s := onStage(t, aSummary, twoInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.says(noCalls)
	for range 2 {
		s.says(`{"calls":[],"output":{"summary":1}}`)
		if b := s.asks(); !b.Closing || troublesOf(b) != "bad_output: the output does not fit its form: /summary: expected string, but got number" {
			t.Fatalf("%+v", b)
		}
	}
	s.says(`{"calls":[{"_tool":"work","_instance":"①"}],"output":null}`)
	s.expect(StepPaused)
	s.want("why", s.mind.Paused().Code, CodeBadOutputs)
}

func TestInstancesThatFailedDoNotHoldUpTheOutput(t *testing.T) {
	s := onStage(t, aSummary, `"context": [{"type": "state", "_instance": "①", "state": {}, `+needsMood+`},
		{"type": "state", "_instance": "②", "state": {}}]`)
	for range 4 {
		s.says(`{"calls":[],"output":{"summary":"early"}}`)
	}
	s.want("they are", s.statuses(), "① failed, ② settled")
	if b := s.asks(); !b.Closing {
		t.Fatalf("%+v", b)
	}
	s.says(`{"calls":[],"output":{"summary":"half of it"}}`)
	s.expect(StepOver)
	r := s.mind.Result(s.mind.Outcome(), true)
	s.want("the result", string(Encode(Normal(r))), `{"calls":{"blocked":0,"done":0,"failed":0,"rejected":0,"skipped":0},"error":{"code":"missing_required","message":"1 of 2 instances failed; the first, ①: its State still lacks [mood]"},"ideas":0,`+
		`"instances":{"①":{"state":{},"status":"failed"},"②":{"state":{},"status":"settled"}},"output":{"summary":"half of it"},"process":"p","requests":5,"status":"failed","usage":{"completionTokens":50,"promptTokens":500}}`)
}

func TestWhereEveryInstanceFailedNoOutputIsAskedFor(t *testing.T) {
	s := onStage(t, aSummary, `"context": [{"type": "state", "state": {}, `+needsMood+`}]`)
	for range 4 {
		s.says(noCalls)
	}
	s.expect(StepOver)
	s.want("the process", string(s.mind.Outcome()), "failed")
	s.want("why", s.mind.Result(StatusFailed, false).Error.Error(), "missing_required: its State still lacks [mood]")
}
