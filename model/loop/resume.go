package loop

import (
	"cmp"
	"slices"
	"sort"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// ResumedCalls are the unfinished Calls of one Request of the earlier process, which an instance is sent when it has started.
type ResumedCalls struct {
	Token   string
	Request int
	Calls   []ResumedCall
}

// ResumedCall is a Call, as written, that is to run as if its Request had just been answered.
type ResumedCall struct {
	Index int
	Call  ideafile.WrittenCall
	// ReviewReason is why a person must review it whatever its Tool's policy says; empty: the policy decides.
	ReviewReason string
}

// dropHistoryMessages removes errors and records from the Idea: restoreHistory reads them.
func (l *Loop) dropHistoryMessages() {
	var left []ideafile.Message
	for _, msg := range l.idea.Context {
		if _, isError := turn.ReadContextError(msg); !isError && !msg.IsPlanRecord() {
			left = append(left, msg)
		}
	}
	if len(left) < len(l.idea.Context) {
		l.idea = l.idea.WithContextReplaced(left)
	}
}

// restoreHistory restores what a context tells of the process whose Idea this one starts from.
func (l *Loop) restoreHistory(context []ideafile.Message) {
	tokens := l.InstanceTokens()
	l.priorRequests = priorRequestsOf(l.idea)
	for _, msg := range context {
		if msg.IsPlanRecord() {
			for _, p := range turn.PastCalls(msg, tokens) {
				l.restoreCall(p)
			}
		}
		l.restoreStatus(msg)
	}
	l.restoreErrors(context)
	for _, inst := range l.instances {
		if inst.Status != ideafile.InstanceWorking && inst.planner != noPlanMatched {
			l.newlyEnded = append(l.newlyEnded, inst)
		}
	}
}

// restoreErrors keeps the errors of the context for the instances at work that they name; for all of these where they name none.
func (l *Loop) restoreErrors(context []ideafile.Message) {
	for _, msg := range context {
		t, ok := turn.ReadContextError(msg)
		if !ok {
			continue
		}
		var concerned []*InstanceProgress
		for _, inst := range l.instances {
			if inst.Status == ideafile.InstanceWorking && (len(t.Instances) == 0 || slices.Contains(t.Instances, inst.Token)) {
				concerned = append(concerned, inst)
			}
		}
		if len(concerned) > 0 || len(t.Instances) == 0 {
			l.addErrorsFor(concerned, t)
		}
	}
}

// priorRequestsOf returns how many Requests came before the one whose Idea this is, by its meta; 0 where that is no such number.
func priorRequestsOf(i *ideafile.Idea) int {
	n, err := ideafile.ReadPositiveInt(jsonval.AsObject(i.Source["meta"])["request"])
	if err != nil {
		return 0
	}
	return n - 1
}

// restoreStatus restores how an instance had ended, from its last State message.
func (l *Loop) restoreStatus(msg ideafile.Message) {
	inst := l.instance(msg.Instance)
	if inst == nil || msg.Kind != ideafile.TypeState || inst.planner == noPlanMatched {
		return
	}
	inst.Status, inst.Fault = ideafile.InstanceWorking, nil
	if msg.Status == ideafile.InstanceSettled || msg.Status == ideafile.InstanceFailed {
		inst.Status = msg.Status
	}
	if inst.Status == ideafile.InstanceFailed {
		inst.Fault = cmp.Or(msg.Fault, diag.Faultf(string(ideafile.InstanceFailed), "it had failed in the process before"))
	}
}

// restoreCall restores a Call of the earlier process: as a fact where it had ended, else as a Call to resume.
func (l *Loop) restoreCall(p turn.PastCall) {
	l.priorRequests = max(l.priorRequests, p.Request)
	key := ideafile.CallKey{Request: p.Request, Index: p.Index}
	l.plannedCalls = append(l.plannedCalls, plannedCall{CallKey: key, call: p.Call, unassigned: len(p.Status) == 0})
	for _, token := range jsonval.SortedKeys(p.Status) {
		inst := l.instance(token)
		if inst == nil {
			continue
		}
		inst.LastPlanned = max(inst.LastPlanned, p.Request)
		if status := p.Status[token]; status.Ended() {
			inst.calls[key] = turn.CallReport{
				Request: p.Request, Index: p.Index, Status: status, Result: p.Results[token], Decisions: p.Decisions[token], FromEarlierProcess: true,
			}
		} else {
			l.resumeCall(inst, p.Request, ResumedCall{p.Index, p.Call, l.reviewReason(p.Call, status)})
		}
	}
}

// reviewReason returns why a person must review an unfinished Call whatever its policy says: a person had been asked about it, or
// it was running and must not run twice.
func (l *Loop) reviewReason(call ideafile.WrittenCall, was ideafile.CallStatus) string {
	t := l.idea.Tool(call.Tool)
	switch {
	case was == ideafile.AwaitingApproval:
		return "it waited for a person in the process before"
	case was == ideafile.Running && t != nil && t.Attempts == 1:
		return "it was running in the process before; it may have had its effect, and it must not run twice"
	}
	return ""
}

func (l *Loop) resumeCall(inst *InstanceProgress, request int, c ResumedCall) {
	inst.Idle = false
	inst.calls[ideafile.CallKey{Request: request, Index: c.Index}] = turn.CallReport{Request: request, Index: c.Index, Status: ideafile.Waiting}
	for n := range l.resumedCalls {
		if l.resumedCalls[n].Token == inst.Token && l.resumedCalls[n].Request == request {
			l.resumedCalls[n].Calls = append(l.resumedCalls[n].Calls, c)
			return
		}
	}
	l.resumedCalls = append(l.resumedCalls, ResumedCalls{inst.Token, request, []ResumedCall{c}})
}

// TakeResumed returns, once, the Calls to send to the instances, in the order of their Requests.
func (l *Loop) TakeResumed() []ResumedCalls {
	taken := l.resumedCalls
	sort.SliceStable(taken, func(i, j int) bool { return taken[i].Request < taken[j].Request })
	l.resumedCalls = nil
	return taken
}

// HasResumed reports whether TakeResumed has Calls to return.
func (l *Loop) HasResumed() bool { return len(l.resumedCalls) > 0 }

// resumedCallOfWrite returns the resumed Call that made a write.
func (l *Loop) resumedCallOfWrite(w statelog.Write) ideafile.WrittenCall {
	for _, p := range l.plannedCalls {
		if p.CallKey == (ideafile.CallKey{Request: w.Request, Index: w.Index}) {
			return p.call
		}
	}
	return ideafile.WrittenCall{}
}

// ResumeSolution resumes the Calls of the Idea's solution too, as if they were the reply to the first Request: in the instances
// that were ready for it, those that the record does not call done.
func (l *Loop) ResumeSolution() {
	calls, _ := jsonval.AsObject(l.idea.Source["solution"])["calls"].([]any)
	if len(calls) == 0 {
		return
	}
	palette := ideafile.Palette{Tools: l.idea.Tools, Bindings: l.bindings}
	ready := l.readyInstances()
	for _, inst := range ready {
		palette.InstanceTokens = append(palette.InstanceTokens, inst.Token)
	}
	l.priorRequests++
	var broken []turn.ContextError
	for n, call := range ideafile.ParseWrittenCalls(calls) {
		tokens, f := palette.TargetInstances(call)
		if len(tokens) == 0 {
			l.unassignedCalls++
			broken = append(broken, turn.ContextError{Call: ideafile.FormatCallID(l.priorRequests, n+1, ""), Fault: *f})
		}
		l.resumePlannedCall(n+1, call, tokens)
	}
	l.addErrorsFor(ready, broken...)
}

func (l *Loop) resumePlannedCall(index int, call ideafile.WrittenCall, tokens []string) {
	var unfinished []*InstanceProgress
	for _, token := range tokens {
		if inst := l.instance(token); !l.wasDoneEarlier(inst, call) {
			unfinished = append(unfinished, inst)
		}
	}
	if len(unfinished) == 0 && len(tokens) > 0 {
		return
	}
	key := ideafile.CallKey{Request: l.priorRequests, Index: index}
	l.plannedCalls = append(l.plannedCalls, plannedCall{CallKey: key, call: call, unassigned: len(tokens) == 0})
	for _, inst := range unfinished {
		inst.LastPlanned = l.priorRequests
		l.resumeCall(inst, l.priorRequests, ResumedCall{Index: index, Call: call})
	}
}

// wasDoneEarlier reports whether the record calls an equivalent Call done in an instance.
func (l *Loop) wasDoneEarlier(inst *InstanceProgress, call ideafile.WrittenCall) bool {
	for _, p := range l.plannedCalls {
		c, ok := inst.calls[p.CallKey]
		if ok && c.FromEarlierProcess && c.Status == ideafile.Done && p.call.Equivalent(call) {
			return true
		}
	}
	return false
}
