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
	// outcome is how a Call ended; known is false if that is unknown.
	outcome(call dataflow.ReadyCall) (o outcome, known bool)
	// decide is the decision on a pending approval. asked is the number of earlier decisions on this Call. ok is false
	// if nobody took one.
	decide(rec *dataflow.CallRecord, p approval.Pending, asked int) (d approval.Decision, ok bool)
	// answer is what the LLM answered to a question; known is false if it was not asked this.
	answer(rec *dataflow.CallRecord, q turn.LLMQuestion) (o outcome, known bool)
}

// outcome is how a Call ended.
type outcome struct {
	result     any
	fault      *diag.Fault // it failed
	handedBack jsonval.Object
	adapted    jsonval.Object // an answer: parameters that were fitted to the Tool
}

// player runs one instance with recorded outcomes in place of the outside world.
type player struct {
	flow   *dataflow.Instance
	memory outcomeSource
	calls  map[string]*playedCall
	stuck  []string // what else is unknown, beside results
	now    int
}

// playedCall is what a player knows of a Call.
type playedCall struct {
	started  dataflow.ReadyCall // the Call with its parameters, which an Instance forgets at the Call's end
	unknown  bool               // it runs, and how it ends is unknown
	result   *outcome
	approved int // how often the replay approved it because no decision is on record
	decided  int
	// began and ended are moments: all Calls that are ready together begin at the same one.
	began, ended int
}

func newPlayer(flow *dataflow.Instance, m outcomeSource) *player {
	return &player{flow: flow, memory: m, calls: map[string]*playedCall{}}
}

func (p *player) callOf(id string) *playedCall {
	if p.calls[id] == nil {
		p.calls[id] = &playedCall{}
	}
	return p.calls[id]
}

// isStuck reports whether a running Call has an unknown outcome.
func (p *player) isStuck() bool {
	for _, c := range p.calls {
		if c.unknown {
			return true
		}
	}
	return false
}

// playAll plays the instance until no Call can go on.
func (p *player) playAll() {
	for moved := true; moved; {
		moved = false
		p.now += 2
		for _, ready := range p.flow.Advance() {
			moved = true
			c := p.callOf(ready.Record.ID)
			c.started, c.began, c.ended = ready, p.now, p.now+1
			p.endCall(ready, c)
		}
		moved = p.decideAll() || p.answerAll() || moved
		for _, update := range p.flow.TakeBlobUpdates() {
			p.callOf(update.CallID).unknown = true
			p.stuck = append(p.stuck, update.CallID+" puts large values together, which is not done here")
		}
	}
}

// endCall ends a Call as the memory says. A Call that the memory does not know runs for ever.
func (p *player) endCall(ready dataflow.ReadyCall, c *playedCall) {
	id := ready.Record.ID
	o, known := p.memory.outcome(ready)
	if !known {
		c.unknown = true
		return
	}
	remembered := o
	c.result = &remembered
	if o.fault == nil {
		if err := checkResult(ready.Tool, o.result); err != nil {
			o.fault = diag.Faultf(ideafile.CodeToolFailed, "the result does not fit the tool's _output: %s", err)
		}
	}
	switch {
	case o.fault != nil:
		p.flow.FailCall(id, o.fault)
	case len(o.handedBack) > 0:
		p.flow.ApplyDelegateResult(id, ready.Tool, o.result, o.handedBack)
	default:
		p.flow.SucceedCall(id, o.result)
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

// decideAll decides on everything that waits for a decision.
func (p *player) decideAll() (moved bool) {
	for _, pending := range p.flow.PendingApprovals() {
		rec := p.flow.FindCall(pending.CallID)
		c := p.callOf(rec.ID)
		d, ok := p.memory.decide(rec, pending, c.decided)
		d.CallID = rec.ID
		if ok && p.flow.ApplyDecision(d) == nil {
			c.decided++
			moved = true
			continue
		}
		if c.unknown {
			continue
		}
		approve := approval.Decision{Kind: policy.Approve, CallID: rec.ID, DecidedBy: ideafile.SimulatedPerson,
			Reason: "nobody had decided on such a Call"}
		if err := p.flow.ApplyDecision(approve); err != nil {
			c.unknown = true
			p.stuck = append(p.stuck, rec.ID+" waits for a person: "+err.Error())
			continue
		}
		c.approved++
		moved = true
	}
	return moved
}

// answerAll answers the questions that the LLM would be asked about Calls, if it was asked the same ones then.
func (p *player) answerAll() (moved bool) {
	for _, q := range p.flow.LLMQuestions() {
		o, known := p.memory.answer(p.flow.FindCall(q.CallID), q)
		switch {
		case !known:
			continue
		case q.ParamsError != "":
			p.flow.ApplyAdaptedParams(q.CallID, o.adapted)
		case o.fault != nil:
			p.flow.FailCall(q.CallID, o.fault)
		default:
			p.callOf(q.CallID).result = &o
			p.flow.SucceedCall(q.CallID, o.result)
		}
		moved = true
	}
	return moved
}

// readTrace reads how the run went.
func (p *player) readTrace() *trace {
	t := &trace{state: p.flow.State()}
	records := p.flow.CallRecords()
	for _, rec := range records {
		t.calls = append(t.calls, traceCall(p.flow, rec, p.callOf(rec.ID).started))
	}
	setDepths(t.calls, records)
	for _, c := range t.calls {
		played := p.callOf(c.id)
		c.unknown, c.approved = played.unknown, played.approved
		if o := played.result; o != nil {
			c.result, c.hasResult, c.handedBack = o.result, o.fault == nil, o.handedBack
		}
		if rec := p.flow.FindCall(c.id); c.writtenByLLM {
			c.result, c.hasResult = rec.Output, true
		}
	}
	t.unknown = p.stuck
	return t
}

// withoutDeciders returns the Tools with policies that say only whether a person is asked, not who or until when.
func withoutDeciders(tools []*ideafile.Tool, override policy.Override) []*ideafile.Tool {
	out := make([]*ideafile.Tool, len(tools))
	for n, tool := range tools {
		plain := *tool
		if here := override.PolicyFor(tool.Name, tool.Approval); here != nil {
			alone := *here
			alone.Deciders, alone.Timeout = nil, 0
			alone.WhileWaiting = policy.Approval{}.WhileWaiting
			plain.Approval = &alone
		}
		out[n] = &plain
	}
	return out
}
