package loop

import (
	"fmt"
	"slices"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// RequestConclusion is the result of a Request. Its Calls may still run.
type RequestConclusion struct {
	*llmRequest
	// Calls are the solution's Calls, as written. For a Request that broke off, they are the Calls that instances had
	// accepted.
	Calls []ideafile.WrittenCall
	// CallsToRedeliver has, for a Request that broke off while its Calls were handed out, the Calls that must still be
	// sent to each covered instance: Calls for several instances that another one has accepted. There are entries
	// without Calls too, since they close the Request at the instance.
	CallsToRedeliver []CallDelivery
}

// ConcludeRequest concludes the Request in flight, or returns nil if that has not ended. It clears the Request in
// flight, keeps its planned Calls and its errors for later Requests, and counts turns and bad replies. After a whole
// reply it settles instances to which the reply gave no Call, and all instances if a wired output already holds. It
// pauses the process after too many bad replies.
func (l *Loop) ConcludeRequest() *RequestConclusion {
	if !l.hasRequestEnded() {
		return nil
	}
	req := l.requestInFlight
	l.requestInFlight = nil
	c := &RequestConclusion{llmRequest: req}
	l.reopenNamedInstances(req)
	callAcceptanceCount := l.recordPlannedCalls(req)
	c.CallsToRedeliver = l.callsToRedeliver(req)
	if len(req.Questions) > 0 {
		// such a Request makes no Idea: the next Idea takes the log
		l.UnsealedLog = append(req.LogBeforeRequest, l.UnsealedLog...)
		l.HasUnsealedChanges = l.HasUnsealedChanges || req.hadUnsealedChanges
	}
	if len(req.Questions) == 0 && (req.Reply.IsComplete || callAcceptanceCount > 0) {
		l.markErrorsShown(req, l.instancesPlannedFor(req)) // otherwise the next Request repeats them
	}
	c.Calls = l.plannedCallsOfRequest(req.RequestNumber)
	if !req.Reply.IsSimulated && (!req.Reply.IsWorkerLost || callAcceptanceCount > 0) {
		l.TurnCount += max(1, req.Reply.HTTPAttemptCount)
	}
	l.addRequestErrors(req, callAcceptanceCount)
	if len(req.Questions) == 0 && req.Reply.IsComplete {
		l.recordSaysFinished(req)
		l.settleInstances(req)
		l.resolveOrDropWiredOutput()
	}
	l.trackBadReplies(req)
	if len(c.Calls) == 0 && l.isGoalReached() {
		l.addInstanceOutcomes(c.AllInstancesInput)
	}
	return c
}

// addInstanceOutcomes records how each instance ended, in the input of the Request with which the process reached its
// goal. The Idea of that Request is the last one.
func (l *Loop) addInstanceOutcomes(input *turn.RequestInput) {
	for n, inst := range l.Instances {
		instanceInput := &input.Instances[n]
		instanceInput.WasEndedByRequest = instanceInput.EndStatus == ""
		instanceInput.EndStatus, instanceInput.Fault, instanceInput.StepOutcomes = inst.Status, inst.Fault,
			inst.StepOutcomes
	}
}

// hasRequestEnded reports whether the Request in flight has its whole reply or, if the reply broke off, whether every
// instance that could get its Calls now refuses them. Until then these instances may still report Calls of it.
func (l *Loop) hasRequestEnded() bool {
	if l.requestInFlight == nil || l.requestInFlight.Reply == nil || l.PendingPlan != nil {
		return false
	}
	if l.requestInFlight.IsOutputOnly || l.requestInFlight.Reply.IsComplete {
		return true
	}
	requestNumber, mustReportCalls := l.requestInFlight.RequestNumber,
		l.NeedsCallsFromInstances(l.requestInFlight.Reply)
	for _, inst := range l.instancesThatMayGetCalls(l.requestInFlight.RequestInput) {
		switch {
		case slices.Contains(l.requestInFlight.Reply.GoneInstanceTokens, inst.Token), inst.isWorkflowGone():
		case inst.RefusedThroughRequest < requestNumber, mustReportCalls && inst.CanReceiveCalls() &&
			inst.ReportedThroughRequest < requestNumber:
			return false
		}
	}
	return true
}

// ReportLostCallsChangeID names the rule that instances report the Calls of a lost reply, even if they had received all
// of it.
const ReportLostCallsChangeID = "instances tell the Calls of a lost reply"

// NeedsCallsFromInstances reports whether only the instances know the Calls of a reply. An instance that received the
// whole reply has reported the outcomes of the Calls but not the Calls themselves.
func (l *Loop) NeedsCallsFromInstances(r *turn.LLMReply) bool {
	return r.CallsMayBeUndelivered() && l.IsPatched(ReportLostCallsChangeID)
}

// recordPlannedCalls keeps the Request's Calls for later Requests, and returns how many Calls instances accepted.
func (l *Loop) recordPlannedCalls(req *llmRequest) int {
	if len(req.Questions) > 0 {
		return len(req.Reply.Calls)
	}
	requestNumber := req.RequestNumber
	callByIndex, callAcceptanceCount := l.callsOfRequest(req)
	for _, inst := range l.instancesPlannedFor(req) {
		inst.LastPlanningRequest = requestNumber
	}
	if len(callByIndex) == 0 && !req.Reply.IsComplete {
		return callAcceptanceCount
	}
	plannedCalls := l.PlannedCalls
	if !l.hasInstructions() { // with instructions, all Calls are evidence
		plannedCalls = jsonval.Filter(plannedCalls, l.mayBeShownToLLM)
	}
	for index, v := range jsonval.Sorted(callByIndex) {
		isUnassigned := slices.ContainsFunc(req.Reply.CallFaults, func(f turn.CallFault) bool {
			return f.Index == index
		})
		plannedCalls = append(plannedCalls, PlannedCall{Request: requestNumber, Index: index, Call: v,
			IsUnassigned: isUnassigned})
	}
	l.PlannedCalls = plannedCalls
	return callAcceptanceCount
}

// instancesPlannedFor returns the instances that a Request's reply has planned for: all that it covered or, if the
// reply broke off, those that got a Call of it. The reply had not reached the others, so their data must be shown to
// the LLM again.
func (l *Loop) instancesPlannedFor(req *llmRequest) []*InstanceProgress {
	coveredInstances := l.coveredInstances(req.RequestInput)
	if req.Reply.IsComplete {
		return coveredInstances
	}
	callByIndex, _ := l.callsOfRequest(req)
	for _, f := range req.Reply.CallFaults {
		delete(callByIndex, f.Index)
	}
	indices := jsonval.SortedKeys(callByIndex)
	return slices.DeleteFunc(coveredInstances, func(inst *InstanceProgress) bool {
		return !slices.ContainsFunc(indices,
			func(index int) bool { return !callByIndex[index].TargetsOtherInstance(inst.Token) })
	})
}

// callsOfRequest returns a Request's Calls by index: the Calls of its reply and, if the reply was lost, the Calls that
// instances reported.
func (l *Loop) callsOfRequest(req *llmRequest) (callByIndex map[int]ideafile.WrittenCall, callAcceptanceCount int) {
	callByIndex = map[int]ideafile.WrittenCall{}
	for n, call := range req.Reply.Calls {
		callByIndex[n+1] = call
	}
	for _, inst := range l.instancesThatMayGetCalls(req.RequestInput) {
		//workflowcheck:ignore -- a count, and a map again
		for key, c := range inst.reportByCallKey {
			if key.Request != req.RequestNumber {
				continue
			}
			callAcceptanceCount++
			if callByIndex[c.Index].IsZero() {
				callByIndex[c.Index] = c.Call
			}
		}
	}
	return callByIndex, callAcceptanceCount
}

// callsToRedeliver returns the Calls that must still be sent to the instances of a Request whose Calls may not have
// reached all of them. If one instance has accepted a Call for several, every covered instance that the Call names must
// get it.
func (l *Loop) callsToRedeliver(req *llmRequest) (deliveries []CallDelivery) {
	if !req.Reply.CallsMayBeUndelivered() || req.IsOutputOnly {
		return nil
	}
	coveredInstances := l.coveredInstances(req.RequestInput)
	callByIndex, _ := l.callsOfRequest(req)
	for _, inst := range l.instancesThatMayGetCalls(req.RequestInput) {
		delivery := CallDelivery{InstanceToken: inst.Token, RequestNumber: req.RequestNumber}
		for index, v := range jsonval.Sorted(callByIndex) {
			key := ideafile.CallKey{Request: req.RequestNumber, Index: index}
			hasAccepted := func(inst *InstanceProgress) bool { _, exists := inst.reportByCallKey[key]; return exists }
			isTargeted := slices.Contains(coveredInstances, inst) && !v.TargetsOtherInstance(inst.Token)
			if !hasAccepted(inst) && isTargeted && !v.IsZero() && slices.ContainsFunc(coveredInstances, hasAccepted) {
				delivery.Calls = append(delivery.Calls, turn.DeliveredCall{Index: index, Call: v})
			}
		}
		deliveries = append(deliveries, delivery)
	}
	return deliveries
}

func (l *Loop) plannedCallsOfRequest(requestNumber int) []ideafile.WrittenCall {
	calls := []ideafile.WrittenCall{}
	for _, p := range l.PlannedCalls {
		if p.Request == requestNumber {
			calls = append(calls, p.Call)
		}
	}
	return calls
}

// trackBadReplies pauses the process after MaxBadRepliesInRow bad replies in a row, after MaxWorkerLossesInRow lost
// workers, or if repeating the Request cannot help. A lost worker is not a bad reply.
func (l *Loop) trackBadReplies(req *llmRequest) {
	switch {
	case req.Reply.Fault != nil && req.Reply.Fault.Code == approval.CodePlanRejected:
		l.BadRepliesInRow, l.WorkerLossesInRow = 0, 0
		return
	case req.Reply.IsNotRetryable:
		l.PauseWithFault(requestFaultWithPurpose(req))
		return
	case req.Reply.IsWorkerLost:
		l.WorkerLossesInRow++
		if l.WorkerLossesInRow >= MaxWorkerLossesInRow {
			l.PauseWithFault(WorkerLossesFault(l.WorkerLossesInRow))
		}
		return
	case req.Reply.IsComplete && !l.hasUnansweredQuestions(req):
		l.BadRepliesInRow, l.WorkerLossesInRow = 0, 0
		return
	case req.Reply.IsComplete:
		req.Reply.Fault = diag.Faultf(turn.CodeNotJSON, "results that were asked for are missing")
	}
	l.BadRepliesInRow++
	if l.BadRepliesInRow >= MaxBadRepliesInRow {
		l.PauseWithFault(diag.Faultf(turn.CodeBadReplies, "%d bad replies in a row; the last one: %s",
			l.BadRepliesInRow, req.Reply.Fault.Message))
	}
}

// requestFaultWithPurpose adds to the fault of a failed Request what the Request was made for, unless it was for the
// first plan of its process. Without the purpose, a reader of the fault would look for the cause in the LLM.
func requestFaultWithPurpose(req *llmRequest) *diag.Fault {
	f := *req.Reply.Fault
	var purposes []string
	for _, q := range req.Questions {
		if q.ParamsError != "" {
			purposes = append(purposes, fmt.Sprintf("was to fit what References brought to a Tool: %s, %s: %s",
				q.CallID, q.Tool, q.ParamsError))
		}
	}
	for _, e := range req.Errors {
		if len(req.Questions) == 0 && e.CallID != "" {
			purposes = append(purposes, fmt.Sprintf("was made because not all went well: %s: %s", e.CallID,
				e.Fault.Message))
		}
	}
	if len(purposes) > 0 {
		f.Message = fmt.Sprintf("%s; request %d %s", f.Message, req.RequestNumber, purposes[0])
	}
	if omittedCount := len(purposes) - 1; omittedCount > 0 {
		f.Message = fmt.Sprintf("%s (and %d more)", f.Message, omittedCount)
	}
	return &f
}

// WorkerLossesFault returns why a process pauses after n of its Requests in a row were lost with their workers.
func WorkerLossesFault(n int) *diag.Fault {
	return diag.Faultf(turn.CodeWorkerLost, "%d Requests in a row took their worker down", n)
}

// hasUnansweredQuestions reports whether a Request's questions were not all answered.
func (l *Loop) hasUnansweredQuestions(req *llmRequest) bool {
	isAnswered := map[string]bool{}
	for _, call := range req.Reply.Calls {
		if q, _, _, f := turn.ReadLLMAnswer(l.Idea, req.RequestInput, call); f == nil {
			isAnswered[q.CallID] = true
		}
	}
	return slices.ContainsFunc(req.Questions, func(q turn.QuestionToLLM) bool { return !isAnswered[q.CallID] })
}
