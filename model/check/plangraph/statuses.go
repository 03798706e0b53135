package plangraph

import (
	"encoding/json"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// Statuses counts, for each Call, the instances in each status, as the latest Idea of a process records them. The Calls
// are from the solution in the Idea solved or, if that is nil, from the Plan messages in the latest Idea. A Call
// without a record has no counts. undone are the ids of Calls that another process has undone.
func Statuses(calls []any, latest, solved jsonval.Object, undone map[string]bool) []map[ideafile.CallStatus]int {
	statuses := make([]map[ideafile.CallStatus]int, len(calls))
	read, _ := ideafile.ReadIdeaWithCheckedTools(latest)
	if read == nil {
		return statuses
	}
	request, _ := jsonval.At(solved, "meta", "request").(json.Number)
	number, _ := request.Int64()
	tokens, first := read.InstanceTokens(), 0
	for _, m := range read.Context {
		past, from := turn.ReadPlanRecord(m, tokens), 0
		if solved == nil {
			past, from = turn.ReadDirectPlanRecord(m, tokens), first-m.CallIndexOffset
			first += len(m.PlanCalls)
		}
		for _, call := range past {
			if n := from + call.Index - 1; call.Request == int(number) && n >= 0 && n < len(calls) {
				statuses[n] = countStatuses(statuses[n], call, undone)
			}
		}
	}
	return statuses
}

func countStatuses(counts map[ideafile.CallStatus]int, call turn.RecordedCall,
	undone map[string]bool) map[ideafile.CallStatus]int {
	for token, s := range call.StatusByInstance {
		if undone[call.CallKey().ID(token)] {
			s = ideafile.Undone
		}
		if counts == nil {
			counts = map[ideafile.CallStatus]int{}
		}
		counts[s]++
	}
	return counts
}
