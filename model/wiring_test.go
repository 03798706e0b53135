package model

import (
	"testing"
	"time"
)

const anything = `{"type": "object"}`

// wired is a solution of two Calls, one for each of two instances, that wires what they write.
func wired(first, second string) string {
	return `{"calls":[{"_tool":"` + first + `","_instance":"①","_outputPath":"b"},{"_tool":"` + second + `","_instance":"②","_outputPath":"b"}],` +
		`"output":{"all":"†state.b"}}`
}

func TestAWiredOutputHoldsAsLongAsItsCallsRunAndNobodyIsAskedAbout(t *testing.T) {
	s := withPeople(t, anything, twoInstances)
	s.says(wired("work", "slow"))
	s.waitsFor(0)
	s.later(time.Hour)
	s.waitsFor(0)
	s.done("1.2@②")
	s.expect(StepOver)
	s.want("the output", s.output(), `{"all":{"①":"work done","②":"done at last"}}`)
	s.want("they have", s.statuses(), "① settled, ② settled")
	if len(s.mind.TakeEnded()) != 2 || s.mind.Result(StatusCompleted, false).Requests != 1 {
		t.Error("two instances end by one Request")
	}
}

func TestAWiredOutputIsDroppedAtOnceWhenACallFailed(t *testing.T) {
	s := withPeople(t, anything, twoInstances)
	s.says(wired("slow", "slow"))
	s.waitsFor(0)
	s.fails("1.2@②")
	s.waitsFor(DefaultGather)
	s.later(DefaultGather)
	s.asksAbout("②")
	s.done("1.1@①")
	s.says(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
	s.asksAbout("① ②")
	s.want("the output", s.output(), "null")
}

// The other Call of the instance is still running: nothing more is known than that the wiring cannot hold.
func TestAWiredOutputIsDroppedAtOnceWhereTheInstanceOfTheFailedCallStillRuns(t *testing.T) {
	s := withPeople(t, anything, twoInstances)
	s.says(`{"calls":[{"_tool":"slow","_instance":"①","_outputPath":"b"},{"_tool":"fail","_instance":"②"},{"_tool":"slow","_instance":"②","_outputPath":"b"}],` +
		`"output":{"all":"†state.b"}}`)
	s.done("1.1@①")
	s.waitsFor(DefaultGather)
	s.later(DefaultGather)
	s.asksAbout("①")
}

func TestAWiredOutputIsDroppedRatherThanMakingOthersWaitForAPerson(t *testing.T) {
	s := withPeople(t, anything, twoInstances)
	s.says(wired("work", "pay"))
	s.asksAbout("①")
	s.decide(Approve, "1.2@②")
	s.says(noCalls)
	s.want("the output", s.output(), "null")
	s.asksAbout("②")
}

func TestAWiredOutputHoldsWhileCallsRunAndIsDroppedThenForWhoWouldWaitForAPerson(t *testing.T) {
	s := withPeople(t, anything, twoInstances)
	s.says(wired("slow", "pay"))
	s.waitsFor(0)
	s.done("1.1@①")
	s.asksAbout("①")
}

func TestAWiredOutputHoldsWhereEverybodyWaitsForAPerson(t *testing.T) {
	s := withPeople(t, anything, twoInstances)
	s.says(wired("pay", "pay"))
	s.waitsFor(0)
	s.want("they are", s.standings(), "① waiting, ② waiting")
	s.decide(Approve, "1.1@①") // and so one is free, and would wait for the other
	s.waitsFor(DefaultGather)
	s.decide(Approve, "1.2@②")
	s.asksAbout("① ②")
}

func TestAWiredOutputOfOneInstanceWaitsForItsPerson(t *testing.T) {
	s := withPeople(t, aSummary)
	s.says(`{"calls":[{"_tool":"pay","x":"paid","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.waitsFor(0)
	s.decide(Approve, "1.1")
	s.expect(StepOver)
	s.want("the output", s.output(), `{"summary":"paid"}`)
}

func TestAWiredOutputTakesThePersonsResult(t *testing.T) {
	s := withPeople(t, aSummary)
	s.says(`{"calls":[{"_tool":"pay","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.decide(Answer, "1.1", `{"output":"by hand"}`)
	s.expect(StepOver)
	s.want("the output", s.output(), `{"summary":"by hand"}`)
}

func TestARejectedCallDropsAWiredOutput(t *testing.T) {
	s := withPeople(t, aSummary, `"context": [{"type": "state", "a": "there"}]`)
	s.says(`{"calls":[{"_tool":"pay","_outputPath":"b"}],"output":{"summary":"†state.a"}}`)
	s.decide(Reject, "1.1", `{"reason":"too much"}`)
	s.want("what is told", facts(s.asks()), "1.1 rejected by ann: too much")
	s.want("the output", s.output(), "null")
}

func TestAWiredOutputEndsTheProcessAfterLatentResultsWereAskedFor(t *testing.T) {
	s := withPeople(t, aSummary)
	s.says(`{"calls":[{"_tool":"slow","_outputPath":"a"},{"_tool":"think","x":"†state.a","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.waitsFor(0)
	s.done("1.1")
	if b := s.asks(); len(b.Asking) != 1 {
		t.Fatalf("it asks for %v", b.Asking)
	}
	s.says(`{"calls":[{"_call":"1.2","_output":"well thought"}],"output":null}`)
	s.expect(StepOver)
	s.want("the output", s.output(), `{"summary":"well thought"}`)
}

func TestAWiredOutputIsDroppedWhenAnInstanceJoins(t *testing.T) {
	s := withPeople(t, anything, twoInstances)
	s.says(wired("work", "slow"))
	s.waitsFor(0)
	s.add(`[{"type":"state","_instance":"③","state":{"b":3}}]`)
	s.waitsFor(DefaultGather)
	s.done("1.2@②")
	s.asksAbout("① ② ③")
	s.says(`{"calls":[],"output":{"all":"†state.b"}}`)
	s.want("the output", s.output(), `{"all":{"①":"work done","②":"done at last","③":3}}`)
	s.expect(StepOver)
}

func TestAWiredOutputOfTwoIsNotTakenWhereOneHasJoinedMeanwhile(t *testing.T) {
	s := withPeople(t, anything, twoInstances)
	s.asks()
	s.add(`[{"type":"state","_instance":"③","state":{"b":3}}]`)
	s.says(wired("work", "work"))
	s.asksAbout("① ② ③")
	s.want("the output", s.output(), "null")
}

func TestAWiredOutputIsDroppedWhenAPersonCorrectsWhatItWasMadeFrom(t *testing.T) {
	for _, message := range []string{`{"type":"state","b":"corrected"}`, `{"type":"instruction","instruction":"be brief"}`} {
		s := withPeople(t, aSummary)
		s.says(`{"calls":[{"_tool":"slow","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
		s.revise(`{"context":[` + message + `]}`)
		s.waitsFor(0)
		s.takesIn("", "ann")
		s.waitsFor(0)
		s.done("1.1")
		s.asks()
		s.want("the output", s.output(), "null")
	}
}
