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

// PendingError is a ContextError that a later Request must still report.
type PendingError struct {
	turn.ContextError
	// ID is in the PendingErrorIDs of the instances whose next Request reports the error; 0: the next Request reports
	// it, whatever instances it is about.
	ID int `json:"note,omitempty"`
}

// addErrorsFor keeps errors until Requests have reported them for each of the instances. Without instances, the next
// Request reports them.
func (l *Loop) addErrorsFor(instances []*InstanceProgress, list ...turn.ContextError) {
	if len(list) == 0 {
		return
	}
	id := 0
	if len(instances) > 0 {
		l.LastErrorID++
		id = l.LastErrorID
	}
	for _, inst := range instances {
		inst.PendingErrorIDs = append(inst.PendingErrorIDs, id)
	}
	for _, e := range list {
		l.PendingErrors = append(l.PendingErrors, PendingError{e, id})
	}
}

// addError keeps an error for the next Request.
func (l *Loop) addError(f *diag.Fault) { l.addErrorsFor(nil, turn.ContextError{Fault: *f}) }

// addRequestErrors keeps, for each instance that a Request covered, how the Request failed, and those of its malformed
// Calls that name no instance.
func (l *Loop) addRequestErrors(req *llmRequest, callAcceptanceCount int) {
	var list []turn.ContextError
	r, coveredInstances := req.Reply, l.coveredInstances(req.RequestInput)
	if r.Fault != nil && (!r.IsWorkerLost || callAcceptanceCount > 0) {
		isHeld := func(inst *InstanceProgress) bool { return slices.Contains(req.TokensHeldForRecheck, inst.Token) }
		recheckHeldInstances := jsonval.Filter(coveredInstances, isHeld)
		otherInstances := slices.DeleteFunc(slices.Clone(coveredInstances), isHeld)
		f := turn.ContextError{Fault: l.truncatedReplyFault(req, callAcceptanceCount)}
		if len(recheckHeldInstances) == 0 || len(otherInstances) == 0 || callAcceptanceCount == 0 {
			list = append(list, f)
		} else { // Calls that waited for a second answer have not been handed out
			l.addErrorsFor(otherInstances, f)
			l.addErrorsFor(recheckHeldInstances, turn.ContextError{Fault: *interruptedReplyFault(req,
				"; no Call of it was taken for these but those that are shown")})
		}
	}
	for _, f := range r.CallFaults {
		l.UnassignedCallCount++
		callID, toolName := ideafile.FormatCallID(req.RequestNumber, f.Index, ""), ""
		if f.Index <= len(r.Calls) {
			toolName = r.Calls[f.Index-1].Tool
		}
		l.UnassignedFailures = l.UnassignedFailures.AddFailedCall(callID, ideafile.CallFailed, toolName, f.Fault)
		list = append(list, turn.ContextError{CallID: callID, Fault: f.Fault})
	}
	l.addErrorsFor(coveredInstances, list...)
	if req.amendmentText != "" { // for the next Request, if there is one
		l.addError(diag.Faultf(approval.CodePlanAmended, "%s", req.amendmentText))
	}
}

func (l *Loop) truncatedReplyFault(req *llmRequest, callAcceptanceCount int) diag.Fault {
	f := *req.Reply.Fault
	if f.Code == approval.CodePlanRejected {
		return f
	}
	noun, n := "Call", len(l.plannedCallsOfRequest(req.RequestNumber))
	switch {
	case len(req.Questions) > 0:
		noun, n = "result", callAcceptanceCount
	case len(req.TokensHeldForRecheck) > 0:
		n = l.acceptedCallCount(req.RequestNumber)
	}
	switch {
	case callAcceptanceCount == 0:
		return *interruptedReplyFault(req, "; no %s of it was taken", noun)
	case n == 1:
		return *interruptedReplyFault(req, "; the %s that had come was taken", noun)
	}
	return *interruptedReplyFault(req, "; the %d %ss that had come were taken", n, noun)
}

// interruptedReplyFault returns the fault of a Request that was cut off, with what became of its Calls.
func interruptedReplyFault(req *llmRequest, outcomeFormat string, args ...any) *diag.Fault {
	return diag.Faultf(req.Reply.Fault.Code, "request %d was cut off: %s%s", req.RequestNumber, req.Reply.Fault.Message,
		fmt.Sprintf(outcomeFormat, args...))
}

// acceptedCallCount counts the Calls of a Request that at least one instance has reported.
func (l *Loop) acceptedCallCount(requestNumber int) (n int) {
	for _, p := range l.PlannedCalls {
		if p.Request == requestNumber && l.anyInstance(func(inst *InstanceProgress) bool {
			_, exists := inst.reportByCallKey[p.key()]
			return exists
		}) {
			n++
		}
	}
	return n
}

// errorsToReport returns the errors that the next Request about these instances reports. Each error names its instances
// unless it concerns all of these.
func (l *Loop) errorsToReport(instances []*InstanceProgress) []turn.ContextError {
	tokensByID := map[int][]string{}
	for _, inst := range instances {
		for _, id := range inst.PendingErrorIDs {
			tokensByID[id] = append(tokensByID[id], inst.Token)
		}
	}
	var list []turn.ContextError
	for _, pendingError := range l.PendingErrors {
		e, tokens := pendingError.ContextError, tokensByID[pendingError.ID]
		if pendingError.ID > 0 && len(tokens) == 0 {
			continue
		}
		if len(e.InstanceTokens) > 0 || (e.CallID == "" && len(tokens) < len(instances)) {
			e.InstanceTokens = tokens
		}
		list = append(list, e)
	}
	return append(list, l.callErrors(instances)...)
}

// callErrors collects the faults of Calls that the LLM was not shown yet: they failed or are blocked, or a part of the
// result was not written. All instances with the same fault share one entry. A rejected Call is not an error: the
// decision is shown as a fact.
func (l *Loop) callErrors(instances []*InstanceProgress) []turn.ContextError {
	type callFault struct {
		call  ideafile.CallKey
		fault diag.Fault
	}
	var list []turn.ContextError
	indexByFault := map[callFault]int{}
	for _, p := range l.PlannedCalls {
		for _, inst := range instances {
			c, ok := inst.reportByCallKey[p.key()]
			if !ok || !p.isPlannedFor(inst) || inst.callsWithErrorsShown[p.key()] {
				continue
			}
			for _, f := range c.FaultsForLLM() {
				key := callFault{p.key(), f}
				index, exists := indexByFault[key]
				if !exists {
					index = len(list)
					indexByFault[key] = index
					list = append(list, turn.ContextError{CallID: p.key().ID(""), Fault: f})
				}
				if inst.Token != "" {
					list[index].InstanceTokens = append(list[index].InstanceTokens, inst.Token)
				}
			}
		}
	}
	return list
}

// markErrorsShown notes that the LLM knew the errors which a Request reported when it planned for some instances.
func (l *Loop) markErrorsShown(req *llmRequest, plannedInstances []*InstanceProgress) {
	for _, inst := range plannedInstances {
		inst.PendingErrorIDs, inst.ReopenReason = nil, ""
	}
	isStillPending := map[int]bool{}
	for _, inst := range l.Instances {
		for _, id := range inst.PendingErrorIDs {
			isStillPending[id] = true
		}
	}
	l.PendingErrors = jsonval.Filter(l.PendingErrors, func(e PendingError) bool { return isStillPending[e.ID] })
	for _, inst := range plannedInstances {
		//workflowcheck:ignore -- the order does not matter
		for callKey, c := range inst.reportByCallKey {
			if callKey.Request < req.RequestNumber && len(c.FaultsForLLM()) > 0 {
				inst.callsWithErrorsShown[callKey] = true
			}
		}
	}
}
