package model

import "sort"

// This file holds what a process makes of a Request that has ended: its Plan, its troubles, and whether it was answered
// well.

// concluded says whether the Request under way has ended: answered whole, or, where it broke off, closed at every instance
// that it covered.
func (m *Mind) concluded() bool {
	if m.asked == nil || m.asked.reply == nil {
		return false
	}
	if m.asked.brief.Closing || m.asked.reply.Whole {
		return true
	}
	for _, c := range m.asked.brief.Covered {
		if m.member(c.Token).closed < m.asked.brief.Number {
			return false
		}
	}
	return true
}

// Conclusion is what a Request came to when it ended. Its Calls may still be running.
type Conclusion struct {
	Brief *Brief
	// Seen is every instance as it was when the Request was made.
	Seen *Brief
	// Log is what changed until then, since the Idea before.
	Log   []LogEntry
	Reply *Reply
	// Calls is the solution's Calls, as written; of a Request that broke off, those that instances had accepted.
	Calls []any
}

// Conclude closes the Request under way when it has ended, and decides who has settled by it. It gives nil while there is
// something to wait for.
func (m *Mind) Conclude() *Conclusion {
	if !m.concluded() {
		return nil
	}
	a := m.asked
	m.asked = nil
	c := &Conclusion{Brief: a.brief, Seen: a.seen, Log: a.log, Reply: a.reply}
	accepted := m.takePlan(a)
	if len(a.brief.Asking) > 0 {
		m.log = append(a.log, m.log...) // it makes no Idea: what changed is for the next one
	}
	if len(a.brief.Asking) == 0 && (a.reply.Whole || accepted > 0) {
		m.told(a) // until then each Request is told again
	}
	c.Calls = m.solution(a.brief.Number)
	if !a.reply.Sketched && (!a.reply.Lost || accepted > 0) {
		m.turns += max(1, a.reply.Attempts)
	}
	m.noteTroubles(a, accepted)
	if len(a.brief.Asking) == 0 && a.reply.Whole {
		m.settle(a)
		m.tryWiring()
	}
	m.countBad(a)
	return c
}

// takePlan keeps the Request's Calls for the next ones to see, and gives how many Calls were accepted, as far as instances
// have said.
func (m *Mind) takePlan(a *asked) int {
	if len(a.brief.Asking) > 0 {
		return len(a.reply.Calls)
	}
	n := a.brief.Number
	nobodys := map[int]bool{}
	for _, f := range a.reply.Faults {
		nobodys[f.Index] = true
	}
	known := map[int]any{}
	for i, call := range a.reply.Calls {
		known[i+1] = call
	}
	accepted := 0
	for _, mem := range m.covered(a.brief) {
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
	if len(known) == 0 && !a.reply.Whole {
		return accepted
	}
	for _, mem := range m.covered(a.brief) {
		mem.planned = n
	}
	var kept []planned
	for _, p := range m.plan {
		if m.stillShown(p) {
			kept = append(kept, p)
		}
	}
	for _, i := range sortedIndexes(known) {
		kept = append(kept, planned{request: n, index: i, call: known[i], nobody: nobodys[i]})
	}
	m.plan = kept
	return accepted
}

func sortedIndexes[V any](known map[int]V) []int {
	indexes := make([]int, 0, len(known))
	//workflowcheck:ignore -- sorted below
	for i := range known {
		indexes = append(indexes, i)
	}
	sort.Ints(indexes)
	return indexes
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
	return t.readCallOutput(&c, call) == nil && len(c.OutputPath) == 0
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

// stillAsking says whether a Request for results was not given each of them.
func (m *Mind) stillAsking(a *asked) bool {
	given := map[string]bool{}
	for _, v := range a.reply.Calls {
		if one, _, _, f := ReadAnswer(m.idea, a.brief, v); f == nil {
			given[one.ID] = true
		}
	}
	for _, want := range a.brief.Asking {
		if !given[want.ID] {
			return true
		}
	}
	return false
}
