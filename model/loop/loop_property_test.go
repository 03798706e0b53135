package loop_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// settledByPlan reports whether an instance was run by a Plan that needs no Request.
func settledByPlan(m *loop.Loop, token string) bool {
	for _, c := range m.CarryIntoNextRun().Instances {
		if c.Token == token {
			return c.DirectPlanPosition > 0 && !c.HasFallenBackToLLM
		}
	}
	return false
}

// failedForGood returns a Call of an instance's last Plan that came to nothing, although State has no value where it
// was to bring one.
func failedForGood(s *modeltest.Scenario, m *loop.InstanceProgress) string {
	for _, rec := range s.InstanceByToken[m.Token].CallRecords() {
		if rec.Request != m.LastPlanningRequest || !rec.Status.IsFinal() || rec.Status == ideafile.CallDone ||
			rec.Status == ideafile.CallSkipped {
			continue
		}
		// As written: of a Call that was never accepted, its record has no output path.
		call, known := s.Idea.OutputMetaOf(rec.WrittenCall)
		there := known && len(call.OutputPath) > 0 && call.OutputMethod == ""
		for _, p := range call.OutputPath.Paths() {
			_, ok := refexpr.ValueOrBlobHandleAt(s.InstanceByToken[m.Token].State(), p)
			there = there && ok && len(p) > 0
		}
		if !there {
			return rec.ID
		}
	}
	return ""
}

func TestAnyProcessKeepsTheRules(t *testing.T) {
	t.Parallel()
	ended, failed := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		gone := map[string]bool{}
		number := 0
		s := modeltest.RunRandomProcess(rt, func(s *modeltest.Scenario, c *loop.RequestConclusion) {
			if number++; c.RequestNumber != number {
				rt.Fatalf("Request %d has the number %d", number, c.RequestNumber)
			}
			for _, covered := range c.Instances {
				if gone[covered.Token] && !c.IsOutputOnly {
					rt.Fatalf("%s has ended and is sent again", covered.Token)
				}
			}
			for _, m := range s.EndedInstances {
				late := s.Idea.Config.SettleInstancesTogether // it may have settled by an earlier one
				lastReply := m.SaysFinishedRequest > 0 && m.SaysFinishedRequest == m.LastPlanningRequest
				if reachedGoal := (m.HasGoal || lastReply) && len(m.MissingRequiredPaths) == 0; !reachedGoal && !late &&
					!settledByPlan(s.Loop, m.Token) && !c.Reply.IsComplete {
					rt.Fatalf("%s ended by a Request that broke off", m.Token)
				}
				if gone[m.Token] {
					rt.Fatalf("%s ends twice", m.Token)
				}
				if why := failedForGood(s, m); why != "" && !late && !settledByPlan(s.Loop, m.Token) &&
					m.Status == ideafile.InstanceSettled && !slices.Contains(c.Reply.InstanceTokensWithoutCalls,
					m.Token) {
					rt.Fatalf("%s settled and nobody was told of %s", m.Token, why)
				}
				gone[m.Token] = true
			}
		})
		counts := turn.CallCounts{}
		for _, m := range s.Loop.Instances {
			run := s.InstanceByToken[m.Token]
			if got, want := modeltest.StateJSON(s.Loop, m.Token), string(jsonval.Encode(run.State())); got != want {
				rt.Fatalf("the process knows %s of %s, which has %s", got, m.Token, want)
			}
			if m.Status == ideafile.InstanceSettled && len(run.MissingRequiredPaths()) > 0 {
				rt.Fatalf("%s has settled and lacks %v", m.Token, run.MissingRequiredPaths())
			}
			for _, rec := range run.CallRecords() {
				counts.Increment(rec.Status)
			}
		}
		counts.Failed += s.Loop.CarryIntoNextRun().UnassignedCallCount
		if got := s.Loop.CallCounts(); got != counts {
			rt.Fatalf("counted %+v, and there are %+v", got, counts)
		}
		switch step, _ := s.Loop.Advance(s.Now); step {
		case loop.StepFinished:
			if ended++; s.Loop.FinalStatus() == loop.StatusFailed {
				failed++
			}
			if s.Idea.OutputSchema != nil && s.Loop.FinalStatus() == loop.StatusCompleted && s.Loop.Output == nil {
				rt.Fatalf("it is complete and has no output")
			}
		case loop.StepPaused:
			if f := s.Loop.PauseReason; f == nil || f.Message == "" {
				rt.Fatalf("it is paused and does not say why")
			}
		}
	})
	if !testing.Short() && (ended == 0 || failed == 0) {
		t.Errorf("%d processes ended, %d failed: the test tests too little", ended, failed)
	}
}

// Whatever happened in a process, each of its Ideas is a file from which another begins at the same States.
func TestAnyIdeaOfAProcessBeginsAnother(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		modeltest.RunRandomProcess(rt, func(s *modeltest.Scenario, c *loop.RequestConclusion) {
			again := modeltest.SnapshotAndReparse(rt, s.Idea, c.AllInstancesInput, c.Calls, c.Reply.Output)
			if got, want := fmt.Sprint(again.InstanceTokens()), fmt.Sprint(s.Idea.InstanceTokens()); got != want {
				rt.Fatalf("%s instead of %s", got, want)
			}
			mind := loop.New(again, "q", s.Bindings, modeltest.StartTime)
			for n, m := range mind.Instances {
				if got, want := modeltest.StateJSON(mind, m.Token),
					string(jsonval.Encode(c.AllInstancesInput.Instances[n].State)); got != want {
					rt.Fatalf("%s begins at %s instead of %s", m.Token, got, want)
				}
			}
		})
	})
}
