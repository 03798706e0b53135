package loop_test

import (
	"testing"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

const planForC = `{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`

func TestThatARequestBrokeOffIsToldOfEachInstanceItCovered(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.BreaksOff(turn.Reply{Lost: true, End: diag.Faultf(turn.CodeLost, "gone")},
		`{"_tool":"work","_instance":"*","_outputPath":"b"}`, `{"_tool":"pay","_instance":"②"}`)
	const gone = "worker_lost: request 1 was cut off: gone; the 2 calls that had come were taken and are listed"
	s.Want("about the two that do not wait", modeltest.TroublesOf(s.AsksAbout("① ③")), gone)
	second := s.BreaksOff(turn.Reply{End: diag.Faultf(turn.CodeTruncated, "short")}, `{"_tool":"work","_instance":"*","_outputPath":"c"}`)
	s.Want("the chain has", modeltest.TroublesOf(second.Seen), gone)
	const short = "truncated: request 2 was cut off: short; the 1 calls that had come were taken and are listed"
	s.Decide(ideafile.Approve, "1.2@②")
	s.Want("and about the one that waited, each of its own", modeltest.TroublesOf(s.AsksAbout("① ② ③")), gone+" in ②\n"+short+" in ①, ③")
	s.Says(planForC)
	s.Want("about all again", modeltest.TroublesOf(s.Asks()), "")
}

func TestAFaultOfACallForNobodyIsToldOfEachInstanceThatWasCovered(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.ThreeInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"④"},{"_tool":"work","_instance":"*","_outputPath":"b"},{"_tool":"pay","_instance":"②"}],"output":null}`)
	const nobody = `1.1 bad_instance: the Request covers no instance "④"`
	s.Want("about the two that do not wait", modeltest.TroublesOf(s.AsksAbout("① ③")), nobody)
	s.Says(modeltest.NoCalls)
	s.Decide(ideafile.Approve, "1.3@②")
	s.Want("and about the one that waited", modeltest.TroublesOf(s.AsksAbout("②")), nobody)
	s.Says(planForC)
	s.Want("once", modeltest.TroublesOf(s.AsksAbout("②")), "")
}

func TestAProcessThatGoesOnTellsWhatIsStillUntold(t *testing.T) {
	idea := modeltest.IdeaOf(t, `{"schema": {"tools": {`+modeltest.StagedTools+`}}, "context": [
		{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}, "_status": "settled"}, {"type": "state", "_instance": "③", "state": {}},
		{"type": "error", "error": {"code": "truncated", "message": "request 1 was cut off"}},
		{"type": "error", "instances": ["②", "③"], "error": {"code": "truncated", "message": "request 2 was cut off"}}]}`)
	s := modeltest.OnStage(t, "")
	q := again(s, idea, false)
	q.Want("the Request is told", modeltest.TroublesOf(q.Asks()), "truncated: request 1 was cut off\ntruncated: request 2 was cut off in ③")
	q.Says(modeltest.NoCalls)
	if left := q.Mind.Carry().PendingErrors; left != nil {
		t.Errorf("somebody is still to be told: %+v", left)
	}
}
