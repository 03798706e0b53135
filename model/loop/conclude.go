package loop

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// Conclusion is what a Request came to. Its Calls may still run.
type Conclusion struct {
	Input *turn.RequestInput
	// FullInput is every instance as it was when the Request was made.
	FullInput *turn.RequestInput
	// Log is what had changed since the last Idea when the Request was made.
	Log   []turn.LogEntry
	Reply *turn.Reply
	// Calls are the solution's Calls, as written; of a Request that broke off, those that instances had accepted.
	Calls []ideafile.WrittenCall
}

// Conclude ends the Request in flight, or returns nil while that has not ended. It clears the Request in flight, keeps its
// planned Calls and its errors for later Requests, counts turns and bad replies, and settles instances: those of a whole reply
// and, if a wired output holds already, all. It pauses the process after too many bad replies.
func (l *Loop) Conclude() *Conclusion {
	if !l.requestEnded() {
		return nil
	}
	req := l.inFlight
	l.inFlight = nil
	c := &Conclusion{Input: req.input, FullInput: req.fullInput, Log: req.log, Reply: req.reply}
	accepted := l.recordPlannedCalls(req)
	if len(req.input.Questions) > 0 {
		l.unsealedLog = append(req.log, l.unsealedLog...) // it makes no Idea: the next one takes the log
	}
	if len(req.input.Questions) == 0 && (req.reply.Complete || accepted > 0) {
		l.markErrorsShown(req) // else the next Request repeats them
	}
	c.Calls = l.callsPlannedBy(req.input.Number)
	if !req.reply.Faked && (!req.reply.WorkerLost || accepted > 0) {
		l.turnCount += max(1, req.reply.Attempts)
	}
	l.addRequestErrors(req, accepted)
	if len(req.input.Questions) == 0 && req.reply.Complete {
		l.settleInstances(req)
		l.advanceWiredOutput()
	}
	l.countBadReply(req)
	return c
}

// requestEnded reports whether the Request in flight has its whole reply or, where the reply broke off, is closed at every
// instance that it covered: until then they may still report Calls of it.
func (l *Loop) requestEnded() bool {
	if l.inFlight == nil || l.inFlight.reply == nil {
		return false
	}
	if l.inFlight.input.OutputOnly || l.inFlight.reply.Complete {
		return true
	}
	for _, inst := range l.coveredInstances(l.inFlight.input) {
		if inst.ClosedThrough < l.inFlight.input.Number {
			return false
		}
	}
	return true
}

// recordPlannedCalls keeps the Request's Calls for later Requests to see, and returns how many were accepted by instances.
func (l *Loop) recordPlannedCalls(req *llmRequest) int {
	if len(req.input.Questions) > 0 {
		return len(req.reply.Calls)
	}
	n := req.input.Number
	calls, accepted := l.callsOfRequest(req)
	if len(calls) == 0 && !req.reply.Complete {
		return accepted
	}
	for _, inst := range l.coveredInstances(req.input) {
		inst.LastPlanned = n
	}
	var kept []plannedCall
	for _, p := range l.plannedCalls {
		if l.mayBeShownToLLM(p) {
			kept = append(kept, p)
		}
	}
	for _, index := range jsonval.SortedKeys(calls) {
		unassigned := slices.ContainsFunc(req.reply.CallFaults, func(f turn.CallFault) bool { return f.Index == index })
		kept = append(kept, plannedCall{CallKey: ideafile.CallKey{Request: n, Index: index}, call: calls[index], unassigned: unassigned})
	}
	l.plannedCalls = kept
	return accepted
}

// callsOfRequest returns a Request's Calls by index: those of its reply and, where the reply was lost, those that instances reported.
func (l *Loop) callsOfRequest(req *llmRequest) (calls map[int]ideafile.WrittenCall, accepted int) {
	calls = map[int]ideafile.WrittenCall{}
	for n, call := range req.reply.Calls {
		calls[n+1] = call
	}
	for _, inst := range l.coveredInstances(req.input) {
		//workflowcheck:ignore -- a count, and a map again
		for key, c := range inst.calls {
			if key.Request != req.input.Number {
				continue
			}
			accepted++
			if _, ok := calls[c.Index]; !ok {
				calls[c.Index] = c.Call
			}
		}
	}
	return calls, accepted
}

func (l *Loop) callsPlannedBy(request int) []ideafile.WrittenCall {
	calls := []ideafile.WrittenCall{}
	for _, p := range l.plannedCalls {
		if p.Request == request {
			calls = append(calls, p.call)
		}
	}
	return calls
}

// countBadReply pauses the process after three bad replies in a row, or where repeating the Request cannot help. A lost worker
// is not a bad reply.
func (l *Loop) countBadReply(req *llmRequest) {
	switch {
	case req.reply.NotRetryable:
		l.pauseReason = req.reply.Fault
		return
	case req.reply.WorkerLost:
		l.workerLossesInRow++
		if l.workerLossesInRow >= maxWorkerLossesInRow {
			l.pauseReason = diag.Faultf(turn.CodeWorkerLost, "%d Requests in a row took their worker down", l.workerLossesInRow)
		}
		return
	case req.reply.Complete && !l.resultsMissing(req):
		l.badRepliesInRow, l.workerLossesInRow = 0, 0
		return
	case req.reply.Complete:
		req.reply.Fault = diag.Faultf(turn.CodeNotJSON, "results that were asked for are missing")
		l.badRepliesInRow++
	default:
		l.badRepliesInRow++
	}
	if l.badRepliesInRow >= maxBadInRow {
		l.pauseReason = diag.Faultf(turn.CodeBadReplies, "%d bad replies in a row; the last one: %s", l.badRepliesInRow, req.reply.Fault.Message)
	}
}

// resultsMissing reports whether a Request's questions were not all answered.
func (l *Loop) resultsMissing(req *llmRequest) bool {
	answered := map[string]bool{}
	for _, call := range req.reply.Calls {
		if q, _, _, f := turn.ReadAnswer(l.idea, req.input, call); f == nil {
			answered[q.ID] = true
		}
	}
	return slices.ContainsFunc(req.input.Questions, func(q turn.Question) bool { return !answered[q.ID] })
}
