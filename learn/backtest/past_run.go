package backtest

import (
	"slices"
	"strconv"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// runPast repeats an instance as it went, Request by Request: its Calls with the results and the decisions of its
// chain. So it is known with which values each Call ran.
func runPast(c *chain, i *pastInstance) *trace {
	p, memory := replay(c, i)
	return tracePast(p, memory, i)
}

// replay plays the Calls of an instance as they went.
func replay(c *chain, i *pastInstance) (*player, recorded) {
	bindings := map[string]ideafile.ToolBinding{}
	for _, tool := range c.tools {
		bindings[tool.Name] = ideafile.ToolBinding{Kind: ideafile.KindGo}
	}
	palette := ideafile.Palette{Tools: withoutDeciders(c.tools, c.last.Config.Approval), BindingByTool: bindings,
		AdaptValuesWithLLM: true,
		InstanceTokens:     []string{i.token}, UntargetedCallsGoToAll: true, AllowsConditions: true}
	memory := recorded{byKey: map[ideafile.CallKey]*pastCall{}}
	p := newPlayer(dataflow.New(palette, slices.Concat(i.shared, i.own), i.token), memory)
	for n, call := range i.calls {
		// A Plan that ran directly is Request 0, of which no Call is taken from outside: all are counted one up.
		request := call.key.Request + 1
		memory.byKey[ideafile.CallKey{Request: request, Index: call.key.Index}] = call
		p.flow.AcceptCall(request, call.key.Index, asReplayed(call.written))
		if n+1 == len(i.calls) || i.calls[n+1].key.Request != call.key.Request {
			p.flow.CloseRequest(request)
			p.work()
		}
	}
	return p, memory
}

// tracePast is the trace of a replay, with each Call as the chain tells of it.
func tracePast(p *player, memory recorded, i *pastInstance) *trace {
	t := p.trace()
	t.status, t.steps = i.status, i.steps
	for _, traced := range t.calls {
		rec := p.flow.FindCall(traced.id)
		if call := memory.byKey[ideafile.CallKey{Request: rec.Request, Index: rec.Index}]; call != nil {
			t.unlike = t.unlike || (call.status == ideafile.Skipped) != (rec.Status == ideafile.Skipped)
			traced.describeAs(call)
		}
	}
	return t
}

// describeAs has a Call of the past be as its chain tells of it.
func (c *tracedCall) describeAs(call *pastCall) {
	_, c.latent = call.written.RawObject()["_output"]
	c.status, c.unknown, c.asked = call.status, false, c.asked || len(call.decisions) > 0
	if call.fault != nil {
		c.fault = call.fault
	}
	if len(c.decisions) == 0 {
		c.decisions = call.decisions
	}
	answered := len(c.decisions) > 0 && c.decisions[len(c.decisions)-1].Kind == policy.Answer
	c.ran = !answered && c.params != nil && (c.status == ideafile.Done || c.status == ideafile.Failed &&
		wasRun(c.fault))
	c.hasResult = c.hasResult && c.status == ideafile.Done
}

// wasRun reports whether a Call that failed had run: one that was written wrongly never did.
func wasRun(f *diag.Fault) bool {
	if f == nil {
		return true
	}
	switch f.Code {
	case ideafile.CodeBadForm, ideafile.CodeUnknownTool, ideafile.CodeUnknownKey, ideafile.CodeBadInstance,
		ideafile.CodeBadReference, ideafile.CodeBadPath,
		ideafile.CodeBadParams:
		return false
	}
	return true
}

// asReplayed is a Call as it is played again: without the result that the LLM wrote into it, which the chain has as
// that of any other, and after Calls that are counted one up.
func asReplayed(w ideafile.WrittenCall) ideafile.WrittenCall {
	if w.RawObject() == nil {
		return w
	}
	raw := jsonval.WithoutKey(w.RawObject(), "_output")
	after := raw["_after"]
	if one, ok := after.(string); ok {
		after = []any{one}
	}
	if list, ok := after.([]any); ok {
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

// recorded is the memory of the past itself: each Call by its place in the Plan.
type recorded struct {
	byKey map[ideafile.CallKey]*pastCall
}

func (r recorded) find(rec *dataflow.CallRecord) *pastCall {
	return r.byKey[ideafile.CallKey{Request: rec.Request, Index: rec.Index}]
}

func (r recorded) outcome(ready dataflow.ReadyCall) (outcome, bool) {
	c := r.find(ready.Record)
	switch {
	case c == nil:
		return outcome{}, false
	case c.hasResult && c.status == ideafile.Done:
		return outcome{result: c.result, handedBack: c.handedBack}, true
	case c.status == ideafile.Done:
		return outcome{}, false
	case c.fault != nil:
		return outcome{fault: c.fault}, true
	}
	return outcome{fault: diag.Faultf(ideafile.CodeToolFailed, "it was %s", c.status)}, true
}

func (r recorded) decide(rec *dataflow.CallRecord, _ approval.Pending, asked int) (approval.Decision, bool) {
	c := r.find(rec)
	if c == nil || asked >= len(c.decisions) {
		return approval.Decision{}, false
	}
	return again(c.decisions[asked]), true
}

func (r recorded) answer(rec *dataflow.CallRecord, q turn.LLMQuestion) (outcome, bool) {
	c := r.find(rec)
	if c == nil || q.ParamsError == "" || !c.adapted.IsAnswered() {
		return outcome{}, false
	}
	return outcome{adapted: c.adapted.AdaptedParams}, true
}

// again is a decision as it is taken once more: whoever took it, of what groups and under which proof, is looked at no
// more.
func again(d approval.Decision) approval.Decision {
	return approval.Decision{Kind: d.Kind, DecidedBy: d.DecidedBy, Reason: d.Reason, AmendedParams: d.AmendedParams,
		Replacement: d.Replacement,
		GivenResult: d.GivenResult}
}
