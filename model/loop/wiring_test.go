package loop_test

import (
	"strings"
	"testing"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

const anything = `{"type": "object"}`

// wired is a solution of two Calls, one for each of two instances, that wires what they write.
func wired(first, second string) string {
	return `{"calls":[{"_tool":"` + first + `","_instance":"①","_outputPath":"b"},{"_tool":"` + second +
		`","_instance":"②","_outputPath":"b"}],` +
		`"output":{"all":"†state.b"}}`
}

func TestAWiredOutputHoldsAsLongAsItsCallsRunAndNobodyIsAskedAbout(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(wired("work", "slow"))
	expectWait(s, 0)
	s.AdvanceClock(time.Hour)
	expectWait(s, 0)
	completeSlow(s, "1.2@②")
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"all":{"①":"work done","②":"done at last"}}`)
	s.WantEqual("they have", s.DescribeInstances(), "① settled, ② settled")
	if len(s.Loop.TakeEndedInstances()) != 2 || s.Loop.Result(loop.StatusCompleted, false).RequestCount != 1 {
		t.Error("two instances end by one Request")
	}
}

func TestAWiredOutputIsDroppedAtOnceWhenACallFailed(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(wired("slow", "slow"))
	expectWait(s, 0)
	failSlow(s, "1.2@②")
	expectWait(s, ideafile.DefaultGatherDelay)
	s.AdvanceClock(ideafile.DefaultGatherDelay)
	s.ExpectRequestFor("②")
	completeSlow(s, "1.1@①")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
	s.ExpectRequestFor("① ②")
	s.WantEqual("the output", outputJSON(s), "null")
}

// The other Call of the instance is still running: nothing more is known than that the wiring cannot hold.
func TestAWiredOutputIsDroppedAtOnceWhereTheInstanceOfTheFailedCallStillRuns(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"slow","_instance":"①","_outputPath":"b"},{"_tool":"fail","_instance":"②"},{"_tool":"slow","_instance":"②","_outputPath":"b"}],` +
			`"output":{"all":"†state.b"}}`)
	completeSlow(s, "1.1@①")
	expectWait(s, ideafile.DefaultGatherDelay)
	s.AdvanceClock(ideafile.DefaultGatherDelay)
	s.ExpectRequestFor("①")
}

func TestAWiredOutputHoldsWhereAnAlternativeMakesUpForTheFailedCall(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"slow","_instance":"①","_outputPath":"b"},{"_tool":"fail","_instance":"②","_outputPath":"b"},{"_tool":"slow","_instance":"②","_outputPath":"b"}],` +
			`"output":{"all":"†state.b"}}`)
	completeSlow(s, "1.1@①")
	expectWait(s, 0) // the alternative may still bring it
	completeSlow(s, "1.3@②")
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"all":{"①":"done at last","②":"done at last"}}`)
}

func TestAWiredOutputIsDroppedWhereTheAlternativeFailsToo(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"fail","_instance":"②","_outputPath":"b"},{"_tool":"slow","_instance":"②","_outputPath":"b"}],` +
			`"output":{"all":"†state.b"}}`)
	expectWait(s, 0)
	failSlow(s, "1.3@②")
	s.ExpectRequestFor("① ②")
}

func TestAWiredOutputIsDroppedRatherThanMakingOthersWaitForAPerson(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(wired("work", "pay"))
	s.ExpectRequestFor("①")
	s.Decide(policy.Approve, "1.2@②")
	s.ReplyWith(modeltest.EmptyReply)
	s.WantEqual("the output", outputJSON(s), "null")
	s.ExpectRequestFor("②")
}

func TestAWiredOutputHoldsWhileCallsRunAndIsDroppedThenForWhoWouldWaitForAPerson(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(wired("slow", "pay"))
	expectWait(s, 0)
	completeSlow(s, "1.1@①")
	s.ExpectRequestFor("①")
}

func TestAWiredOutputHoldsWhereEverybodyWaitsForAPerson(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(wired("pay", "pay"))
	expectWait(s, 0)
	s.WantEqual("they are", s.DescribeInstances(), "① waiting, ② waiting")
	s.Decide(policy.Approve, "1.1@①") // and so one is free, and would wait for the other
	expectWait(s, ideafile.DefaultGatherDelay)
	s.Decide(policy.Approve, "1.2@②")
	s.ExpectRequestFor("① ②")
}

func TestAWiredOutputOfOneInstanceWaitsForItsPerson(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, modeltest.SummarySchema)
	s.ReplyWith(`{"calls":[{"_tool":"pay","x":"paid","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	expectWait(s, 0)
	s.Decide(policy.Approve, "1.1")
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"summary":"paid"}`)
}

func TestAWiredOutputTakesThePersonsResult(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, modeltest.SummarySchema)
	s.ReplyWith(`{"calls":[{"_tool":"pay","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.Decide(policy.Answer, "1.1", `{"output":"by hand"}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"summary":"by hand"}`)
}

func TestARejectedCallDropsAWiredOutput(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, modeltest.SummarySchema, `"context": [{"type": "state", "a": "there"}]`)
	s.ReplyWith(`{"calls":[{"_tool":"pay","_outputPath":"b"}],"output":{"summary":"†state.a"}}`)
	s.Decide(policy.Reject, "1.1", `{"reason":"too much"}`)
	s.WantEqual("what is told", describeDecisions(s.ExpectRequest()), "1.1 rejected by ann: too much")
	s.WantEqual("the output", outputJSON(s), "null")
}

func TestAWiredOutputEndsTheProcessAfterLatentResultsWereAskedFor(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, modeltest.SummarySchema)
	s.ReplyWith(
		`{"calls":[{"_tool":"slow","_outputPath":"a"},{"_tool":"think","x":"†state.a","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	expectWait(s, 0)
	completeSlow(s, "1.1")
	if b := s.ExpectRequest(); len(b.Questions) != 1 {
		t.Fatalf("it asks for %v", b.Questions)
	}
	s.ReplyWith(`{"calls":[{"_call":"1.2","_output":"well thought"}],"output":null}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"summary":"well thought"}`)
}

func TestAWiredOutputIsDroppedWhenAnInstanceJoins(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(wired("work", "slow"))
	expectWait(s, 0)
	s.AddInstances(`[{"type":"state","_instance":"③","state":{"b":3}}]`)
	expectWait(s, ideafile.DefaultGatherDelay)
	completeSlow(s, "1.2@②")
	s.ExpectRequestFor("① ② ③")
	s.ReplyWith(`{"calls":[],"output":{"all":"†state.b"}}`)
	s.WantEqual("the output", outputJSON(s), `{"all":{"①":"work done","②":"done at last","③":3}}`)
	s.ExpectStep(loop.StepFinished)
}

func TestAWiredOutputOfTwoIsNotTakenWhereOneHasJoinedMeanwhile(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ExpectRequest()
	s.AddInstances(`[{"type":"state","_instance":"③","state":{"b":3}}]`)
	s.ReplyWith(wired("work", "work"))
	s.ExpectRequestFor("① ② ③")
	s.WantEqual("the output", outputJSON(s), "null")
}

func TestAWiredOutputIsDroppedWhenAPersonCorrectsWhatItWasMadeFrom(t *testing.T) {
	t.Parallel()
	for _, message := range []string{`{"type":"state","b":"corrected"}`,
		`{"type":"instruction","instruction":"be brief"}`} {
		s := newScenarioWithPeople(t, modeltest.SummarySchema)
		s.ReplyWith(`{"calls":[{"_tool":"slow","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
		s.Revise(`{"context":[` + message + `]}`)
		expectWait(s, 0)
		s.ApplyCorrections("", "ann")
		expectWait(s, 0)
		completeSlow(s, "1.1")
		s.ExpectRequest()
		s.WantEqual("the output", outputJSON(s), "null")
	}
}

func TestAWiredOutputDoesNotEndTheProcessBeforeAPersonHasDecided(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"pay","_instance":"②","_outputPath":"b"}],"output":{"all":"†state.a"}}`)
	s.ExpectRequestFor("①")
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② waiting")
}

// Each instance's value is found by itself: one may have taken the one branch, one the other.
func TestAWiredOutputTakesEachInstancesBranch(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, `{"type": "object"}`, modeltest.TwoInstancesContext)
	s.RunTool = func(_ string, params map[string]any) (any, *diag.Fault) {
		if string(jsonval.Encode(params["x"])) == "2" {
			return nil, diag.Faultf(ideafile.CodeToolFailed, "no luck")
		}
		return "fine", nil
	}
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"†state.ok || †state.failed"},
		{"_tool":"think","_instance":"*","x":"†state.ok","_outputPath":"said"}],
		"output":{"all":"†state.ok || †state.failed.message"}}`)
	s.ReplyWith(`{"calls":[{"_call":"1.2@①","_output":"good"}],"output":null}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"all":{"①":"fine","②":"no luck"}}`)
	s.WantEqual("they", s.DescribeInstances(), "① settled, ② settled")
}

func TestAnOutputThatCameTooEarlyIsSaid(t *testing.T) {
	t.Parallel()
	why := " not taken: there was more to do. You are asked for it again, at the latest when all is done. Beside " +
		"Calls it counts where \"finished\" is true"
	for name, reply := range map[string]string{
		"beside Calls":          `{"calls":[{"_tool":"work","_instance":"*","_outputPath":"b"}],"output":{"summary":"early"}}`,
		"for some of them only": `{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":{"summary":"early"}}`,
	} {
		s := modeltest.NewScenario(t, modeltest.SummarySchema, modeltest.TwoInstancesContext)
		s.ReplyWith(reply)
		told := describeErrors(s.ExpectRequest())
		if !strings.Contains(told, "output_not_taken: the output given in request 1 was"+why) {
			t.Errorf("%s: the next Request hears %q", name, told)
		}
	}
}

func TestAWiredOutputWhoseCallsFailedIsToBeGivenAgain(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, modeltest.SummarySchema, modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"fail","_instance":"*","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	if told := describeErrors(s.ExpectRequest()); !strings.Contains(told,
		"output_not_taken: the output given in request 1 was not taken, since not all Calls brought their values: "+
			"give it again") {
		t.Errorf("the next Request hears %q", told)
	}
}

// known is a solution of two Calls, one for each of two instances, with an output that says what is known.
func known(first, second string) string {
	return `{"calls":[{"_tool":"` + first + `","_instance":"①","_outputPath":"b"},{"_tool":"` + second +
		`","_instance":"②","_outputPath":"b"}],` +
		`"output":{"law":"Denmark","all":"†state.b"},"finished":true}`
}

func TestAnOutputOfWhatIsKnownCountsOnceItsCallsHaveSucceeded(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(known("work", "slow"))
	expectWait(s, 0)
	s.WantEqual("the output", outputJSON(s), "null")
	completeSlow(s, "1.2@②")
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"all":{"①":"work done","②":"done at last"},"law":"Denmark"}`)
	if n := s.Loop.Result(loop.StatusCompleted, false).RequestCount; n != 1 {
		t.Errorf("%d Requests were made", n)
	}
}

func TestAnOutputOfWhatIsKnownIsGivenAgainWhereACallFailed(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(known("work", "fail"))
	if told := describeErrors(s.ExpectRequest()); !strings.Contains(told,
		"not all Calls brought their values: give it again") {
		t.Errorf("the next Request hears %q", told)
	}
	s.WantEqual("the output", outputJSON(s), "null")
}

// A solution that is run again ends the process as it did before, whoever wrote it; what it says of the end is not
// believed where a Call fails now.
func TestASolutionThatIsRunAgainEndsTheProcessAsTheReplyDid(t *testing.T) {
	t.Parallel()
	const goalless = `{"calls":[{"_tool":"work","_instance":"*","_outputPath":"b"}],"finished":true}`
	for name, c := range map[string]struct {
		schema, solution string
		finished         bool
	}{
		"an output of References": {anything,
			`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"b"}],"output":{"all":"†state.b"}}`, true},
		"an output of what is known": {anything, known("work", "work"), true},
		"one that does not say that it is all": {anything,
			strings.Replace(known("work", "work"), `"finished":true`, `"finished":false`, 1), false},
		"a Call that fails": {anything, known("work", "fail"), false},
		"an instance without a Call": {anything,
			`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":{"all":"†state.b"},"finished":true}`, false},
		"no output and no goal":            {"", goalless, true},
		"no output, no goal, more to come": {"", strings.Replace(goalless, "true", "false", 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenarioWithPeople(t, c.schema, modeltest.TwoInstancesContext)
			text := string(jsonval.Encode(s.Idea.Source))
			i := modeltest.IdeaFrom(t, strings.TrimSuffix(text, "}")+`,"solution":`+c.solution+`}`)
			next := again(s, i, true)
			if step, _ := next.Loop.Advance(next.Now); (step == loop.StepFinished) != c.finished {
				t.Errorf("the process does %s next; its output: %s", step, outputJSON(next))
			}
		})
	}
}

// What the LLM knew of an amended Call is not what happened. References bring what did.
func TestAnOutputOfWhatIsKnownIsGivenAgainWhereAPersonDecidedOtherwise(t *testing.T) {
	t.Parallel()
	for output, finished := range map[string]bool{`{"summary":"paid in full"}`: false, `{"summary":"†state.b"}`: true} {
		s := newScenarioWithPeople(t, modeltest.SummarySchema)
		s.ReplyWith(`{"calls":[{"_tool":"pay","x":"full","_outputPath":"b"}],"output":` + output + `,"finished":true}`)
		expectWait(s, 0)
		s.Decide(policy.Amend, "1.1", `{"params":{"x":"half"}}`)
		s.Decide(policy.Approve, "1.1")
		if step, _ := s.Loop.Advance(s.Now); (step == loop.StepFinished) != finished {
			t.Errorf("with %s it goes on with %q", output, step)
		}
	}
}

func TestAProcessThatBeganBeforeTakesNoOutputOfWhatIsKnown(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.Loop.IsPatched = func(change string) bool { return change != loop.KnownValuesOutputChangeID }
	s.ReplyWith(known("work", "work"))
	s.ExpectRequestFor("① ②")
}

const twoGoals = `"context":[{"type":"state","_instance":"①","state":{},"schema":{"type":"object","required":["b"]}},` +
	`{"type":"state","_instance":"②","state":{},"schema":{"type":"object","required":["b"]}}]`

// An instance that has reached its goal is asked about no more: the output need not be dropped for it.
func TestInstancesSettleWhileAnOutputWaitsForAPerson(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, twoGoals)
	s.ReplyWith(known("work", "pay"))
	expectWait(s, 0)
	s.WantEqual("they are", s.DescribeInstances(), "① settled, ② waiting")
	s.Decide(policy.Approve, "1.2@②")
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("the output", outputJSON(s), `{"all":{"①":"work done","②":"pay done"},"law":"Denmark"}`)
}

func TestAnOutputThatWaitedForAPersonWhoRefusesIsAskedForAtTheEnd(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, twoGoals)
	s.ReplyWith(known("work", "pay"))
	expectWait(s, 0)
	s.Decide(policy.Reject, "1.2@②", `{"reason":"not him"}`)
	s.ExpectRequestFor("②")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b"}]}`)
	if in := s.ExpectRequest(); !in.IsOutputOnly {
		t.Errorf("it asks about %v", in.InstanceTokens())
	}
}
