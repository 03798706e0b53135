package model

// This file holds the rules of ending: which instances a Request settles, and which output is final.

// settle decides, after a whole solution, who has reached its goal, and gives those that ended.
func (m *Mind) settle(a *asked) []*Member {
	candidates, wired := m.candidates(a)
	var ended []*Member
	complete := len(candidates) > 0 || a.brief.Closing
	for _, mem := range m.members {
		if mem.Status == InstanceWorking && !isIn(candidates, mem) {
			complete = false
		}
	}
	for _, mem := range candidates {
		if len(mem.Missing) > 0 {
			complete = false
		}
	}
	if complete && m.idea.Output != nil && !m.takeOutput(a, wired) {
		return nil
	}
	for _, mem := range candidates {
		if mem.settleOrLack() {
			ended = append(ended, mem)
		}
	}
	return ended
}

// candidates are the instances that the solution gave no Call; or all of them, where it wired its result and every one
// of its Calls came to a value.
func (m *Mind) candidates(a *asked) (list []*Member, wired bool) {
	if len(a.reply.Faults) > 0 || a.brief.Closing {
		return nil, false
	}
	output := m.idea.Output.withoutNulls(a.reply.Output)
	if m.idea.Output != nil && m.coversAll(a) && len(a.reply.Calls) > 0 && allReferences(output) && m.allValued(a.brief.Number) {
		if out, err := m.wire(output); err == nil && m.fits(out) == nil && !m.anyMissing() {
			return m.members, true
		}
	}
	for _, token := range a.reply.Idle {
		if mem := m.member(token); mem != nil && mem.Status == InstanceWorking {
			list = append(list, mem)
		}
	}
	return list, false
}

func isIn(list []*Member, mem *Member) bool {
	for _, x := range list {
		if x == mem {
			return true
		}
	}
	return false
}

func (m *Mind) coversAll(a *asked) bool { return len(a.brief.Covered) == len(m.members) }

func (m *Mind) anyMissing() bool {
	for _, mem := range m.members {
		if len(mem.Missing) > 0 {
			return true
		}
	}
	return false
}

// allValued says whether every Call of a Request is done, or was skipped because its value was there.
func (m *Mind) allValued(request int) bool {
	for _, mem := range m.members {
		//workflowcheck:ignore -- all or not all, in any order
		for key, c := range mem.calls {
			if key[0] == request && c.Status != Done && c.Status != Skipped {
				return false
			}
		}
	}
	return true
}

// settleOrLack settles an instance, unless its State schema requires what is not there: then the next Request is told,
// three times at most, before the instance has failed.
func (mem *Member) settleOrLack() (ended bool) {
	if len(mem.Missing) == 0 {
		mem.Status = InstanceSettled
		return true
	}
	if mem.lacks++; mem.lacks <= maxLacks {
		return false
	}
	mem.Status = InstanceFailed
	mem.Fault = fault(CodeMissing, "its State still lacks %v", mem.Missing)
	return true
}

// takeOutput takes the output of the solution that ends the process. A Request that covered only some instances gives
// no final output: a closing one over all States follows. A wrong one is told to the next Request, three times in a row
// at most. It gives false where nobody can settle yet.
func (m *Mind) takeOutput(a *asked, wired bool) bool {
	out := m.idea.Output.withoutNulls(a.reply.Output)
	switch {
	case wired:
		out, _ = m.wire(out)
	case !m.coversAll(a):
		return true
	default:
		f := a.reply.OutputFault
		if f == nil {
			out, f = m.literal(out)
		}
		if f != nil {
			m.refuseOutput(f)
			return false
		}
	}
	m.output, m.hasOutput, m.badOutputs = out, true, 0
	return true
}

func (m *Mind) refuseOutput(f *Fault) {
	m.troubles = append(m.troubles, Trouble{Fault: *f})
	if m.badOutputs++; m.badOutputs >= maxBadInRow {
		m.paused = fault(CodeBadOutputs, "%d bad outputs in a row; the last one: %s", m.badOutputs, f.Message)
	}
}

// literal is an output given without Calls: References in it are put in, and the result must fit.
func (m *Mind) literal(out any) (any, *Fault) {
	if out == nil {
		return nil, fault(CodeBadOutput, "there are no calls and no output; the output form wants one")
	}
	resolved, err := m.wire(out)
	if err != nil {
		return nil, fault(CodeBadOutput, "the output: %s", err)
	}
	if err := m.fits(resolved); err != nil {
		return nil, fault(CodeBadOutput, "the output does not fit its form: %s", err)
	}
	return resolved, nil
}

// fits checks an output against its form. Large values in it were checked where they were whole.
func (m *Mind) fits(out any) error {
	if HasHandle(out) {
		return nil
	}
	return m.idea.Output.Validate(out)
}

// wire puts values in place of an output's References. In a process with tokens, a State reference stands for an object
// with every instance's value by its token.
func (m *Mind) wire(out any) (any, error) {
	shared := ViewOf(m.idea.Context, "")
	return Resolve(out, func(r Reference) (any, bool) {
		switch {
		case r.Kind != TypeState:
			payload, ok := shared.Payload[r.Kind]
			if !ok {
				return nil, false
			}
			return lookupIn(payload, r.Path)
		case len(m.members) == 1 && m.members[0].Token == "":
			return lookupIn(m.members[0].state.Value(), r.Path)
		}
		all := map[string]any{}
		for _, mem := range m.members {
			v, ok := lookupIn(mem.state.Value(), r.Path)
			if !ok {
				return nil, false
			}
			all[mem.Token] = v
		}
		return all, true
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
