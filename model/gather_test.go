package model

import (
	"testing"
	"time"
)

// every is a solution that gives each of three instances one Call of a Tool.
func every(first, second, third string) string {
	return `{"calls":[{"_tool":"` + first + `","_instance":"①","_outputPath":"b"},{"_tool":"` + second + `","_instance":"②","_outputPath":"b"},` +
		`{"_tool":"` + third + `","_instance":"③","_outputPath":"b"}],"output":null}`
}

func TestARequestStartsAtOnceWhereNobodyElseHasACallRunning(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.asksAbout("① ② ③")
	s.says(every("work", "work", "work"))
	s.asksAbout("① ② ③")
}

func TestARequestIsNotHeldByInstancesThatWaitForAPerson(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(every("work", "pay", "work"))
	s.asksAbout("① ③")
}

func TestARequestWaitsForARunningCallNoLongerThanTheGatheringTime(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(every("work", "slow", "work"))
	s.waitsFor(DefaultGather)
	s.later(DefaultGather - 1)
	s.waitsFor(1)
	s.later(1)
	s.asksAbout("① ③")
}

func TestTheGatheringTimeIsTheFilesAndBeginsWithTheFirst(t *testing.T) {
	s := withPeople(t, "", threeInstances, `"config": {"gather": "5s"}`)
	s.says(every("work", "slow", "slow"))
	s.waitsFor(5 * time.Second)
	s.later(3 * time.Second)
	s.done("1.2@②")
	s.waitsFor(2 * time.Second)
	s.later(2 * time.Second)
	s.asksAbout("① ②")
	s.says(noCalls)
	s.done("1.3@③")
	s.asksAbout("③")
}

func TestARequestStartsWhenTheLastRunningCallHasEnded(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(every("work", "slow", "slow"))
	s.waitsFor(DefaultGather)
	s.later(time.Second)
	s.fails("1.2@②")
	s.done("1.3@③")
	s.asksAbout("① ② ③")
}

func TestEveryRequestIsGatheredForAnew(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(every("work", "slow", "work"))
	s.waitsFor(DefaultGather)
	s.later(DefaultGather)
	s.says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`)
	s.waitsFor(DefaultGather)
}

func TestWhoComesBackFromADecisionIsGatheredWhileOthersStillWaitForOne(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(every("pay", "pay", "pay"))
	s.waitsFor(0)
	s.decide(Approve, "1.1@①")
	s.waitsFor(DefaultGather)
	s.later(4 * time.Second)
	s.decide(Reject, "1.2@②", `{"reason":"no"}`)
	s.waitsFor(DefaultGather - 4*time.Second)
	s.later(DefaultGather - 4*time.Second)
	s.asksAbout("① ②")
}

func TestWhenTheLastOneIsDecidedTheRequestStartsAtOnce(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(every("pay", "pay", "pay"))
	s.decide(Approve, "1.1@①")
	s.waitsFor(DefaultGather)
	s.decide(Answer, "1.2@②", `{"output":1}`)
	s.waitsFor(DefaultGather)
	s.decide(Approve, "1.3@③")
	s.asksAbout("① ② ③")
}

func TestWhoDoesNotComeBackFromADecisionIsNotHeldByPeople(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(every("pay", "pay", "slow"))
	s.decide(Approve, "1.1@①")
	s.waitsFor(DefaultGather)
	s.done("1.3@③")
	s.asksAbout("① ③")
}

func TestOnceAskedAboutAnInstanceDoesNotComeBackFromItsDecisionAgain(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(every("pay", "pay", "work"))
	s.says(`{"calls":[],"output":null}`) // ③ settles
	s.decide(Approve, "1.1@①")
	s.waitsFor(DefaultGather)
	s.later(DefaultGather)
	s.says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"c"}],"output":null}`)
	s.asksAbout("①")
}

func TestAnInstanceWithTwoCallsToDecideWaitsForBoth(t *testing.T) {
	s := withPeople(t, "")
	s.says(`{"calls":[{"_tool":"pay","_outputPath":"b"},{"_tool":"pay","_outputPath":"c"}],"output":null}`)
	s.decide(Approve, "1.1")
	s.waitsFor(0)
	s.want("it", s.standings(), "waiting")
	s.decide(Approve, "1.2")
	s.asks()
	s.want("it", s.standings(), "working")
}

func TestAnInstanceWhoseApprovedCallRunsIsRunning(t *testing.T) {
	s := withPeople(t, "", threeInstances, `"config": {"approval": {"tools": ["slow"]}}`)
	s.says(every("slow", "slow", "work"))
	s.want("they are", s.standings(), "① waiting, ② waiting, ③ working")
	s.decide(Approve, "1.1@①")
	s.want("they are", s.standings(), "① working, ② waiting, ③ working")
	s.waitsFor(DefaultGather)
	s.done("1.1@①")
	s.asksAbout("① ③")
}

func TestWhoWaitsForAPersonIsNeitherCoveredNorSettledByARequestForOthers(t *testing.T) {
	s := withPeople(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"pay","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
	s.asksAbout("②")
	s.says(noCalls)
	s.want("they are", s.standings(), "① waiting, ② settled")
	s.waitsFor(0)
	s.decide(Reject, "1.1@①", `{"reason":"no"}`)
	s.asksAbout("①")
	s.says(noCalls)
	s.want("they are", s.standings(), "① settled, ② settled")
	s.expect(StepOver)
}

func TestAnAddedInstanceIsCoveredByTheNextRequest(t *testing.T) {
	s := withPeople(t, "", twoInstances)
	s.asks()
	s.add(`[{"type":"state","_instance":"③","state":{"a":3}}]`)
	s.says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.want("who is new has not settled", s.statuses(), "① working, ② settled, ③ working")
	s.asksAbout("① ③")
}

func TestAnAddedInstanceIsAskedAboutAtOnceWhereTheOthersWaitForPeople(t *testing.T) {
	s := withPeople(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"pay","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.waitsFor(0)
	s.add(`[{"type":"state","_instance":"③","state":{"a":3}}]`)
	s.asksAbout("③")
}
