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
	pastTrace *trace
	// isDirectPlan means that a Plan runs an instance for which the LLM planned then. The Plan does once what the LLM
	// may have tried twice, and gets the outcome of the try that succeeded.
	isDirectPlan bool
	// usedResults and usedDecisions are the Calls of the past whose results, or decisions, were already used.
	usedResults, usedDecisions map[*tracedCall]bool
	// decisionSourceByID is the Call of the past whose decisions are applied again, by the id of the new Call.
	decisionSourceByID map[string]*tracedCall
}

func newPastOutcomes(pastTrace *trace, isDirectPlan bool) *pastOutcomes {
	return &pastOutcomes{pastTrace: pastTrace, isDirectPlan: isDirectPlan, usedResults: map[*tracedCall]bool{},
		usedDecisions: map[*tracedCall]bool{}, decisionSourceByID: map[string]*tracedCall{}}
}

// findMatch returns the same Call of the past; readCall reads the Tool and the parameters to compare, and returns false
// for a Call without them. Of several such Calls, findMatch prefers one that is not used yet, then one that wrote to
// the same place, then, if isDirectPlan, one that was done, and then the first.
func (k *pastOutcomes) findMatch(rec *dataflow.CallRecord, tool string, params jsonval.Object,
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
		for _, better := range []bool{!usedCalls[c], c.outputPath.ReferenceText() == rec.OutputPath.ReferenceText(),
			k.isDirectPlan && c.status == ideafile.CallDone} {
			rank *= 2
			if better {
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

func (k *pastOutcomes) findOutcome(ready dataflow.ReadyCall) (outcome, bool) {
	c := k.findMatch(ready.Record, ready.Tool.Name, ready.Params, readExecutedCall, k.usedResults)
	if c == nil {
		return outcome{}, false
	}
	k.usedResults[c] = true
	if c.status == ideafile.CallFailed {
		return outcome{fault: c.fault}, true
	}
	return outcome{result: c.result, delegateWrites: c.delegateWrites}, true
}

func (k *pastOutcomes) findDecision(rec *dataflow.CallRecord, p approval.PendingCall,
	index int) (approval.Decision, bool) {
	if index == 0 {
		c := k.findMatch(rec, p.Tool, p.Params, readShownCall, k.usedDecisions)
		k.decisionSourceByID[rec.ID], k.usedDecisions[c] = c, true
	}
	c := k.decisionSourceByID[rec.ID]
	if c == nil || index >= len(c.decisions) {
		return approval.Decision{}, false
	}
	return withoutGroupsAndProof(c.decisions[index]), true
}

// findAnswer returns the result of the same Call, regardless of who wrote it then. Parameters that did not fit are
// adapted as the LLM adapted the same parameters then.
func (k *pastOutcomes) findAnswer(rec *dataflow.CallRecord, q turn.QuestionToLLM) (outcome, bool) {
	if q.ParamsError == "" {
		c := k.findMatch(rec, q.Tool, q.Params, readExecutedCall, k.usedResults)
		if c == nil || c.status == ideafile.CallFailed {
			return outcome{}, false
		}
		return outcome{result: c.result}, true
	}
	for _, c := range k.pastTrace.calls {
		if c.tool == rec.Tool && c.adaptation.IsAnswered() && jsonval.Equal(c.adaptation.OriginalParams, q.Params) {
			return outcome{adaptedParams: c.adaptation.AdaptedParams}, true
		}
	}
	return outcome{}, false
}
