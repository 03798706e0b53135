package backtest

import (
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// outcomeSource takes the place of the outside world: it knows how Calls ended, and what people decided.
type outcomeSource interface {
	// findOutcome is how a Call ended; known is false if that is unknown.
	findOutcome(call dataflow.ReadyCall) (o callOutcome, known bool)
	// findDecision is the decision on a pending approval. asked is the number of earlier decisions on this Call. ok is
	// false if nobody took one.
	findDecision(rec *dataflow.CallRecord, p approval.PendingCall, asked int) (d approval.Decision, ok bool)
	// findAnswer is what the LLM answered to a question; known is false if it was not asked this.
	findAnswer(rec *dataflow.CallRecord, q turn.QuestionToLLM) (o callOutcome, known bool)
}

// callOutcome is how a Call ended.
type callOutcome struct {
	result         any
	fault          *diag.Fault // it failed
	delegateWrites jsonval.Object
	adaptedParams  jsonval.Object // an answer: parameters that were fitted to the Tool
}

// instancePlayer runs one instance with recorded outcomes in place of the outside world.
type instancePlayer struct {
	flow                *dataflow.Instance
	outcomes            outcomeSource
	callByID            map[string]*tracedCall
	otherUnknownReasons []string // what else is unknown, beside results
	logicalTime         int
}

func newInstancePlayer(flow *dataflow.Instance, outcomes outcomeSource) *instancePlayer {
	return &instancePlayer{flow: flow, outcomes: outcomes, callByID: map[string]*tracedCall{}}
}

func (p *instancePlayer) ensureTracedCall(callID string) *tracedCall {
	if p.callByID[callID] == nil {
		p.callByID[callID] = &tracedCall{id: callID}
	}
	return p.callByID[callID]
}

// hasUnknownOutcome reports whether a running Call has an unknown outcome.
func (p *instancePlayer) hasUnknownOutcome() bool {
	for _, c := range p.callByID {
		if c.isResultUnknown {
			return true
		}
	}
	return false
}

// playAll plays the instance until no Call can go on.
func (p *instancePlayer) playAll() {
	for hasProgressed := true; hasProgressed; {
		hasProgressed = false
		p.logicalTime += 2
		for _, ready := range p.flow.Advance() {
			hasProgressed = true
			c := p.ensureTracedCall(ready.Record.ID)
			c.readyCall, c.startLogicalTime, c.endLogicalTime = ready, p.logicalTime, p.logicalTime+1
			p.endCall(ready, c)
		}
		hasProgressed = p.decidePendingApprovals() || p.answerQuestions() || hasProgressed
		for _, update := range p.flow.TakeBlobUpdates() {
			p.ensureTracedCall(update.CallID).isResultUnknown = true
			p.otherUnknownReasons = append(p.otherUnknownReasons,
				update.CallID+" puts large values together, which is not done here")
		}
	}
}

// endCall ends a Call as the memory says. A Call that the memory does not know runs for ever.
func (p *instancePlayer) endCall(ready dataflow.ReadyCall, c *tracedCall) {
	callID := ready.Record.ID
	o, isKnown := p.outcomes.findOutcome(ready)
	if !isKnown {
		c.isResultUnknown = true
		return
	}
	c.result, c.hasResult, c.delegateWrites = o.result, o.fault == nil, o.delegateWrites
	if o.fault == nil {
		if err := checkResult(ready.Tool, o.result); err != nil {
			o.fault = diag.Faultf(ideafile.CodeToolFailed, "the result does not fit the tool's _output: %s", err)
		}
	}
	switch {
	case o.fault != nil:
		p.flow.FailCall(callID, o.fault)
	case len(o.delegateWrites) > 0:
		p.flow.ApplyDelegateResult(callID, ready.Tool, o.result, o.delegateWrites)
	default:
		p.flow.SucceedCall(callID, o.result)
	}
}

// checkResult returns how a result does not fit its Tool. If the result names its branch, only the value in it is
// checked.
func checkResult(tool *ideafile.Tool, result any) error {
	if m, ok := result.(jsonval.Object); ok && m[refexpr.BranchKey] != nil {
		result = m[refexpr.ResultKey]
	}
	if jsonval.ContainsBlobHandle(result) {
		return nil
	}
	return tool.OutputSchema.Validate(result)
}

// decidePendingApprovals decides on everything that waits for a decision.
func (p *instancePlayer) decidePendingApprovals() (hasProgressed bool) {
	for _, pending := range p.flow.PendingApprovals() {
		rec := p.flow.FindCall(pending.CallID)
		c := p.ensureTracedCall(rec.ID)
		d, ok := p.outcomes.findDecision(rec, pending, c.appliedDecisionCount)
		d.CallID = rec.ID
		if ok && p.flow.ApplyDecision(d) == nil {
			c.appliedDecisionCount++
			hasProgressed = true
			continue
		}
		if c.isResultUnknown {
			continue
		}
		approve := approval.Decision{Kind: policy.Approve, CallID: rec.ID, DecidedBy: ideafile.SimulatedDecider,
			Reason: "nobody had decided on such a Call"}
		if err := p.flow.ApplyDecision(approve); err != nil {
			c.isResultUnknown = true
			p.otherUnknownReasons = append(p.otherUnknownReasons, rec.ID+" waits for a person: "+err.Error())
			continue
		}
		c.autoApprovalCount++
		hasProgressed = true
	}
	return hasProgressed
}

// answerQuestions answers the questions that the LLM would be asked about Calls, if it was asked the same ones then.
func (p *instancePlayer) answerQuestions() (hasProgressed bool) {
	for _, q := range p.flow.QuestionsToLLM() {
		o, isKnown := p.outcomes.findAnswer(p.flow.FindCall(q.CallID), q)
		switch {
		case !isKnown:
			continue
		case q.ParamsError != "":
			p.flow.ApplyAdaptedParams(q.CallID, o.adaptedParams)
		case o.fault != nil:
			p.flow.FailCall(q.CallID, o.fault)
		default:
			p.endWithLLMResult(q.CallID, o.result)
		}
		hasProgressed = true
	}
	return hasProgressed
}

// endWithLLMResult ends a Call with the result that the LLM wrote.
func (p *instancePlayer) endWithLLMResult(callID string, result any) {
	c := p.ensureTracedCall(callID)
	c.result, c.hasResult = result, true
	p.flow.SucceedCall(callID, result)
}

// readTrace reads how the run went.
func (p *instancePlayer) readTrace() *runTrace {
	t := &runTrace{state: p.flow.State(), otherUnknownReasons: p.otherUnknownReasons}
	records := p.flow.CallRecords()
	for _, rec := range records {
		c := p.ensureTracedCall(rec.ID)
		c.readRecord(p.flow, rec)
		t.calls = append(t.calls, c)
	}
	setGraphDepths(t.calls, records)
	return t
}

// withoutDeciders returns the Tools with policies that say only whether a person is asked, not who or until when.
func withoutDeciders(tools []*ideafile.Tool, oversight policy.Oversight) []*ideafile.Tool {
	toolsWithoutDeciders := make([]*ideafile.Tool, len(tools))
	for n, tool := range tools {
		toolCopy := *tool
		if toolPolicy := oversight.PolicyFor(tool.Name, tool.Approval); toolPolicy != nil {
			policyCopy := *toolPolicy
			policyCopy.Deciders, policyCopy.Timeout = nil, 0
			policyCopy.ReminderRules = policy.Approval{}.ReminderRules
			toolCopy.Approval = &policyCopy
		}
		toolsWithoutDeciders[n] = &toolCopy
	}
	return toolsWithoutDeciders
}
