package harden

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/turn"
)

func (h *hardener) readRun(run FinishedRun) error {
	if len(run.Ideas) == 0 {
		return fmt.Errorf("it has no Ideas")
	}
	process := &processRun{ProcessID: run.ProcessID, chains: []*chainRun{readChain(run)}}
	process.firstIdea, process.lastIdea = process.chains[0].ideas[0], process.chains[0].lastIdea()
	if process.firstIdea.Simulation != nil || process.lastIdea.Simulation != nil {
		return fmt.Errorf("it was simulated: its values are made up, and no Tool ran")
	}
	if len(h.processes) > 0 && !jsonval.Equal(h.processes[0].lastIdea.Source["schema"],
		process.lastIdea.Source["schema"]) {
		return fmt.Errorf("its Tools or its output form are others than those of %s", h.processes[0].ProcessID)
	}
	for _, part := range run.Parts {
		if len(part.Ideas) > 0 {
			process.chains = append(process.chains, readChain(part))
		}
	}
	h.processes = append(h.processes, process)
	if err := h.readInstances(process); err != nil {
		return err
	}
	for _, r := range process.instances {
		h.readRecordedCalls(r)
	}
	h.instances = append(h.instances, process.instances...)
	return nil
}

// readChain reads the Ideas and the log of one chain once, for all its instances.
func readChain(run FinishedRun) *chainRun {
	c := &chainRun{processID: run.ProcessID, writes: map[writeAuthor]turn.LogEntry{},
		faultByCallID: map[string]diag.Fault{}}
	for _, source := range run.Ideas {
		idea, _ := ideafile.ReadIdea(source)
		c.ideas, c.tokens = append(c.ideas, idea), append(c.tokens, idea.InstanceTokens())
		c.readPastCalls(idea)
	}
	c.dropToldCalls()
	for _, e := range run.Log {
		if key := (writeAuthor{e.Author, e.Instance}); c.writes[key].Author == "" {
			c.writes[key] = e
		}
	}
	return c
}

// readPastCalls reads what an Idea tells of earlier Calls, and its own solution as Calls of which nothing is told yet.
func (c *chainRun) readPastCalls(idea *ideafile.Idea) {
	tokens := idea.InstanceTokens()
	told := []turn.PastCall{}
	for _, m := range idea.Context {
		switch {
		case m.IsPlanWithRecord():
			told = append(told, turn.ReadPastCalls(m, tokens)...)
		case m.IsDirectPlan():
			told = append(told, turn.ReadPastDirectPlanCalls(m, tokens)...)
		}
		if e, ok := turn.ReadContextError(m); ok && e.CallID != "" {
			for _, id := range failedCallIDs(e) {
				c.faultByCallID[id] = e.Fault
			}
		}
	}
	for _, p := range told {
		//workflowcheck:ignore -- a map again
		for token, f := range p.FaultByInstance {
			c.faultByCallID[ideafile.FormatCallID(p.Request, p.Index, token)] = *f
		}
	}
	c.pastCalls = append(c.pastCalls, told)
	var planned []turn.PastCall
	request, err := jsonval.ToFloat(jsonval.AsObject(idea.Source["meta"])["request"])
	calls, _ := jsonval.AsObject(idea.Source["solution"])["calls"].([]any)
	for k, call := range ideafile.ParseWrittenCalls(calls) {
		if err == nil {
			planned = append(planned, turn.PastCall{Request: int(request), Index: k + 1, WrittenCall: call})
		}
	}
	c.plannedCalls = append(c.plannedCalls, planned)
}

// dropToldCalls leaves out of the planned Calls those of which a record tells. A Call for "*" was for the instances
// that its Request covered: the record says which these were, the Idea has all.
func (c *chainRun) dropToldCalls() {
	isTold := map[ideafile.CallKey]bool{}
	for _, p := range slices.Concat(c.pastCalls...) {
		isTold[p.CallKey()] = true
	}
	for n, planned := range c.plannedCalls {
		c.plannedCalls[n] = slices.DeleteFunc(planned,
			func(p turn.PastCall) bool { return isTold[p.CallKey()] })
	}
}

// failedCallIDs lists the ids of a failed Call in the instances that its error names.
func failedCallIDs(e turn.ContextError) []string {
	if len(e.Instances) == 0 {
		return []string{e.CallID}
	}
	var ids []string
	for _, token := range e.Instances {
		ids = append(ids, e.CallID+"@"+token)
	}
	return ids
}

// readChainInstances finds the instances that settled, and what they started with. Those of a split process are in its
// parts.
func (h *hardener) readInstances(process *processRun) error {
	if err := checkFinished(process.chains[0].lastIdea()); err != nil {
		return err
	}
	left := excludedInstances{process: process, tokensByReason: map[string][]string{}}
	found := map[string]bool{}
	chains := process.chains
	if len(chains) > 1 {
		chains = chains[1:]
	}
	for _, c := range chains {
		if c.beganBeforeFirstIdea() {
			return fmt.Errorf("its Plan ran directly, and its first Idea was sealed when Calls of it had ended: how " +
				"it began is not known")
		}
		left.readChainInstances(c)
		for _, token := range c.lastIdea().InstanceTokens() {
			found[token] = true
		}
	}
	for _, token := range process.lastIdea.InstanceTokens() {
		if !found[token] {
			left.add(token, "of which no part tells what it did")
		}
	}
	for _, why := range left.reasons {
		h.addNote("left out: %s, %s", left.describeInstances(why), why)
	}
	return nil
}

// excludedInstances are the instances of a process from which nothing is to be learned, by the reason.
type excludedInstances struct {
	process        *processRun
	reasons        []string
	tokensByReason map[string][]string
}

func (l *excludedInstances) add(token, why string) {
	if l.tokensByReason[why] == nil {
		l.reasons = append(l.reasons, why)
	}
	l.tokensByReason[why] = append(l.tokensByReason[why], token)
}

func (l *excludedInstances) describeInstances(why string) string {
	if names := l.tokensByReason[why]; names[0] != "" {
		return diag.FirstNamesAndCount(names) + " of " + l.process.ProcessID
	}
	return l.process.ProcessID
}

// beganBeforeFirstIdea reports whether Calls of a direct Plan had ended before the first Idea. In a fork they had, and
// its first Idea tells with what it began.
func (c *chainRun) beganBeforeFirstIdea() bool {
	first := c.ideas[0]
	if jsonval.AsObject(first.Source["meta"])["origin"] != nil {
		return false
	}
	return slices.ContainsFunc(c.pastCalls[0], func(p turn.PastCall) bool {
		ended := false
		//workflowcheck:ignore -- the order does not matter
		for _, s := range p.StatusByInstance {
			ended = ended || s.IsFinal() && (s == ideafile.Done || p.WrittenCall.RawObject()[ideafile.WhenKey] == nil)
		}
		return p.Request == 0 && ended
	})
}

// checkFinished returns an error for a process with an instance that is still at work.
func checkFinished(last *ideafile.Idea) error {
	statuses := endStatuses(last)
	for _, token := range last.InstanceTokens() {
		if s := statuses[token]; !s.HasEnded() {
			return fmt.Errorf("it has not finished")
		}
	}
	return nil
}

// readChainInstances reads the instances of one chain, and sorts out those that reached no goal.
func (l *excludedInstances) readChainInstances(c *chainRun) {
	starts, firstSeen := c.initialViews()
	last := c.lastIdea()
	tokens := last.InstanceTokens()
	ends, statuses := ideafile.InstanceViewsByToken(last.Context, tokens), endStatuses(last)
	for _, token := range tokens {
		r := &instanceRun{process: l.process, chain: c, instanceToken: token, startView: starts[token]}
		r.startMessages = dataMessages(firstSeen[token].Context, token)
		r.finalState = ends[token].PayloadByKind[ideafile.TypeState]
		if r.finalState == nil {
			r.finalState = map[string]any{}
		}
		missing := statelog.MissingRequiredPaths(ends[token].SchemaByKind[ideafile.TypeState], r.finalState)
		switch {
		case statuses[token] != ideafile.InstanceSettled:
			l.add(token, "which failed")
		case len(missing) > 0:
			l.add(token, "which failed: its State lacks "+strings.Join(missing, ", "))
		default:
			l.process.instances = append(l.process.instances, r)
		}
	}
}

// initialViews returns what every instance saw in the first Idea that has it, and that Idea.
func (c *chainRun) initialViews() (map[string]ideafile.InstanceView, map[string]*ideafile.Idea) {
	views, firstSeen := map[string]ideafile.InstanceView{}, map[string]*ideafile.Idea{}
	for _, idea := range c.ideas {
		var unknown []string
		for _, token := range idea.InstanceTokens() {
			if firstSeen[token] == nil {
				firstSeen[token] = idea
				unknown = append(unknown, token)
			}
		}
		//workflowcheck:ignore -- a map again
		for token, view := range ideafile.InstanceViewsByToken(idea.Context, unknown) {
			views[token] = view
		}
	}
	return views, firstSeen
}

// endStatuses returns how every instance ended: as its State message says, or as settled where the last Request planned
// no more Calls.
func endStatuses(last *ideafile.Idea) map[string]ideafile.InstanceStatus {
	out := map[string]ideafile.InstanceStatus{}
	calls, _ := jsonval.AsObject(last.Source["solution"])["calls"].([]any)
	byRequest := jsonval.AsObject(last.Source["meta"])["request"] != nil
	if len(calls) == 0 && byRequest {
		for _, token := range last.InstanceTokens() {
			out[token] = ideafile.InstanceSettled
		}
	}
	for _, m := range last.Context {
		if m.PayloadKind == ideafile.TypeState && m.InstanceEndStatus != "" {
			out[m.InstanceToken] = m.InstanceEndStatus
		}
	}
	return out
}

// dataMessages are the Messages with data that an instance sees. How it ended before is not taken with them: one that
// had begins no Plan.
func dataMessages(context []ideafile.Message, token string) []ideafile.Message {
	var out []ideafile.Message
	for _, m := range context {
		if m.PayloadKind != "" && (m.InstanceToken == "" || m.InstanceToken == token) {
			m.InstanceEndStatus = ""
			out = append(out, m)
		}
	}
	return out
}

// readRecordedCalls lists the Calls of an instance that were well-formed, each with its latest status.
func (h *hardener) readRecordedCalls(r *instanceRun) {
	recordedCalls := map[ideafile.CallKey]*recordedCall{}
	for n := range r.chain.ideas {
		r.addPastCalls(r.chain.pastCalls[n], recordedCalls)
		r.addPlannedCalls(n, recordedCalls)
	}
	var all []*recordedCall
	palette := ideafile.Palette{Tools: r.process.lastIdea.Tools, BindingByTool: h.bindings,
		InstanceTokens:         []string{r.instanceToken},
		UntargetedCallsGoToAll: true}
	//workflowcheck:ignore -- sorted below
	for _, recorded := range recordedCalls {
		var f *diag.Fault
		recorded.call, _, f = palette.ReadCall(ideafile.ParseWrittenCall(recorded.rawCall).WithoutTarget())
		recorded.call.ID = ideafile.FormatCallID(recorded.requestNumber, recorded.index, r.instanceToken)
		if f == nil && !r.refusedBeforeRunning(recorded) {
			r.readResult(recorded)
			all = append(all, recorded)
		}
	}
	sortByPosition(all)
	r.readGivenParams(all)
	r.recordedCalls = withoutRedundantCalls(all)
}

// refusedBeforeRunning reports whether a Call failed by how it was written, before it could run: its Plan was no good,
// and says nothing of its Tool.
func (r *instanceRun) refusedBeforeRunning(recorded *recordedCall) bool {
	switch r.chain.faultByCallID[recorded.call.ID].Code {
	case ideafile.CodeUndecided, ideafile.CodeBadForm, ideafile.CodeUnknownTool, ideafile.CodeUnknownKey,
		ideafile.CodeBadInstance, ideafile.CodeBadReference, ideafile.CodeBadPath:
		return recorded.status == ideafile.Failed
	}
	return false
}

// addPastCalls takes over what an Idea tells of the instance's earlier Calls.
func (r *instanceRun) addPastCalls(past []turn.PastCall, recordedCalls map[ideafile.CallKey]*recordedCall) {
	for _, p := range past {
		status, planned := p.StatusByInstance[r.instanceToken]
		raw := p.WrittenCall.RawObject()
		if !planned || status == ideafile.Skipped && raw[ideafile.WhenKey] != nil {
			continue
		}
		recorded := &recordedCall{requestNumber: p.Request, index: p.Index, rawCall: withoutCondition(raw),
			status:    status,
			decisions: p.DecisionsByInstance[r.instanceToken]}
		recorded.result, recorded.hasResult = p.ResultByInstance[r.instanceToken]
		rule := refexpr.Condition{When: raw[ideafile.WhenKey], Unless: raw[ideafile.UnlessKey]}
		recorded.conditionReads = rule.Reads(ideafile.TypeState)
		recordedCalls[p.CallKey()] = recorded
	}
}

// addPlannedCalls adds the Calls of the nth Idea's solution that no record mentions: the log or the State shows what
// they returned.
func (r *instanceRun) addPlannedCalls(n int, recordedCalls map[ideafile.CallKey]*recordedCall) {
	for _, p := range r.chain.plannedCalls[n] {
		key := p.CallKey()
		if recordedCalls[key] == nil && slices.Contains(p.WrittenCall.TargetInstances(r.chain.tokens[n]),
			r.instanceToken) {
			recordedCalls[key] = &recordedCall{requestNumber: key.Request, index: key.Index,
				rawCall: p.WrittenCall.RawObject(), status: ideafile.Done}
		}
	}
}

// readResult finds the result of a Call: in the log, or in the final State at its path.
func (r *instanceRun) readResult(recorded *recordedCall) {
	e, ok := r.chain.writes[writeAuthor{recorded.call.ID, r.instanceToken}]
	recorded.adapted = ok && e.ParamsAdaptation != nil
	if recorded.status != ideafile.Done || recorded.hasResult {
		return
	}
	if ok {
		recorded.result, recorded.hasResult = recorded.call.OutputPath.ResultForPath(e.Path, e.Value), true
		return
	}
	if recorded.call.OutputMethod != "" || recorded.call.OutputPath.WritesWholeState() {
		return
	}
	for _, p := range recorded.call.OutputPath.Paths() {
		if v, ok := jsonval.ValueAt(r.finalState, p); ok {
			recorded.result, recorded.hasResult = recorded.call.OutputPath.ResultForPath(p, v), true
			return
		}
	}
	recorded.hasResult = len(recorded.call.OutputPath) == 0
}

// withoutRedundantCalls leaves out the Calls that made no difference: repeats, and Calls for a path that another Call
// of the same tool wrote.
func withoutRedundantCalls(all []*recordedCall) []*recordedCall {
	var out []*recordedCall
	for n, recorded := range all {
		redundant := false
		for k, other := range all {
			same := k != n && other.alignmentKey() == recorded.alignmentKey()
			equal := same && jsonval.Equal(other.call.Params, recorded.call.Params)
			switch {
			case same && other.status == ideafile.Done && recorded.status != ideafile.Done &&
				(recorded.status != ideafile.Failed || equal):
				redundant = true
			case equal && k < n && other.status == recorded.status &&
				(recorded.status != ideafile.Done || recorded.isWriteOnce()):
				redundant = true
			}
		}
		if !redundant {
			out = append(out, recorded)
		}
	}
	return out
}

// isWriteOnce reports whether the Call's path is closed by its write: repeating the Call then changes nothing.
func (c *recordedCall) isWriteOnce() bool {
	return len(c.call.OutputPath) > 0 && !statelog.IsUpdateWrite(c.call.OutputMethod, c.call.OutputPath[0][0])
}
