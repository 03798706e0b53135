package loop_test

import (
	"testing"
	"time"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

func TestAPausedProcessStartsNothingAndGoesOnWhenResumed(t *testing.T) {
	s := modeltest.NewScenarioWithPeople(t, "", modeltest.ThreeInstances)
	s.ReplyWith(every("pay", "work", "slow"))
	s.Loop.Pause("", "lunch")
	s.WantEqual("why", s.Loop.PauseReason().Error(), "paused: paused by a person: lunch")
	s.AdvanceClock(time.Hour)
	s.ExpectStep(loop.StepPaused)
	s.Decide(ideafile.Approve, "1.1@①")
	s.CompleteSlow("1.3@③")
	s.ExpectStep(loop.StepPaused)
	s.Loop.Resume(ideafile.Limits{})
	s.ExpectRequestFor("① ② ③")
}

func TestThePersonWhoPausesIsNamed(t *testing.T) {
	s := modeltest.NewScenarioWithPeople(t, "")
	s.Loop.Pause("ann", "")
	s.WantEqual("why", s.Loop.PauseReason().Error(), "paused: paused by ann")
}

func TestARequestThatIsUnderWayWhenItIsPausedStillCounts(t *testing.T) {
	s := modeltest.NewScenarioWithPeople(t, "", modeltest.TwoInstances)
	s.ExpectRequest()
	s.Loop.Pause("ann", "")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.WantEqual("they are", s.Statuses(), "① working, ② settled")
	s.ExpectStep(loop.StepPaused)
	s.Loop.Resume(ideafile.Limits{})
	s.ExpectRequestFor("①")
}

func TestAProcessThatIsPausedAtItsEndIsOverOnlyWhenResumed(t *testing.T) {
	s := modeltest.NewScenarioWithPeople(t, "")
	s.ExpectRequest()
	s.Loop.Pause("ann", "")
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectStep(loop.StepPaused)
	s.Loop.Resume(ideafile.Limits{})
	s.ExpectStep(loop.StepFinished)
}

func TestALimitOfRequestsPausesBeforeTheRequestThatWouldBreakIt(t *testing.T) {
	for _, c := range []struct {
		limits, why string
		more        ideafile.Limits
	}{
		{`{"requests": 1}`, "limit_reached: 1 Requests were made, the limit", ideafile.Limits{Requests: 2}},
		{`{"tokens": 110}`, "limit_reached: 110 tokens were used; the limit is 110", ideafile.Limits{Tokens: 111}},
		{`{"calls": 3}`, "limit_reached: 3 Calls were made; the limit is 3", ideafile.Limits{Calls: 4}},
	} {
		s := modeltest.NewScenarioWithPeople(t, "", modeltest.ThreeInstances, `"config": {"limits": `+c.limits+`}`)
		s.ReplyWith(every("work", "fail", "work"))
		s.ExpectStep(loop.StepPaused)
		s.WantEqual(c.limits, s.Loop.PauseReason().Error(), c.why)
		s.Loop.Resume(ideafile.Limits{})
		s.ExpectStep(loop.StepPaused)
		s.Loop.Resume(c.more)
		s.ExpectRequestFor("① ② ③")
	}
}

func TestALimitDoesNotPauseWhileThereIsNothingToAsk(t *testing.T) {
	s := modeltest.NewScenarioWithPeople(t, "", `"config": {"limits": {"requests": 1}}`)
	s.ReplyWith(`{"calls":[{"_tool":"pay","_outputPath":"b"}],"output":null}`)
	s.ExpectWait(0)
	s.Decide(ideafile.Approve, "1.1")
	s.ExpectStep(loop.StepPaused)
}

func TestAProcessThatHasRunForTooLongIsPausedOnTime(t *testing.T) {
	s := modeltest.NewScenarioWithPeople(t, "", modeltest.ThreeInstances, `"config": {"limits": {"duration": "1m"}}`)
	s.ReplyWith(every("pay", "pay", "pay"))
	s.ExpectWait(time.Minute)
	s.AdvanceClock(55 * time.Second)
	s.Decide(ideafile.Approve, "1.1@①")
	s.ExpectWait(5 * time.Second) // sooner than the gathering time
	s.AdvanceClock(5*time.Second - 1)
	s.ExpectWait(1)
	s.AdvanceClock(1)
	s.ExpectStep(loop.StepPaused)
	s.WantEqual("why", s.Loop.PauseReason().Error(), "limit_reached: the process has run for 1m0s, the limit")
	s.Loop.Resume(ideafile.Limits{})
	s.ExpectStep(loop.StepPaused)
	s.Loop.Resume(ideafile.Limits{Duration: time.Hour})
	s.ExpectWait(5 * time.Second)
	s.AdvanceClock(5 * time.Second)
	s.ExpectRequestFor("①")
}

func TestTheGatheringTimeIsWokenForWhereItEndsBeforeTheLimit(t *testing.T) {
	s := modeltest.NewScenarioWithPeople(t, "", modeltest.ThreeInstances, `"config": {"limits": {"duration": "1m"}}`)
	s.ReplyWith(every("work", "slow", "work"))
	s.ExpectWait(ideafile.DefaultGatherDelay)
	s.AdvanceClock(ideafile.DefaultGatherDelay)
	s.ExpectRequestFor("① ③")
}

func TestNobodyDecidedInTimeAndTheProcessIsPaused(t *testing.T) {
	s := modeltest.NewScenarioWithPeople(t, "", modeltest.TwoInstances)
	s.ReplyWith(`{"calls":[{"_tool":"due","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.AdvanceClock(time.Hour)
	for _, token := range []string{"①", "②"} {
		s.Instances[token].SetTime(s.Now)
		s.Instances[token].ApplyDeadlines()
		s.Advance(token)
	}
	s.ExpectStep(loop.StepPaused)
	s.WantEqual("the first is told", s.Loop.PauseReason().Error(), "approval_overdue: nobody decided on 1.1@① within 1h0m0s")
	s.Loop.Resume(ideafile.Limits{})
	s.ExpectWait(0)
	s.WantEqual("they wait on", s.Standings(), "① waiting, ② waiting")
	s.Decide(ideafile.Approve, "1.1@①")
	s.Decide(ideafile.Approve, "1.1@②")
	s.ExpectRequestFor("① ②")
}
