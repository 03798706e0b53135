package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// tell says of each entry of a log what it tells of.
func tell(log []turn.LogEntry) string {
	var lines []string
	for _, e := range log {
		switch {
		case e.Decision != nil:
			lines = append(lines, e.Decision.Kind+" "+e.Decision.CallID+" by "+e.Decision.DecidedBy)
		case e.Outcome != nil:
			lines = append(lines, fmt.Sprintf("%s %s as %v", e.Outcome.CallID, e.Outcome.Status,
				e.Outcome.ExecutedCall))
		default:
			lines = append(lines, e.Path.String()+" by "+e.Author)
		}
	}
	return strings.Join(lines, "; ")
}

func TestTheLogTellsOfEveryDecisionAndOfWhatRanInTheEnd(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "")
	s.ReplyWith(
		`{"calls": [{"_tool": "huge", "n": 500, "_outputPath": "a"}, {"_tool": "pay", "n": 1, "_outputPath": "b"}], "output": null}`)
	s.Loop.TakeUnsealedLog()
	s.Decide("amend", "1.1", `{"params": {"n": 200}}`)
	s.Decide("approve", "1.1")
	s.Decide("reject", "1.2", `{"reason": "no"}`)
	s.Loop.LogSteering(approval.Decision{Kind: approval.SteerPause, DecidedBy: "bo"})
	log := s.Loop.TakeUnsealedLog()
	s.WantEqual("the log", tell(log), "amend 1.1 by ann; approve 1.1 by ann; 1.1 done as &{huge map[n:200]}; a by "+
		"1.1; reject 1.2 by ann; 1.2 rejected as <nil>; pause  by bo")
	if d := log[0].Decision; d.Tool != "huge" || fmt.Sprint(d.ShownParams) != "map[n:500]" ||
		fmt.Sprint(d.AmendedParams) != "map[n:200]" {
		t.Errorf("amended from %v to %v", d.ShownParams, d.AmendedParams)
	}
	record := s.Loop.AllInstancesInput().PlanEntries[0]
	if len(record.Decisions) != 2 || fmt.Sprint(record.ExecutedCallByInstance[""]) != "{huge map[n:200]}" {
		t.Errorf("the record is %+v", record)
	}
	if s.Loop.HasUnsealedChanges {
		t.Error("something is said to have happened since")
	}
}

func TestAProcessIsAtRestWhenNothingOfItRuns(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(
		`{"calls": [{"_tool": "pay", "_instance": "①", "n": 1, "_outputPath": "b"}, {"_tool": "slow", "_instance": "②", "_outputPath": "b"}], "output": null}`)
	s.ExpectStep(loop.StepWait)
	if s.Loop.IsAtRest(s.Now) {
		t.Error("a Call runs")
	}
	s.Loop.Pause("ann", "lunch")
	s.Loop.LogSteering(approval.Decision{Kind: approval.SteerPause, DecidedBy: "ann"})
	if s.Loop.AllReportedSincePause() || !s.Loop.HasUnsealedPause() {
		t.Error("② has not said what it had done")
	}
	held := s.TakeReport("②", 1)
	held.IsHeldByPause, held.RunningCallCount = true, 1
	s.DeliverReport(held)
	if !s.Loop.AllReportedSincePause() || s.Loop.IsAtRest(s.Now) {
		t.Error("② has said what it had done, and a Call still runs")
	}
	held.RunningCallCount = 0
	s.DeliverReport(held)
	if !s.Loop.IsAtRest(s.Now) {
		t.Error("nothing runs any more")
	}
	s.Loop.TakeUnsealedLog()
	if s.Loop.HasUnsealedPause() || s.Loop.HasUnsealedChanges {
		t.Error("all is sealed")
	}
}

// An Idea that is sealed when some instances are asked about must not forget what the others are doing.
func TestAnIdeaTellsOfCallsOfWhichItsInstanceHasNotReported(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	in := s.ExpectRequest()
	s.Loop.ApplyReply(turn.LLMReply{IsComplete: true, Calls: ideafile.ParseWrittenCalls(
		[]any{modeltest.DecodeJSON(t, `{"_tool": "work", "_instance": "*", "x": 1, "_outputPath": "b"}`)})})
	s.Loop.ConcludeRequest()
	s.DeliverReport(turn.InstanceReport{InstanceToken: "②", ClosedThroughRequest: in.RequestNumber,
		InstanceStatusDetails: turn.InstanceStatusDetails{IsIdle: true},
		Calls:                 []turn.CallReport{{Request: 1, Index: 1, CallState: turn.CallState{Status: "done"}}}})
	s.WantEqual("the statuses", fmt.Sprint(s.Loop.AllInstancesInput().PlanEntries[0].InstanceTokensByStatus),
		"map[done:[②] running:[①]]")
}
