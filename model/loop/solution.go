package loop

import (
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// This file holds what becomes of the solution of the Idea that a process starts from.

// TakeSolution takes up the Calls of the Idea's solution too, as if they were the first Request's answer: those that the
// record does not call done, in the instances that were ready for that Request.
func (m *Loop) TakeSolution() {
	calls, _ := jsonval.AsObject(m.idea.Source["solution"])["calls"].([]any)
	if len(calls) == 0 {
		return
	}
	palette := ideafile.Palette{Tools: m.idea.Tools, Bindings: m.bindings}
	ready := m.ready()
	for _, mem := range ready {
		palette.Tokens = append(palette.Tokens, mem.Token)
	}
	m.priorRequests++
	var broken []turn.ContextError
	for n, call := range ideafile.WrittenCalls(calls) {
		tokens, f := palette.Targets(call)
		if len(tokens) == 0 {
			m.unassignedCalls++
			broken = append(broken, turn.ContextError{Call: ideafile.CallID(m.priorRequests, n+1, ""), Fault: *f})
		}
		m.solve(n+1, call, tokens)
	}
	m.noteFor(ready, broken...)
}

// solve takes up one Call of the solution in the instances where it is not done.
func (m *Loop) solve(index int, call ideafile.WrittenCall, tokens []string) {
	var open []*InstanceProgress
	for _, token := range tokens {
		if mem := m.member(token); !m.doneBefore(mem, call) {
			open = append(open, mem)
		}
	}
	if len(open) == 0 && len(tokens) > 0 {
		return
	}
	m.plannedCalls = append(m.plannedCalls, planned{request: m.priorRequests, index: index, call: call, nobody: len(tokens) == 0})
	for _, mem := range open {
		mem.lastPlanned = m.priorRequests
		m.take(mem, m.priorRequests, ResumedCall{Index: index, Call: call})
	}
}

// doneBefore says whether the record calls the same Call done in an instance, whoever else it was for.
func (m *Loop) doneBefore(mem *InstanceProgress, call ideafile.WrittenCall) bool {
	for _, p := range m.plannedCalls {
		c, ok := mem.calls[[2]int{p.request, p.index}]
		if ok && c.Past && c.Status == ideafile.Done && p.call.Equivalent(call) {
			return true
		}
	}
	return false
}
