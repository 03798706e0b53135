package loop

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// wiresOutput reports whether a reply wires the output of the whole process.
func (l *Loop) wiresOutput(req *llmRequest) bool {
	return l.idea.OutputSchema != nil && l.coversAllInstances(req) && len(req.reply.CallFaults) == 0 && len(req.reply.Calls) > 0 &&
		onlyReferences(l.idea.OutputSchema.WithoutNulls(req.reply.Output))
}

// awaitsWiredOutput reports whether an instance reaches its goal if the wired output holds: no Request is made about it before that
// is known.
func (l *Loop) awaitsWiredOutput(inst *InstanceProgress) bool {
	return l.wiredRequest != nil && inst.LastPlanningRequest == l.wiredRequest.input.RequestNumber && len(inst.Questions) == 0
}

// settleOrDropWiredOutput ends the process by the wired output once all its Calls have their values, or drops that output. It is dropped,
// too, rather than have instances that are done wait for another one's person.
func (l *Loop) settleOrDropWiredOutput() {
	if l.wiredRequest == nil {
		return
	}
	running, done := false, false
	for _, inst := range l.instances {
		switch {
		case inst.Status != ideafile.InstanceWorking:
		case inst.breaksWiredOutput(l.wiredRequest.input.RequestNumber):
			l.dropWiredOutput()
			return
		case inst.runsCalls():
			running = true
		case len(inst.PendingApprovals) == 0:
			done = true
		}
	}
	_, waiting := l.anyBusyOrAwaitingPerson()
	if running || (waiting && !done) {
		return
	}
	if !waiting {
		l.settleByWiredOutput()
	}
	l.dropWiredOutput()
}

// dropWiredOutput forgets the wired output; where it was not taken, the next Request is told.
func (l *Loop) dropWiredOutput() {
	if !l.hasOutput {
		l.addOutputNotTakenError(l.wiredRequest.input.RequestNumber)
	}
	l.wiredRequest = nil
}

// addOutputNotTakenError has the next Request told that the output of an earlier one came too early.
func (l *Loop) addOutputNotTakenError(request int) {
	l.addError(turn.ContextError{Fault: *diag.Faultf(turn.CodeOutputNotTaken, "the output given in request %d was not taken: there was more to do. "+
		"An output counts once no call is left to run", request)})
}

// breaksWiredOutput reports whether a wired output can no longer hold: the instance joined later, was planned for anew or corrected,
// a Call failed, or its Calls ended without all their values.
func (p *InstanceProgress) breaksWiredOutput(request int) bool {
	if p.LastPlanningRequest != request || p.RevisedSinceRequest || p.anyCallFailed(request) {
		return true
	}
	return !p.runsCalls() && len(p.PendingApprovals) == 0 && !p.allCallsSucceeded(request)
}

// runsCalls reports whether Calls run, or wait for the LLM's answer.
func (p *InstanceProgress) runsCalls() bool { return p.phase() == busy || len(p.Questions) > 0 }

// settleByWiredOutput settles every instance, where the output resolves and fits its schema and nothing is missing.
func (l *Loop) settleByWiredOutput() {
	written := l.idea.OutputSchema.WithoutNulls(l.wiredRequest.reply.Output)
	out, err := l.resolveOutput(written)
	if err != nil || checkOutput(l.idea, out) != nil || anyMissesRequiredPaths(l.instances) {
		return
	}
	l.setOutput(out, written)
	for _, inst := range l.instances {
		if inst.Status == ideafile.InstanceWorking {
			l.settleOrRetry(inst)
		}
	}
}

func anyMissesRequiredPaths(instances []*InstanceProgress) bool {
	return slices.ContainsFunc(instances, func(inst *InstanceProgress) bool { return len(inst.MissingRequiredPaths) > 0 })
}

// anyCallFailed reports whether a Call of a Request ended without its value in State.
func (p *InstanceProgress) anyCallFailed(request int) bool {
	//workflowcheck:ignore -- any or none, in any order
	for key, c := range p.calls {
		if key.Request == request && c.Status.IsFinal() && c.Status != ideafile.Done && c.Status != ideafile.Skipped {
			return true
		}
	}
	return false
}

// allCallsSucceeded reports whether every Call of a Request is done, or skipped because its value existed already.
func (p *InstanceProgress) allCallsSucceeded(request int) bool {
	//workflowcheck:ignore -- all or not all, in any order
	for key, c := range p.calls {
		if key.Request == request && c.Status != ideafile.Done && c.Status != ideafile.Skipped {
			return false
		}
	}
	return true
}

// resolveOutput replaces the References of an output by values, over all instances.
func (l *Loop) resolveOutput(out any) (any, error) {
	return l.outputWiringOver(out, l.instances).resolveReferences(ideafile.InstanceViewOf(l.idea.Context, ""), l.stateOf)
}

func (l *Loop) outputWiringOver(out any, instances []*InstanceProgress) OutputWiring {
	w := OutputWiring{Output: out}
	for _, inst := range instances {
		w.Instances = append(w.Instances, inst.Token)
	}
	return w
}

func (l *Loop) stateOf(token string) any { return l.instance(token).state.Snapshot() }

// OutputWiring is an output as it was written, with References, and the instances over whose States they are resolved.
type OutputWiring struct {
	Output    any      `json:"output"`
	Instances []string `json:"instances"`
	// DirectPlanPosition is the place in the context, from 1, of the direct Plan that has it; 0: a reply has it.
	DirectPlanPosition int `json:"place,omitempty"`
}

// ResolveOutputWirings makes the output of a process of what was wired: each output over its instances, laid over each other in their
// order, and checked against the output form.
func ResolveOutputWirings(i *ideafile.Idea, list []OutputWiring, states map[string]any) (any, *diag.Fault) {
	return resolveOutputWirings(i, list, func(token string) any { return states[token] })
}

func resolveOutputWirings(i *ideafile.Idea, list []OutputWiring, stateOf func(token string) any) (out any, f *diag.Fault) {
	shared, whose := ideafile.InstanceViewOf(i.Context, ""), "the output"
	for n, w := range list {
		if w.DirectPlanPosition > 0 {
			whose = "the Plan's output"
		}
		resolved, err := w.resolveReferences(shared, stateOf)
		if err != nil {
			return nil, diag.Faultf(ideafile.CodeBadOutput, "%s: %s", whose, err)
		}
		if n > 0 {
			resolved = jsonval.DeepMerge(out, resolved)
		}
		out = resolved
	}
	if err := checkOutput(i, out); err != nil {
		return nil, diag.Faultf(ideafile.CodeBadOutput, "%s does not fit its form: %s", whose, err)
	}
	return out, nil
}

// resolveReferences replaces the References by values. In a process with named instances, an expression that reads State becomes an object
// with each instance's value by token.
func (w OutputWiring) resolveReferences(shared ideafile.InstanceView, stateOf func(token string) any) (any, error) {
	return refexpr.ResolveExpressions(w.Output, func(e refexpr.Expression) (any, bool) {
		if w.Instances[0] == "" || !e.HasReferenceOfKind(ideafile.TypeState) {
			return evaluateForInstance(e, shared, stateOf(w.Instances[0]))
		}
		all := map[string]any{}
		for _, token := range w.Instances {
			v, ok := evaluateForInstance(e, shared, stateOf(token))
			if !ok {
				return nil, false
			}
			all[token] = v
		}
		return all, true
	})
}

// evaluateForInstance resolves an expression over an instance's State and the shared context, as it stands once no Call runs any more.
func evaluateForInstance(e refexpr.Expression, shared ideafile.InstanceView, state any) (any, bool) {
	return e.Evaluate(func(r refexpr.Reference) (any, bool) {
		if r.Kind == ideafile.TypeState {
			return refexpr.ValueOrBlobHandleAt(state, r.Path)
		}
		payload, ok := shared.PayloadByKind[r.Kind]
		if !ok {
			return nil, false
		}
		return refexpr.ValueOrBlobHandleAt(payload, r.Path)
	})
}

// checkOutput checks an output against its form. Values in the blob store were checked before they were stored.
func checkOutput(i *ideafile.Idea, out any) error {
	if i.OutputSchema == nil || jsonval.ContainsBlobHandle(out) {
		return nil
	}
	return i.OutputSchema.Validate(out)
}

// partOutputWirings returns what the parts wired, as if they were one: the outputs of direct Plans, or that of replies where it is the same
// in all parts; nil where a part with a settled instance has neither.
func (p *Parts) partOutputWirings(i *ideafile.Idea) []OutputWiring {
	var settled []ProcessPart
	var wired []string
	for _, part := range p.All {
		if part.settledInstanceCount() == 0 {
			continue
		}
		settled = append(settled, part)
		if part.Report.WiredOutput != nil && len(part.Report.OutputWirings) == 0 {
			wired = append(wired, string(jsonval.Encode(part.Report.WiredOutput)))
		}
	}
	if len(settled) == 0 {
		return nil
	}
	slices.Sort(wired)
	if wired = slices.Compact(wired); len(wired) == 1 {
		return p.replyOutputWirings(settled)
	}
	return planOutputWirings(i, settled)
}

// replyOutputWirings returns the output that replies wired in the same way in all parts.
func (p *Parts) replyOutputWirings(settled []ProcessPart) []OutputWiring {
	if slices.ContainsFunc(settled, func(part ProcessPart) bool {
		return part.Report.WiredOutput == nil || len(part.Report.OutputWirings) > 0
	}) {
		return nil
	}
	return []OutputWiring{{Output: settled[0].Report.WiredOutput, Instances: p.allInstanceTokens()}}
}

// planOutputWirings returns the outputs of direct Plans in the order in which these stand in the context of the whole.
func planOutputWirings(i *ideafile.Idea, settled []ProcessPart) []OutputWiring {
	byPlace := map[int]OutputWiring{}
	for _, part := range settled {
		if len(part.Report.OutputWirings) == 0 {
			return nil
		}
		places := part.messagePositionsInWhole(i)
		for _, w := range part.Report.OutputWirings {
			if w.DirectPlanPosition > len(places) {
				return nil
			}
			place := places[w.DirectPlanPosition-1]
			whole := byPlace[place]
			byPlace[place] = OutputWiring{Output: w.Output, Instances: append(whole.Instances, w.Instances...), DirectPlanPosition: place}
		}
	}
	var list []OutputWiring
	for _, place := range jsonval.SortedKeys(byPlace) {
		list = append(list, byPlace[place])
	}
	return list
}

// messagePositionsInWhole returns where the Messages of the part's own context stand in that of the whole, from 1.
func (part ProcessPart) messagePositionsInWhole(i *ideafile.Idea) (places []int) {
	for n, msg := range i.Context {
		if (msg.InstanceToken == "" || slices.Contains(part.Tokens, msg.InstanceToken)) && !isHistory(msg) {
			places = append(places, n+1)
		}
	}
	return places
}

// onlyReferences reports whether a value has leaves and each of them is a Reference.
func onlyReferences(v any) bool {
	leaves, refs := 0, 0
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			//workflowcheck:ignore -- a count
			for _, e := range v {
				walk(e)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		default:
			leaves++
			if s, ok := v.(string); ok && refexpr.IsReference(s) {
				refs++
			}
		}
	}
	walk(v)
	return leaves > 0 && leaves == refs
}
