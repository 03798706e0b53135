package model

import (
	"fmt"
	"slices"
)

// This file holds what a Request is told went wrong, and until when: what befell an instance is told to the next Request
// that plans for it, however many there are about others before.

// Untold is a Trouble that somebody is still to be told.
type Untold struct {
	Trouble
	// For lists the instances whose next Request is to tell it; none: the next Request, whomever it covers.
	For []string `json:"for,omitempty"`
}

func (m *Mind) note(tokens []string, t Trouble) {
	m.troubles = append(m.troubles, Untold{Trouble: t, For: tokens})
}

// noteTroubles gathers what went wrong with the Request itself, and the broken Calls that no instance knows of: for the
// next Request about each instance that it covered.
func (m *Mind) noteTroubles(a *asked, accepted int) {
	r := a.reply
	if r.End != nil && (!r.Lost || accepted > 0) {
		m.note(a.brief.Tokens(), Trouble{Fault: m.endFault(a, accepted)})
	}
	for _, f := range r.Faults {
		m.unnamed++
		m.note(a.brief.Tokens(), Trouble{Call: CallID(a.brief.Number, f.Index, ""), Fault: f.Fault})
	}
}

func (m *Mind) endFault(a *asked, accepted int) Fault {
	f := *a.reply.End
	f.Message = fmt.Sprintf("request %d was cut off: %s", a.brief.Number, f.Message)
	if accepted > 0 {
		f.Message += fmt.Sprintf("; the %d calls that had come were taken and are listed", len(m.solution(a.brief.Number)))
	} else {
		f.Message += "; no call of it was taken"
	}
	return f
}

// troublesFor gathers what a Request about some of the instances is to be told.
func (m *Mind) troublesFor(members []*Member) []Trouble {
	var out []Trouble
	for _, u := range m.troubles {
		if t, concerned := u.about(members); concerned {
			out = append(out, t)
		}
	}
	return append(out, m.callTroubles(members)...)
}

// about is the Trouble as a Request about some of the instances is told it: of those that it names, these. What befell a
// whole Request names those of them that it covered, unless it covered them all.
func (u Untold) about(members []*Member) (t Trouble, concerned bool) {
	var of []string
	for _, mem := range members {
		if slices.Contains(u.For, mem.Token) {
			of = append(of, mem.Token)
		}
	}
	if t = u.Trouble; len(t.Instances) > 0 || t.Call == "" && len(of) < len(members) {
		t.Instances = of
	}
	return t, len(of) > 0 || len(u.For) == 0
}

// callTroubles gathers the Calls of some instances that failed or can never run and of which the LLM was not told, one
// line for all instances in which it was the same. What a person rejected is no error: it is told as a fact.
func (m *Mind) callTroubles(members []*Member) []Trouble {
	var out []Trouble
	at := map[string]int{}
	for _, p := range m.plan {
		for _, mem := range members {
			call := [2]int{p.request, p.index}
			c, ok := mem.calls[call]
			if !ok || !p.about(mem) || c.Fault == nil || c.Status == Rejected || mem.told[call] {
				continue
			}
			key := fmt.Sprintf("%d.%d %s %s", p.request, p.index, c.Fault.Code, c.Fault.Message)
			if _, seen := at[key]; !seen {
				at[key] = len(out)
				out = append(out, Trouble{Call: CallID(p.request, p.index, ""), Fault: *c.Fault})
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
func (m *Mind) told(a *asked) {
	var untold []Untold
	for _, u := range m.troubles {
		left := slices.DeleteFunc(slices.Clone(u.For), func(token string) bool { return slices.Contains(a.brief.Tokens(), token) })
		if len(left) > 0 {
			untold = append(untold, Untold{Trouble: u.Trouble, For: left})
		}
	}
	m.troubles = untold
	for _, mem := range m.covered(a.brief) {
		//workflowcheck:ignore -- each by itself
		for call, c := range mem.calls {
			if call[0] < a.brief.Number && c.Fault != nil {
				mem.told[call] = true
			}
		}
	}
}
