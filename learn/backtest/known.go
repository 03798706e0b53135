package backtest

import (
	"processidea/model/approval"
	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// pastOutcomes is the memory of a new run: how the same Calls ended in the past of the same instance. Calls are the
// same if they have the same Tool and equal parameters.
type pastOutcomes struct {
	pastTrace *runTrace
	// directPlanReplacesLLM means that a Plan runs an instance for which the LLM planned then. The Plan does once what
	// the LLM may have tried twice, and gets the outcome of the try that succeeded.
	directPlanReplacesLLM bool
	// callsWithUsedResult and callsWithUsedDecisions are the Calls of the past whose results, or decisions, were
	// already used.
	callsWithUsedResult, callsWithUsedDecisions map[*tracedCall]bool
	// decisionSourceByID is the Call of the past whose decisions are applied again, by the id of the new Call.
	decisionSourceByID map[string]*tracedCall
}

func newPastOutcomes(pastTrace *runTrace, directPlanReplacesLLM bool) *pastOutcomes {
	return &pastOutcomes{pastTrace: pastTrace, directPlanReplacesLLM: directPlanReplacesLLM,
		callsWithUsedResult:    map[*tracedCall]bool{},
		callsWithUsedDecisions: map[*tracedCall]bool{}, decisionSourceByID: map[string]*tracedCall{}}
}

// findPastCall returns the same Call of the past; readCall reads the Tool and the parameters to compare, and returns
// false for a Call without them. Of several such Calls, findPastCall prefers one that is not used yet, then one that
// wrote to the same place, then, if directPlanReplacesLLM, one that was done, and then the first.
func (k *pastOutcomes) findPastCall(rec *dataflow.CallRecord, tool string, params jsonval.Object,
	readCall func(*tracedCall) (string, jsonval.Object, bool),
	usedCalls map[*tracedCall]bool) *tracedCall {
	var match *tracedCall
	bestRank := -1
	for _, c := range k.pastTrace.calls {
		callTool, callParams, ok := readCall(c)
		if !ok || callTool != tool || !jsonval.Equal(callParams, params) {
			continue
		}
		rank := 0
		for _, isPreferred := range []bool{!usedCalls[c],
			c.outputPath.ReferenceText() == rec.OutputPath.ReferenceText(),
			k.directPlanReplacesLLM && c.status == ideafile.CallDone} {
			rank *= 2
			if isPreferred {
				rank++
			}
		}
		if rank > bestRank {
			match, bestRank = c, rank
		}
	}
	return match
}

func readExecutedCall(c *tracedCall) (string, jsonval.Object, bool) {
	return c.executedTool, c.executedParams, c.wasExecuted && (c.hasResult || c.status == ideafile.CallFailed)
}

func readShownCall(c *tracedCall) (string, jsonval.Object, bool) {
	return c.tool, c.params, len(c.decisions) > 0
}

func (k *pastOutcomes) findOutcome(ready dataflow.ReadyCall) (callOutcome, bool) {
	c := k.findPastCall(ready.Record, ready.Tool.Name, ready.Params, readExecutedCall, k.callsWithUsedResult)
	if c == nil {
		return callOutcome{}, false
	}
	k.callsWithUsedResult[c] = true
	if c.status == ideafile.CallFailed {
		return callOutcome{fault: c.fault}, true
	}
	return callOutcome{result: c.result, delegateWrites: c.delegateWrites}, true
}

func (k *pastOutcomes) findDecision(rec *dataflow.CallRecord, p approval.PendingCall,
	priorDecisionCount int) (approval.Decision, bool) {
	if priorDecisionCount == 0 {
		c := k.findPastCall(rec, p.Tool, p.Params, readShownCall, k.callsWithUsedDecisions)
		k.decisionSourceByID[rec.ID], k.callsWithUsedDecisions[c] = c, true
	}
	c := k.decisionSourceByID[rec.ID]
	if c == nil || priorDecisionCount >= len(c.decisions) {
		return approval.Decision{}, false
	}
	return withoutGroupsAndProof(c.decisions[priorDecisionCount]), true
}

// findAnswer returns the result of the same Call, regardless of who wrote it then. Parameters that did not fit are
// adapted as the LLM adapted the same parameters then.
func (k *pastOutcomes) findAnswer(rec *dataflow.CallRecord, q turn.QuestionToLLM) (callOutcome, bool) {
	if q.ParamsError == "" {
		c := k.findPastCall(rec, q.Tool, q.Params, readExecutedCall, k.callsWithUsedResult)
		if c == nil || c.status == ideafile.CallFailed {
			return callOutcome{}, false
		}
		return callOutcome{result: c.result}, true
	}
	for _, c := range k.pastTrace.calls {
		if c.tool == rec.Tool && c.paramsAdaptation.IsAnswered() &&
			jsonval.Equal(c.paramsAdaptation.OriginalParams, q.Params) {
			return callOutcome{adaptedParams: c.paramsAdaptation.AdaptedParams}, true
		}
	}
	return callOutcome{}, false
}
