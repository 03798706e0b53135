package loop

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/refexpr"
)

// isWired reports whether a reply wires the output of the whole process.
func (l *Loop) isWired(req *llmRequest) bool {
	return l.idea.Output != nil && l.coversAllInstances(req) && len(req.reply.CallFaults) == 0 && len(req.reply.Calls) > 0 &&
		onlyReferences(l.idea.Output.WithoutNulls(req.reply.Output))
}

// settlesIfWired reports whether an instance reaches its goal if the wired output holds: no Request is made about it before that
// is known.
func (l *Loop) settlesIfWired(inst *InstanceProgress) bool {
	return l.wiredRequest != nil && inst.LastPlanned == l.wiredRequest.input.Number && len(inst.Questions) == 0
}

// advanceWiredOutput ends the process by the wired output once all its Calls have their values, or drops that output. It is dropped,
// too, rather than have instances that are done wait for another one's person.
func (l *Loop) advanceWiredOutput() {
	if l.wiredRequest == nil {
		return
	}
	running, done := false, false
	for _, inst := range l.instances {
		switch {
		case inst.Status != ideafile.InstanceWorking:
		case inst.breaksWiredOutput(l.wiredRequest.input.Number):
			l.wiredRequest = nil
			return
		case inst.runsCalls():
			running = true
		case len(inst.Pending) == 0:
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
	l.wiredRequest = nil
}

// breaksWiredOutput reports whether a wired output can no longer hold: the instance joined later, was planned for anew or corrected,
// a Call failed, or its Calls ended without all their values.
func (p *InstanceProgress) breaksWiredOutput(request int) bool {
	if p.LastPlanned != request || p.RevisedSinceRequest || p.anyCallFailed(request) {
		return true
	}
	return !p.runsCalls() && len(p.Pending) == 0 && !p.allCallsSucceeded(request)
}

// runsCalls reports whether Calls run, or wait for the LLM's answer.
func (p *InstanceProgress) runsCalls() bool { return p.phase() == busy || len(p.Questions) > 0 }

// settleByWiredOutput settles every instance, where the output resolves and fits its schema and nothing is missing.
func (l *Loop) settleByWiredOutput() {
	out, err := l.resolveOutput(l.idea.Output.WithoutNulls(l.wiredRequest.reply.Output))
	if err != nil || l.checkOutput(out) != nil || anyMissingRequired(l.instances) {
		return
	}
	l.setOutput(out)
	for _, inst := range l.instances {
		if inst.Status == ideafile.InstanceWorking {
			l.settleOrRetry(inst)
		}
	}
}

func anyMissingRequired(instances []*InstanceProgress) bool {
	return slices.ContainsFunc(instances, func(inst *InstanceProgress) bool { return len(inst.Missing) > 0 })
}

// anyCallFailed reports whether a Call of a Request ended without its value in State.
func (p *InstanceProgress) anyCallFailed(request int) bool {
	//workflowcheck:ignore -- any or none, in any order
	for key, c := range p.calls {
		if key.Request == request && c.Status.Ended() && c.Status != ideafile.Done && c.Status != ideafile.Skipped {
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

// resolveOutput replaces the References of an output by values. In a process with named instances, an expression that reads State
// becomes an object with each instance's value by token.
func (l *Loop) resolveOutput(out any) (any, error) { return l.resolveOutputOver(out, l.instances) }

func (l *Loop) resolveOutputOver(out any, instances []*InstanceProgress) (any, error) {
	shared := ideafile.ViewOf(l.idea.Context, "")
	return refexpr.ResolveBy(out, func(e refexpr.Expression) (any, bool) {
		if instances[0].Token == "" || !e.ReadsKind(ideafile.TypeState) {
			return instances[0].lookup(e, shared)
		}
		all := map[string]any{}
		for _, inst := range instances {
			v, ok := inst.lookup(e, shared)
			if !ok {
				return nil, false
			}
			all[inst.Token] = v
		}
		return all, true
	})
}

// lookup resolves an expression over the instance's State and the shared context.
func (p *InstanceProgress) lookup(e refexpr.Expression, shared ideafile.View) (any, bool) {
	return e.Value(func(r refexpr.Reference) (any, bool) {
		if r.Kind == ideafile.TypeState {
			return refexpr.LookupIn(p.state.Value(), r.Path)
		}
		payload, ok := shared.Payload[r.Kind]
		if !ok {
			return nil, false
		}
		return refexpr.LookupIn(payload, r.Path)
	})
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
