package model

import "testing"

const planForC = `{"calls":[{"_tool":"work","_instance":"*","_outputPath":"c"}],"output":null}`

func TestThatARequestBrokeOffIsToldOfEachInstanceItCovered(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.breaksOff(Reply{Lost: true, End: fault(CodeLost, "gone")},
		`{"_tool":"work","_instance":"*","_outputPath":"b"}`, `{"_tool":"pay","_instance":"②"}`)
	const gone = "worker_lost: request 1 was cut off: gone; the 2 calls that had come were taken and are listed"
	s.want("about the two that do not wait", troublesOf(s.asksAbout("① ③")), gone)
	second := s.breaksOff(Reply{End: fault(CodeTruncated, "short")}, `{"_tool":"work","_instance":"*","_outputPath":"c"}`)
	s.want("the chain has", troublesOf(second.Seen), gone)
	const short = "truncated: request 2 was cut off: short; the 1 calls that had come were taken and are listed"
	s.decide(Approve, "1.2@②")
	s.want("and about the one that waited, each of its own", troublesOf(s.asksAbout("① ② ③")), gone+" in ②\n"+short+" in ①, ③")
	s.says(planForC)
	s.want("about all again", troublesOf(s.asks()), "")
}

func TestAFaultOfACallForNobodyIsToldOfEachInstanceThatWasCovered(t *testing.T) {
	s := withPeople(t, "", threeInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"④"},{"_tool":"work","_instance":"*","_outputPath":"b"},{"_tool":"pay","_instance":"②"}],"output":null}`)
	const nobody = `1.1 bad_instance: the Request covers no instance "④"`
	s.want("about the two that do not wait", troublesOf(s.asksAbout("① ③")), nobody)
	s.says(noCalls)
	s.decide(Approve, "1.3@②")
	s.want("and about the one that waited", troublesOf(s.asksAbout("②")), nobody)
	s.says(planForC)
	s.want("once", troublesOf(s.asksAbout("②")), "")
}

func TestAProcessThatGoesOnTellsWhatIsStillUntold(t *testing.T) {
	idea := ideaOf(t, `{"schema": {"tools": {`+stagedTools+`}}, "context": [
		{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}, "_status": "settled"}, {"type": "state", "_instance": "③", "state": {}},
		{"type": "error", "error": {"code": "truncated", "message": "request 1 was cut off"}},
		{"type": "error", "instances": ["②", "③"], "error": {"code": "truncated", "message": "request 2 was cut off"}}]}`)
	s := onStage(t, "")
	q := s.again(idea, false)
	q.want("the Request is told", troublesOf(q.asks()), "truncated: request 1 was cut off\ntruncated: request 2 was cut off in ③")
	q.says(noCalls)
	if left := q.mind.Carry().Troubles; left != nil {
		t.Errorf("somebody is still to be told: %+v", left)
	}
}
