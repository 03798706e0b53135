package loop_test

import (
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

const threeGoals = `"context":[{"type":"state","_instance":"①","state":{},"schema":{"type":"object","required":["b"]}},` +
	`{"type":"state","_instance":"②","state":{},"schema":{"type":"object","required":["b"]}},` +
	`{"type":"state","_instance":"③","state":{},"schema":{"type":"object","required":["b"]}}]`

// counted plans a Call for each of three instances, and says how it will come out.
const counted = `{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"pay","_instance":"②","_outputPath":"b"},{"_tool":"pay","_instance":"③","_outputPath":"b"}],` +
	`"output":{"paid":2},"finished":true}`

// otherwise plans another Call for an instance, and puts the output right.
func otherwise(tool, token, output string) string {
	return `{"calls":[{"_tool":"` + tool + `","_instance":"` + token + `","_outputPath":"b"}],"output":` +
		output + `,"finished":true}`
}

func wantDraft(s *modeltest.Scenario, token, want string) {
	s.T.Helper()
	in := s.ExpectRequestFor(token)
	got := "null"
	if in.DraftOutput != nil {
		got = string(jsonval.Encode(in.DraftOutput.Output))
	}
	s.WantEqual("the output to be put right", got, want)
	if in.ReplyMayHoldOutput() != (want != "null") {
		s.T.Errorf("may it hold an output? %t", in.ReplyMayHoldOutput())
	}
}

// gather lets the time pass in which a Request waits for others.
func gather(s *modeltest.Scenario) {
	s.Loop.Advance(s.Now)
	s.AdvanceClock(ideafile.DefaultGatherDelay)
}

// refused is a process of which ② was refused, as the Request is to be made about it; ③ waits for a person yet, or was
// approved.
func refused(t *testing.T, approved bool, rest ...string) *modeltest.Scenario {
	t.Helper()
	s := newScenarioWithPeople(t, anything, append([]string{threeGoals}, rest...)...)
	s.ReplyWith(counted)
	expectWait(s, 0)
	if approved {
		s.Decide(policy.Approve, "1.3@③")
	}
	s.Decide(policy.Reject, "1.2@②", `{"reason":"not him"}`)
	gather(s)
	wantDraft(s, "②", `{"paid":2}`)
	return s
}

func wantFinished(s *modeltest.Scenario, requests int, output string) {
	s.T.Helper()
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), output)
	if n := s.Loop.Result(loop.StatusCompleted, false).RequestCount; n != requests {
		s.T.Errorf("%d Requests were made", n)
	}
}

func TestAnOutputIsPutRightWhereAPersonRefused(t *testing.T) {
	t.Parallel()
	s := refused(t, true)
	s.ReplyWith(otherwise("work", "②", `{"paid":1}`))
	wantFinished(s, 2, `{"paid":1}`)
}

func TestAnOutputIsPutRightWhileOthersWaitForPeople(t *testing.T) {
	t.Parallel()
	s := refused(t, false)
	s.ReplyWith(otherwise("work", "②", `{"paid":1}`))
	expectWait(s, 0)
	s.WantEqual("the output", outputJSON(s), "null")
	s.Decide(policy.Approve, "1.3@③")
	wantFinished(s, 2, `{"paid":1}`)
}

func TestAnOutputIsPutRightOnceMoreWhereAnotherIsRefusedToo(t *testing.T) {
	t.Parallel()
	s := refused(t, false)
	s.ReplyWith(otherwise("work", "②", `{"paid":1}`))
	expectWait(s, 0)
	s.Decide(policy.Reject, "1.3@③", `{"reason":"nor him"}`)
	wantDraft(s, "③", `{"paid":1}`)
	s.ReplyWith(otherwise("work", "③", `{"paid":0}`))
	wantFinished(s, 3, `{"paid":0}`)
}

// What is put right counts as any other output beside Calls: not where its Calls fail.
func TestAnOutputThatWasPutRightIsPutRightAgainWhereItsCallFails(t *testing.T) {
	t.Parallel()
	s := refused(t, true)
	s.ReplyWith(otherwise("fail", "②", `{"paid":1}`))
	wantDraft(s, "②", `{"paid":1}`)
	s.ReplyWith(otherwise("work", "②", `{"paid":"as it was"}`))
	wantFinished(s, 3, `{"paid":"as it was"}`)
}

func TestAReplyThatDoesNotPutAnOutputRightIsAskedForItWhenAllIsDone(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]string{
		"no output":                            `{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null,"finished":false}`,
		"one that does not say that it is all": `{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":{"paid":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := refused(t, true)
			s.ReplyWith(reply)
			in := s.ExpectRequest()
			if !in.IsOutputOnly || in.DraftOutput != nil {
				t.Errorf("it asks about %v", in.InstanceTokens())
			}
			s.ReplyWith(`{"calls":[],"output":{"paid":1}}`)
			wantFinished(s, 3, `{"paid":1}`)
		})
	}
}

// An output is put right only where it still holds for every instance that the LLM is not shown.
func TestAnOutputIsNotPutRightWhere(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(*modeltest.Scenario){
		"a person amended the Call of another, which has settled": func(s *modeltest.Scenario) {
			s.Decide(policy.Amend, "1.3@③", `{"params":{"x":"half"}}`)
			s.Decide(policy.Approve, "1.3@③")
		},
		"a person gave the result for another": func(s *modeltest.Scenario) {
			s.Decide(policy.Answer, "1.3@③", `{"output":"paid by hand"}`)
		},
		"somebody told the process more": func(s *modeltest.Scenario) {
			s.Revise(`{"context":[{"type":"text","text":"count the refused ones too"}]}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenarioWithPeople(t, anything, threeGoals)
			s.ReplyWith(counted)
			expectWait(s, 0)
			happens(s)
			s.Decide(policy.Reject, "1.2@②", `{"reason":"not him"}`)
			gather(s)
			if in := s.ExpectRequest(); in.DraftOutput != nil {
				t.Errorf("the Request about %v has the output %v", in.InstanceTokens(), in.DraftOutput.Output)
			}
		})
	}
}

// What came to pass while the LLM put the output right is put right next.
func TestAnOutputThatWasPutRightIsPutRightAgainWhereAnotherCameOutOtherwiseMeanwhile(t *testing.T) {
	t.Parallel()
	s := refused(t, false)
	s.Decide(policy.Reject, "1.3@③", `{"reason":"nor him"}`)
	s.ReplyWith(otherwise("work", "②", `{"paid":1}`))
	s.WantEqual("the output", outputJSON(s), "null")
	wantDraft(s, "③", `{"paid":1}`)
	s.ReplyWith(otherwise("work", "③", `{"paid":0}`))
	wantFinished(s, 3, `{"paid":0}`)
}

// Who puts the output right is not believed about what came to pass meanwhile.
func TestAnOutputThatWasPutRightDoesNotCountWhereMeanwhile(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(*modeltest.Scenario){
		"an instance has joined": func(s *modeltest.Scenario) {
			s.Decide(policy.Approve, "1.3@③")
			s.AddInstances(
				`[{"type":"state","_instance":"④","state":{"b":4},"schema":{"type":"object","required":["b"]}}]`)
		},
		"somebody told the process more": func(s *modeltest.Scenario) {
			s.Decide(policy.Approve, "1.3@③")
			s.Revise(`{"context":[{"type":"text","text":"count the refused ones too"}]}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := refused(t, false)
			happens(s)
			s.ReplyWith(otherwise("work", "②", `{"paid":1}`))
			gather(s)
			if in := s.ExpectRequest(); in.DraftOutput != nil {
				t.Errorf("the Request about %v has the output %v", in.InstanceTokens(), in.DraftOutput.Output)
			}
			s.WantEqual("the output", outputJSON(s), "null")
		})
	}
}

func TestAProcessThatBeganBeforePutsNoOutputRight(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, threeGoals)
	s.Loop.IsPatched = func(change string) bool { return change != loop.DraftOutputChangeID }
	s.ReplyWith(counted)
	expectWait(s, 0)
	s.Decide(policy.Approve, "1.3@③")
	s.Decide(policy.Reject, "1.2@②", `{"reason":"not him"}`)
	wantDraft(s, "②", "null")
	s.ReplyWith(otherwise("work", "②", `{"paid":1}`))
	if in := s.ExpectRequest(); !in.IsOutputOnly {
		t.Errorf("it asks about %v", in.InstanceTokens())
	}
}

// An instance that has failed came out otherwise, although each of its Calls may be done.
func TestAnOutputThatWasPutRightDoesNotCountWhereAnotherHasFailedMeanwhile(t *testing.T) {
	t.Parallel()
	s := refused(t, false)
	r := s.DeliverCalls([]any{modeltest.DecodeJSON(t, `{"_tool":"work","_instance":"②","_outputPath":"b"}`)})
	r.IsComplete, r.SaysFinished, r.Output, r.GoneInstanceTokens = true, true, map[string]any{"paid": 1}, []string{"③"}
	s.Conclude(r)
	if in := s.ExpectRequest(); !in.IsOutputOnly {
		t.Errorf("it asks about %v", in.InstanceTokens())
	}
}

// Where nobody settles for good before all have, the LLM may take up an instance that it is not shown: what was said of
// it holds no longer.
func TestAnOutputIsNotPutRightBesideACallThatTakesUpASettledInstance(t *testing.T) {
	t.Parallel()
	s := refused(t, true, settleTogether)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b"},{"_tool":"fail","_instance":"①","_outputPath":"c"}],"output":{"paid":1},"finished":true}`)
	wantDraft(s, "①", "null")
	s.WantEqual("the output", outputJSON(s), "null")
}

// What the LLM says of the whole, asked about one alone, is what it happened to see.
func TestAnOutputThatNobodyAskedForIsNoDraft(t *testing.T) {
	t.Parallel()
	for _, finished := range []string{"true", "false"} {
		s := newScenarioWithPeople(t, anything, threeGoals)
		s.ReplyWith(
			`{"calls":[{"_tool":"work","_instance":["①","③"],"_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"a"}],"output":null,"finished":false}`)
		for range 2 {
			wantDraft(s, "②", "null")
			s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"②"}],"output":{"paid":1},"finished":` + finished + `}`)
		}
	}
}

func TestAnOutputOfReferencesThatDoesNotSayThatItIsAllIsNoDraft(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, threeGoals)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":["①","③"],"_outputPath":"b"},{"_tool":"pay","_instance":"②","_outputPath":"b"}],"output":{"all":"†state.b"}}`)
	s.Decide(policy.Reject, "1.2@②", `{"reason":"not him"}`)
	gather(s)
	wantDraft(s, "②", "null")
}

// An output that cannot be had is not put right, nor is the one that it took the place of.
func TestAnOutputThatWasPutRightWronglyIsNoDraft(t *testing.T) {
	t.Parallel()
	s := refused(t, true)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"c"}],"output":{"paid":"†state.never"},"finished":true}`)
	wantDraft(s, "②", "null")
}

// A solution of which only some instances are open ends the process that is run from it, as it did before; not where
// another is still open.
func TestAnOutputThatWasPutRightEndsTheProcessThatIsRunAgain(t *testing.T) {
	t.Parallel()
	for decision, finished := range map[string]bool{policy.Approve: true, "": false} {
		s := newScenarioWithPeople(t, anything, threeGoals)
		s.ReplyWith(counted)
		expectWait(s, 0)
		if decision != "" {
			s.Decide(decision, "1.3@③")
		}
		s.Decide(policy.Reject, "1.2@②", `{"reason":"not him"}`)
		gather(s)
		wantDraft(s, "②", `{"paid":2}`)
		idea := sealed(s, s.ReplyWith(otherwise("work", "②", `{"paid":1}`)))
		idea.Source["solution"].(map[string]any)["finished"] = true
		next := again(s, modeltest.IdeaFrom(t, string(jsonval.Encode(idea.Source))), true)
		if decision == "" {
			next.Decide(policy.Approve, "1.3@③")
		}
		if step, _ := next.Loop.Advance(next.Now); (step == loop.StepFinished) != finished {
			t.Errorf("where ③ is decided with %q, the process does %s next; its output: %s", decision, step,
				outputJSON(next))
		}
	}
}

// Where the LLM is shown all, it is shown what it said of it, too.
func TestAnOutputOfWhichACallFailedIsShownAgainWhereAllAre(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema)
	s.ReplyWith(`{"calls":[{"_tool":"fail","_outputPath":"b"}],"output":{"summary":"†state.b"},"finished":true}`)
	wantDraft(s, "", `{"summary":"†state.b"}`)
	s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":{"summary":"†state.b"},"finished":true}`)
	wantFinished(s, 2, `{"summary":"work done"}`)
}

// A query may not ask which rules a process knows: where nothing is left to do but to wait, none does.
func TestWhereAnOutputWaitsAQueryAsksForNoChangeOfTheRules(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(known("work", "slow"))
	expectWait(s, 0)
	s.Loop.IsPatched = func(change string) bool {
		t.Errorf("%q is asked for", change)
		return true
	}
	_ = s.Loop.StalledDelegatesFault()
}

func TestAnOutputIsNotPutRightWhereAnotherHasFailedThatHadNoGoal(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, threeInstances)
	s.ReplyWith(`{"calls":[{"_tool":"pay","_instance":"*","_outputPath":"b"}],"output":{"paid":3},"finished":true}`)
	expectWait(s, 0)
	s.Decide(policy.Reject, "1.1@②", `{"reason":"not him"}`)
	gather(s)
	wantDraft(s, "②", `{"paid":3}`)
	in := s.ExpectRequest()
	r := s.DeliverCalls([]any{modeltest.DecodeJSON(t, `{"_tool":"work","_instance":"②","_outputPath":"b"}`)})
	r.IsComplete, r.SaysFinished, r.Output, r.GoneInstanceTokens = true, true, map[string]any{"paid": 2}, []string{"③"}
	c := s.Conclude(r)
	s.Decide(policy.Approve, "1.1@①")
	if step, _ := s.Loop.Advance(s.Now); step == loop.StepFinished {
		t.Errorf("after the Request about %v it ends with %s", in.InstanceTokens(), outputJSON(s))
	}
	if c.Reply.SaysFinished {
		t.Error("its Idea says that this was the last word")
	}
}

func TestAWiredOutputIsDroppedWhereAnInstanceFails(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, threeInstances)
	s.ExpectRequest()
	r := s.DeliverCalls([]any{modeltest.DecodeJSON(t, `{"_tool":"work","_instance":"*","_outputPath":"b"}`)})
	r.IsComplete, r.SaysFinished, r.Output, r.GoneInstanceTokens = true, true, map[string]any{"paid": 3}, []string{"③"}
	s.Conclude(r)
	s.WantEqual("the output", outputJSON(s), "null")
	if step, _ := s.Loop.Advance(s.Now); step == loop.StepFinished {
		t.Error("it has ended")
	}
}

// An instance that joins with a Plan of its own was in nobody's mind.
func TestAnOutputIsNotPutRightWhereAnInstanceHasJoinedThatRunsByItself(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, threeGoals)
	s.ReplyWith(counted)
	expectWait(s, 0)
	s.AddInstances(
		`[{"type":"state","_instance":"④","state":{}},{"type":"plan","_instance":"④","stage":"complete","plan":[{"_tool":"slow","_outputPath":"b"}]}]`)
	s.RunDirectPlans()
	s.Decide(policy.Approve, "1.3@③")
	s.Decide(policy.Reject, "1.2@②", `{"reason":"not him"}`)
	gather(s)
	wantDraft(s, "②", "null")
}

// Of a value that lies in the store the LLM is shown the beginning: it could not keep what the output says of the
// others.
func TestAnOutputThatCannotBeShownWholeIsNoDraft(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, threeGoals)
	s.ReplyWith(strings.Replace(counted, `{"paid":2}`,
		`{"paid":`+string(jsonval.Encode(modeltest.NewBlobHandleValue("string", 80_000)))+`}`, 1))
	expectWait(s, 0)
	s.Decide(policy.Approve, "1.3@③")
	s.Decide(policy.Reject, "1.2@②", `{"reason":"not him"}`)
	wantDraft(s, "②", "null")
}

// What the LLM said of its Plan is not said of the one that a person made of it.
func TestAnOutputDoesNotCountWhereAPersonChangedThePlanThatWaited(t *testing.T) {
	t.Parallel()
	for kind, finished := range map[string]bool{approval.SteerApprovePlan: true, approval.SteerAmendPlan: false} {
		s := &heldScenario{Scenario: modeltest.NewScenario(t, anything, modeltest.TwoInstancesContext)}
		s.ExpectRequest()
		s.Loop.RequiresPlanReview = true
		s.Loop.ApplyReply(turn.LLMReply{Calls: calls(t, workOne+", "+workTwo), IsComplete: true, SaysFinished: true,
			Output: map[string]any{"done": "both"}})
		if !s.Loop.HoldReplyPlan(s.Now) || !s.decide(t, kind, "ann", workOne) {
			t.Fatal("the Plan does not wait")
		}
		s.handOut(t)
		if step, _ := s.Loop.Advance(s.Now); (step == loop.StepFinished) != finished {
			t.Errorf("%s: it does %s next; its output: %s", kind, step, outputJSON(s.Scenario))
		}
	}
}
