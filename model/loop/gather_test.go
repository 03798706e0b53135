package loop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

// every is a solution that gives each of three instances one Call of a Tool.
func every(first, second, third string) string {
	return `{"calls":[{"_tool":"` + first + `","_instance":"①","_outputPath":"b"},{"_tool":"` + second +
		`","_instance":"②","_outputPath":"b"},` +
		`{"_tool":"` + third + `","_instance":"③","_outputPath":"b"}],"output":null}`
}

func TestARequestStartsAtOnceWhereNobodyElseHasACallRunning(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ExpectRequestFor("① ② ③")
	s.ReplyWith(every("work", "work", "work"))
	s.ExpectRequestFor("① ② ③")
}

func TestARequestIsNotHeldByInstancesThatWaitForAPerson(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(every("work", "pay", "work"))
	s.ExpectRequestFor("① ③")
}

func TestARequestWaitsForARunningCallNoLongerThanTheGatheringTime(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(every("work", "slow", "work"))
	expectWait(s, ideafile.DefaultGatherDelay)
	s.AdvanceClock(ideafile.DefaultGatherDelay - 1)
	expectWait(s, 1)
	s.AdvanceClock(1)
	s.ExpectRequestFor("① ③")
}

func TestTheGatheringTimeIsTheFilesAndBeginsWithTheFirst(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances, `"config": {"gather": "5s"}`)
	s.ReplyWith(every("work", "slow", "slow"))
	expectWait(s, 5*time.Second)
	s.AdvanceClock(3 * time.Second)
	completeSlow(s, "1.2@②")
	expectWait(s, 2*time.Second)
	s.AdvanceClock(2 * time.Second)
	s.ExpectRequestFor("① ②")
	s.ReplyWith(modeltest.EmptyReply)
	completeSlow(s, "1.3@③")
	s.ExpectRequestFor("③")
}

func TestARequestStartsWhenTheLastRunningCallHasEnded(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(every("work", "slow", "slow"))
	expectWait(s, ideafile.DefaultGatherDelay)
	s.AdvanceClock(time.Second)
	failSlow(s, "1.2@②")
	completeSlow(s, "1.3@③")
	s.ExpectRequestFor("① ② ③")
}

func TestEveryRequestIsGatheredForAnew(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(every("work", "slow", "work"))
	expectWait(s, ideafile.DefaultGatherDelay)
	s.AdvanceClock(ideafile.DefaultGatherDelay)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`)
	expectWait(s, ideafile.DefaultGatherDelay)
}

func TestWhoComesBackFromADecisionIsGatheredWhileOthersStillWaitForOne(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(every("pay", "pay", "pay"))
	expectWait(s, 0)
	s.Decide(policy.Approve, "1.1@①")
	expectWait(s, ideafile.DefaultGatherDelay)
	s.AdvanceClock(4 * time.Second)
	s.Decide(policy.Reject, "1.2@②", `{"reason":"no"}`)
	expectWait(s, ideafile.DefaultGatherDelay-4*time.Second)
	s.AdvanceClock(ideafile.DefaultGatherDelay - 4*time.Second)
	s.ExpectRequestFor("① ②")
}

func TestWhenTheLastOneIsDecidedTheRequestStartsAtOnce(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(every("pay", "pay", "pay"))
	s.Decide(policy.Approve, "1.1@①")
	expectWait(s, ideafile.DefaultGatherDelay)
	s.Decide(policy.Answer, "1.2@②", `{"output":1}`)
	expectWait(s, ideafile.DefaultGatherDelay)
	s.Decide(policy.Approve, "1.3@③")
	s.ExpectRequestFor("① ② ③")
}

func TestWhoDoesNotComeBackFromADecisionIsNotHeldByPeople(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(every("pay", "pay", "slow"))
	s.Decide(policy.Approve, "1.1@①")
	expectWait(s, ideafile.DefaultGatherDelay)
	completeSlow(s, "1.3@③")
	s.ExpectRequestFor("① ③")
}

func TestOnceAskedAboutAnInstanceDoesNotComeBackFromItsDecisionAgain(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(every("pay", "pay", "work"))
	s.ReplyWith(`{"calls":[],"output":null}`) // ③ settles
	s.Decide(policy.Approve, "1.1@①")
	expectWait(s, ideafile.DefaultGatherDelay)
	s.AdvanceClock(ideafile.DefaultGatherDelay)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"c"}],"output":null}`)
	s.ExpectRequestFor("①")
}

func TestAnInstanceWithTwoCallsToDecideWaitsForBoth(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "")
	s.ReplyWith(`{"calls":[{"_tool":"pay","_outputPath":"b"},{"_tool":"pay","_outputPath":"c"}],"output":null}`)
	s.Decide(policy.Approve, "1.1")
	expectWait(s, 0)
	s.WantEqual("it", s.DescribeInstances(), "waiting")
	s.Decide(policy.Approve, "1.2")
	s.ExpectRequest()
	s.WantEqual("it", s.DescribeInstances(), "working")
}

func TestAnInstanceWhoseApprovedCallRunsIsRunning(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances, `"config": {"approval": {"tools": ["slow"]}}`)
	s.ReplyWith(every("slow", "slow", "work"))
	s.WantEqual("they are", s.DescribeInstances(), "① waiting, ② waiting, ③ working")
	s.Decide(policy.Approve, "1.1@①")
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② waiting, ③ working")
	expectWait(s, ideafile.DefaultGatherDelay)
	completeSlow(s, "1.1@①")
	s.ExpectRequestFor("① ③")
}

func TestWhoWaitsForAPersonIsNeitherCoveredNorSettledByARequestForOthers(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"pay","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
	s.ExpectRequestFor("②")
	s.ReplyWith(modeltest.EmptyReply)
	s.WantEqual("they are", s.DescribeInstances(), "① waiting, ② settled")
	expectWait(s, 0)
	s.Decide(policy.Reject, "1.1@①", `{"reason":"no"}`)
	s.ExpectRequestFor("①")
	s.ReplyWith(modeltest.EmptyReply)
	s.WantEqual("they are", s.DescribeInstances(), "① settled, ② settled")
	s.ExpectStep(loop.StepFinished)
}

func TestAnAddedInstanceIsCoveredByTheNextRequest(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", modeltest.TwoInstancesContext)
	s.ExpectRequest()
	s.AddInstances(`[{"type":"state","_instance":"③","state":{"a":3}}]`)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.WantEqual("who is new has not settled", s.DescribeInstances(), "① working, ② settled, ③ working")
	s.ExpectRequestFor("① ③")
}

func TestAnAddedInstanceIsAskedAboutAtOnceWhereTheOthersWaitForPeople(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"pay","_instance":"*","_outputPath":"b"}],"output":null}`)
	expectWait(s, 0)
	s.AddInstances(`[{"type":"state","_instance":"③","state":{"a":3}}]`)
	s.ExpectRequestFor("③")
}

func TestWhoIsReadyForTheSecondTimeIsGatheredForAnew(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"slow","_instance":"②","_outputPath":"b"}],"output":null}`)
	expectWait(s, ideafile.DefaultGatherDelay)
	s.AdvanceClock(ideafile.DefaultGatherDelay - time.Second)
	s.Revise(`{"context":[{"type":"state","_instance":"①","a":5}]}`)
	expectWait(s, 0)
	s.ApplyCorrections("①", "ann")
	expectWait(s, ideafile.DefaultGatherDelay)
}

func TestAFileThatNamesTheGatheringTimeHasItForPeopleWhoWereJustAskedToo(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances, `"config": {"gather": "60s"}`)
	s.ReplyWith(every("work", "pay", "pay"))
	expectWait(s, 10*time.Second)
	s.AdvanceClock(2 * time.Second)
	s.Decide(policy.Approve, "1.2@②")
	s.Decide(policy.Reject, "1.3@③", `{"reason":"no"}`)
	s.ExpectRequestFor("① ② ③")
}

func TestWhoWasAskedLongAgoHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances, `"config": {"gather": "60s"}`)
	s.ReplyWith(every("slow", "pay", "work"))
	expectWait(s, time.Minute)
	s.AdvanceClock(7 * time.Second)
	completeSlow(s, "1.1@①")
	expectWait(s, 3*time.Second)
	s.AdvanceClock(3 * time.Second)
	s.ExpectRequestFor("① ③")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`)
	s.ExpectRequestFor("① ③")
}

func TestAProcessThatBeganBeforeThatRuleGoesOnWithoutIt(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances, `"config": {"gather": "60s"}`)
	s.Loop.IsPatched = func(change string) bool { return change != loop.GatherAskedPeopleChangeID }
	s.ReplyWith(every("work", "pay", "pay"))
	s.ExpectRequestFor("①")
}

const workAndSlow = `{"calls":[{"_tool":"work","_instance":"*","_outputPath":"b"},{"_tool":"slow","_instance":"②","_outputPath":"c"}],"output":null}`

// A fork at the Idea of such a Request would repeat what the busy instance has done.
func TestARequestForOthersKnowsWhatABusyInstanceHasDone(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	in := s.ExpectRequest()
	reply := s.DeliverCalls(modeltest.DecodeJSON(t, workAndSlow).(map[string]any)["calls"].([]any))
	reply.IsComplete = true
	s.Loop.ApplyReply(reply)
	s.Loop.ConcludeRequest()
	for _, token := range s.Loop.InstanceTokens() {
		s.RunToIdle(token, in.RequestNumber)
		if token != "②" { // it reports by itself when it is idle
			s.DeliverReport(s.TakeReport(token, in.RequestNumber))
		}
	}
	expectWait(s, ideafile.DefaultGatherDelay)
	s.AdvanceClock(ideafile.DefaultGatherDelay)
	s.ExpectRequestFor("① ③")
	c := s.ReplyWith(modeltest.EmptyReply)
	s.WantEqual("work", fmt.Sprint(c.AllInstancesInput.PlanEntries[0].InstanceTokensByStatus), "map[done:[① ② ③]]")
	s.WantEqual("slow", fmt.Sprint(c.AllInstancesInput.PlanEntries[1].InstanceTokensByStatus), "map[running:[②]]")
}

func TestABusyInstanceThatCannotReportDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(every("work", "slow", "work"))
	expectWait(s, ideafile.DefaultGatherDelay)
	s.AdvanceClock(ideafile.DefaultGatherDelay)
	step, _ := s.Loop.Advance(s.Now)
	asked := s.Loop.TakeInstancesToAskForReport()
	if step != loop.StepWait || len(asked) != 1 || asked[0].Token != "②" {
		t.Fatalf("%s, and %d are asked", step, len(asked))
	}
	if step, _ = s.Loop.Advance(s.Now); step != loop.StepWait || len(s.Loop.TakeInstancesToAskForReport()) > 0 {
		t.Errorf("%s; it is asked twice", step)
	}
	s.AdvanceClock(s.Loop.NextWakeTime().Sub(s.Now))
	s.ExpectRequestFor("① ③")
}

// However many are added, a Request covers no more than its size, and a full one waits for nobody.
func TestARequestCoversNoMoreInstancesThanItsSize(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", `"config": {"batch": 2}`, modeltest.TwoInstancesContext)
	s.ExpectRequestFor("① ②")
	s.AddInstances(`[{"type":"state","_instance":"③","a":3},{"type":"state","_instance":"④","a":4},
		{"type":"state","_instance":"⑤","a":5},{"type":"state","_instance":"⑥","a":6}]`)
	s.ReplyWith(`{"calls":[{"_tool":"fail","_instance":"①","_outputPath":"b"},
		{"_tool":"slow","_instance":"②","_outputPath":"b"}],"output":null}`)
	s.ExpectRequestFor("③ ④")
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectRequestFor("⑤ ⑥")
	s.ReplyWith(modeltest.EmptyReply)
	expectWait(s, ideafile.DefaultGatherDelay)
	completeSlow(s, "1.2@②")
	s.ExpectRequestFor("① ②")
}

// Those who are asked about again each time keep nobody from being asked about.
func TestAFullRequestCoversThoseWhoWaitedForLongest(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", `"config": {"batch": 2}`, modeltest.TwoInstancesContext)
	s.ExpectRequestFor("① ②")
	s.AddInstances(`[{"type":"state","_instance":"③","a":3},{"type":"state","_instance":"④","a":4},
		{"type":"state","_instance":"⑤","a":5}]`)
	for n, covered := range []string{"① ②", "③ ④", "⑤ ①", "② ③", "④ ①", "⑤ ②"} {
		if n > 0 {
			s.ExpectRequestFor(covered)
		}
		s.ReplyWith(fmt.Sprintf(`{"calls":[{"_tool":"work","_instance":"*","x":%d,"_outputPath":"b%[1]d"}],"output":null}`, n))
	}
}

// How many a Request covers depends on what the LLM does for each, once the Tools are bound.
func TestTheSizeOfARequestFollowsFromTheBoundTools(t *testing.T) {
	t.Parallel()
	var rows []string
	for n := range 40 {
		rows = append(rows, fmt.Sprintf(`{"type":"state","_instance":"%d","a":1}`, n+1))
	}
	context := `"context": [` + strings.Join(rows, ",") + `]`
	for tools, want := range map[string]int{
		`"work": {"type": "object", "properties": {"x": {}}}`:                                                40,
		`"work": {"type": "object", "properties": {"x": {}}}, "think": {"type": "object", "properties": {}}`: 25, // latent
	} {
		s := modeltest.NewScenarioWithTools(t, tools, "", context)
		if got := len(s.ExpectRequest().Instances); got != want {
			t.Errorf("%s: the Request covers %d", tools, got)
		}
	}
}
