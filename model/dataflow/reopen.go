package dataflow

import (
	"processidea/model/ideafile"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// RebuildFromReports returns what an ended Instance would have carried, rebuilt from its reports: its writes, and its
// ended Calls. Restore turns it into the Instance that goes on. Its context must have no direct Plan.
func RebuildFromReports(token string, closedThroughRequest int, stateWrites []statelog.Write,
	calls []turn.CallReport) CarriedInstance {
	c := CarriedInstance{Writes: stateWrites, instanceProgress: instanceProgress{
		ClosedThroughRequest: closedThroughRequest, RefusedThroughRequest: closedThroughRequest, IsPlanStarted: true}}
	for _, w := range stateWrites {
		c.CorrectionCount = max(c.CorrectionCount, w.CorrectionNumber)
	}
	for _, call := range calls {
		if !call.Status.IsFinal() {
			continue
		}
		rec := CallRecord{
			Call: ideafile.Call{ID: call.CallKey().ID(token), Tool: call.Tool, Request: call.Request,
				Index: call.Index},
			CallState: call.CallState, WrittenCall: call.Call,
		}
		c.CallRecords = append(c.CallRecords, CarriedCallRecord{CallRecord: rec})
	}
	return c
}
