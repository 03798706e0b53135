package model

// This file holds the rules of ending: which instances a Request settles, and which output is final.

// settle decides, after a whole solution, who has reached its goal: who was given no Call.
func (m *Mind) settle(a *asked) {
	if m.wires(a) {
		m.wiring = a
	}
	candidates := m.candidates(a)
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
	if complete && m.idea.Output != nil && !m.takeOutput(a) {
		return
	}
	for _, mem := range candidates {
		m.settleOrLack(mem)
	}
}

// candidates are the instances that the solution gave no Call, without those that a person has corrected since the
// Request was made: the LLM did not know of that.
func (m *Mind) candidates(a *asked) (list []*Member) {
	if len(a.reply.Faults) > 0 || a.brief.Closing {
		return nil
	}
	for _, token := range a.reply.Idle {
		if mem := m.member(token); mem != nil && mem.Status == InstanceWorking && !mem.revised {
			list = append(list, mem)
		}
	}
	return list
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

// settleOrLack settles an instance, unless its State schema requires what is not there: then the next Request is told,
// three times at most, before the instance has failed.
func (m *Mind) settleOrLack(mem *Member) {
	switch {
	case len(mem.Missing) == 0:
		mem.Status = InstanceSettled
	case mem.lacks < maxLacks:
		mem.lacks++
		return
	default:
		mem.Status, mem.Fault = InstanceFailed, fault(CodeMissing, "its State still lacks %v", mem.Missing)
	}
	m.ended = append(m.ended, mem)
}

// takeOutput takes the output of the solution that ends the process. A Request that covered only some instances gives
// no final output: a closing one over all States follows. A wrong one is told to the next Request, three times in a row
// at most. It gives false where nobody can settle yet.
func (m *Mind) takeOutput(a *asked) bool {
	if !m.coversAll(a) {
		return true
	}
	out, f := m.idea.Output.withoutNulls(a.reply.Output), a.reply.OutputFault
	if f == nil {
		out, f = m.literal(out)
	}
	if f != nil {
		m.refuseOutput(f)
		return false
	}
	m.output, m.hasOutput, m.badOutputs = out, true, 0
	return true
}

func (m *Mind) refuseOutput(f *Fault) {
	m.note(Trouble{Fault: *f})
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
