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

// memory answers for the outside: it knows what Calls came to, and what people decided.
type memory interface {
	// outcome is what a Call came to; known is false where nobody knows.
	outcome(call dataflow.ReadyCall) (o outcome, known bool)
	// decide is the decision that is taken on what waits; asked counts the earlier ones on this Call. ok is false where
	// nobody took one.
	decide(rec *dataflow.CallRecord, p approval.Pending, asked int) (d approval.Decision, ok bool)
	// answer is what the LLM made of a question; known is false where it was not asked this.
	answer(rec *dataflow.CallRecord, q turn.LLMQuestion) (o outcome, known bool)
}

// outcome is how a Call ended.
type outcome struct {
	result     any
	fault      *diag.Fault // it failed
	handedBack map[string]any
	adapted    map[string]any // an answer: parameters that were fitted to the Tool
}

// player runs one instance with a memory in place of the world.
type player struct {
	flow     *dataflow.Instance
	memory   memory
	started  map[string]dataflow.ReadyCall
	unknown  map[string]bool    // Calls that run, and nobody knows what they come to
	results  map[string]outcome // what was played, by the Call's id
	approved map[string]int     // how often a Call was approved without a decision of the past
	decided  map[string]int
	stuck    []string // what is not known beside results
	// moments are when each Call began and ended: what is ready at once begins at once.
	moments map[string][2]int
	now     int
}

func newPlayer(flow *dataflow.Instance, m memory) *player {
	return &player{flow: flow, memory: m,
		started: map[string]dataflow.ReadyCall{}, unknown: map[string]bool{}, results: map[string]outcome{},
		approved: map[string]int{}, decided: map[string]int{},
		moments: map[string][2]int{}}
}

// work plays until nothing more moves.
func (p *player) work() {
	for moved := true; moved; {
		moved = false
		p.now += 2
		for _, ready := range p.flow.Advance() {
			moved = true
			p.moments[ready.Record.ID] = [2]int{p.now, p.now + 1}
			p.end(ready)
		}
		moved = p.decideAll() || p.answerAll() || moved
		for _, update := range p.flow.TakeBlobUpdates() {
			p.unknown[update.CallID] = true
			p.stuck = append(p.stuck, update.CallID+" puts large values together, which is not done here")
		}
	}
}

// end ends a Call as the memory has it; one that it does not know goes on for ever.
func (p *player) end(ready dataflow.ReadyCall) {
	id := ready.Record.ID
	p.started[id] = ready
	o, known := p.memory.outcome(ready)
	if !known {
		p.unknown[id] = true
		return
	}
	p.results[id] = o
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

// checkResult returns how a result does not fit its Tool. Of one that names its branch the value counts.
func checkResult(tool *ideafile.Tool, result any) error {
	if m, ok := result.(map[string]any); ok && m[refexpr.BranchKey] != nil {
		result = m[refexpr.ResultKey]
	}
	if jsonval.ContainsBlobHandle(result) {
		return nil
	}
	return tool.OutputSchema.Validate(result)
}

// decideAll takes a decision on everything that waits for one.
func (p *player) decideAll() (moved bool) {
	for _, pending := range p.flow.PendingApprovals() {
		rec := p.flow.FindCall(pending.CallID)
		d, ok := p.memory.decide(rec, pending, p.decided[rec.ID])
		d.CallID = rec.ID
		if ok && p.flow.ApplyDecision(d) == nil {
			p.decided[rec.ID]++
			moved = true
			continue
		}
		if p.unknown[rec.ID] {
			continue
		}
		approve := approval.Decision{Kind: policy.Approve, CallID: rec.ID, DecidedBy: ideafile.SimulatedPerson,
			Reason: "nobody had decided on such a Call"}
		if err := p.flow.ApplyDecision(approve); err != nil {
			p.unknown[rec.ID] = true
			p.stuck = append(p.stuck, rec.ID+" waits for a person: "+err.Error())
			continue
		}
		p.approved[rec.ID]++
		moved = true
	}
	return moved
}

// answerAll answers what the LLM would be asked about Calls, as far as it was asked the same.
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
			p.results[q.CallID] = o
			p.flow.SucceedCall(q.CallID, o.result)
		}
		moved = true
	}
	return moved
}

// trace reads how it went.
func (p *player) trace() *trace {
	t := traceOf(p.flow, p.started)
	for _, c := range t.calls {
		c.unknown, c.approved = p.unknown[c.id], p.approved[c.id]
		if o, ok := p.results[c.id]; ok {
			c.result, c.hasResult, c.handedBack = o.result, o.fault == nil, o.handedBack
		}
		if rec := p.flow.FindCall(c.id); c.latent {
			c.result, c.hasResult = rec.Output, true
		}
	}
	t.unknown = p.stuck
	return t
}

// withoutDeciders are the Tools with their policies as they count here: whether a person is asked, never whom or until
// when.
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
