package loop_test

import (
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// noted finishes ① and ③, where a person does not refuse, and looks something up for ②; the LLM notes what it must know
// of the others.
const noted = `{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"a"},{"_tool":"pay","_instance":"③","_outputPath":"b"}],` +
	`"finished":false,"output":null,"notes":"①, ③ paid"}`

// wantKnown expects a Request about these instances with these notes, and that it may hold an output or not.
func wantKnown(s *modeltest.Scenario, tokens string, known bool, notes ...string) {
	s.T.Helper()
	in := s.ExpectRequestFor(tokens)
	var got []string
	for _, n := range in.Notes {
		got = append(got, n.Text)
	}
	s.WantEqual("the notes", strings.Join(got, "; "), strings.Join(notes, "; "))
	if in.ReplyMayHoldOutput() != known {
		s.T.Errorf("may it hold an output? %t", in.ReplyMayHoldOutput())
	}
	s.WantEqual("what went wrong", describeErrors(in), "")
}

// lookedUp is a process of which ② is to be planned for, ① is finished, and ③ waits for a person.
func lookedUp(t *testing.T, reply string, rest ...string) *modeltest.Scenario {
	t.Helper()
	s := newScenarioWithPeople(t, anything, append([]string{threeGoals}, rest...)...)
	s.ReplyWith(reply)
	return s
}

func TestNotesLetTheOutputComeWithTheLastCalls(t *testing.T) {
	t.Parallel()
	s := lookedUp(t, noted)
	gather(s)
	wantKnown(s, "②", true, "①, ③ paid")
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"c"}],"finished":false,"output":null,"notes":null}`)
	wantKnown(s, "②", true, "①, ③ paid")
	s.ReplyWith(otherwise("work", "②", `{"paid":3}`))
	expectWait(s, 0)
	s.Decide(policy.Approve, "1.3@③")
	wantFinished(s, 3, `{"paid":3}`)
}

func TestNotesAddUp(t *testing.T) {
	t.Parallel()
	s := lookedUp(t, noted)
	gather(s)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b"}],"finished":false,"output":null,"notes":"② paid later"}`)
	expectWait(s, 0)
	s.Decide(policy.Reject, "1.3@③", `{"reason":"not him"}`)
	in := s.ExpectRequestFor("③")
	if len(in.Notes) != 2 || in.Notes[0].Request != 1 || in.Notes[1] != (turn.Note{Request: 2, Text: "② paid later"}) ||
		!in.ReplyMayHoldOutput() {
		t.Errorf("%+v", in)
	}
	s.ReplyWith(otherwise("work", "③", `{"paid":2}`))
	wantFinished(s, 3, `{"paid":2}`)
}

// Where the LLM is not shown all and has not noted all either, it would sum up what it happens to know.
func TestNotesDoNotLetTheOutputComeWhere(t *testing.T) {
	t.Parallel()
	planMore := func(s *modeltest.Scenario) {
		s.ReplyWith(
			`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b"}],"finished":false,"output":null,"notes":null}`)
		expectWait(s, 0)
	}
	for name, c := range map[string]struct {
		happens func(*modeltest.Scenario)
		asked   string
	}{
		"none are kept of an instance that is finished since": {func(s *modeltest.Scenario) {
			gather(s)
			planMore(s)
			s.Decide(policy.Reject, "1.3@③", `{"reason":"not him"}`)
		}, "③"},
		"a person amended the Call of another": {func(s *modeltest.Scenario) {
			s.Decide(policy.Amend, "1.3@③", `{"params":{"x":"half"}}`)
			s.Decide(policy.Approve, "1.3@③")
		}, "②"},
		"somebody told the process more": {func(s *modeltest.Scenario) {
			s.Decide(policy.Approve, "1.3@③")
			s.Revise(`{"context":[{"type":"text","_instance":"②","text":"count the refused ones too"}]}`)
		}, "②"},
		"an instance has joined that runs by itself": {func(s *modeltest.Scenario) {
			s.AddInstances(
				`[{"type":"state","_instance":"④","state":{}},{"type":"plan","_instance":"④","stage":"complete","plan":[{"_tool":"slow","_outputPath":"b"}]}]`)
			s.RunDirectPlans()
			s.Decide(policy.Approve, "1.3@③")
		}, "②"},
	} {
		t.Run(name, func(t *testing.T) {
			s := lookedUp(t, noted)
			c.happens(s)
			gather(s)
			if in := s.ExpectRequestFor(c.asked); in.ReplyMayHoldOutput() || len(in.Notes) == 0 {
				t.Errorf("%+v", in)
			}
		})
	}
}

// Without a goal, nothing tells that the Calls of an instance are its last ones.
func TestNotesSayNothingOfAnInstanceWithoutAGoalThatIsNotShown(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"look"},{"_tool":"slow","_instance":"②","_outputPath":"look"}],"finished":false,"output":null,"notes":"② paid"}`)
	gather(s)
	wantKnown(s, "①", false, "② paid")
}

func TestNotesOfAnInstanceWithoutAGoalThatGetsNoCallAreOfOneThatIsFinished(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"look"}],"finished":false,"output":null,"notes":"② needs nothing"}`)
	wantKnown(s, "①", true, "② needs nothing")
}

// The output that the LLM gives by its notes, while another comes out otherwise, is put right next.
func TestAnOutputByNotesIsPutRightWhereAnotherCameOutOtherwiseMeanwhile(t *testing.T) {
	t.Parallel()
	s := lookedUp(t, noted)
	gather(s)
	s.ExpectRequestFor("②")
	s.Decide(policy.Reject, "1.3@③", `{"reason":"not him"}`)
	s.ReplyWith(otherwise("work", "②", `{"paid":3}`))
	s.WantEqual("the output", outputJSON(s), "null")
	wantDraft(s, "③", `{"paid":3}`)
	s.ReplyWith(otherwise("work", "③", `{"paid":2}`))
	wantFinished(s, 3, `{"paid":2}`)
}

func TestNotesAreShownWhereTheOutputAloneIsWanted(t *testing.T) {
	t.Parallel()
	s := lookedUp(t, strings.Replace(noted, `"_instance":"②","_outputPath":"a"`, `"_instance":"②","_outputPath":"b"`,
		1))
	expectWait(s, 0)
	s.Decide(policy.Approve, "1.3@③")
	if in := s.ExpectRequest(); !in.IsOutputOnly || len(in.Notes) != 1 {
		t.Errorf("%+v", in)
	}
}

// Who says that more is to be planned does not end the process, whatever the output is made of.
func TestAnOutputBesideCallsThatAreNotTheLastIsNotTaken(t *testing.T) {
	t.Parallel()
	for _, output := range []string{`{"all":"†state.b"}`, `{"paid":3}`} {
		s := newScenarioWithPeople(t, anything, modeltest.TwoInstancesContext)
		s.ReplyWith(
			`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"look"}],"output":` + output + `,"finished":false}`)
		in := s.ExpectRequestFor("① ②")
		if told := describeErrors(in); in.DraftOutput != nil ||
			!strings.Contains(told, "not taken: there was more to do") {
			t.Errorf("it is told %q", told)
		}
		s.WantEqual("they are", s.DescribeInstances(), "① working, ② working")
	}
}

func TestNotesThatGrowTooLargeAreDropped(t *testing.T) {
	t.Parallel()
	s := lookedUp(t, strings.Replace(noted, "①, ③ paid", strings.Repeat("x", 33<<10), 1))
	gather(s)
	wantKnown(s, "②", false)
}

func TestAProcessThatBeganBeforeKeepsNoNotes(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, anything, threeGoals)
	s.Loop.IsPatched = func(change string) bool { return change != loop.DraftOutputChangeID }
	s.ReplyWith(noted)
	gather(s)
	wantKnown(s, "②", false)
}

// What the LLM noted of its Plan is not said of the one that a person made of it.
func TestNotesDoNotCountWhereAPersonChangedThePlanThatWaited(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{approval.SteerApprovePlan: "paid", approval.SteerAmendPlan: ""} {
		s := &heldScenario{Scenario: modeltest.NewScenario(t, anything, modeltest.TwoInstancesContext)}
		s.ExpectRequest()
		s.Loop.RequiresPlanReview = true
		s.Loop.ApplyReply(turn.LLMReply{Calls: calls(t, workOne+", "+workTwo), IsComplete: true, SaysUnfinished: true,
			Notes: "paid"})
		if !s.Loop.HoldReplyPlan(s.Now) || !s.decide(t, kind, "ann", workOne) {
			t.Fatal("the Plan does not wait")
		}
		s.handOut(t)
		_, in := s.Loop.Advance(s.Now)
		got := ""
		for _, n := range in.Notes {
			got += n.Text
		}
		if got != want {
			t.Errorf("%s: the notes are %q in %s", kind, got, jsonval.Encode(jsonval.ToJSONValue(in)))
		}
	}
}

// A solution that is run again brings its notes along.
func TestNotesOfASolutionThatIsRunAgainAreItsOwn(t *testing.T) {
	t.Parallel()
	for _, withSolution := range []bool{true, false} {
		s := newScenarioWithPeople(t, anything, threeGoals)
		idea := sealed(s, s.ReplyWith(noted))
		idea.Source["solution"].(map[string]any)["notes"] = "①, ③ paid"
		next := again(s, modeltest.IdeaFrom(t, string(jsonval.Encode(idea.Source))), withSolution)
		if !withSolution {
			wantKnown(next, "① ② ③", true)
			continue
		}
		gather(next)
		wantKnown(next, "②", true, "①, ③ paid")
		next.ReplyWith(otherwise("work", "②", `{"paid":3}`))
		expectWait(next, 0)
		next.Decide(policy.Approve, "1.3@③")
		wantFinished(next, 1, `{"paid":3}`)
	}
}

// An output that is no draft is not shown: what it said of an instance the LLM cannot know.
func TestNotesSayNothingOfWhatAnOutputSaidThatIsNoDraft(t *testing.T) {
	t.Parallel()
	s := lookedUp(t, noted)
	gather(s)
	s.ReplyWith(otherwise("pay", "②", `{"paid":`+string(jsonval.Encode(modeltest.NewBlobHandleValue("string", 80_000)))+
		`}`))
	expectWait(s, 0)
	s.Decide(policy.Reject, "1.3@③", `{"reason":"not him"}`)
	gather(s)
	if in := s.ExpectRequestFor("③"); in.ReplyMayHoldOutput() {
		t.Errorf("%+v", in)
	}
}

func TestAnOutputByNotesThatIsNotTheLastIsNoDraft(t *testing.T) {
	t.Parallel()
	s := lookedUp(t, noted)
	gather(s)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"c"}],"finished":false,"output":{"paid":2},"notes":null}`)
	if in := s.ExpectRequestFor("②"); in.DraftOutput != nil || !strings.Contains(describeErrors(in),
		"not taken") {
		t.Errorf("%+v", in)
	}
}
