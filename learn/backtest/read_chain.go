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
func (of *chain) readInstance(token string) *pastInstance {
	i := &pastInstance{token: token, status: of.Status[token], finalState: stateOf(of.Last().Context, token)}
	for _, m := range of.Last().Context {
		if m.InstanceToken == token && m.InstanceSteps != nil {
			i.steps = m.InstanceSteps
		}
	}
	for _, call := range of.Calls(token) {
		call.Written = call.Written.WithoutTarget()
		read := &pastCall{Call: call}
		of.readResult(i, read)
		i.calls = append(i.calls, read)
	}
	for _, m := range of.FirstIdea[token].Context {
		m.InstanceEndStatus, m.InstanceFault, m.InstanceSteps = "", nil, nil
		switch {
		case m.PayloadKind == "":
		case m.InstanceToken == token:
			i.own = append(i.own, m)
		case m.InstanceToken == "":
			i.shared = append(i.shared, m)
		}
	}
	if hasEndedDirectCalls(of.FirstIdea[token], token) {
		of.undoWrites(i, true)
	}
	for _, e := range of.writes[token] {
		i.corrected = i.corrected || e.CorrectionNumber > 0
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
func (of *chain) readResult(i *pastInstance, c *pastCall) {
	palette := ideafile.Palette{Tools: of.Last().Tools, InstanceTokens: []string{i.token}, UntargetedCallsGoToAll: true,
		BindingByTool: permissiveBindings(c.Written)}
	call, _, f := palette.ReadCall(c.Written)
	if f != nil {
		return
	}
	id := c.Key.ID(i.token)
	for _, e := range of.writes[i.token] {
		_, byPerson := e.PersonName()
		answered := byPerson && e.CorrectionNumber == 0 && e.Request == c.Key.Request && e.Index == c.Key.Index
		if e.Author != id && !answered {
			continue
		}
		c.adapted = e.ParamsAdaptation
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
		if c.handedBack == nil {
			c.handedBack = jsonval.Object{}
		}
		c.handedBack[e.Path.String()] = e.Value
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
