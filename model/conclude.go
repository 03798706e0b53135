package model

import (
	"fmt"
	"sort"
)

// This file holds what a process makes of a Request that has ended: its Plan, its troubles, and whether it was answered
// well.

// concluded says whether the Request under way has been answered and everything that came of it has ended.
func (m *Mind) concluded() bool {
	if m.asked == nil || m.asked.reply == nil {
		return false
	}
	if m.asked.brief.Closing {
		return true
	}
	for _, c := range m.asked.brief.Covered {
		mem := m.member(c.Token)
		if !mem.quiet || mem.closed < m.asked.brief.Number {
			return false
		}
	}
	return true
}

// Conclusion is what a Request came to, once all its Calls have ended.
type Conclusion struct {
	Brief *Brief
	// Seen is every instance as it was when the Request was made.
	Seen  *Brief
	Reply *Reply
	// Ended lists the instances that settled or failed by it.
	Ended []*Member
	// Calls is the solution's Calls, as written; of a Request that broke off, those that instances had accepted.
	Calls []any
}

// Conclude closes the Request under way when it can, and decides who has settled. It gives nil while there is something
// to wait for.
func (m *Mind) Conclude() *Conclusion {
	if !m.concluded() {
		return nil
	}
	a := m.asked
	m.asked = nil
	c := &Conclusion{Brief: a.brief, Seen: a.seen, Reply: a.reply}
	accepted := m.takePlan(a)
	if len(a.brief.Asking) == 0 && (a.reply.Whole || accepted > 0) {
		m.troubles = nil // the LLM has planned with them; until then each Request is told
	}
	c.Calls = m.solution(a.brief.Number)
	if !a.reply.Lost || accepted > 0 {
		m.turns += max(1, a.reply.Attempts)
	}
	m.noteTroubles(a, accepted)
	if len(a.brief.Asking) == 0 && a.reply.Whole {
		c.Ended = m.settle(a)
	}
	m.countBad(a)
	return c
}

// takePlan keeps the Request's Calls for the next one to see, and gives how many Calls were accepted.
func (m *Mind) takePlan(a *asked) int {
	if len(a.brief.Asking) > 0 {
		return len(a.reply.Calls)
	}
	var kept []planned
	for _, p := range m.plan {
		if m.idea.forEffect(p.call) {
			kept = append(kept, p)
		}
	}
	n := a.brief.Number
	known := map[int]any{}
	for i, call := range a.reply.Calls {
		known[i+1] = call
	}
	accepted := 0
	for _, mem := range m.members {
		//workflowcheck:ignore -- sorted below
		for key, c := range mem.calls {
			if key[0] != n {
				continue
			}
			accepted++
			if _, ok := known[c.Index]; !ok {
				known[c.Index] = c.Call
			}
		}
	}
	indexes := make([]int, 0, len(known))
	//workflowcheck:ignore -- sorted below
	for i := range known {
		indexes = append(indexes, i)
	}
	sort.Ints(indexes)
	for _, i := range indexes {
		kept = append(kept, planned{n, i, known[i]})
	}
	if len(indexes) > 0 || a.reply.Whole {
		m.plan = kept
	}
	return accepted
}

// forEffect says whether a Call, as written, has no output path: what it came to is on its record alone.
func (i *Idea) forEffect(raw any) bool {
	call, _ := raw.(map[string]any)
	name, _ := call["_tool"].(string)
	t := i.Tool(name)
	if t == nil {
		return false
	}
	var c Call
	return t.readCallOutput(&c, call) == nil && c.OutputPath == nil
}

func (m *Mind) solution(request int) []any {
	calls := []any{}
	for _, p := range m.plan {
		if p.request == request {
			calls = append(calls, p.call)
		}
	}
	return calls
}

// noteTroubles gathers what went wrong, for the next Request: the Request itself, broken Calls that nobody knows of, and
// Calls that failed or can never run, one line for all instances in which it was the same.
func (m *Mind) noteTroubles(a *asked, accepted int) {
	r := a.reply
	if r.End != nil && (!r.Lost || accepted > 0) {
		m.troubles = append(m.troubles, Trouble{Fault: m.endFault(a, accepted)})
	}
	for _, f := range r.Faults {
		m.unnamed++
		m.troubles = append(m.troubles, Trouble{Call: CallID(a.brief.Number, f.Index, ""), Fault: f.Fault})
	}
	at := map[string]int{}
	for _, p := range m.plan {
		for _, mem := range m.members {
			call := [2]int{p.request, p.index}
			c, ok := mem.calls[call]
			if !ok || c.Fault == nil || mem.told[call] {
				continue
			}
			mem.told[call] = true
			key := fmt.Sprintf("%d.%d %s %s", p.request, p.index, c.Fault.Code, c.Fault.Message)
			if _, seen := at[key]; !seen {
				at[key] = len(m.troubles)
				m.troubles = append(m.troubles, Trouble{Call: CallID(p.request, p.index, ""), Fault: *c.Fault})
			}
			if mem.Token != "" {
				t := &m.troubles[at[key]]
				t.Instances = append(t.Instances, mem.Token)
			}
		}
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

// countBad pauses a process that is answered badly three times in a row, or at once where asking again is no use. A lost
// worker is no answer.
func (m *Mind) countBad(a *asked) {
	switch {
	case a.reply.Final:
		m.paused = a.reply.End
		return
	case a.reply.Lost:
		if m.lost++; m.lost >= maxLostInRow {
			m.paused = fault(CodeLost, "%d Requests in a row took their worker down", m.lost)
		}
		return
	case a.reply.Whole && !m.stillAsking(a):
		m.badReplies, m.lost = 0, 0
		return
	case a.reply.Whole:
		a.reply.End = fault(CodeNotJSON, "results that were asked for are missing")
		m.badReplies++
	default:
		m.badReplies++
	}
	if m.badReplies >= maxBadInRow {
		m.paused = fault(CodeBadReplies, "%d bad replies in a row; the last one: %s", m.badReplies, a.reply.End.Message)
	}
}

// stillAsking says whether a Request for results left one of them out.
func (m *Mind) stillAsking(a *asked) bool {
	for _, want := range a.brief.Asking {
		for _, still := range m.member(want.Token).asking {
			if still.ID == want.ID {
				return true
			}
		}
	}
	return false
}
