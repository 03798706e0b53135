package loop

import (
	"processidea/model/ideafile"
	"processidea/model/refexpr"
)

// This file holds the rules of a solution that wires its result: Calls, and beside them an output in which every leaf is a
// Reference. If all its Calls come to a value, the process ends there and saves a Request.

// wires says whether a solution wires the result of the whole process.
func (m *Loop) wires(a *llmCall) bool {
	return m.idea.Output != nil && m.coversAll(a) && len(a.reply.CallFaults) == 0 && len(a.reply.Calls) > 0 &&
		allReferences(m.idea.Output.WithoutNulls(a.reply.Output))
}

// provisional says whether an instance has reached its goal if the wiring holds: it is not asked about before that is
// known.
func (m *Loop) provisional(mem *InstanceProgress) bool {
	return m.wiredCall != nil && mem.lastPlanned == m.wiredCall.brief.Number && len(mem.questions) == 0
}

// tryWiring ends the process by the output that was wired, or drops that output. It stands as long as Calls run on which it
// depends; but nobody waits for the person on whom another instance's Call depends.
func (m *Loop) tryWiring() {
	if m.wiredCall == nil {
		return
	}
	running, free := false, false
	for _, mem := range m.members {
		switch {
		case mem.Status != ideafile.InstanceWorking:
		case mem.lastPlanned != m.wiredCall.brief.Number || mem.revisedSinceRequest:
			m.wiredCall = nil // somebody joined, was planned for anew, or was corrected by a person
			return
		case mem.failed(m.wiredCall.brief.Number):
			m.wiredCall = nil
			return
		case mem.standing() == busy || len(mem.questions) > 0:
			running = true
		case len(mem.Pending) > 0:
		case !mem.allValued(m.wiredCall.brief.Number):
			m.wiredCall = nil
			return
		default:
			free = true
		}
	}
	_, waiting := m.others()
	switch {
	case running || waiting && !free:
	case waiting || !m.endByWiring():
		m.wiredCall = nil
	}
}

// endByWiring settles every instance, where the References resolve and the result fits the form.
func (m *Loop) endByWiring() bool {
	out, err := m.wire(m.idea.Output.WithoutNulls(m.wiredCall.reply.Output))
	if err != nil || m.fits(out) != nil || m.anyMissing() {
		return false
	}
	m.output, m.hasOutput, m.badOutputs, m.wiredCall = out, true, 0, nil
	for _, mem := range m.members {
		if mem.Status == ideafile.InstanceWorking {
			m.settleOrLack(mem)
		}
	}
	return true
}

func (m *Loop) anyMissing() bool {
	for _, mem := range m.members {
		if len(mem.Missing) > 0 {
			return true
		}
	}
	return false
}

// failed says whether a Call of a Request has ended without its value being there.
func (mem *InstanceProgress) failed(request int) bool {
	//workflowcheck:ignore -- any or none, in any order
	for key, c := range mem.calls {
		if key.Request == request && c.Status.Ended() && c.Status != ideafile.Done && c.Status != ideafile.Skipped {
			return true
		}
	}
	return false
}

// allValued says whether every Call of a Request is done, or was skipped because its value was there.
func (mem *InstanceProgress) allValued(request int) bool {
	//workflowcheck:ignore -- all or not all, in any order
	for key, c := range mem.calls {
		if key.Request == request && c.Status != ideafile.Done && c.Status != ideafile.Skipped {
			return false
		}
	}
	return true
}

// wire puts values in place of an output's References. In a process with tokens, an expression that reads State stands for
// an object with every instance's value by its token.
func (m *Loop) wire(out any) (any, error) { return m.wireOver(out, m.members) }

func (m *Loop) wireOver(out any, members []*InstanceProgress) (any, error) {
	shared := ideafile.ViewOf(m.idea.Context, "")
	return refexpr.ResolveBy(out, func(e refexpr.Expression) (any, bool) {
		if members[0].Token == "" || !e.ReadsKind(ideafile.TypeState) {
			return members[0].find(e, shared)
		}
		all := map[string]any{}
		for _, mem := range members {
			v, ok := mem.find(e, shared)
			if !ok {
				return nil, false
			}
			all[mem.Token] = v
		}
		return all, true
	})
}

// find gives the value of an expression over an instance's State and what all share.
func (mem *InstanceProgress) find(e refexpr.Expression, shared ideafile.View) (any, bool) {
	return e.Value(func(r refexpr.Reference) (any, bool) {
		if r.Kind == ideafile.TypeState {
			return refexpr.LookupIn(mem.state.Value(), r.Path)
		}
		payload, ok := shared.Payload[r.Kind]
		if !ok {
			return nil, false
		}
		return refexpr.LookupIn(payload, r.Path)
	})
}

// allReferences says whether a value has leaves and every one of them is a Reference.
func allReferences(v any) bool {
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
