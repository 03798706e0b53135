// Package past reads finished processes from their chains: what every Idea records of the instances and of their Calls,
// for the packages that learn from them. It judges nothing.
package past

import (
	"errors"
	"maps"
	"slices"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// RecordedProcess is a finished process as its chain recorded it: the Ideas in order, and the log. Without a log,
// results are taken from the last State.
type RecordedProcess struct {
	ProcessID string
	Ideas     []jsonval.Object
	Log       []turn.LogEntry
	// Parts are the parts of a split process, which have its instances and their Calls.
	Parts []RecordedProcess
}

// Chain is the content of one chain of Ideas, read once for all its instances.
type Chain struct {
	ProcessID string
	Ideas     []*ideafile.Idea
	Log       []turn.LogEntry
	// FirstIdeaByInstance is the first Idea that has an instance, and Status is how the instance ended; both are by
	// token.
	FirstIdeaByInstance map[string]*ideafile.Idea
	StatusByInstance    map[string]ideafile.InstanceStatus
	// WritesByInstance are the writes of the log, without those that were undone.
	WritesByInstance map[string][]turn.LogEntry
	// UnrecordedCalls are the Calls of solutions that have no record.
	UnrecordedCalls       []turn.RecordedCall
	recordedCalls         []turn.RecordedCall // from the records, the latest last
	lastContextByInstance ideafile.ContextByInstance
	faultByCallID         map[string]diag.Fault // errors in the context, by the Call's id
}

// Call is a Call in one instance, as the last Idea that contains it records it.
type Call struct {
	Key              ideafile.CallKey
	WrittenCall      ideafile.WrittenCall
	Status           ideafile.CallStatus
	Fault            *diag.Fault
	Result           any
	HasResult        bool
	Decisions        []approval.Decision
	ExecutedCall     *turn.ExecutedCall // as it ran after people's decisions
	ParamsAdaptation *approval.ParamsAdaptation
	// DelegateWrites are the values that a delegate wrote into State beside its result, by path.
	DelegateWrites jsonval.Object
	IsRecorded     bool // there is a record; otherwise only a solution has it
}

// First is the first Idea.
func (c *Chain) First() *ideafile.Idea { return c.Ideas[0] }

// Last is the last Idea.
func (c *Chain) Last() *ideafile.Idea { return c.Ideas[len(c.Ideas)-1] }

// OpenChain reads one chain. The error says that there is nothing to read, or that the values are made up.
func OpenChain(process RecordedProcess) (*Chain, error) {
	if len(process.Ideas) == 0 {
		return nil, errors.New("it has no Ideas")
	}
	c := &Chain{ProcessID: process.ProcessID, Log: process.Log, FirstIdeaByInstance: map[string]*ideafile.Idea{},
		WritesByInstance: map[string][]turn.LogEntry{}, faultByCallID: map[string]diag.Fault{}}
	for _, e := range process.Log {
		if e.IsWrite() {
			c.WritesByInstance[e.InstanceToken] = turn.ApplyWrite(c.WritesByInstance[e.InstanceToken], e)
		}
	}
	for _, source := range process.Ideas {
		idea, _ := ideafile.ReadIdea(source)
		c.Ideas = append(c.Ideas, idea)
		tokens := idea.InstanceTokens()
		for _, token := range tokens {
			if c.FirstIdeaByInstance[token] == nil {
				c.FirstIdeaByInstance[token] = idea
			}
		}
		c.recordedCalls = append(c.recordedCalls, ReadRecordedCalls(idea)...)
		c.UnrecordedCalls = append(c.UnrecordedCalls, readSolutionCalls(idea, tokens)...)
		c.readFaults(idea)
	}
	if c.First().Simulation != nil || c.Last().Simulation != nil {
		return nil, errors.New("it was simulated: its values are made up, and no Tool ran")
	}
	// A Call for "*" was for the instances that its Request covered, which its record lists.
	hasRecord := map[ideafile.CallKey]bool{}
	for _, p := range c.recordedCalls {
		hasRecord[p.CallKey()] = true
	}
	c.UnrecordedCalls = slices.DeleteFunc(c.UnrecordedCalls,
		func(p turn.RecordedCall) bool { return hasRecord[p.CallKey()] })
	c.StatusByInstance = endStatusByInstance(c.Last())
	c.lastContextByInstance = ideafile.SplitMessagesByInstance(c.Last().Context)
	return c, nil
}

// OpenInstanceChains reads the chains that contain the instances: those of the parts of a split process, or else that
// of the process itself.
func OpenInstanceChains(process RecordedProcess) (chains []*Chain, err error) {
	processOrParts := jsonval.Filter(process.Parts, func(part RecordedProcess) bool { return len(part.Ideas) > 0 })
	if len(process.Parts) == 0 {
		processOrParts = []RecordedProcess{process}
	}
	for _, r := range processOrParts {
		c, err := OpenChain(r)
		if err != nil {
			return nil, err
		}
		chains = append(chains, c)
	}
	return chains, nil
}

// ReadRecordedCalls reads the records of earlier Calls in an Idea. Calls of a Plan that ran directly belong to Request
// 0.
func ReadRecordedCalls(idea *ideafile.Idea) (calls []turn.RecordedCall) {
	tokens := idea.InstanceTokens()
	for _, m := range idea.Context {
		calls = append(calls, turn.ReadRecord(m, tokens)...)
	}
	return calls
}

// DirectPlanCallsAtStart reads the records of a direct Plan's Calls that a process's first Idea has. A fork has none:
// its first Idea shows what it began with.
func DirectPlanCallsAtStart(firstIdea *ideafile.Idea) []turn.RecordedCall {
	if jsonval.Lookup(firstIdea.Source, "meta", "origin") != nil {
		return nil
	}
	return jsonval.Filter(ReadRecordedCalls(firstIdea), func(p turn.RecordedCall) bool { return p.Request == 0 })
}

// IsMalformedCallFault reports whether a Call failed because of how it was written, so that it never ran.
func IsMalformedCallFault(f diag.Fault) bool {
	return slices.Contains([]string{ideafile.CodeBadForm, ideafile.CodeUnknownTool, ideafile.CodeUnknownKey,
		ideafile.CodeBadInstance, ideafile.CodeBadReference, ideafile.CodeBadPath}, f.Code)
}

// readSolutionCalls returns the Calls of an Idea's solution. They count as done, since Calls that were not done have a
// record.
func readSolutionCalls(idea *ideafile.Idea, tokens []string) (list []turn.RecordedCall) {
	requestNumber, err := jsonval.ToFloat(jsonval.Lookup(idea.Source, "meta", "request"))
	if err != nil {
		return nil
	}
	for n, call := range ideafile.ParseWrittenCalls(solutionCalls(idea)) {
		p := turn.RecordedCall{Request: int(requestNumber), Index: n + 1, WrittenCall: call,
			StatusByInstance: map[string]ideafile.CallStatus{}}
		for _, token := range call.TargetTokensOrAll(tokens) {
			p.StatusByInstance[token] = ideafile.CallDone
		}
		list = append(list, p)
	}
	return list
}

func solutionCalls(idea *ideafile.Idea) []any {
	return jsonval.AsList(jsonval.Lookup(idea.Source, "solution", "calls"))
}

// readFaults reads the errors of Calls in an Idea's context.
func (c *Chain) readFaults(idea *ideafile.Idea) {
	for _, m := range idea.Context {
		e, ok := turn.ReadContextError(m)
		switch {
		case !ok || e.CallID == "":
			continue
		case len(e.InstanceTokens) == 0:
			c.faultByCallID[e.CallID] = e.Fault
		}
		for _, token := range e.InstanceTokens {
			c.faultByCallID[e.CallID+"@"+token] = e.Fault
		}
	}
}

// endStatusByInstance returns how every instance ended. Its State message says so; otherwise it is settled if the last
// Request planned no more Calls.
func endStatusByInstance(lastIdea *ideafile.Idea) map[string]ideafile.InstanceStatus {
	statusByInstance := map[string]ideafile.InstanceStatus{}
	if len(solutionCalls(lastIdea)) == 0 && jsonval.Lookup(lastIdea.Source, "meta", "request") != nil {
		for _, token := range lastIdea.InstanceTokens() {
			statusByInstance[token] = ideafile.InstanceSettled
		}
	}
	for _, m := range lastIdea.Context {
		if m.PayloadKind == ideafile.TypeState && m.InstanceEndStatus != "" {
			statusByInstance[m.InstanceToken] = m.InstanceEndStatus
		}
	}
	return statusByInstance
}

// EndView is what an instance saw at the end. It has a State, which may be empty.
func (c *Chain) EndView(token string) ideafile.InstanceView {
	view := c.lastContextByInstance.InstanceView(token)
	if view.PayloadByKind[ideafile.TypeState] == nil {
		view.PayloadByKind[ideafile.TypeState] = jsonval.Object{}
	}
	return view
}

// StartMessages are the Messages with the data that an instance began with: those for all instances, and its own. They
// leave out how it ended before, since an instance that has ended begins no Plan.
func (c *Chain) StartMessages(token string) (sharedMessages, ownMessages []ideafile.Message) {
	for _, m := range c.FirstIdeaByInstance[token].Context {
		m.InstanceEndStatus, m.InstanceFault, m.InstanceStepOutcomes = "", nil, nil
		switch {
		case m.PayloadKind == "":
		case m.InstanceToken == token:
			ownMessages = append(ownMessages, m)
		case m.InstanceToken == "":
			sharedMessages = append(sharedMessages, m)
		}
	}
	return sharedMessages, ownMessages
}

// Calls lists the Calls of an instance, in the order of the Plan.
func (c *Chain) Calls(token string) (calls []Call) {
	callByKey := map[ideafile.CallKey]Call{}
	for n, p := range slices.Concat(c.UnrecordedCalls, c.recordedCalls) {
		status, isPlanned := p.StatusByInstance[token]
		if !isPlanned {
			continue
		}
		call := Call{Key: p.CallKey(), WrittenCall: p.WrittenCall, Status: status, Fault: p.FaultByInstance[token],
			Decisions: p.DecisionsByInstance[token], IsRecorded: n >= len(c.UnrecordedCalls)}
		call.Result, call.HasResult = p.ResultByInstance[token]
		if executed, ok := p.ExecutedCallByInstance[token]; ok {
			call.ExecutedCall = &executed
		}
		if f, ok := c.faultByCallID[call.Key.ID(token)]; ok && call.Fault == nil {
			call.Fault = &f
		}
		callByKey[call.Key] = call
	}
	finalState := c.EndView(token).PayloadByKind[ideafile.TypeState]
	for _, key := range slices.SortedFunc(maps.Keys(callByKey), ideafile.CallKey.Compare) {
		call := callByKey[key]
		c.readResult(&call, token, finalState)
		calls = append(calls, call)
	}
	return calls
}

// readResult finds the result of a Call: in the log, in the record, or in the final State at its path.
func (c *Chain) readResult(call *Call, token string, finalState any) {
	palette := ideafile.Palette{Tools: c.Last().Tools, InstanceTokens: []string{token}, UntargetedCallsGoToAll: true,
		AllowsDirectPlanKeys: true, BindingByTool: permissiveBindings(call.WrittenCall)}
	parsedCall, _, f := palette.ReadCall(call.WrittenCall.WithoutTarget())
	if f != nil {
		return
	}
	for _, e := range c.WritesByInstance[token] {
		_, isByPerson := e.PersonName()
		isAnswerByPerson := isByPerson && e.CorrectionNumber == 0 && e.Request == call.Key.Request &&
			e.Index == call.Key.Index
		if e.Author == call.Key.ID(token) || isAnswerByPerson {
			call.ParamsAdaptation = e.ParamsAdaptation
			call.takeWriteAsResult(parsedCall.OutputPath, e)
		}
	}
	if !call.HasResult && call.Status == ideafile.CallDone {
		call.Result, call.HasResult = resultInState(parsedCall, finalState)
	}
}

// takeWriteAsResult takes a Call's write as its result, or as a value that its delegate handed back.
func (c *Call) takeWriteAsResult(outputPath refexpr.OutputPath, e turn.LogEntry) {
	isResult := slices.ContainsFunc(outputPath.Paths(),
		func(p jsonval.Path) bool { return p.String() == e.Path.String() })
	switch {
	case !isResult:
		c.DelegateWrites = jsonval.WithKey(c.DelegateWrites, e.Path.String(), e.Value)
	case c.HasResult && len(e.Path) == 0:
		c.Result = jsonval.OverlayObject(c.Result, e.Value) // the record also has the keys that were not written
	default:
		c.Result, c.HasResult = outputPath.WrapResultForPath(e.Path, e.Value), true
	}
}

// permissiveBindings makes a Call readable whether the LLM wrote its result or not.
func permissiveBindings(w ideafile.WrittenCall) ideafile.ToolBindings {
	kind := ideafile.KindGo
	if _, isLatent := w.RawObject()["_output"]; isLatent {
		kind = ideafile.KindLatent
	}
	return ideafile.ToolBindings{w.Tool: {Kind: kind}}
}

// BindAllAsGo binds all Tools to code, since their results are known.
func BindAllAsGo(tools []*ideafile.Tool) ideafile.ToolBindings {
	bindings := ideafile.ToolBindings{}
	for _, tool := range tools {
		bindings[tool.Name] = ideafile.ToolBinding{Kind: ideafile.KindGo}
	}
	return bindings
}

// resultInState reads a Call's result from a State. ok is false if the State does not show it, or if the Call only
// updated its place.
func resultInState(call ideafile.Call, state any) (result any, ok bool) {
	for _, p := range call.OutputPath.Paths() {
		if v, exists := jsonval.ValueAt(state, p); exists && !statelog.IsUpdateWrite(call.OutputMethod, p) {
			return call.OutputPath.WrapResultForPath(p, v), true
		}
	}
	return nil, len(call.OutputPath) == 0
}

// DifferingPaths names the top-level paths at which two States differ.
func DifferingPaths(a, b any) (stateReferences []string) {
	for _, k := range DifferingKeys(jsonval.AsObject(a), jsonval.AsObject(b)) {
		stateReferences = append(stateReferences, refexpr.Reference{Kind: ideafile.TypeState,
			Path: jsonval.Path{k}}.String())
	}
	return stateReferences
}

// DifferingKeys lists the keys at which two objects differ, in order.
func DifferingKeys(a, b jsonval.Object) []string {
	merged := jsonval.Object{}
	maps.Copy(merged, a)
	maps.Copy(merged, b)
	return slices.DeleteFunc(jsonval.SortedKeys(merged), func(k string) bool {
		v, inA := a[k]
		w, inB := b[k]
		return inA && inB && jsonval.Equal(v, w)
	})
}
