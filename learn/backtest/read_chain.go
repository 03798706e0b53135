package backtest

import (
	"fmt"
	"maps"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// chainReader finds in a chain what each instance did.
type chainReader struct {
	chain  *chain
	ideas  []*ideafile.Idea
	told   []turn.PastCall // what records say, the latest last
	begun  []turn.PastCall // the Calls of solutions, of which no record may tell
	writes map[string][]turn.LogEntry
	faults map[string]diag.Fault // by the Call's id
}

func newChainReader(c *chain, ideas []*ideafile.Idea, log []turn.LogEntry) *chainReader {
	r := &chainReader{chain: c, ideas: ideas, writes: map[string][]turn.LogEntry{}, faults: map[string]diag.Fault{}}
	for _, e := range log {
		if e.IsWrite() {
			r.writes[e.Instance] = turn.AddWrite(r.writes[e.Instance], e)
		}
	}
	for _, idea := range ideas {
		r.readRecords(idea)
		r.readSolution(idea)
	}
	// A Call for "*" was for the instances that its Request covered: where a record tells of it, that tells which these
	// were.
	isTold := map[ideafile.CallKey]bool{}
	for _, p := range r.told {
		isTold[p.CallKey()] = true
	}
	r.begun = slices.DeleteFunc(r.begun,
		func(p turn.PastCall) bool { return isTold[p.CallKey()] })
	return r
}

// readRecords reads what an Idea tells of earlier Calls.
func (r *chainReader) readRecords(idea *ideafile.Idea) {
	tokens := idea.InstanceTokens()
	for _, m := range idea.Context {
		switch {
		case m.IsPlanWithRecord():
			r.told = append(r.told, turn.ReadPastCalls(m, tokens)...)
		case m.IsDirectPlan():
			r.told = append(r.told, turn.ReadPastDirectPlanCalls(m, tokens)...)
		}
		e, ok := turn.ReadContextError(m)
		switch {
		case !ok || e.CallID == "":
		case len(e.Instances) == 0:
			r.faults[e.CallID] = e.Fault
		}
		for _, token := range e.Instances {
			r.faults[e.CallID+"@"+token] = e.Fault
		}
	}
}

// readSolution reads the Calls that an Idea's solution planned.
func (r *chainReader) readSolution(idea *ideafile.Idea) {
	request, err := jsonval.ToFloat(jsonval.AsObject(idea.Source["meta"])["request"])
	calls, _ := jsonval.AsObject(idea.Source["solution"])["calls"].([]any)
	if err != nil {
		return
	}
	tokens := idea.InstanceTokens()
	for n, call := range ideafile.ParseWrittenCalls(calls) {
		p := turn.PastCall{Request: int(request), Index: n + 1, WrittenCall: call,
			StatusByInstance: map[string]ideafile.CallStatus{}}
		for _, token := range call.TargetInstances(tokens) {
			p.StatusByInstance[token] = ideafile.Done // a record would tell of anything else
		}
		r.begun = append(r.begun, p)
	}
}

// readInstance reads one instance. The error says that it has not ended.
func (r *chainReader) readInstance(token string) (*pastInstance, error) {
	i := r.instanceAsItStands(token)
	if !i.status.HasEnded() {
		return nil, fmt.Errorf("it has not finished")
	}
	return i, nil
}

// instanceAsItStands reads one instance, ended or not.
func (r *chainReader) instanceAsItStands(token string) *pastInstance {
	i := &pastInstance{token: token, status: endStatus(r.chain.last, token)}
	for _, m := range r.chain.last.Context {
		if m.InstanceToken == token && m.InstanceSteps != nil {
			i.steps = m.InstanceSteps
		}
	}
	i.finalState = stateOf(r.chain.last.Context, token)
	r.readCalls(i)
	at := slices.IndexFunc(r.ideas, func(idea *ideafile.Idea) bool {
		return slices.Contains(idea.InstanceTokens(), token)
	})
	for _, m := range r.ideas[at].Context {
		m.InstanceEndStatus, m.InstanceFault, m.InstanceSteps = "", nil, nil
		switch {
		case m.PayloadKind == "":
		case m.InstanceToken == token:
			i.own = append(i.own, m)
		case m.InstanceToken == "":
			i.shared = append(i.shared, m)
		}
	}
	if beganBefore(r.ideas[at], token) {
		r.undoWrites(i, true)
	}
	for _, e := range r.writes[token] {
		i.corrected = i.corrected || e.CorrectionNumber > 0
	}
	return i
}

// stateOf is an instance's State in a context; an empty one where it has none.
func stateOf(context []ideafile.Message, token string) any {
	if state := ideafile.InstanceViewOf(context, token).PayloadByKind[ideafile.TypeState]; state != nil {
		return state
	}
	return map[string]any{}
}

// endStatus is how an instance ended: as its State message says, or settled where the last Request planned no more
// Calls.
func endStatus(last *ideafile.Idea, token string) (status ideafile.InstanceStatus) {
	calls, _ := jsonval.AsObject(last.Source["solution"])["calls"].([]any)
	if len(calls) == 0 && jsonval.AsObject(last.Source["meta"])["request"] != nil {
		status = ideafile.InstanceSettled
	}
	for _, m := range last.Context {
		if m.PayloadKind == ideafile.TypeState && m.InstanceToken == token && m.InstanceEndStatus != "" {
			status = m.InstanceEndStatus
		}
	}
	return status
}

// readCalls lists the instance's Calls, each as the last Idea that tells of it has it.
func (r *chainReader) readCalls(i *pastInstance) {
	calls := map[ideafile.CallKey]*pastCall{}
	for _, p := range slices.Concat(r.begun, r.told) {
		status, planned := p.StatusByInstance[i.token]
		if !planned {
			continue
		}
		c := &pastCall{key: p.CallKey(),
			written: p.WrittenCall.WithoutTarget(), status: status,
			decisions: p.DecisionsByInstance[i.token], fault: p.FaultByInstance[i.token]}
		c.result, c.hasResult = p.ResultByInstance[i.token]
		if ran, ok := p.RanCallByInstance[i.token]; ok {
			c.ranCall = &ran
		}
		calls[c.key] = c
	}
	for _, key := range slices.SortedFunc(maps.Keys(calls), ideafile.CallKey.Compare) {
		c := calls[key]
		if f, ok := r.faults[ideafile.FormatCallID(key.Request, key.Index, i.token)]; ok && c.fault == nil {
			c.fault = &f
		}
		r.readResult(i, c)
		i.calls = append(i.calls, c)
	}
}

// readResult finds the result of a Call: in the log, in the record, or in the final State at its path.
func (r *chainReader) readResult(i *pastInstance, c *pastCall) {
	palette := ideafile.Palette{Tools: r.chain.tools, InstanceTokens: []string{i.token}, UntargetedCallsGoToAll: true,
		BindingByTool: anyBinding(c.written)}
	call, _, f := palette.ReadCall(c.written)
	if f != nil {
		return
	}
	id := ideafile.FormatCallID(c.key.Request, c.key.Index, i.token)
	for _, e := range r.writes[i.token] {
		_, byPerson := e.PersonName()
		answered := byPerson && e.CorrectionNumber == 0 && e.Request == c.key.Request && e.Index == c.key.Index
		if e.Author != id && !answered {
			continue
		}
		c.adapted = e.ParamsAdaptation
		r.takeWrite(c, call.OutputPath, e)
	}
	if c.hasResult || c.status != ideafile.Done {
		return
	}
	c.result, c.hasResult = nil, len(call.OutputPath) == 0
	for _, p := range call.OutputPath.Paths() {
		if v, ok := jsonval.ValueAt(i.finalState, p); ok && !c.hasResult &&
			!statelog.IsUpdateWrite(call.OutputMethod, p) {
			c.result, c.hasResult = call.OutputPath.ResultForPath(p, v), true
		}
	}
}

// takeWrite takes a Call's write as its result, or as a value that its delegate handed back.
func (r *chainReader) takeWrite(c *pastCall, output refexpr.OutputPath, e turn.LogEntry) {
	isResult := slices.ContainsFunc(output.Paths(), func(p jsonval.Path) bool { return p.String() == e.Path.String() })
	switch {
	case !isResult:
		if c.handedBack == nil {
			c.handedBack = map[string]any{}
		}
		c.handedBack[e.Path.String()] = e.Value
	case c.hasResult && len(e.Path) == 0:
		c.result = jsonval.OverlayObject(c.result, e.Value) // the record has the keys that were not written
	default:
		c.result, c.hasResult = output.ResultForPath(e.Path, e.Value), true
	}
}

// anyBinding lets a Call be read whether the LLM wrote its result or not.
func anyBinding(w ideafile.WrittenCall) map[string]ideafile.ToolBinding {
	kind := ideafile.KindGo
	if _, latent := w.RawObject()["_output"]; latent {
		kind = ideafile.KindLatent
	}
	return map[string]ideafile.ToolBinding{w.Tool: {Kind: kind}}
}
