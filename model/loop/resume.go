package loop

import (
	"sort"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// TakenUp is what an instance is given at the start: Calls of one Request of the process before.
type ResumedCalls struct {
	Token   string
	Request int
	Calls   []ResumedCall
}

// TakenCall is a Call, as it was written, that is to run as if its Request had just been answered.
type ResumedCall struct {
	Index int
	Call  ideafile.WrittenCall
	// ReviewReason a person must look at it, whatever its Tool's policy says; empty: the policy alone counts.
	ReviewReason string
}

// dropPast leaves out of the Idea what it tells of the time before it: takePast takes that in.
func (m *Loop) dropPast() {
	var left []ideafile.Message
	for _, msg := range m.idea.Context {
		if _, isTrouble := turn.ReadContextError(msg); !isTrouble && !msg.IsPlanRecord() {
			left = append(left, msg)
		}
	}
	if len(left) < len(m.idea.Context) {
		m.idea = m.idea.WithContextReplaced(left)
	}
}

// takePast takes in what a context tells of the time before it.
func (m *Loop) takePast(context []ideafile.Message) {
	tokens := m.Tokens()
	m.priorRequests = requestsBefore(m.idea)
	for _, msg := range context {
		if msg.IsPlanRecord() {
			for _, p := range turn.PastCalls(msg, tokens) {
				m.remember(p)
			}
		}
		m.ending(msg)
	}
	m.takeErrors(context)
	for _, mem := range m.members {
		if mem.Status != ideafile.InstanceWorking && mem.planner != plannedByNobody {
			m.newlyEnded = append(m.newlyEnded, mem)
		}
	}
}

// takeTroubles takes in what had gone wrong: for those instances still at work that it names, or for all of them.
func (m *Loop) takeErrors(context []ideafile.Message) {
	for _, msg := range context {
		t, ok := turn.ReadContextError(msg)
		if !ok {
			continue
		}
		named := map[string]bool{}
		for _, token := range t.Instances {
			named[token] = true
		}
		var concerned []*InstanceProgress
		for _, mem := range m.members {
			if mem.Status == ideafile.InstanceWorking && (len(t.Instances) == 0 || named[mem.Token]) {
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
func requestsBefore(i *ideafile.Idea) int {
	n, err := ideafile.ReadPositiveInt(jsonval.AsObject(i.Source["meta"])["request"])
	if err != nil {
		return 0
	}
	return n - 1
}

// ending takes how an instance had ended from its last State message.
func (m *Loop) ending(msg ideafile.Message) {
	mem := m.member(msg.Instance)
	if mem == nil || msg.Kind != ideafile.TypeState {
		return
	}
	if mem.planner == plannedByNobody {
		return
	}
	mem.Status, mem.Fault = ideafile.InstanceWorking, nil
	if msg.Status == ideafile.InstanceSettled || msg.Status == ideafile.InstanceFailed {
		mem.Status = msg.Status
	}
	if mem.Status == ideafile.InstanceFailed {
		if mem.Fault = msg.Fault; mem.Fault == nil {
			mem.Fault = diag.Faultf(string(ideafile.InstanceFailed), "it had failed in the process before")
		}
	}
}

// remember takes a Call of the process before: as a fact where it had ended, else to be taken up.
func (m *Loop) remember(p turn.PastCall) {
	m.priorRequests = max(m.priorRequests, p.Request)
	m.plannedCalls = append(m.plannedCalls, planned{request: p.Request, index: p.Index, call: p.Call, nobody: len(p.Status) == 0})
	for _, token := range jsonval.SortedKeys(p.Status) {
		mem := m.member(token)
		if mem == nil {
			continue
		}
		mem.lastPlanned = max(mem.lastPlanned, p.Request)
		if status := p.Status[token]; status.Ended() {
			mem.calls[ideafile.CallKey{Request: p.Request, Index: p.Index}] = turn.CallReport{
				Request: p.Request, Index: p.Index, Status: status, Result: p.Results[token], Decisions: p.Decisions[token], FromEarlierProcess: true,
			}
		} else {
			m.take(mem, p.Request, ResumedCall{p.Index, p.Call, m.doubt(p.Call, status)})
		}
	}
}

// doubt says why a person must look at an unfinished Call whatever its policy says: somebody was asked about it, or it was
// running and must not run twice.
func (m *Loop) doubt(call ideafile.WrittenCall, was ideafile.CallStatus) string {
	t := m.idea.Tool(call.Tool)
	switch {
	case was == ideafile.AwaitingApproval:
		return "it waited for a person in the process before"
	case was == ideafile.Running && t != nil && t.Attempts == 1:
		return "it was running in the process before; it may have had its effect, and it must not run twice"
	}
	return ""
}

func (m *Loop) take(mem *InstanceProgress, request int, c ResumedCall) {
	mem.idle = false
	mem.calls[ideafile.CallKey{Request: request, Index: c.Index}] = turn.CallReport{Request: request, Index: c.Index, Status: ideafile.Waiting}
	for n := range m.resumed {
		if m.resumed[n].Token == mem.Token && m.resumed[n].Request == request {
			m.resumed[n].Calls = append(m.resumed[n].Calls, c)
			return
		}
	}
	m.resumed = append(m.resumed, ResumedCalls{mem.Token, request, []ResumedCall{c}})
}

// TakeUp gives, once, what the instances are to be told when they have started: Request by Request.
func (m *Loop) TakeResumed() []ResumedCalls {
	taken := m.resumed
	sort.SliceStable(taken, func(i, j int) bool { return taken[i].Request < taken[j].Request })
	m.resumed = nil
	return taken
}

// TakesUp says whether TakeUp has something to give.
func (m *Loop) HasResumed() bool { return len(m.resumed) > 0 }

// writtenBefore gives, as it was written, a Call that was taken up.
func (m *Loop) writtenBefore(w statelog.Write) ideafile.WrittenCall {
	for _, p := range m.plannedCalls {
		if p.request == w.Request && p.index == w.Index {
			return p.call
		}
	}
	return ideafile.WrittenCall{}
}

// ResumeSolution takes up the Calls of the Idea's solution too, as if they were the first Request's answer: those that the
// record does not call done, in the instances that were ready for that Request.
func (m *Loop) ResumeSolution() {
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
	for n, call := range ideafile.ParseWrittenCalls(calls) {
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
		c, ok := mem.calls[p.key()]
		if ok && c.FromEarlierProcess && c.Status == ideafile.Done && p.call.Equivalent(call) {
			return true
		}
	}
	return false
}
