package model

// This file holds what becomes of the solution of the Idea that a process starts from.

// TakeSolution takes up the Calls of the Idea's solution too, as if they were the first Request's answer: those that the
// record does not call done, in the instances that were ready for that Request.
func (m *Mind) TakeSolution() {
	calls, _ := asObject(m.idea.Source["solution"])["calls"].([]any)
	if len(calls) == 0 {
		return
	}
	palette := Palette{Tools: m.idea.Tools, Bindings: m.bindings}
	ready := m.ready()
	for _, mem := range ready {
		palette.Tokens = append(palette.Tokens, mem.Token)
	}
	m.before++
	var broken []Trouble
	for n, raw := range calls {
		_, tokens, f := palette.Read(raw)
		if len(tokens) == 0 {
			m.unnamed++
			broken = append(broken, Trouble{Call: CallID(m.before, n+1, ""), Fault: *f})
		}
		m.solve(n+1, raw, tokens)
	}
	m.noteFor(ready, broken...)
}

// solve takes up one Call of the solution in the instances where it is not done.
func (m *Mind) solve(index int, raw any, tokens []string) {
	var open []*Member
	for _, token := range tokens {
		if mem := m.member(token); !m.doneBefore(mem, raw) {
			open = append(open, mem)
		}
	}
	if len(open) == 0 && len(tokens) > 0 {
		return
	}
	m.plan = append(m.plan, planned{request: m.before, index: index, call: raw, nobody: len(tokens) == 0})
	for _, mem := range open {
		mem.planned = m.before
		m.take(mem, m.before, TakenCall{Index: index, Call: raw})
	}
}

// doneBefore says whether the record calls the same Call done in an instance, whoever else it was for.
func (m *Mind) doneBefore(mem *Member, raw any) bool {
	for _, p := range m.plan {
		c, ok := mem.calls[[2]int{p.request, p.index}]
		if ok && c.Past && c.Status == Done && Equal(bare(p.call), bare(raw)) {
			return true
		}
	}
	return false
}

// bare is a Call as written without what says for whom and why.
func bare(call any) any {
	m, ok := call.(map[string]any)
	if !ok {
		return call
	}
	return withoutKey(withoutKey(m, "_instance"), "_reasoningForCall")
}
