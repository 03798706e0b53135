package loop_test

import (
	"testing"
	"time"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

// every is a solution that gives each of three instances one Call of a Tool.
func every(first, second, third string) string {
	return `{"calls":[{"_tool":"` + first + `","_instance":"①","_outputPath":"b"},{"_tool":"` + second + `","_instance":"②","_outputPath":"b"},` +
		`{"_tool":"` + third + `","_instance":"③","_outputPath":"b"}],"output":null}`
}

func TestARequestStartsAtOnceWhereNobodyElseHasACallRunning(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.AsksAbout("① ② ③")
	s.Says(every("work", "work", "work"))
	s.AsksAbout("① ② ③")
}

func TestARequestIsNotHeldByInstancesThatWaitForAPerson(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(every("work", "pay", "work"))
	s.AsksAbout("① ③")
}

func TestARequestWaitsForARunningCallNoLongerThanTheGatheringTime(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(every("work", "slow", "work"))
	s.WaitsFor(ideafile.DefaultGather)
	s.Later(ideafile.DefaultGather - 1)
	s.WaitsFor(1)
	s.Later(1)
	s.AsksAbout("① ③")
}

func TestTheGatheringTimeIsTheFilesAndBeginsWithTheFirst(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances, `"config": {"gather": "5s"}`)
	s.Says(every("work", "slow", "slow"))
	s.WaitsFor(5 * time.Second)
	s.Later(3 * time.Second)
	s.Done("1.2@②")
	s.WaitsFor(2 * time.Second)
	s.Later(2 * time.Second)
	s.AsksAbout("① ②")
	s.Says(modeltest.NoCalls)
	s.Done("1.3@③")
	s.AsksAbout("③")
}

func TestARequestStartsWhenTheLastRunningCallHasEnded(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(every("work", "slow", "slow"))
	s.WaitsFor(ideafile.DefaultGather)
	s.Later(time.Second)
	s.Fails("1.2@②")
	s.Done("1.3@③")
	s.AsksAbout("① ② ③")
}

func TestEveryRequestIsGatheredForAnew(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(every("work", "slow", "work"))
	s.WaitsFor(ideafile.DefaultGather)
	s.Later(ideafile.DefaultGather)
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`)
	s.WaitsFor(ideafile.DefaultGather)
}

func TestWhoComesBackFromADecisionIsGatheredWhileOthersStillWaitForOne(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(every("pay", "pay", "pay"))
	s.WaitsFor(0)
	s.Decide(ideafile.Approve, "1.1@①")
	s.WaitsFor(ideafile.DefaultGather)
	s.Later(4 * time.Second)
	s.Decide(ideafile.Reject, "1.2@②", `{"reason":"no"}`)
	s.WaitsFor(ideafile.DefaultGather - 4*time.Second)
	s.Later(ideafile.DefaultGather - 4*time.Second)
	s.AsksAbout("① ②")
}

func TestWhenTheLastOneIsDecidedTheRequestStartsAtOnce(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(every("pay", "pay", "pay"))
	s.Decide(ideafile.Approve, "1.1@①")
	s.WaitsFor(ideafile.DefaultGather)
	s.Decide(ideafile.Answer, "1.2@②", `{"output":1}`)
	s.WaitsFor(ideafile.DefaultGather)
	s.Decide(ideafile.Approve, "1.3@③")
	s.AsksAbout("① ② ③")
}

func TestWhoDoesNotComeBackFromADecisionIsNotHeldByPeople(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(every("pay", "pay", "slow"))
	s.Decide(ideafile.Approve, "1.1@①")
	s.WaitsFor(ideafile.DefaultGather)
	s.Done("1.3@③")
	s.AsksAbout("① ③")
}

func TestOnceAskedAboutAnInstanceDoesNotComeBackFromItsDecisionAgain(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(every("pay", "pay", "work"))
	s.Says(`{"calls":[],"output":null}`) // ③ settles
	s.Decide(ideafile.Approve, "1.1@①")
	s.WaitsFor(ideafile.DefaultGather)
	s.Later(ideafile.DefaultGather)
	s.Says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"c"}],"output":null}`)
	s.AsksAbout("①")
}

func TestAnInstanceWithTwoCallsToDecideWaitsForBoth(t *testing.T) {
	s := modeltest.WithPeople(t, "")
	s.Says(`{"calls":[{"_tool":"pay","_outputPath":"b"},{"_tool":"pay","_outputPath":"c"}],"output":null}`)
	s.Decide(ideafile.Approve, "1.1")
	s.WaitsFor(0)
	s.Want("it", s.Standings(), "waiting")
	s.Decide(ideafile.Approve, "1.2")
	s.Asks()
	s.Want("it", s.Standings(), "working")
}

func TestAnInstanceWhoseApprovedCallRunsIsRunning(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances, `"config": {"approval": {"tools": ["slow"]}}`)
	s.Says(every("slow", "slow", "work"))
	s.Want("they are", s.Standings(), "① waiting, ② waiting, ③ working")
	s.Decide(ideafile.Approve, "1.1@①")
	s.Want("they are", s.Standings(), "① working, ② waiting, ③ working")
	s.WaitsFor(ideafile.DefaultGather)
	s.Done("1.1@①")
	s.AsksAbout("① ③")
}

func TestWhoWaitsForAPersonIsNeitherCoveredNorSettledByARequestForOthers(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"pay","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
	s.AsksAbout("②")
	s.Says(modeltest.NoCalls)
	s.Want("they are", s.Standings(), "① waiting, ② settled")
	s.WaitsFor(0)
	s.Decide(ideafile.Reject, "1.1@①", `{"reason":"no"}`)
	s.AsksAbout("①")
	s.Says(modeltest.NoCalls)
	s.Want("they are", s.Standings(), "① settled, ② settled")
	s.Expect(loop.StepOver)
}

func TestAnAddedInstanceIsCoveredByTheNextRequest(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.TwoInstances)
	s.Asks()
	s.Add(`[{"type":"state","_instance":"③","state":{"a":3}}]`)
	s.Says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.Want("who is new has not settled", s.Statuses(), "① working, ② settled, ③ working")
	s.AsksAbout("① ③")
}

func TestAnAddedInstanceIsAskedAboutAtOnceWhereTheOthersWaitForPeople(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"pay","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.WaitsFor(0)
	s.Add(`[{"type":"state","_instance":"③","state":{"a":3}}]`)
	s.AsksAbout("③")
}

func TestWhoIsReadyForTheSecondTimeIsGatheredForAnew(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"slow","_instance":"②","_outputPath":"b"}],"output":null}`)
	s.WaitsFor(ideafile.DefaultGather)
	s.Later(ideafile.DefaultGather - time.Second)
	s.Revise(`{"context":[{"type":"state","_instance":"①","a":5}]}`)
	s.WaitsFor(0)
	s.TakesIn("①", "ann")
	s.WaitsFor(ideafile.DefaultGather)
}
