package loop_test

import (
	"testing"

	"processidea/model/jsonval"
)

func TestTheLatestPlanSaysHowItsCallsStandByWhatInstancesHaveReported(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "")
	counts := func() string { return string(jsonval.Encode(jsonval.ToJSONValue(s.Loop.LatestPlanCallCounts()))) }
	s.WantEqual("before the first Request", counts(), `[]`)
	s.ReplyWith(payOnce)
	s.WantEqual("the Call that waits for a person", counts(),
		`[{"as":{"_outputPath":"b","_tool":"pay","n":500},"call":"1.1","statuses":{"awaiting-approval":1}}]`)
	s.Decide("approve", "1.1")
	s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"c"}],"output":null}`)
	s.WantEqual("the Plan of the next Request", counts(),
		`[{"as":{"_outputPath":"c","_tool":"work"},"call":"2.1","statuses":{"done":1}}]`)
}
