package loop_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// askedAgain is a process of one instance that has reached its goal, and whose only answer is asked for again.
func askedAgain(t *testing.T, config string) (s *modeltest.Scenario, again *turn.RequestInput) {
	t.Helper()
	s = modeltest.NewScenario(t, "", `"config": {`+config+`}, "context": [{"type": "state", "state": {}}]`)
	s.ExpectRequest()
	reply := s.DeliverCalls(nil)
	reply.IsComplete = true
	s.Loop.ApplyReply(reply)
	again = s.Loop.StartRecheck()
	s.Loop.ConcludeRequest()
	return s, again
}

// A reply that breaks off is not asked for twice: the Calls that waited for that are lost, and the LLM is told so.
func TestTheLLMIsToldOfCallsThatWaitedForASecondAnswerAndWereLost(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", `"config": {"quality": {"recheck": 0.5, "before": true}}, `+modeltest.TwoInstancesContext)
	s.UnreachedInstanceTokens = s.ExpectRequest().TokensHeldForRecheck
	s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeTruncated, "cut")},
		`{"_tool":"work","_instance":"①","x":"1","_outputPath":"mood"}`, `{"_tool":"work","_instance":"②","x":"2","_outputPath":"mood"}`)
	for _, e := range s.ExpectRequest().Errors {
		want := "request 1 was cut off: cut; the Call that had come was taken"
		if slices.Equal(e.InstanceTokens, s.UnreachedInstanceTokens) {
			want = "request 1 was cut off: cut; no Call of it was taken for these but those that are shown"
		}
		s.WantEqual(fmt.Sprint(e.InstanceTokens), e.Fault.Message, want)
	}
	s.WantEqual("held, and told", fmt.Sprint(len(s.UnreachedInstanceTokens), len(s.RequestInput.Errors)), "1 2")
}

// A Call that waits for a second answer has not begun: a fork of an Idea that is sealed meanwhile need not fear that it
// runs twice.
func TestAnIdeaSaysOfACallThatWaitsForASecondAnswerThatItHasNotBegun(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]ideafile.CallStatus{"true": ideafile.CallWaiting,
		"false": ideafile.CallRunning} {
		s := modeltest.NewScenario(t, "", `"config": {"quality": {"recheck": 1, "before": `+before+`}}, `+modeltest.TwoInstancesContext)
		s.UnreachedInstanceTokens = []string{"①", "②"} // held, or on the way
		s.ExpectRequest()
		reply := s.DeliverCalls([]any{modeltest.DecodeJSON(t, `{"_tool":"work","_instance":"*","x":"1","_outputPath":"mood"}`)})
		reply.IsComplete = true
		s.Loop.ApplyReply(reply)
		s.Loop.StartRecheck()
		s.Loop.ConcludeRequest()
		got := s.Loop.AllInstancesInput().PlanEntries
		if len(got) != 1 || got[0].CountByStatus[want] != 2 {
			t.Errorf("before %s: %+v", before, got)
		}
	}
}

// Nobody asks the LLM again in a fork about a Call that waited for its second answer, or whose two answers differ: a
// person decides there, and in the fork of that fork.
func TestAForkAsksAPersonAboutACallThatWaitedForASecondAnswerOrHasTwo(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", `"config": {"quality": {"recheck": 1, "before": true}}, `+modeltest.TwoInstancesContext)
	s.UnreachedInstanceTokens = []string{"①", "②"} // held
	s.ExpectRequest()
	reply := s.DeliverCalls([]any{modeltest.DecodeJSON(t, `{"_tool":"slow","_instance":"*","_outputPath":"later"}`),
		modeltest.DecodeJSON(t, `{"_tool":"work","_instance":"*","x":"†state.later","_outputPath":"mood"}`)})
	reply.IsComplete = true
	s.Loop.ApplyReply(reply)
	recheck := s.Loop.StartRecheck()
	s.Loop.ConcludeRequest()

	// wantAsked fails the test unless a fork, and its fork, ask a person before each Call of an instance runs.
	wantAsked := func(when, token, because string, approved ...string) {
		t.Helper()
		origin := s
		for n := range 2 {
			fork := again(s, modeltest.SnapshotAndReparse(t, s.Idea, origin.Loop.AllInstancesInput(), nil, nil), false)
			origin = fork
			if n == 0 {
				continue // it stands as it began when it is forked
			}
			for _, id := range []string{"1.1@" + token, "1.2@" + token} {
				p := fork.InstanceByToken[token].PendingApprovals()
				if asks := len(p) == 1 && p[0].CallID == id && strings.Contains(p[0].ReviewReason, because); !asks &&
					!slices.Contains(approved, id) {
					t.Errorf("%s, a fork asks about %s: %+v", when, id, p)
				}
				if len(p) == 1 {
					fork.Decide(policy.Approve, id)
				}
				if strings.HasPrefix(id, "1.1") {
					completeSlow(fork, id)
				}
			}
			s.WantEqual(when+", a fork runs it then", string(fork.InstanceByToken[token].FindCall("1.2@"+token).Status),
				"done")
		}
	}
	wantAsked("asked again", "①", "had not answered")
	list := s.Loop.ApplyRecheck(recheck, turn.LLMReply{Comparisons: []turn.AnswerComparison{
		{InstanceToken: "①", InstancePositionInPrompt: 1, HasDiffered: true},
		{InstanceToken: "②", InstancePositionInPrompt: 2}}})
	wantAsked("sent", "①", "decided otherwise")
	handOut(s, list)
	wantAsked("shown", "①", "decided otherwise")
	s.Decide(policy.Approve, "1.1@①")
	wantAsked("waiting for what it reads", "①", "decided otherwise", "1.1@①")
	completeSlow(s, "1.1@①")
	s.WantEqual("the process itself asks, too", string(s.InstanceByToken["①"].FindCall("1.2@①").Status),
		"awaiting-approval")
	s.WantEqual("nobody is asked where the answers are the same",
		string(s.InstanceByToken["②"].FindCall("1.1@②").Status),
		"running")
}

// Whoever resumes a process that they had paused has not seen that the answers differ.
func TestDisagreementPausesAProcessThatAPersonHadPausedMeanwhile(t *testing.T) {
	t.Parallel()
	s, again := askedAgain(t, `"quality": {"recheck": 1, "limit": 0.02, "onLimit": "pause"}`)
	s.Loop.Pause("ann", "")
	s.Loop.ApplyRecheck(again,
		turn.LLMReply{Comparisons: slices.Repeat([]turn.AnswerComparison{{InstancePositionInPrompt: 1,
			HasDiffered: true}}, 30)})
	for _, want := range []string{turn.CodePaused, turn.CodeDisagreement} {
		if step, _ := s.Loop.Advance(s.Now); step != loop.StepPaused || s.Loop.PauseReason.Code != want {
			t.Errorf("it is to %s, paused by %v", step, s.Loop.PauseReason)
		}
		s.Loop.Resume(ideafile.Limits{})
	}
	s.ExpectStep(loop.StepFinished)
}

// A process that waits for nothing but a second answer is not stopped by the limit of its time.
func TestNoLimitOfTimeStopsAProcessThatIsOnlyAskedAgain(t *testing.T) {
	t.Parallel()
	s, again := askedAgain(t, `"quality": {"recheck": 1}, "limits": {"duration": "1m"}`)
	for range 2 {
		if step, _ := s.Loop.Advance(s.Now); step != loop.StepWait || !s.Loop.IsAtRest(s.Now) {
			t.Errorf("it is to %s, paused by %v", step, s.Loop.PauseReason)
		}
		s.AdvanceClock(2 * time.Minute)
	}
	s.Loop.ApplyRecheck(again, turn.LLMReply{})
	if step, _ := s.Loop.Advance(s.Now); step != loop.StepFinished || s.Loop.QualityReport().FailedCount != 1 {
		t.Errorf("it is to %s, with %+v", step, s.Loop.QualityReport())
	}
}

// A process draws its share of each Request, and a part all of a Request or nothing.
func TestAPartAsksAgainAboutAllOfARequestOrNothing(t *testing.T) {
	t.Parallel()
	for isPart, want := range map[bool]map[int]bool{false: {2: true}, true: {0: true, 4: true}} {
		got := map[int]bool{}
		for part := range 6 {
			idea := modeltest.IdeaFrom(t, fmt.Sprintf(`{"meta": {"seed": "s/%d"}, "schema": {"tools": {`+modeltest.ScenarioToolsJSON+`}},
				"config": {"quality": {"recheck": 0.5, "before": true}}, "context": [{"type": "state", "_instance": "1", "a": 1},
				{"type": "state", "_instance": "2", "a": 2}, {"type": "state", "_instance": "3", "a": 3},
				{"type": "state", "_instance": "4", "a": 4}]}`, part))
			got[len(modeltest.NewScenarioFromIdea(t, idea, isPart).ExpectRequest().TokensHeldForRecheck)] = true
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("as a part: %v, so many are drawn: %v", isPart, got)
		}
	}
}
