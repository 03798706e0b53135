package loop_test

import (
	"testing"
	"time"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

func TestAPausedProcessStartsNothingAndGoesOnWhenResumed(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(every("pay", "work", "slow"))
	s.Mind.Pause("", "lunch")
	s.Want("why", s.Mind.Paused().Error(), "paused: paused by a person: lunch")
	s.Later(time.Hour)
	s.Expect(loop.StepPaused)
	s.Decide(ideafile.Approve, "1.1@①")
	s.Done("1.3@③")
	s.Expect(loop.StepPaused)
	s.Mind.Resume(ideafile.Limits{})
	s.AsksAbout("① ② ③")
}

func TestThePersonWhoPausesIsNamed(t *testing.T) {
	s := modeltest.WithPeople(t, "")
	s.Mind.Pause("ann", "")
	s.Want("why", s.Mind.Paused().Error(), "paused: paused by ann")
}

func TestARequestThatIsUnderWayWhenItIsPausedStillCounts(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.TwoInstances)
	s.Asks()
	s.Mind.Pause("ann", "")
	s.Says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.Want("they are", s.Statuses(), "① working, ② settled")
	s.Expect(loop.StepPaused)
	s.Mind.Resume(ideafile.Limits{})
	s.AsksAbout("①")
}

func TestAProcessThatIsPausedAtItsEndIsOverOnlyWhenResumed(t *testing.T) {
	s := modeltest.WithPeople(t, "")
	s.Asks()
	s.Mind.Pause("ann", "")
	s.Says(modeltest.NoCalls)
	s.Expect(loop.StepPaused)
	s.Mind.Resume(ideafile.Limits{})
	s.Expect(loop.StepOver)
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
		s := modeltest.WithPeople(t, "", modeltest.ThreeInstances, `"config": {"limits": `+c.limits+`}`)
		s.Says(every("work", "fail", "work"))
		s.Expect(loop.StepPaused)
		s.Want(c.limits, s.Mind.Paused().Error(), c.why)
		s.Mind.Resume(ideafile.Limits{})
		s.Expect(loop.StepPaused)
		s.Mind.Resume(c.more)
		s.AsksAbout("① ② ③")
	}
}

func TestALimitDoesNotPauseWhileThereIsNothingToAsk(t *testing.T) {
	s := modeltest.WithPeople(t, "", `"config": {"limits": {"requests": 1}}`)
	s.Says(`{"calls":[{"_tool":"pay","_outputPath":"b"}],"output":null}`)
	s.WaitsFor(0)
	s.Decide(ideafile.Approve, "1.1")
	s.Expect(loop.StepPaused)
}

func TestAProcessThatHasRunForTooLongIsPausedOnTime(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances, `"config": {"limits": {"duration": "1m"}}`)
	s.Says(every("pay", "pay", "pay"))
	s.WaitsFor(time.Minute)
	s.Later(55 * time.Second)
	s.Decide(ideafile.Approve, "1.1@①")
	s.WaitsFor(5 * time.Second) // sooner than the gathering time
	s.Later(5*time.Second - 1)
	s.WaitsFor(1)
	s.Later(1)
	s.Expect(loop.StepPaused)
	s.Want("why", s.Mind.Paused().Error(), "limit_reached: the process has run for 1m0s, the limit")
	s.Mind.Resume(ideafile.Limits{})
	s.Expect(loop.StepPaused)
	s.Mind.Resume(ideafile.Limits{Duration: time.Hour})
	s.WaitsFor(5 * time.Second)
	s.Later(5 * time.Second)
	s.AsksAbout("①")
}

func TestTheGatheringTimeIsWokenForWhereItEndsBeforeTheLimit(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances, `"config": {"limits": {"duration": "1m"}}`)
	s.Says(every("work", "slow", "work"))
	s.WaitsFor(ideafile.DefaultGather)
	s.Later(ideafile.DefaultGather)
	s.AsksAbout("① ③")
}

func TestNobodyDecidedInTimeAndTheProcessIsPaused(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"due","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.Later(time.Hour)
	for _, token := range []string{"①", "②"} {
		s.Runs[token].At(s.Now)
		s.Runs[token].Expire()
		s.GoesOn(token)
	}
	s.Expect(loop.StepPaused)
	s.Want("the first is told", s.Mind.Paused().Error(), "approval_overdue: nobody decided on 1.1@① within 1h0m0s")
	s.Mind.Resume(ideafile.Limits{})
	s.WaitsFor(0)
	s.Want("they wait on", s.Standings(), "① waiting, ② waiting")
	s.Decide(ideafile.Approve, "1.1@①")
	s.Decide(ideafile.Approve, "1.1@②")
	s.AsksAbout("① ②")
}
