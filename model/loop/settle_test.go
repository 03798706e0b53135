package loop_test

import (
	"fmt"
	"testing"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func TestAnInstanceSettlesWhenARequestCoveredItAndGaveItNoCall(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.WantEqual("after the first", s.DescribeInstances(), "① working, ② settled")
	if len(s.EndedInstances) != 1 || s.EndedInstances[0].Token != "②" {
		t.Errorf("ended: %v", s.EndedInstances)
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
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② working")
}

func TestSettledInstancesAreNotSentAgain(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
	b := s.ExpectRequest()
	s.WantEqual("covered", fmt.Sprint(b.InstanceTokens()), "[②]")
}

func TestACallCountsEvenWhenItIsInvalid(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"nonsense","_instance":"①"}],"output":null}`)
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② settled")
	s.WantEqual("the next Request is told", describeErrors(s.ExpectRequest()),
		`1.1 unknown_tool: unknown tool "nonsense" in ①`)
}

func TestNobodySettlesByACallThatNamesNoCoveredInstance(t *testing.T) {
	t.Parallel()
	for _, call := range []string{`{"_tool":"work","_instance":"③"}`, `{"_tool":"work"}`,
		`{"_tool":"work","_instance":5}`, `"work"`} {
		s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
		s.ReplyWith(`{"calls":[` + call + `],"output":null}`)
		s.WantEqual(call, s.DescribeInstances(), "① working, ② working")
		if len(s.ExpectRequest().Errors) != 1 {
			t.Errorf("%s: told %s", call, describeErrors(s.RequestInput))
		}
	}
}

func TestATruncatedSolutionSettlesNobody(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeTruncated, "cut")},
		`{"_tool":"work","_instance":"①","_outputPath":"b"}`)
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② working")
	s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeTruncated, "cut")})
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② working")
}

func TestAnInstanceThatLacksWhatItsSchemaRequiresIsToldThreeTimesThenItHasFailed(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"context": [{"type": "state", "_instance": "①", "state": {}, `+stateSchemaRequiringMood+`},
		{"type": "state", "_instance": "②", "state": {}}]`)
	s.WantEqual("what the first Request says is missing",
		fmt.Sprint(s.ExpectRequest().Instances[0].MissingRequiredPaths), "[]")
	s.Conclude(func() turn.LLMReply { r := s.DeliverCalls(nil); r.IsComplete = true; return r }())
	s.WantEqual("after the first", s.DescribeInstances(), "① working, ② settled")
	for n := range 3 {
		b := s.ExpectRequest()
		s.WantEqual("covered", fmt.Sprint(b.InstanceTokens()), "[①]")
		s.WantEqual(fmt.Sprint("told for the ", n+1, ". time"), fmt.Sprint(b.Instances[0].MissingRequiredPaths),
			"[mood]")
		s.Conclude(func() turn.LLMReply { r := s.DeliverCalls(nil); r.IsComplete = true; return r }())
		if failed := n == 2; (len(s.EndedInstances) == 1) != failed {
			t.Errorf("ended after %d: %v", n+1, s.EndedInstances)
		}
	}
	s.WantEqual("in the end", s.DescribeInstances(), "① failed, ② settled")
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the process", string(s.Loop.FinalStatus()), "failed")
	s.WantEqual("why", s.Loop.Result(loop.StatusFailed, false).Error.Error(),
		"missing_required: 1 of 2 instances failed; the first, ①: its State still lacks [mood]")
}

const goalIsMood = `"context": [{"type": "state", "state": {}, ` + stateSchemaRequiringMood + `}]`

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
			stateSchemaRequiringMood + `}]`, `{"_tool":"work","_outputPath":"b"}`},
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
	s := newScenarioWithPeople(t, "", `"context": [{"type": "state", "_instance": "①", "state": {}, `+
		stateSchemaRequiringMood+`}]`)
	s.ReplyWith(
		`{"calls":[{"_tool":"pay","_instance":"①","_outputPath":"mood"},{"_tool":"work","_instance":"①","x":"good","_outputPath":"mood"}]}`)
	expectWait(s, 0)
	s.Decide(policy.Reject, "1.1@①", `{"reason":"write to them first"}`)
	s.WantEqual("the alternative", modeltest.StateJSON(s.Loop, "①"), `{"mood":"good"}`)
	s.ExpectRequestFor("①")
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectStep(loop.StepFinished)
}

func TestACallThatAPersonChangedAndThatFailedThenIsToldToTheLLM(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", `"context": [{"type": "state", "_instance": "①", "state": {}, `+
		stateSchemaRequiringMood+`}]`)
	s.ReplyWith(
		`{"calls":[{"_tool":"pay","_instance":"①","_outputPath":"mood"},{"_tool":"work","_instance":"①","x":"good","_outputPath":"mood"}]}`)
	expectWait(s, 0)
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
	s := modeltest.NewScenario(t, modeltest.SummarySchema, `"context": [{"type": "state", "state": {}, `+stateSchemaRequiringMood+`},
		{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}}]`)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"①","x":"good","_outputPath":"mood"},{"_tool":"fail","_instance":"②"}],"output":null}`)
	b := s.ExpectRequest()
	s.WantEqual("covered", fmt.Sprint(b.InstanceTokens(), b.Others, b.ReplyMayHoldOutput()), "[②] {1 0 0 0} false")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"②","x":"good","_outputPath":"mood"}]}`)
	b = s.ExpectRequest()
	s.WantEqual("the closing one", fmt.Sprint(b.InstanceTokens(), b.IsOutputOnly, b.ReplyMayHoldOutput()),
		"[① ②] true true")
	s.ReplyWith(`{"calls":[],"output":{"summary":"done"}}`)
	s.ExpectStep(loop.StepFinished)
}

func TestInstancesThatFailedDoNotHoldUpTheOutput(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, `"context": [{"type": "state", "_instance": "①", "state": {}, `+stateSchemaRequiringMood+`},
		{"type": "state", "_instance": "②", "state": {}}]`)
	for range 4 {
		s.ReplyWith(`{"calls":[],"output":{"summary":"early"}}`)
	}
	s.WantEqual("they are", s.DescribeInstances(), "① failed, ② settled")
	if b := s.ExpectRequest(); !b.IsOutputOnly {
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
		stateSchemaRequiringMood+`}]`)
	for range 4 {
		s.ReplyWith(modeltest.EmptyReply)
	}
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the process", string(s.Loop.FinalStatus()), "failed")
	s.WantEqual("why", s.Loop.Result(loop.StatusFailed, false).Error.Error(),
		"missing_required: its State still lacks [mood]")
}
