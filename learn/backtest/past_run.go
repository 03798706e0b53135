package backtest

import (
	"slices"
	"strconv"

	"processidea/learn/past"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// replayByRequest replays an instance Request by Request, with the results and decisions that its chain recorded for
// its Calls. This shows which values each Call ran with.
func (ch *chain) replayByRequest(i *pastInstance) (*instancePlayer, recordedCalls) {
	p, outcomes := replayCalls(ch, i)
	if i.trace = traceReplay(p, outcomes, i); i.trace.branchDiffers && i.isStartStateRestored {
		ch.restoreStartState(i, false)
		p, outcomes = replayCalls(ch, i)
		i.trace = traceReplay(p, outcomes, i)
	}
	return p, outcomes
}

// replayCalls plays the Calls of an instance in their recorded order.
func replayCalls(c *chain, i *pastInstance) (*instancePlayer, recordedCalls) {
	palette := ideafile.Palette{Tools: withoutDeciders(c.Last().Tools, c.Last().Config.ApprovalOversight),
		BindingByTool: past.BindAllAsGo(c.Last().Tools), AdaptValuesWithLLM: true, InstanceTokens: []string{i.token},
		UntargetedCallsGoToAll: true, AllowsDirectPlanKeys: true}
	outcomes := recordedCalls{callByKey: map[ideafile.CallKey]*past.Call{}}
	p := newInstancePlayer(dataflow.New(palette, slices.Concat(i.sharedMessages, i.ownMessages), i.token), outcomes)
	for n, call := range i.calls {
		// A Plan that ran directly is Request 0, and signals cannot bring Calls of Request 0. So all Request numbers
		// are raised by one.
		requestNumber := call.Key.Request + 1
		outcomes.callByKey[ideafile.CallKey{Request: requestNumber, Index: call.Key.Index}] = call
		p.flow.AcceptCall(requestNumber, call.Key.Index, callForReplay(call.WrittenCall))
		if n+1 == len(i.calls) || i.calls[n+1].Key.Request != call.Key.Request {
			p.flow.CloseRequest(requestNumber)
			p.playAll()
		}
	}
	return p, outcomes
}

// traceReplay is the trace of a replay, with each Call as the chain records it.
func traceReplay(p *instancePlayer, outcomes recordedCalls, i *pastInstance) *runTrace {
	t := p.readTrace()
	t.status, t.stepOutcomes = i.status, i.stepOutcomes
	for _, traced := range t.calls {
		rec := p.flow.FindCall(traced.id)
		if call := outcomes.callByKey[rec.Key()]; call != nil {
			t.branchDiffers = t.branchDiffers ||
				(call.Status == ideafile.CallSkipped) != (rec.Status == ideafile.CallSkipped)
			traced.applyRecordedCall(call)
		}
	}
	return t
}

// applyRecordedCall sets a replayed Call to what its chain records.
func (c *tracedCall) applyRecordedCall(call *past.Call) {
	_, c.isWrittenByLLM = call.WrittenCall.RawObject()["_output"]
	c.status, c.isResultUnknown, c.isPersonAsked = call.Status, false, c.isPersonAsked || len(call.Decisions) > 0
	if call.Fault != nil {
		c.fault = call.Fault
	}
	if len(c.decisions) == 0 {
		c.decisions = call.Decisions
	}
	wasAnswered := len(c.decisions) > 0 && c.decisions[len(c.decisions)-1].Kind == policy.Answer
	neverRan := c.fault != nil && (c.fault.Code == ideafile.CodeBadParams || past.IsMalformedCallFault(*c.fault))
	c.wasExecuted = !wasAnswered && c.params != nil && (c.status == ideafile.CallDone ||
		c.status == ideafile.CallFailed && !neverRan)
	c.hasResult = c.hasResult && c.status == ideafile.CallDone
}

// callForReplay returns a Call for replay. It has no result written by the LLM, since the chain holds that result like
// any other, and the Request numbers in it are raised by one.
func callForReplay(w ideafile.WrittenCall) ideafile.WrittenCall {
	if w.RawObject() == nil {
		return w
	}
	raw := jsonval.WithoutKey(w.RawObject(), "_output")
	afterReferences := raw["_after"]
	if single, ok := afterReferences.(string); ok {
		afterReferences = []any{single}
	}
	if list, ok := afterReferences.([]any); ok {
		list = slices.Clone(list)
		for n, v := range list {
			ref, err := refexpr.ParseReference(jsonval.AsText(v))
			if key, isCall := ideafile.CallOfReference(ref); err == nil && isCall {
				ref.Path = jsonval.Path{strconv.Itoa(key.Request + 1), strconv.Itoa(key.Index)}
				list[n] = ref.String()
			}
		}
		raw["_after"] = list
	}
	return ideafile.ParseWrittenCall(raw)
}

// recordedCalls is the memory of a replay of the past: each Call by its place in the Plan.
type recordedCalls struct {
	callByKey map[ideafile.CallKey]*past.Call
}

func (r recordedCalls) find(rec *dataflow.CallRecord) *past.Call {
	return r.callByKey[rec.Key()]
}

func (r recordedCalls) findOutcome(ready dataflow.ReadyCall) (callOutcome, bool) {
	c := r.find(ready.Record)
	switch {
	case c == nil:
		return callOutcome{}, false
	case c.HasResult && c.Status == ideafile.CallDone:
		return callOutcome{result: c.Result, delegateWrites: c.DelegateWrites}, true
	case c.Status == ideafile.CallDone:
		return callOutcome{}, false
	case c.Fault != nil:
		return callOutcome{fault: c.Fault}, true
	}
	return callOutcome{fault: diag.Faultf(ideafile.CodeToolFailed, "it was %s", c.Status)}, true
}

func (r recordedCalls) findDecision(rec *dataflow.CallRecord, _ approval.PendingCall,
	priorDecisionCount int) (approval.Decision, bool) {
	c := r.find(rec)
	if c == nil || priorDecisionCount >= len(c.Decisions) {
		return approval.Decision{}, false
	}
	return withoutGroupsAndProof(c.Decisions[priorDecisionCount]), true
}

func (r recordedCalls) findAnswer(rec *dataflow.CallRecord, q turn.QuestionToLLM) (callOutcome, bool) {
	c := r.find(rec)
	if c == nil || q.ParamsError == "" || !c.ParamsAdaptation.IsAnswered() {
		return callOutcome{}, false
	}
	return callOutcome{adaptedParams: c.ParamsAdaptation.AdaptedParams}, true
}

// withoutGroupsAndProof returns a decision to apply again, without its groups and proof, which are not checked again.
func withoutGroupsAndProof(d approval.Decision) approval.Decision {
	return approval.Decision{Kind: d.Kind, DecidedBy: d.DecidedBy, Reason: d.Reason, AmendedParams: d.AmendedParams,
		Replacement:  d.Replacement,
		AnswerResult: d.AnswerResult}
}
