package loop

import (
	"cmp"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// resumedSolutionEndsChangeID names the rule that a resumed solution may end the process, as a reply may.
const resumedSolutionEndsChangeID = "a resumed solution may end the process"

// CallDelivery are Calls of one Request that are sent to an instance past the stream of the reply, such as the
// unfinished Calls of an earlier process.
type CallDelivery struct {
	InstanceToken string
	RequestNumber int
	Calls         []turn.DeliveredCall
	// AreCallsDelivered means that the instance has the Calls already and only learns that a person must review them.
	AreCallsDelivered bool
}

// dropHistoryMessages removes errors and records from the Idea's context, since restoreHistory reads them.
func (l *Loop) dropHistoryMessages() {
	remaining := jsonval.Filter(l.Idea.Context, func(m ideafile.Message) bool { return !turn.IsHistoryMessage(m) })
	if len(remaining) < len(l.Idea.Context) {
		l.Idea = l.Idea.WithContextReplaced(remaining)
	}
}

// restoreHistory restores what the context records about the earlier process, from whose Idea this one starts.
func (l *Loop) restoreHistory(context []ideafile.Message) {
	tokens := l.InstanceTokens()
	if n, err := jsonval.ReadPositiveInt(jsonval.Lookup(l.Idea.Source, "meta", "request")); err == nil {
		l.PriorRequestCount = n - 1
	}
	for _, msg := range context {
		if msg.IsStagelessPlanWithRecord() {
			for _, p := range turn.ReadPlanRecord(msg, tokens) {
				l.restoreCall(p)
			}
		}
		l.restoreInstanceEnd(msg)
	}
	l.visitRecordedDirectCalls((*InstanceProgress).restoreDirectCall)
	l.restoreErrors(context)
	for _, inst := range l.Instances {
		if !inst.isWorking() && !inst.HasNoMatchingPlan {
			l.recordInstanceEnd(inst)
		}
	}
	l.restoreOutput()
}

// restoreOutput takes the output of the earlier process if every instance had ended there, since it is final then.
func (l *Loop) restoreOutput() {
	solution := jsonval.AsObject(l.Idea.Source["solution"])
	out := solution["output"]
	calls := jsonval.AsList(solution["calls"])
	if l.Idea.OutputSchema == nil || out == nil || len(calls) > 0 || !l.allInstancesEnded() {
		return
	}
	rawOutput := l.Idea.OutputSchema.WithoutNulls(out)
	if output, f := l.resolveAndCheckOutput(rawOutput); f == nil {
		l.setOutput(output, nil)
		l.WrittenReferenceOutput = rawOutput // so that all parts of a whole have the same
	}
}

// restoreErrors keeps each error of the context for the instances at work that it names, or for all instances at work
// if it names none.
func (l *Loop) restoreErrors(context []ideafile.Message) {
	for _, msg := range context {
		contextError, ok := turn.ReadContextError(msg)
		if !ok {
			continue
		}
		affectedInstances := l.instancesWhere(func(inst *InstanceProgress) bool {
			return inst.isWorking() && (len(contextError.InstanceTokens) == 0 ||
				slices.Contains(contextError.InstanceTokens, inst.Token))
		})
		if len(affectedInstances) > 0 || len(contextError.InstanceTokens) == 0 {
			l.addErrorsFor(affectedInstances, contextError)
		}
	}
}

// restoreInstanceEnd restores how an instance had ended, from its last State message.
func (l *Loop) restoreInstanceEnd(msg ideafile.Message) {
	inst := l.instanceByToken[msg.InstanceToken]
	isForgotten := msg.InstanceEndStatus == ideafile.InstanceForgotten // and so is what a Plan's condition would match
	if inst == nil || msg.PayloadKind != ideafile.TypeState || inst.HasNoMatchingPlan && !isForgotten {
		return
	}
	inst.Status, inst.Fault, inst.StepOutcomes = ideafile.InstanceWorking, nil, msg.InstanceStepOutcomes
	if msg.InstanceEndStatus.HasEnded() {
		inst.Status = msg.InstanceEndStatus
	}
	if inst.Status.HasFailed() {
		inst.Fault = cmp.Or(msg.InstanceFault,
			diag.Faultf(string(ideafile.InstanceFailed), "it had failed in the process before"))
	}
}

// restoreCall restores a Call of the earlier process: as a fact if it had ended, otherwise as a Call to resume.
func (l *Loop) restoreCall(recordedCall turn.RecordedCall) {
	l.PriorRequestCount = max(l.PriorRequestCount, recordedCall.Request)
	key := recordedCall.CallKey()
	l.PlannedCalls = append(l.PlannedCalls, PlannedCall{Request: recordedCall.Request, Index: recordedCall.Index,
		Call: recordedCall.WrittenCall, IsUnassigned: len(recordedCall.StatusByInstance) == 0,
		OnlyForInstances: jsonval.SortedKeys(recordedCall.StatusByInstance)})
	for token, v := range jsonval.Sorted(recordedCall.StatusByInstance) {
		inst := l.instanceByToken[token]
		if inst == nil {
			continue
		}
		inst.LastPlanningRequest = max(inst.LastPlanningRequest, recordedCall.Request)
		status := v
		if key.IsUndo() && !status.IsFinal() {
			continue // an undo goes on only in the process that began it
		}
		if status.IsFinal() {
			c := recordedCall.Report(token)
			c.IsFromEarlierProcess = true
			inst.reportByCallKey[key] = c
		} else {
			l.resumeCall(inst, recordedCall.Request,
				turn.DeliveredCall{Index: recordedCall.Index, Call: recordedCall.WrittenCall,
					ReviewReason: recordedCall.ReviewReasonOnResume(l.Idea.Tool(recordedCall.WrittenCall.Tool), token)})
		}
	}
}

func (l *Loop) resumeCall(inst *InstanceProgress, requestNumber int, c turn.DeliveredCall) {
	inst.IsIdle = false
	inst.setCallWaiting(requestNumber, c)
	for n := range l.callsToResume {
		if l.callsToResume[n].InstanceToken == inst.Token && l.callsToResume[n].RequestNumber == requestNumber {
			l.callsToResume[n].Calls = append(l.callsToResume[n].Calls, c)
			return
		}
	}
	l.callsToResume = append(l.callsToResume, CallDelivery{InstanceToken: inst.Token, RequestNumber: requestNumber,
		Calls: []turn.DeliveredCall{c}})
}

// setCallWaiting notes that a Call which is being sent to the instance has not begun.
func (p *InstanceProgress) setCallWaiting(requestNumber int, c turn.DeliveredCall) {
	p.reportByCallKey[ideafile.CallKey{Request: requestNumber,
		Index: c.Index}] = turn.CallReport{Request: requestNumber,
		Index:     c.Index,
		CallState: turn.CallState{Status: ideafile.CallWaiting}, ReviewReason: c.ReviewReason}
}

// TakeCallsToResume returns, once, the Calls to send to the instances, in the order of their Requests.
func (l *Loop) TakeCallsToResume() []CallDelivery {
	slices.SortStableFunc(l.callsToResume, func(a, b CallDelivery) int { return a.RequestNumber - b.RequestNumber })
	return takeAndClear(&l.callsToResume)
}

// HasCallsToResume reports whether TakeCallsToResume has Calls to return.
func (l *Loop) HasCallsToResume() bool { return len(l.callsToResume) > 0 }

// ResumeSolutionCalls resumes the Calls of the Idea's solution too, as if they were the reply to the first Request. It
// resumes them in the instances that are ready for a Request, except where the record has an equal Call as done.
func (l *Loop) ResumeSolutionCalls() {
	solution := jsonval.AsObject(l.Idea.Source["solution"])
	rawCalls := jsonval.AsList(solution["calls"])
	if len(rawCalls) == 0 {
		return
	}
	palette := ideafile.Palette{Tools: l.Idea.Tools, BindingByTool: l.bindings}
	readyInstances := l.readyInstances()
	palette.InstanceTokens = tokensOf(readyInstances)
	l.PriorRequestCount++
	var badCallErrors []turn.ContextError
	writtenCalls := ideafile.ParseWrittenCalls(rawCalls)
	for n, call := range writtenCalls {
		tokens, f := palette.TargetInstances(call)
		if len(tokens) == 0 {
			l.UnassignedCallCount++
			badCallErrors = append(badCallErrors,
				turn.ContextError{CallID: ideafile.FormatCallID(l.PriorRequestCount, n+1, ""), Fault: *f})
		}
		l.resumeSolutionCall(n+1, call, tokens)
	}
	l.addErrorsFor(readyInstances, badCallErrors...)
	reply := &turn.LLMReply{Calls: writtenCalls, Output: solution["output"]}
	reply.SaysFinished, _ = solution["finished"].(bool)
	reply.Notes = jsonval.AsText(solution["notes"])
	if len(badCallErrors) == 0 && (reply.SaysFinished || reply.Output != nil || reply.Notes != "") &&
		l.IsPatched(resumedSolutionEndsChangeID) {
		l.resumeFinalReply(readyInstances, reply)
	}
}

// resumeFinalReply applies the end and the notes of a solution, as if it were a reply about the ready instances. It
// ignores an output that does not hold for each of these; the LLM is asked for a new one.
func (l *Loop) resumeFinalReply(readyInstances []*InstanceProgress, reply *turn.LLMReply) {
	req := &llmRequest{RequestInput: &turn.RequestInput{RequestNumber: l.PriorRequestCount,
		MayBeLast: l.mayBeLastRequest(readyInstances)}, Reply: reply}
	for _, inst := range readyInstances {
		req.Instances = append(req.Instances, turn.InstanceInput{Token: inst.Token})
	}
	req.coversAllUnsettledAtResume = !l.anyInstance(func(inst *InstanceProgress) bool {
		return !slices.Contains(readyInstances, inst) && inst.Status != ideafile.InstanceSettled
	})
	l.recordNotes(req)
	l.recordSaysFinished(req)
	if !l.doesReplyWireOutput(req) {
		return
	}
	l.wireOutput(req)
	if slices.ContainsFunc(readyInstances, l.breaksWiredOutput) {
		l.wiredRequest = nil
	}
}

func (l *Loop) resumeSolutionCall(callIndex int, call ideafile.WrittenCall, instanceTokens []string) {
	var unfinishedInstances []*InstanceProgress
	for _, token := range instanceTokens {
		if inst := l.instanceByToken[token]; !l.wasDoneEarlier(inst, call) {
			unfinishedInstances = append(unfinishedInstances, inst)
		}
	}
	if len(unfinishedInstances) == 0 && len(instanceTokens) > 0 {
		return
	}
	l.PlannedCalls = append(l.PlannedCalls, PlannedCall{Request: l.PriorRequestCount, Index: callIndex, Call: call,
		IsUnassigned: len(instanceTokens) == 0})
	for _, inst := range unfinishedInstances {
		inst.LastPlanningRequest = l.PriorRequestCount
		l.resumeCall(inst, l.PriorRequestCount, turn.DeliveredCall{Index: callIndex, Call: call})
	}
}

// wasDoneEarlier reports whether the record calls an equivalent Call done in an instance.
func (l *Loop) wasDoneEarlier(inst *InstanceProgress, call ideafile.WrittenCall) bool {
	return slices.ContainsFunc(l.PlannedCalls, func(p PlannedCall) bool {
		c := inst.reportByCallKey[p.key()]
		return p.isPlannedFor(inst) && c.IsFromEarlierProcess && c.Status == ideafile.CallDone &&
			p.Call.SameCallAs(call)
	})
}
