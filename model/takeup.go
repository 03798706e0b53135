package model

// This file holds how a process goes on where the Idea that it starts from stood: Calls that were done are facts, those that
// were not finished are taken up again, and instances that had ended stay so.

import "sort"

// TakenUp is what an instance is given at the start: Calls of one Request of the process before.
type TakenUp struct {
	Token   string
	Request int
	Calls   []TakenCall
}

// TakenCall is a Call, as it was written, that is to run as if its Request had just been answered.
type TakenCall struct {
	Index int
	Call  any
	// Why a person must look at it, whatever its Tool's policy says; empty: the policy alone counts.
	Why string
}

// dropPast leaves out of the Idea what it tells of the time before it: takePast takes that in.
func (m *Mind) dropPast() {
	var left []Message
	for _, msg := range m.idea.Context {
		if _, isTrouble := troubleOf(msg); !isTrouble && !msg.isRecord() {
			left = append(left, msg)
		}
	}
	if len(left) < len(m.idea.Context) {
		m.idea = m.idea.having(left)
	}
}

// takePast takes in what a context tells of the time before it.
func (m *Mind) takePast(context []Message) {
	tokens := m.Tokens()
	m.before = requestsBefore(m.idea)
	for _, msg := range context {
		if msg.isRecord() {
			for _, p := range pastOf(msg, tokens) {
				m.remember(p)
			}
		}
		m.ending(msg)
	}
	m.takeTroubles(context)
	for _, mem := range m.members {
		if mem.Status != InstanceWorking && !mem.barred {
			m.ended = append(m.ended, mem)
		}
	}
}

// takeTroubles takes in what had gone wrong: for those instances still at work that it names, or for all of them.
func (m *Mind) takeTroubles(context []Message) {
	for _, msg := range context {
		t, ok := troubleOf(msg)
		if !ok {
			continue
		}
		named := map[string]bool{}
		for _, token := range t.Instances {
			named[token] = true
		}
		var concerned []*Member
		for _, mem := range m.members {
			if mem.Status == InstanceWorking && (len(t.Instances) == 0 || named[mem.Token]) {
				concerned = append(concerned, mem)
			}
		}
		if len(concerned) > 0 || len(t.Instances) == 0 {
			m.noteFor(concerned, t)
		}
	}
}

// requestsBefore tells how many Requests came before the one that the Idea is of, by its meta. What is no such number says
// nothing.
func requestsBefore(i *Idea) int {
	n, err := positive(asObject(i.Source["meta"])["request"])
	if err != nil {
		return 0
	}
	return n - 1
}

// ending takes how an instance had ended from its last State message.
func (m *Mind) ending(msg Message) {
	mem := m.member(msg.Instance)
	if mem == nil || msg.Kind != TypeState {
		return
	}
	if mem.barred {
		return
	}
	mem.Status, mem.Fault = InstanceWorking, nil
	if msg.Status == InstanceSettled || msg.Status == InstanceFailed {
		mem.Status = msg.Status
	}
	if mem.Status == InstanceFailed {
		if mem.Fault = msg.Fault; mem.Fault == nil {
			mem.Fault = fault(string(InstanceFailed), "it had failed in the process before")
		}
	}
}

// remember takes a Call of the process before: as a fact where it had ended, else to be taken up.
func (m *Mind) remember(p past) {
	m.before = max(m.before, p.request)
	m.plan = append(m.plan, planned{request: p.request, index: p.index, call: p.call, nobody: len(p.how) == 0})
	for _, token := range sortedKeys(p.how) {
		mem := m.member(token)
		if mem == nil {
			continue
		}
		mem.planned = max(mem.planned, p.request)
		if status := p.how[token]; status.Ended() {
			mem.calls[[2]int{p.request, p.index}] = CallReport{
				Request: p.request, Index: p.index, Status: status, Result: p.results[token], Decisions: p.decisions[token], Past: true,
			}
		} else {
			m.take(mem, p.request, TakenCall{p.index, p.call, m.doubt(p.call, status)})
		}
	}
}

// doubt says why a person must look at an unfinished Call whatever its policy says: somebody was asked about it, or it was
// running and must not run twice.
func (m *Mind) doubt(call any, was Status) string {
	name, _ := asObject(call)["_tool"].(string)
	t := m.idea.Tool(name)
	switch {
	case was == AwaitingApproval:
		return "it waited for a person in the process before"
	case was == Running && t != nil && t.Attempts == 1:
		return "it was running in the process before; it may have had its effect, and it must not run twice"
	}
	return ""
}

func (m *Mind) take(mem *Member, request int, c TakenCall) {
	mem.quiet = false
	mem.calls[[2]int{request, c.Index}] = CallReport{Request: request, Index: c.Index, Status: Waiting}
	for n := range m.taken {
		if m.taken[n].Token == mem.Token && m.taken[n].Request == request {
			m.taken[n].Calls = append(m.taken[n].Calls, c)
			return
		}
	}
	m.taken = append(m.taken, TakenUp{mem.Token, request, []TakenCall{c}})
}

// TakeUp gives, once, what the instances are to be told when they have started: Request by Request.
func (m *Mind) TakeUp() []TakenUp {
	taken := m.taken
	sort.SliceStable(taken, func(i, j int) bool { return taken[i].Request < taken[j].Request })
	m.taken = nil
	return taken
}

// TakesUp says whether TakeUp has something to give.
func (m *Mind) TakesUp() bool { return len(m.taken) > 0 }

// writtenBefore gives, as it was written, a Call that was taken up.
func (m *Mind) writtenBefore(w Write) any {
	for _, p := range m.plan {
		if p.request == w.Request && p.index == w.Index {
			return p.call
		}
	}
	return nil
}

// having is the Idea with other messages in its context.
func (i *Idea) having(messages []Message) *Idea {
	next := *i
	next.Context = messages
	context := make([]any, len(messages))
	for n, m := range messages {
		context[n] = m.Source
	}
	next.Source = withoutKey(i.Source, "context")
	next.Source["context"] = context
	return &next
}
