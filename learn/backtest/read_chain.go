package backtest

import (
	"slices"

	"processidea/learn/past"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// readInstance reads one instance, whether it has ended or not.
func (ch *chain) readInstance(token string) *pastInstance {
	i := &pastInstance{token: token, status: ch.StatusByInstance[token], finalState: stateOf(ch.Last().Context, token)}
	for _, m := range ch.Last().Context {
		if m.InstanceToken == token && m.InstanceStepOutcomes != nil {
			i.steps = m.InstanceStepOutcomes
		}
	}
	for _, call := range ch.Calls(token) {
		call.Written = call.Written.WithoutTarget()
		recorded := &pastCall{Call: call}
		ch.readResult(i, recorded)
		i.calls = append(i.calls, recorded)
	}
	for _, m := range ch.FirstIdeaByInstance[token].Context {
		m.InstanceEndStatus, m.InstanceFault, m.InstanceStepOutcomes = "", nil, nil
		switch {
		case m.PayloadKind == "":
		case m.InstanceToken == token:
			i.ownMessages = append(i.ownMessages, m)
		case m.InstanceToken == "":
			i.sharedMessages = append(i.sharedMessages, m)
		}
	}
	if hasEndedDirectCalls(ch.FirstIdeaByInstance[token], token) {
		ch.undoWrites(i, true)
	}
	for _, e := range ch.writesByInstance[token] {
		i.wasCorrected = i.wasCorrected || e.CorrectionNumber > 0
	}
	return i
}

// stateOf is an instance's State in a context, or an empty State if there is none.
func stateOf(context []ideafile.Message, token string) any {
	if state := ideafile.InstanceViewOf(context, token).PayloadByKind[ideafile.TypeState]; state != nil {
		return state
	}
	return jsonval.Object{}
}

// readResult finds the result of a Call: in the log, in the record, or in the final State at its path.
func (ch *chain) readResult(i *pastInstance, c *pastCall) {
	palette := ideafile.Palette{Tools: ch.Last().Tools, InstanceTokens: []string{i.token}, UntargetedCallsGoToAll: true,
		BindingByTool: permissiveBindings(c.Written)}
	call, _, f := palette.ReadCall(c.Written)
	if f != nil {
		return
	}
	id := c.Key.ID(i.token)
	for _, e := range ch.writesByInstance[i.token] {
		_, byPerson := e.PersonName()
		wasAnswered := byPerson && e.CorrectionNumber == 0 && e.Request == c.Key.Request && e.Index == c.Key.Index
		if e.Author != id && !wasAnswered {
			continue
		}
		c.adaptation = e.ParamsAdaptation
		c.applyWrite(call.OutputPath, e)
	}
	if c.HasResult || c.Status != ideafile.Done {
		return
	}
	c.Result, c.HasResult = past.ResultInState(call, i.finalState)
}

// applyWrite takes a Call's write as its result, or as a value that its delegate handed back.
func (c *pastCall) applyWrite(output refexpr.OutputPath, e turn.LogEntry) {
	isResult := slices.ContainsFunc(output.Paths(), func(p jsonval.Path) bool { return p.String() == e.Path.String() })
	switch {
	case !isResult:
		if c.delegateWrites == nil {
			c.delegateWrites = jsonval.Object{}
		}
		c.delegateWrites[e.Path.String()] = e.Value
	case c.HasResult && len(e.Path) == 0:
		c.Result = jsonval.OverlayObject(c.Result, e.Value) // the record also has the keys that were not written
	default:
		c.Result, c.HasResult = output.ResultForPath(e.Path, e.Value), true
	}
}

// permissiveBindings makes a Call readable whether the LLM wrote its result or not.
func permissiveBindings(w ideafile.WrittenCall) ideafile.ToolBindings {
	kind := ideafile.KindGo
	if _, latent := w.RawObject()["_output"]; latent {
		kind = ideafile.KindLatent
	}
	return ideafile.ToolBindings{w.Tool: {Kind: kind}}
}
