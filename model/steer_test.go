package model

import (
	"testing"
	"time"
)

func TestAPausedProcessStartsNothingAndGoesOnWhenResumed(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(every("pay", "work", "slow"))
	s.mind.Pause("", "lunch")
	s.want("why", s.mind.Paused().Error(), "paused: paused by a person: lunch")
	s.later(time.Hour)
	s.expect(StepPaused)
	s.decide(Approve, "1.1@①")
	s.done("1.3@③")
	s.expect(StepPaused)
	s.mind.Resume(Limits{})
	s.asksAbout("① ② ③")
}

func TestThePersonWhoPausesIsNamed(t *testing.T) {
	s := withPeople(t, "")
	s.mind.Pause("ann", "")
	s.want("why", s.mind.Paused().Error(), "paused: paused by ann")
}

func TestARequestThatIsUnderWayWhenItIsPausedStillCounts(t *testing.T) {
	s := withPeople(t, "", twoInstances)
	s.asks()
	s.mind.Pause("ann", "")
	s.says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.want("they are", s.statuses(), "① working, ② settled")
	s.expect(StepPaused)
	s.mind.Resume(Limits{})
	s.asksAbout("①")
}

func TestAProcessThatIsPausedAtItsEndIsOverOnlyWhenResumed(t *testing.T) {
	s := withPeople(t, "")
	s.asks()
	s.mind.Pause("ann", "")
	s.says(noCalls)
	s.expect(StepPaused)
	s.mind.Resume(Limits{})
	s.expect(StepOver)
}

func TestALimitOfRequestsPausesBeforeTheRequestThatWouldBreakIt(t *testing.T) {
	for _, c := range []struct {
		limits, why string
		more        Limits
	}{
		{`{"requests": 1}`, "limit_reached: 1 Requests were made, the limit", Limits{Requests: 2}},
		{`{"tokens": 110}`, "limit_reached: 110 tokens were used; the limit is 110", Limits{Tokens: 111}},
		{`{"calls": 3}`, "limit_reached: 3 Calls were made; the limit is 3", Limits{Calls: 4}},
	} {
		s := withPeople(t, "", threeInstances, `"config": {"limits": `+c.limits+`}`)
		s.says(every("work", "fail", "work"))
		s.expect(StepPaused)
		s.want(c.limits, s.mind.Paused().Error(), c.why)
		s.mind.Resume(Limits{})
		s.expect(StepPaused)
		s.mind.Resume(c.more)
		s.asksAbout("① ② ③")
	}
}

func TestALimitDoesNotPauseWhileThereIsNothingToAsk(t *testing.T) {
	s := withPeople(t, "", `"config": {"limits": {"requests": 1}}`)
	s.says(`{"calls":[{"_tool":"pay","_outputPath":"b"}],"output":null}`)
	s.waitsFor(0)
	s.decide(Approve, "1.1")
	s.expect(StepPaused)
}

func TestAProcessThatHasRunForTooLongIsPausedOnTime(t *testing.T) {
	s := withPeople(t, "", threeInstances, `"config": {"limits": {"duration": "1m"}}`)
	s.says(every("pay", "pay", "pay"))
	s.waitsFor(time.Minute)
	s.later(55 * time.Second)
	s.decide(Approve, "1.1@①")
	s.waitsFor(5 * time.Second) // sooner than the gathering time
	s.later(5*time.Second - 1)
	s.waitsFor(1)
	s.later(1)
	s.expect(StepPaused)
	s.want("why", s.mind.Paused().Error(), "limit_reached: the process has run for 1m0s, the limit")
	s.mind.Resume(Limits{})
	s.expect(StepPaused)
	s.mind.Resume(Limits{Duration: time.Hour})
	s.waitsFor(5 * time.Second)
	s.later(5 * time.Second)
	s.asksAbout("①")
}

func TestTheGatheringTimeIsWokenForWhereItEndsBeforeTheLimit(t *testing.T) {
	s := withPeople(t, "", threeInstances, `"config": {"limits": {"duration": "1m"}}`)
	s.says(every("work", "slow", "work"))
	s.waitsFor(DefaultGather)
	s.later(DefaultGather)
	s.asksAbout("① ③")
}

func TestNobodyDecidedInTimeAndTheProcessIsPaused(t *testing.T) {
	s := withPeople(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"due","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.later(time.Hour)
	for _, token := range []string{"①", "②"} {
		s.runs[token].At(s.now)
		s.runs[token].Expire()
		s.goesOn(token)
	}
	s.expect(StepPaused)
	s.want("the first is told", s.mind.Paused().Error(), "approval_overdue: nobody decided on 1.1@① within 1h0m0s")
	s.mind.Resume(Limits{})
	s.waitsFor(0)
	s.want("they wait on", s.standings(), "① waiting, ② waiting")
	s.decide(Approve, "1.1@①")
	s.decide(Approve, "1.1@②")
	s.asksAbout("① ②")
}
