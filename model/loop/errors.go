package loop

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// This file holds what a Request is told went wrong, and until when: what befell an instance is told to the next Request
// that plans for it, however many there are about others before.

// Untold is a Trouble that somebody is still to be told.
type PendingError struct {
	turn.ContextError
	// Note is a number that the instances have whose next Request is to tell it; 0: the next Request, whomever it covers.
	ID int `json:"note,omitempty"`
}

// noteFor keeps Troubles until each of some instances was told; where there are none, for the next Request.
func (m *Loop) noteFor(members []*InstanceProgress, list ...turn.ContextError) {
	if len(list) == 0 {
		return
	}
	note := 0
	if len(members) > 0 {
		m.nextErrorID++
		note = m.nextErrorID
	}
	for _, mem := range members {
		mem.pendingErrors = append(mem.pendingErrors, note)
	}
	for _, t := range list {
		m.pendingErrors = append(m.pendingErrors, PendingError{t, note})
	}
}

// note keeps a Trouble for the next Request.
func (m *Loop) note(t turn.ContextError) {
	m.pendingErrors = append(m.pendingErrors, PendingError{ContextError: t})
}

// noteTroubles gathers what went wrong with the Request itself, and the broken Calls that no instance knows of: for the
// next Request about each instance that it covered.
func (m *Loop) noteErrors(a *llmCall, accepted int) {
	var list []turn.ContextError
	r := a.reply
	if r.Fault != nil && (!r.WorkerLost || accepted > 0) {
		list = append(list, turn.ContextError{Fault: m.endFault(a, accepted)})
	}
	for _, f := range r.CallFaults {
		m.unassignedCalls++
		list = append(list, turn.ContextError{Call: ideafile.CallID(a.brief.Number, f.Index, ""), Fault: f.Fault})
	}
	m.noteFor(m.covered(a.brief), list...)
}

func (m *Loop) endFault(a *llmCall, accepted int) diag.Fault {
	f := *a.reply.Fault
	f.Message = fmt.Sprintf("request %d was cut off: %s", a.brief.Number, f.Message)
	if accepted > 0 {
		f.Message += fmt.Sprintf("; the %d calls that had come were taken and are listed", len(m.solution(a.brief.Number)))
	} else {
		f.Message += "; no call of it was taken"
	}
	return f
}

// troublesFor gathers what a Request about some of the instances is to be told. What befell a whole Request names those of
// them that it covered, unless it covered them all.
func (m *Loop) errorsFor(members []*InstanceProgress) []turn.ContextError {
	of := map[int][]string{}
	for _, mem := range members {
		for _, note := range mem.pendingErrors {
			of[note] = append(of[note], mem.Token)
		}
	}
	var out []turn.ContextError
	for _, u := range m.pendingErrors {
		t, concerned := u.ContextError, of[u.ID]
		if u.ID > 0 && len(concerned) == 0 {
			continue
		}
		if len(t.Instances) > 0 || t.Call == "" && len(concerned) < len(members) {
			t.Instances = concerned
		}
		out = append(out, t)
	}
	return append(out, m.callErrors(members)...)
}

// callTroubles gathers the Calls of some instances that failed or can never run and of which the LLM was not told, one
// line for all instances in which it was the same. What a person rejected is no error: it is told as a fact.
func (m *Loop) callErrors(members []*InstanceProgress) []turn.ContextError {
	var out []turn.ContextError
	at := map[string]int{}
	for _, p := range m.plannedCalls {
		for _, mem := range members {
			call := p.key()
			c, ok := mem.calls[call]
			if !ok || !p.about(mem) || c.Fault == nil || c.Status == ideafile.Rejected || mem.errorsShown[call] {
				continue
			}
			key := fmt.Sprintf("%d.%d %s %s", p.request, p.index, c.Fault.Code, c.Fault.Message)
			if _, seen := at[key]; !seen {
				at[key] = len(out)
				out = append(out, turn.ContextError{Call: ideafile.CallID(p.request, p.index, ""), Fault: *c.Fault})
			}
			if mem.Token != "" {
				t := &out[at[key]]
				t.Instances = append(t.Instances, mem.Token)
			}
		}
	}
	return out
}

// told notes that the LLM has planned with what a Request was told.
func (m *Loop) told(a *llmCall) {
	for _, mem := range m.covered(a.brief) {
		mem.pendingErrors = nil
	}
	waited := map[int]bool{}
	for _, mem := range m.members {
		for _, note := range mem.pendingErrors {
			waited[note] = true
		}
	}
	m.pendingErrors = slices.DeleteFunc(slices.Clone(m.pendingErrors), func(u PendingError) bool { return !waited[u.ID] })
	for _, mem := range m.covered(a.brief) {
		//workflowcheck:ignore -- each by itself
		for call, c := range mem.calls {
			if call.Request < a.brief.Number && c.Fault != nil {
				mem.errorsShown[call] = true
			}
		}
	}
}
