package loop_test

import (
	"processidea/model/diag"
	"processidea/model/jsonval"
	"testing"
	"time"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

const anything = `{"type": "object"}`

// wired is a solution of two Calls, one for each of two instances, that wires what they write.
func wired(first, second string) string {
	return `{"calls":[{"_tool":"` + first + `","_instance":"①","_outputPath":"b"},{"_tool":"` + second + `","_instance":"②","_outputPath":"b"}],` +
		`"output":{"all":"†state.b"}}`
}

func TestAWiredOutputHoldsAsLongAsItsCallsRunAndNobodyIsAskedAbout(t *testing.T) {
	s := modeltest.WithPeople(t, anything, modeltest.TwoInstances)
	s.Says(wired("work", "slow"))
	s.WaitsFor(0)
	s.Later(time.Hour)
	s.WaitsFor(0)
	s.Done("1.2@②")
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"all":{"①":"work done","②":"done at last"}}`)
	s.Want("they have", s.Statuses(), "① settled, ② settled")
	if len(s.Mind.TakeEnded()) != 2 || s.Mind.Result(loop.StatusCompleted, false).Requests != 1 {
		t.Error("two instances end by one Request")
	}
}

func TestAWiredOutputIsDroppedAtOnceWhenACallFailed(t *testing.T) {
	s := modeltest.WithPeople(t, anything, modeltest.TwoInstances)
	s.Says(wired("slow", "slow"))
	s.WaitsFor(0)
	s.Fails("1.2@②")
	s.WaitsFor(ideafile.DefaultGather)
	s.Later(ideafile.DefaultGather)
	s.AsksAbout("②")
	s.Done("1.1@①")
	s.Says(`{"calls":[{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
	s.AsksAbout("① ②")
	s.Want("the output", s.Output(), "null")
}

// The other Call of the instance is still running: nothing more is known than that the wiring cannot hold.
func TestAWiredOutputIsDroppedAtOnceWhereTheInstanceOfTheFailedCallStillRuns(t *testing.T) {
	s := modeltest.WithPeople(t, anything, modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"slow","_instance":"①","_outputPath":"b"},{"_tool":"fail","_instance":"②"},{"_tool":"slow","_instance":"②","_outputPath":"b"}],` +
		`"output":{"all":"†state.b"}}`)
	s.Done("1.1@①")
	s.WaitsFor(ideafile.DefaultGather)
	s.Later(ideafile.DefaultGather)
	s.AsksAbout("①")
}

func TestAWiredOutputIsDroppedRatherThanMakingOthersWaitForAPerson(t *testing.T) {
	s := modeltest.WithPeople(t, anything, modeltest.TwoInstances)
	s.Says(wired("work", "pay"))
	s.AsksAbout("①")
	s.Decide(ideafile.Approve, "1.2@②")
	s.Says(modeltest.NoCalls)
	s.Want("the output", s.Output(), "null")
	s.AsksAbout("②")
}

func TestAWiredOutputHoldsWhileCallsRunAndIsDroppedThenForWhoWouldWaitForAPerson(t *testing.T) {
	s := modeltest.WithPeople(t, anything, modeltest.TwoInstances)
	s.Says(wired("slow", "pay"))
	s.WaitsFor(0)
	s.Done("1.1@①")
	s.AsksAbout("①")
}

func TestAWiredOutputHoldsWhereEverybodyWaitsForAPerson(t *testing.T) {
	s := modeltest.WithPeople(t, anything, modeltest.TwoInstances)
	s.Says(wired("pay", "pay"))
	s.WaitsFor(0)
	s.Want("they are", s.Standings(), "① waiting, ② waiting")
	s.Decide(ideafile.Approve, "1.1@①") // and so one is free, and would wait for the other
	s.WaitsFor(ideafile.DefaultGather)
	s.Decide(ideafile.Approve, "1.2@②")
	s.AsksAbout("① ②")
}

func TestAWiredOutputOfOneInstanceWaitsForItsPerson(t *testing.T) {
	s := modeltest.WithPeople(t, modeltest.ASummary)
	s.Says(`{"calls":[{"_tool":"pay","x":"paid","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.WaitsFor(0)
	s.Decide(ideafile.Approve, "1.1")
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"summary":"paid"}`)
}

func TestAWiredOutputTakesThePersonsResult(t *testing.T) {
	s := modeltest.WithPeople(t, modeltest.ASummary)
	s.Says(`{"calls":[{"_tool":"pay","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.Decide(ideafile.Answer, "1.1", `{"output":"by hand"}`)
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"summary":"by hand"}`)
}

func TestARejectedCallDropsAWiredOutput(t *testing.T) {
	s := modeltest.WithPeople(t, modeltest.ASummary, `"context": [{"type": "state", "a": "there"}]`)
	s.Says(`{"calls":[{"_tool":"pay","_outputPath":"b"}],"output":{"summary":"†state.a"}}`)
	s.Decide(ideafile.Reject, "1.1", `{"reason":"too much"}`)
	s.Want("what is told", modeltest.Facts(s.Asks()), "1.1 rejected by ann: too much")
	s.Want("the output", s.Output(), "null")
}

func TestAWiredOutputEndsTheProcessAfterLatentResultsWereAskedFor(t *testing.T) {
	s := modeltest.WithPeople(t, modeltest.ASummary)
	s.Says(`{"calls":[{"_tool":"slow","_outputPath":"a"},{"_tool":"think","x":"†state.a","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
	s.WaitsFor(0)
	s.Done("1.1")
	if b := s.Asks(); len(b.Questions) != 1 {
		t.Fatalf("it asks for %v", b.Questions)
	}
	s.Says(`{"calls":[{"_call":"1.2","_output":"well thought"}],"output":null}`)
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"summary":"well thought"}`)
}

func TestAWiredOutputIsDroppedWhenAnInstanceJoins(t *testing.T) {
	s := modeltest.WithPeople(t, anything, modeltest.TwoInstances)
	s.Says(wired("work", "slow"))
	s.WaitsFor(0)
	s.Add(`[{"type":"state","_instance":"③","state":{"b":3}}]`)
	s.WaitsFor(ideafile.DefaultGather)
	s.Done("1.2@②")
	s.AsksAbout("① ② ③")
	s.Says(`{"calls":[],"output":{"all":"†state.b"}}`)
	s.Want("the output", s.Output(), `{"all":{"①":"work done","②":"done at last","③":3}}`)
	s.Expect(loop.StepOver)
}

func TestAWiredOutputOfTwoIsNotTakenWhereOneHasJoinedMeanwhile(t *testing.T) {
	s := modeltest.WithPeople(t, anything, modeltest.TwoInstances)
	s.Asks()
	s.Add(`[{"type":"state","_instance":"③","state":{"b":3}}]`)
	s.Says(wired("work", "work"))
	s.AsksAbout("① ② ③")
	s.Want("the output", s.Output(), "null")
}

func TestAWiredOutputIsDroppedWhenAPersonCorrectsWhatItWasMadeFrom(t *testing.T) {
	for _, message := range []string{`{"type":"state","b":"corrected"}`, `{"type":"instruction","instruction":"be brief"}`} {
		s := modeltest.WithPeople(t, modeltest.ASummary)
		s.Says(`{"calls":[{"_tool":"slow","_outputPath":"b"}],"output":{"summary":"†state.b"}}`)
		s.Revise(`{"context":[` + message + `]}`)
		s.WaitsFor(0)
		s.TakesIn("", "ann")
		s.WaitsFor(0)
		s.Done("1.1")
		s.Asks()
		s.Want("the output", s.Output(), "null")
	}
}

func TestAWiredOutputDoesNotEndTheProcessBeforeAPersonHasDecided(t *testing.T) {
	s := modeltest.WithPeople(t, anything, modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"pay","_instance":"②","_outputPath":"b"}],"output":{"all":"†state.a"}}`)
	s.AsksAbout("①")
	s.Want("they are", s.Standings(), "① working, ② waiting")
}

// Each instance's value is found by itself: one may have taken the one branch, one the other.
func TestAWiredOutputTakesEachInstancesBranch(t *testing.T) {
	s := modeltest.OnStage(t, `{"type": "object"}`, modeltest.TwoInstances)
	s.Work = func(_ string, params map[string]any) (any, *diag.Fault) {
		if string(jsonval.Encode(params["x"])) == "2" {
			return nil, diag.Faultf(ideafile.CodeToolFailed, "no luck")
		}
		return "fine", nil
	}
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","x":"†state.a","_outputPath":"†state.ok || †state.failed"},
		{"_tool":"think","_instance":"*","x":"†state.ok","_outputPath":"said"}],
		"output":{"all":"†state.ok || †state.failed.message"}}`)
	s.Says(`{"calls":[{"_call":"1.2@①","_output":"good"}],"output":null}`)
	s.Expect(loop.StepOver)
	s.Want("the output", s.Output(), `{"all":{"①":"fine","②":"no luck"}}`)
	s.Want("they", s.Statuses(), "① settled, ② settled")
}
