package loop

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// This file holds the rules of ending: which instances a Request settles, and which output is final.

// settle decides, after a whole solution, who has reached its goal: who was given no Call.
func (m *Loop) settle(a *llmCall) {
	if m.wires(a) {
		m.wiredCall = a
	}
	candidates := m.candidates(a)
	complete := len(candidates) > 0 || a.brief.OutputOnly
	for _, mem := range m.members {
		if mem.Status == ideafile.InstanceWorking && !isIn(candidates, mem) {
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
func (m *Loop) candidates(a *llmCall) (list []*InstanceProgress) {
	if len(a.reply.CallFaults) > 0 || a.brief.OutputOnly {
		return nil
	}
	for _, token := range a.reply.InstancesWithoutCalls {
		if mem := m.member(token); mem != nil && mem.Status == ideafile.InstanceWorking && !mem.revisedSinceRequest {
			list = append(list, mem)
		}
	}
	return list
}

func isIn(list []*InstanceProgress, mem *InstanceProgress) bool {
	for _, x := range list {
		if x == mem {
			return true
		}
	}
	return false
}

func (m *Loop) coversAll(a *llmCall) bool { return len(a.brief.Instances) == len(m.members) }

// settleOrLack settles an instance, unless its State schema requires what is not there: then the next Request is told,
// three times at most, before the instance has failed.
func (m *Loop) settleOrLack(mem *InstanceProgress) {
	switch {
	case len(mem.Missing) == 0:
		mem.Status = ideafile.InstanceSettled
	case mem.missingRetries < maxLacks:
		mem.missingRetries++
		return
	default:
		mem.Status, mem.Fault = ideafile.InstanceFailed, diag.Faultf(turn.CodeMissingRequired, "its State still lacks %v", mem.Missing)
	}
	m.newlyEnded = append(m.newlyEnded, mem)
}

// takeOutput takes the output of the solution that ends the process. A Request that covered only some instances gives
// no final output: a closing one over all States follows. A wrong one is told to the next Request, three times in a row
// at most. It gives false where nobody can settle yet.
func (m *Loop) takeOutput(a *llmCall) bool {
	if !m.coversAll(a) {
		return true
	}
	out, f := m.idea.Output.WithoutNulls(a.reply.Output), a.reply.OutputFault
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

func (m *Loop) refuseOutput(f *diag.Fault) {
	m.note(turn.ContextError{Fault: *f})
	if m.badOutputs++; m.badOutputs >= maxBadInRow {
		m.paused = diag.Faultf(turn.CodeBadOutputs, "%d bad outputs in a row; the last one: %s", m.badOutputs, f.Message)
	}
}

// literal is an output given without Calls: References in it are put in, and the result must fit.
func (m *Loop) literal(out any) (any, *diag.Fault) {
	if out == nil {
		return nil, diag.Faultf(ideafile.CodeBadOutput, "there are no calls and no output; the output form wants one")
	}
	resolved, err := m.wire(out)
	if err != nil {
		return nil, diag.Faultf(ideafile.CodeBadOutput, "the output: %s", err)
	}
	if err := m.fits(resolved); err != nil {
		return nil, diag.Faultf(ideafile.CodeBadOutput, "the output does not fit its form: %s", err)
	}
	return resolved, nil
}

// fits checks an output against its form. Large values in it were checked where they were whole.
func (m *Loop) fits(out any) error {
	if jsonval.HasHandle(out) {
		return nil
	}
	return m.idea.Output.Validate(out)
}
