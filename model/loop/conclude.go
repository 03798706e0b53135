package loop

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// This file holds what a process makes of a Request that has ended: its Plan, its troubles, and whether it was answered
// well.

// concluded says whether the Request under way has ended: answered whole, or, where it broke off, closed at every instance
// that it covered.
func (m *Loop) concluded() bool {
	if m.inFlight == nil || m.inFlight.reply == nil {
		return false
	}
	if m.inFlight.brief.OutputOnly || m.inFlight.reply.Complete {
		return true
	}
	for _, c := range m.inFlight.brief.Instances {
		if m.member(c.Token).closedThrough < m.inFlight.brief.Number {
			return false
		}
	}
	return true
}

// Conclusion is what a Request came to when it ended. Its Calls may still be running.
type Conclusion struct {
	Input *turn.RequestInput
	// FullInput is every instance as it was when the Request was made.
	FullInput *turn.RequestInput
	// Log is what changed until then, since the Idea before.
	Log   []turn.LogEntry
	Reply *turn.Reply
	// Calls is the solution's Calls, as written; of a Request that broke off, those that instances had accepted.
	Calls []ideafile.WrittenCall
}

// Conclude closes the Request under way when it has ended, and decides who has settled by it. It gives nil while there is
// something to wait for.
func (m *Loop) Conclude() *Conclusion {
	if !m.concluded() {
		return nil
	}
	a := m.inFlight
	m.inFlight = nil
	c := &Conclusion{Input: a.brief, FullInput: a.seen, Log: a.log, Reply: a.reply}
	accepted := m.takePlan(a)
	if len(a.brief.Questions) > 0 {
		m.log = append(a.log, m.log...) // it makes no Idea: what changed is for the next one
	}
	if len(a.brief.Questions) == 0 && (a.reply.Complete || accepted > 0) {
		m.told(a) // until then each Request is told again
	}
	c.Calls = m.solution(a.brief.Number)
	if !a.reply.Faked && (!a.reply.WorkerLost || accepted > 0) {
		m.turns += max(1, a.reply.Attempts)
	}
	m.noteErrors(a, accepted)
	if len(a.brief.Questions) == 0 && a.reply.Complete {
		m.settle(a)
		m.tryWiring()
	}
	m.countBad(a)
	return c
}

// takePlan keeps the Request's Calls for the next ones to see, and gives how many Calls were accepted, as far as instances
// have said.
func (m *Loop) takePlan(a *llmCall) int {
	if len(a.brief.Questions) > 0 {
		return len(a.reply.Calls)
	}
	n := a.brief.Number
	nobodys := map[int]bool{}
	for _, f := range a.reply.CallFaults {
		nobodys[f.Index] = true
	}
	known := map[int]ideafile.WrittenCall{}
	for i, call := range a.reply.Calls {
		known[i+1] = call
	}
	accepted := 0
	for _, mem := range m.covered(a.brief) {
		//workflowcheck:ignore -- sorted below
		for key, c := range mem.calls {
			if key.Request != n {
				continue
			}
			accepted++
			if _, ok := known[c.Index]; !ok {
				known[c.Index] = c.Call
			}
		}
	}
	if len(known) == 0 && !a.reply.Complete {
		return accepted
	}
	for _, mem := range m.covered(a.brief) {
		mem.lastPlanned = n
	}
	var kept []planned
	for _, p := range m.plannedCalls {
		if m.stillShown(p) {
			kept = append(kept, p)
		}
	}
	for _, i := range jsonval.SortedIndexes(known) {
		kept = append(kept, planned{request: n, index: i, call: known[i], nobody: nobodys[i]})
	}
	m.plannedCalls = kept
	return accepted
}

func (m *Loop) solution(request int) []ideafile.WrittenCall {
	calls := []ideafile.WrittenCall{}
	for _, p := range m.plannedCalls {
		if p.request == request {
			calls = append(calls, p.call)
		}
	}
	return calls
}

// countBad pauses a process that is answered badly three times in a row, or at once where asking again is no use. A lost
// worker is no answer.
func (m *Loop) countBad(a *llmCall) {
	switch {
	case a.reply.NotRetryable:
		m.paused = a.reply.Fault
		return
	case a.reply.WorkerLost:
		if m.workerLosses++; m.workerLosses >= maxLostInRow {
			m.paused = diag.Faultf(turn.CodeWorkerLost, "%d Requests in a row took their worker down", m.workerLosses)
		}
		return
	case a.reply.Complete && !m.stillAsking(a):
		m.badReplies, m.workerLosses = 0, 0
		return
	case a.reply.Complete:
		a.reply.Fault = diag.Faultf(turn.CodeNotJSON, "results that were asked for are missing")
		m.badReplies++
	default:
		m.badReplies++
	}
	if m.badReplies >= maxBadInRow {
		m.paused = diag.Faultf(turn.CodeBadReplies, "%d bad replies in a row; the last one: %s", m.badReplies, a.reply.Fault.Message)
	}
}

// stillAsking says whether a Request for results was not given each of them.
func (m *Loop) stillAsking(a *llmCall) bool {
	given := map[string]bool{}
	for _, v := range a.reply.Calls {
		if one, _, _, f := turn.ReadAnswer(m.idea, a.brief, v); f == nil {
			given[one.ID] = true
		}
	}
	for _, want := range a.brief.Questions {
		if !given[want.ID] {
			return true
		}
	}
	return false
}
