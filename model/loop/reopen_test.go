package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

const (
	settleTogether = `"config": {"settle": "together"}`
	workForFirst   = `{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`
	workForSecond  = `{"calls":[{"_tool":"work","_instance":"②","_outputPath":"c"}],"output":null}`
)

func tokensOf(list []*loop.InstanceProgress) string {
	var tokens []string
	for _, inst := range list {
		tokens = append(tokens, inst.Token)
	}
	return strings.Join(tokens, " ")
}

func TestWhereAllSettleTogetherNobodySettlesForGoodBeforeAllHave(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext, settleTogether)
	s.ReplyWith(workForFirst)
	s.WantEqual("after the first", s.DescribeInstances(), "① working, ② settled")
	s.WantEqual("told that they have ended", tokensOf(s.EndedInstances), "")
	in := s.ExpectRequestFor("①")
	s.WantEqual("a Call may name", fmt.Sprint(in.ReopenableTokens), "[②]")
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("told that they have ended", tokensOf(s.Loop.TakeEndedInstances()), "① ②")
}

func TestWhereAllSettleTogetherACallThatNamesASettledInstanceReopensIt(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext, settleTogether)
	s.ReplyWith(workForFirst)
	s.ReplyWith(workForSecond)
	s.WantEqual("they are", s.DescribeInstances(), "① settled, ② working")
	s.WantEqual("its State", modeltest.StateJSON(s.Loop, "②"), `{"a":2,"c":"work done"}`)
	in := s.ExpectRequestFor("②")
	s.WantEqual("it is shown", describePlan(in), "2.1 done 1")
	s.ReplyWith(workForFirst)
	s.WantEqual("and the other way round", s.DescribeInstances(), "① working, ② settled")
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectStep(loop.StepFinished)
}

func TestWhereAllSettleTogetherAStarDoesNotMeanTheSettledOnes(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext, settleTogether)
	s.ReplyWith(workForFirst)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`)
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② settled")
	s.WantEqual("②", modeltest.StateJSON(s.Loop, "②"), `{"a":2}`)
}

func TestAReopenedInstanceSettlesAgainOnceItsGoalIsReached(t *testing.T) {
	t.Parallel()
	required := `"context": [{"type": "state", "schema": {"type": "object", "required": ["b"]}}, {"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}}]`
	s := modeltest.NewScenario(t, "", required, settleTogether)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b"},{"_tool":"work","_instance":"①","_outputPath":"a"}],"output":null}`)
	s.ExpectRequestFor("①")
	s.WantEqual("by its goal", s.DescribeInstances(), "① working, ② settled")
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"c"},{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("Requests", fmt.Sprint(s.Loop.Result(loop.StatusCompleted, false).RequestCount), "2")
}

func TestAnInstanceThatACallReopenedAndThatFailsIsShownAgain(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext, settleTogether)
	s.ReplyWith(workForFirst)
	s.ReplyWith(`{"calls":[{"_tool":"fail","_instance":"②","_outputPath":"c"}],"output":null}`)
	s.WantEqual("told", describeErrors(s.ExpectRequestFor("②")), "2.1 tool_failed: no luck in ②")
}

func TestElsewhereACallThatNamesASettledInstanceIsAnError(t *testing.T) {
	t.Parallel()
	for _, config := range []string{`"config": {}`, `"config": {"settle": "asked"}`} {
		s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext, config)
		s.ReplyWith(workForFirst)
		s.ReplyWith(workForSecond)
		s.WantEqual("they are", s.DescribeInstances(), "① working, ② settled")
		s.WantEqual("told", describeErrors(s.ExpectRequestFor("①")),
			`2.1 bad_instance: the Request covers no instance "②"`)
	}
}

func TestOnceAllHaveSettledTogetherNobodyIsReopenedByACall(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, modeltest.TwoInstancesContext, settleTogether)
	s.ReplyWith(workForFirst)
	s.ReplyWith(modeltest.EmptyReply)
	in := s.ExpectRequestFor("① ②")
	if !in.IsOutputOnly || len(in.ReopenableTokens) > 0 {
		t.Errorf("%+v", in)
	}
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"c"}],"output":{"summary":"both"}}`)
	s.WantEqual("they are", s.DescribeInstances(), "① settled, ② settled")
}

func TestCallsThatASettledInstanceAcceptedBeforeTheRequestBrokeOffReopenIt(t *testing.T) {
	t.Parallel()
	for _, end := range []turn.LLMReply{{Fault: diag.Faultf(turn.CodeTruncated, "cut")},
		{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")}} {
		s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext, settleTogether)
		s.ReplyWith(workForFirst)
		c := s.InterruptRequest(end, `{"_tool":"work","_instance":"②","_outputPath":"c"}`,
			`{"_tool":"work","_instance":"*","_outputPath":"d"}`)
		s.WantEqual("they are", s.DescribeInstances(), "① working, ② working")
		s.WantEqual("its Calls", fmt.Sprint(len(c.Calls)), "2")
		s.WantEqual("②", modeltest.StateJSON(s.Loop, "②"), `{"a":2,"c":"work done"}`)
		s.ExpectRequestFor("① ②")
	}
}

func TestARequestThatBrokeOffBeforeItReachedASettledInstanceLeavesItSettled(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext, settleTogether)
	s.ReplyWith(workForFirst)
	s.UnreachedInstanceTokens = []string{"②"}
	s.InterruptRequest(turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "gone")},
		`{"_tool":"work","_instance":"②","_outputPath":"c"}`)
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② settled")
}

func TestAnInstanceThatItsDirectPlanSettledIsReopenedUnlessThatIsComplete(t *testing.T) {
	t.Parallel()
	for stage, offered := range map[string]string{ideafile.PlanStageOptimal: "[②]", ideafile.PlanStageComplete: "[]"} {
		s := modeltest.NewScenario(t, "", `"context": [{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {"go": 1}},
			{"type": "plan", "_instance": "②", "stage": "`+stage+`", "plan": [{"_tool": "work", "_outputPath": "b"}]}]`, settleTogether)
		s.RunDirectPlans()
		s.WantEqual(stage, fmt.Sprint(s.ExpectRequestFor("①").ReopenableTokens), offered)
		if stage == ideafile.PlanStageOptimal {
			s.ReplyWith(workForSecond)
			s.WantEqual("they are", s.DescribeInstances(), "① settled, ② working")
			s.ExpectRequestFor("②")
			s.ReplyWith(modeltest.EmptyReply)
			s.ExpectStep(loop.StepFinished)
		}
	}
}

func TestASharedCorrectionReachesTheInstancesThatMayBeReopened(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", modeltest.TwoInstancesContext, settleTogether)
	s.ReplyWith(workForFirst)
	s.WantEqual("touched", tokensOf(s.Revise(`{"context":[{"type":"input","lang":"de"}]}`)), "① ②")
	s.ApplyCorrections("①", "ann")
	s.WantEqual("a Call may name, before it has taken that in", fmt.Sprint(s.ExpectRequestFor("①").ReopenableTokens),
		"[]")
	s.ApplyCorrections("②", "ann")
	s.ReplyWith(workForFirst)
	s.ExpectRequestFor("①")
	s.ReplyWith(`{"calls":[{"_tool":"work","x":"†input.lang","_instance":"②","_outputPath":"c"}],"output":null}`)
	s.WantEqual("②", modeltest.StateJSON(s.Loop, "②"), `{"a":2,"c":"de"}`)
}

func TestReopeningTheSameInstanceInVainIsNoProgress(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext, settleTogether)
	s.ReplyWith(workForFirst)
	for n := 0; n < 8 && s.Loop.PauseReason == nil; n++ {
		calls := `{"_tool":"fail","_instance":"①","_outputPath":"c"}`
		if n%2 == 0 {
			calls += `,{"_tool":"fail","_instance":"②","_outputPath":"c"}` // it settles in between
		}
		s.ReplyWith(`{"calls":[` + calls + `],"output":null}`)
		if step, _ := s.Loop.Advance(s.Now); step == loop.StepPaused {
			break
		}
	}
	if f := s.Loop.PauseReason; f == nil || f.Code != turn.CodeNoProgress {
		t.Errorf("paused by %v", f)
	}
}

func TestAForkOfAProcessThatSettlesTogetherReopensToo(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext, settleTogether)
	s.ReplyWith(workForFirst)
	idea := modeltest.SnapshotAndReparse(t, s.Loop.Idea, s.Loop.AllInstancesInput(), nil, nil)
	fork := modeltest.NewScenarioFromIdea(t, idea, false)
	fork.WantEqual("they begin", fork.DescribeInstances(), "① working, ② settled")
	fork.WantEqual("told that they have ended", tokensOf(fork.Loop.TakeEndedInstances()), "")
	fork.WantEqual("a Call may name", fmt.Sprint(fork.ExpectRequestFor("①").ReopenableTokens), "[②]")
	fork.ReplyWith(workForSecond)
	fork.WantEqual("they are", fork.DescribeInstances(), "① settled, ② working")
}

func TestAPartSettlesTogetherByItself(t *testing.T) {
	t.Parallel()
	idea := modeltest.IdeaFrom(t,
		`{"schema": {"tools": {`+modeltest.ScenarioToolsJSON+`}}, `+modeltest.TwoInstancesContext+`, `+
			settleTogether+`}`)
	s := modeltest.NewScenarioFromIdea(t, idea, true)
	s.ReplyWith(workForFirst)
	s.ReplyWith(workForSecond)
	s.WantEqual("they are", s.DescribeInstances(), "① settled, ② working")
}

func TestAnyProcessThatSettlesTogetherEndsTheSameWhicheverInstanceReportsFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var replies []string
		for range rapid.IntRange(1, 4).Draw(rt, "requests") {
			var calls []string
			for range rapid.IntRange(0, 3).Draw(rt, "calls") {
				calls = append(calls, fmt.Sprintf(`{"_tool":%q,"_instance":%q,"_outputPath":%q,"x":1}`,
					rapid.SampledFrom([]string{"slow", "work", "fail"}).Draw(rt, "tool"),
					rapid.SampledFrom([]string{"①", "②", "③", "*"}).Draw(rt, "token"),
					rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "path")))
			}
			replies = append(replies, `{"calls":[`+strings.Join(calls, ",")+`],"output":null}`)
		}
		play := func(order []string) string {
			s := newScenarioWithPeople(rt, "", threeInstances,
				`"config": {"settle": "together", "gather": "5m"}`)
			for _, reply := range append(replies, modeltest.EmptyReply, modeltest.EmptyReply) {
				if step, _ := s.Loop.Advance(s.Now); step != loop.StepRequest {
					break
				}
				s.ReplyWith(reply)
				for _, token := range order {
					for _, rec := range s.InstanceByToken[token].CallRecords() {
						if rec.Status == ideafile.CallRunning {
							completeSlow(s, rec.ID)
						}
					}
				}
			}
			r := s.Loop.Result(loop.StatusCompleted, true)
			return s.DescribeInstances() +
				string(jsonval.Encode(jsonval.ToJSONValue([]any{r.Instances, r.Calls, r.RequestCount})))
		}
		if one, other := play([]string{"①", "②", "③"}), play([]string{"③", "②", "①"}); one != other {
			rt.Fatalf("%s\n%s", one, other)
		}
	})
}

func TestAPersonReopensAnInstanceThatHasSettled(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
	s.ReplyWith(`{"calls":[{"_tool":"pay","_instance":"①","_outputPath":"c"}],"output":null}`)
	s.WantEqual("they are", s.DescribeInstances(), "① waiting, ② settled")
	s.WantEqual(
		"touched",
		tokensOf(
			s.Revise(
				`{"by":"ann","reason":"the customer wrote again","context":[{"type":"state","_instance":"②","reopen":true}]}`)), "")
	s.WantEqual("they are", s.DescribeInstances(), "① waiting, ② working")
	in := s.ExpectRequestFor("②")
	s.WantEqual("it is told", in.Instances[0].ReopenReason, "reopened by ann: the customer wrote again")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b","x":"new"},{"_tool":"work","_instance":"②","_outputPath":"b.below"},
		{"_tool":"work","_instance":"②","_outputPath":"c","_after":["†call.1.2"]}],"output":null}`)
	s.WantEqual("what a Call wrote stays closed", modeltest.StateJSON(s.Loop, "②"),
		`{"a":2,"b":"work done","c":"work done"}`)
	s.WantEqual("the reason is told once", s.ExpectRequestFor("②").Instances[0].ReopenReason, "")
	s.ReplyWith(modeltest.EmptyReply)
	s.WantEqual("they are", s.DescribeInstances(), "① waiting, ② settled")
}

func TestAValueBesideTheReopeningIsAPersonsWrite(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(workForFirst)
	s.WantEqual(
		"touched",
		tokensOf(
			s.Revise(
				`{"by":"ann","context":[{"type":"state","_instance":"②","reopen":true,"state":{"note":"call them"}},{"type":"input","lang":"de"}]}`)), "① ②")
	s.ApplyCorrections("①", "ann")
	s.ApplyCorrections("②", "ann")
	s.WantEqual("its State", modeltest.StateJSON(s.Loop, "②"), `{"a":2,"note":"call them"}`)
	_, writes := s.Loop.Instances[1].StateHistory()
	if len(writes) != 1 || !strings.Contains(writes[0].Author, "ann") {
		t.Errorf("%+v", writes)
	}
	s.ExpectRequestFor("① ②")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"②","x":"†input.lang","_outputPath":"l"}],"output":null}`)
	s.WantEqual("its State", modeltest.StateJSON(s.Loop, "②"), `{"a":2,"l":"de","note":"call them"}`)
}

func TestAPersonReopensAnInstanceThatHasFailed(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"context": [{"type": "state", "_instance": "①", "state": {}, `+
		stateSchemaRequiringMood+`}, {"type": "state", "_instance": "②", "state": {}}]`)
	for range 4 {
		s.ReplyWith(workForSecond)
	}
	s.WantEqual("they are", s.DescribeInstances(), "① failed, ② working")
	s.Revise(`{"context":[{"type":"text","_instance":"①","text":"It is good.","reopen":true}]}`)
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② working")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","x":"good","_outputPath":"mood"}],"output":null}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the outcome", string(s.Loop.FinalStatus()), "completed")
}

func TestReopeningAnInstanceHasTheOutputMadeAnew(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, modeltest.SummarySchema, modeltest.TwoInstancesContext)
	s.ReplyWith(workForFirst)
	s.ReplyWith(modeltest.EmptyReply)
	if in := s.ExpectRequest(); !in.IsOutputOnly {
		t.Fatalf("%+v", in)
	}
	s.Revise(`{"context":[{"type":"text","_instance":"②","text":"Once more.","reopen":true}]}`)
	s.ReplyWith(`{"calls":[],"output":{"summary":"too early"}}`)
	s.WantEqual("the output", outputJSON(s), "null")
	s.ExpectRequestFor("②")
	s.ReplyWith(modeltest.EmptyReply)
	s.ReplyWith(`{"calls":[],"output":{"summary":"of both"}}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"summary":"of both"}`)
}

func TestAPersonReopensAnInstanceThatItsOptimalPlanSettledForTheLLM(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"context": [{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {"go": 1}},
		{"type": "plan", "_instance": "②", "stage": "optimal", "plan": [{"_tool": "log"}]}]`)
	s.RunDirectPlans()
	s.ReplyWith(workForFirst)
	s.Revise(`{"context":[{"type":"state","_instance":"②","reopen":true}]}`)
	s.ReplyWith(`{"calls":[{"_tool":"log","_instance":"②"}],"output":null}`)
	s.WantEqual("its Plan does not run again", modeltest.StateJSON(s.Loop, "②"), `{"go":1,"log":["log done","log done"]}`)
}

func TestWhatCannotBeReopenedIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", `"context": [{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {"go": 1}},
		{"type": "plan", "_instance": "②", "stage": "complete", "plan": [{"_tool": "log"}]}]`)
	s.RunDirectPlans()
	s.ExpectRequest()
	for message, why := range map[string]string{
		`{"type":"state","_instance":"①","reopen":true}`:  "instance ① has not ended: there is nothing to reopen",
		`{"type":"state","_instance":"②","reopen":true}`:  "instance ② cannot be reopened: its Plan is declared complete, so the LLM may not be asked for another one",
		`{"type":"state","_instance":"③","reopen":true}`:  "there is no instance ③; add makes new ones",
		`{"type":"state","reopen":true}`:                  `"reopen" stands in a message that names no instance`,
		`{"type":"state","_instance":"②","reopen":"yes"}`: `$.context[0].reopen: want true, not "yes"; put a value of that name under the key of its kind`,
	} {
		before := allOf(s.Loop)
		_, err := s.Loop.ApplyRevision(
			approval.SteeringPayload{Context: modeltest.DecodeJSON(t, "["+message+"]").([]any)})
		s.WantEqual(message, modeltest.ErrorText(err), why)
		s.WantEqual("after "+message, allOf(s.Loop), before)
	}
}
