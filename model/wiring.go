package model

// This file holds the rules of a solution that wires its result: Calls, and beside them an output in which every leaf is a
// Reference. If all its Calls come to a value, the process ends there and saves a Request.

// wires says whether a solution wires the result of the whole process.
func (m *Mind) wires(a *asked) bool {
	return m.idea.Output != nil && m.coversAll(a) && len(a.reply.Faults) == 0 && len(a.reply.Calls) > 0 &&
		allReferences(m.idea.Output.withoutNulls(a.reply.Output))
}

// provisional says whether an instance has reached its goal if the wiring holds: it is not asked about before that is
// known.
func (m *Mind) provisional(mem *Member) bool {
	return m.wiring != nil && mem.planned == m.wiring.brief.Number && len(mem.asking) == 0
}

// tryWiring ends the process by the output that was wired, or drops that output. It stands as long as Calls run on which it
// depends; but nobody waits for the person on whom another instance's Call depends.
func (m *Mind) tryWiring() {
	if m.wiring == nil {
		return
	}
	running, free := false, false
	for _, mem := range m.members {
		switch {
		case mem.Status != InstanceWorking:
		case mem.planned != m.wiring.brief.Number || mem.revised:
			m.wiring = nil // somebody joined, was planned for anew, or was corrected by a person
			return
		case mem.failed(m.wiring.brief.Number):
			m.wiring = nil
			return
		case !mem.rests() || len(mem.asking) > 0:
			running = true
		case len(mem.Pending) > 0:
		case !mem.allValued(m.wiring.brief.Number):
			m.wiring = nil
			return
		default:
			free = true
		}
	}
	_, waiting := m.others()
	switch {
	case running || waiting && !free:
	case waiting || !m.endByWiring():
		m.wiring = nil
	}
}

// endByWiring settles every instance, where the References resolve and the result fits the form.
func (m *Mind) endByWiring() bool {
	out, err := m.wire(m.idea.Output.withoutNulls(m.wiring.reply.Output))
	if err != nil || m.fits(out) != nil || m.anyMissing() {
		return false
	}
	m.output, m.hasOutput, m.badOutputs, m.wiring = out, true, 0, nil
	for _, mem := range m.members {
		if mem.Status == InstanceWorking {
			m.settleOrLack(mem)
		}
	}
	return true
}

func (m *Mind) anyMissing() bool {
	for _, mem := range m.members {
		if len(mem.Missing) > 0 {
			return true
		}
	}
	return false
}

// failed says whether a Call of a Request has ended without its value being there.
func (mem *Member) failed(request int) bool {
	//workflowcheck:ignore -- any or none, in any order
	for key, c := range mem.calls {
		if key[0] == request && c.Status.Ended() && c.Status != Done && c.Status != Skipped {
			return true
		}
	}
	return false
}

// allValued says whether every Call of a Request is done, or was skipped because its value was there.
func (mem *Member) allValued(request int) bool {
	//workflowcheck:ignore -- all or not all, in any order
	for key, c := range mem.calls {
		if key[0] == request && c.Status != Done && c.Status != Skipped {
			return false
		}
	}
	return true
}

// wire puts values in place of an output's References. In a process with tokens, an expression that reads State stands for
// an object with every instance's value by its token.
func (m *Mind) wire(out any) (any, error) { return m.wireOver(out, m.members) }

func (m *Mind) wireOver(out any, members []*Member) (any, error) {
	shared := ViewOf(m.idea.Context, "")
	return resolveBy(out, func(e Expression) (any, bool) {
		if members[0].Token == "" || !e.has(TypeState) {
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
func (mem *Member) find(e Expression, shared View) (any, bool) {
	return e.value(func(r Reference) (any, bool) {
		if r.Kind == TypeState {
			return lookupIn(mem.state.Value(), r.Path)
		}
		payload, ok := shared.Payload[r.Kind]
		if !ok {
			return nil, false
		}
		return lookupIn(payload, r.Path)
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
			if s, ok := v.(string); ok && IsReference(s) {
				refs++
			}
		}
	}
	walk(v)
	return leaves > 0 && leaves == refs
}
