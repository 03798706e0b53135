package plangraph

import (
	"encoding/json"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// CountCallStatuses counts, for each Call, the instances in each status, as the latest Idea of a process records them.
// The Calls are from the solution in the Idea ideaWithSolution or, if that is nil, from the Plan messages in the latest
// Idea. A Call without a record has no counts. undoneCallIDs are the ids of Calls that another process has undone.
func CountCallStatuses(calls []any, latestIdea, ideaWithSolution jsonval.Object,
	undoneCallIDs map[string]bool) []map[ideafile.CallStatus]int {
	statusCounts := make([]map[ideafile.CallStatus]int, len(calls))
	idea, _ := ideafile.ReadIdeaWithoutCheckingTools(latestIdea)
	if idea == nil {
		return statusCounts
	}
	requestValue, _ := jsonval.Lookup(ideaWithSolution, "meta", "request").(json.Number)
	requestNumber, _ := requestValue.Int64()
	tokens, nextCallIndexOffset := idea.InstanceTokens(), 0
	for _, m := range idea.Context {
		recordedCalls, callIndexOffset := turn.ReadPlanRecord(m, tokens), 0
		if ideaWithSolution == nil {
			recordedCalls, callIndexOffset = turn.ReadDirectPlanRecord(m, tokens), nextCallIndexOffset-m.CallIndexOffset
			nextCallIndexOffset += len(m.PlanCalls)
		}
		for _, call := range recordedCalls {
			if n := callIndexOffset + call.Index - 1; call.Request == int(requestNumber) && n >= 0 && n < len(calls) {
				statusCounts[n] = addStatusCounts(statusCounts[n], call, undoneCallIDs)
			}
		}
	}
	return statusCounts
}

func addStatusCounts(countByStatus map[ideafile.CallStatus]int, call turn.RecordedCall,
	undoneCallIDs map[string]bool) map[ideafile.CallStatus]int {
	for token, s := range call.StatusByInstance {
		if undoneCallIDs[call.CallKey().ID(token)] {
			s = ideafile.CallUndone
		}
		if countByStatus == nil {
			countByStatus = map[ideafile.CallStatus]int{}
		}
		countByStatus[s]++
	}
	return countByStatus
}
