package loop

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// settleInstances settles, after a whole reply, the instances that got no Call, and takes the reply's notes and output.
func (l *Loop) settleInstances(req *llmRequest) {
	l.recordNotes(req)
	saidFinished := req.Reply.SaysFinished
	if l.Idea.OutputSchema != nil && saidFinished && req.Reply.Output != nil && !l.mayReplyGiveOutput(req) &&
		l.IsPatched(DraftOutputChangeID) {
		req.Reply.SaysFinished = false // the Idea must not record the output as final
	}
	if l.doesReplyWireOutput(req) {
		l.wireOutput(req)
	}
	candidates := l.instancesThatMaySettle(req)
	if l.Idea.OutputSchema != nil && l.wouldCompleteBySettling(candidates, req) {
		maySettle := l.acceptReplyOutput(req)
		if !maySettle {
			return
		}
	}
	if l.Idea.OutputSchema != nil && req.Reply.Output != nil && !l.HasOutput && l.wiredRequest != req {
		isDraftUsable := req.DraftOutput == nil || l.DraftOutput != nil // the draft to be corrected is still kept
		isKeptAsDraft := saidFinished && req.OthersAreKnown && isDraftUsable && l.keepOutputAsDraft(req)
		if !isKeptAsDraft {
			l.addError(diag.Faultf(turn.CodeOutputTooEarly,
				"the output given in request %d was not taken: there was more to do. You are asked for it again, at "+
					"the latest when all is done. Beside Calls it counts where \"finished\" is true",
				req.RequestNumber))
		}
	}
	for _, inst := range candidates {
		l.settleOrAskAgain(inst)
	}
}

// settleReachedGoals settles instances without asking the LLM, once the Calls of a whole Plan have ended well. These
// are the instances whose State has all that their schema requires, and instances without such a goal for which the LLM
// said that nothing is left to plan. If a Call failed and no other made up for it, or a part of the reply was wrong,
// the LLM is asked first. An instance with a Request in flight never settles, since that reply may still break off.
func (l *Loop) settleReachedGoals() {
	if l.Idea.Config.AskLLMBeforeSettling {
		return
	}
	for _, inst := range l.Instances {
		if inst.phase() != phaseReady || l.mayBePlannedInFlight(inst) || l.awaitsWiredOutput(inst) &&
			!l.settlesWhileOutputWaits(inst) {
			continue
		}
		if inst.hasReachedGoal() && !l.hasCallWithoutInstance(inst.LastPlanningRequest) &&
			!l.planResult(inst, inst.LastPlanningRequest).HasFailed() {
			l.settleOrAskAgain(inst)
		}
	}
}

// mayBePlannedInFlight reports whether the reply to the Request in flight may plan for an instance.
func (l *Loop) mayBePlannedInFlight(inst *InstanceProgress) bool {
	return l.requestInFlight != nil && len(l.requestInFlight.Questions) == 0 &&
		inst.LastCoveringRequest == l.requestInFlight.RequestNumber
}

// recordSaysFinished records that the LLM wants to plan nothing more for the instances of a Request, if the reply says
// so and was allowed to.
func (l *Loop) recordSaysFinished(req *llmRequest) {
	if !req.MayBeLast || !req.Reply.SaysFinished {
		return
	}
	for _, inst := range l.coveredInstances(req.RequestInput) {
		inst.SaysFinishedRequest = req.RequestNumber
	}
}

// mayBeLastRequest reports whether the LLM may call its reply to a Request about these instances the last one. At least
// one of them must have no goal in State, and the process must need no output, since the References of an output would
// say the same.
func (l *Loop) mayBeLastRequest(instances []*InstanceProgress) bool {
	return l.Idea.OutputSchema == nil && !l.Idea.Config.AskLLMBeforeSettling &&
		slices.ContainsFunc(instances, l.hasNoGoal)
}

// hasNoGoal reports whether an instance started with all that the State schema requires. The instance reports the same
// (HasGoal), but later.
func (l *Loop) hasNoGoal(inst *InstanceProgress) bool {
	schema := ideafile.InstanceViewOf(l.Idea.Context, inst.Token).SchemaByKind[ideafile.TypeState]
	return len(statelog.MissingRequiredPaths(schema, inst.state.InitialValue)) == 0
}

// hasReachedGoal reports whether an instance that is ready for a Request needs no Request, provided its Plan has not
// failed and its instructions are fulfilled.
func (p *InstanceProgress) hasReachedGoal() bool {
	hasLLMSaidFinished := !p.HasGoal && p.SaysFinishedRequest == p.LastPlanningRequest
	return (p.HasGoal || hasLLMSaidFinished) && len(p.MissingRequiredPaths) == 0 && p.LastPlanningRequest > 0 &&
		len(p.PendingErrorIDs) == 0 && !p.WasRevisedSinceRequest &&
		len(p.Questions) == 0 && p.PlanFailure == nil
}

// isShownOnlyForErrors reports whether an instance has reached its goal, and did not settle only because not all of
// its last Plan went well.
func (l *Loop) isShownOnlyForErrors(inst *InstanceProgress, isOutputOnly bool) bool {
	return !isOutputOnly && inst.HasGoal && l.missingToSettleFault(inst) == nil && inst.ReopenReason == "" &&
		!inst.WasRevisedSinceRequest &&
		inst.LastPlanningRequest > 0 && !l.Idea.Config.AskLLMBeforeSettling
}

// hasCallWithoutInstance reports whether a Request planned a Call that names none of its instances, and so may have
// been meant for any.
func (l *Loop) hasCallWithoutInstance(requestNumber int) bool {
	return slices.ContainsFunc(l.PlannedCalls, func(p PlannedCall) bool {
		return p.IsUnassigned && p.Request == requestNumber
	})
}

// wouldCompleteBySettling reports whether the instances in settling may all settle by a Request, and no other is at
// work.
func (l *Loop) wouldCompleteBySettling(candidates []*InstanceProgress, req *llmRequest) bool {
	if l.anyInstance(func(inst *InstanceProgress) bool {
		return inst.isWorking() &&
			!slices.Contains(candidates, inst)
	}) {
		return false
	}
	return (len(candidates) > 0 || req.IsOutputOnly) && !slices.ContainsFunc(candidates, l.isMissingSomething)
}

// instancesThatMaySettle returns the instances that the reply gave no Call, except those corrected since the Request
// was made: the LLM did not know of the correction.
func (l *Loop) instancesThatMaySettle(req *llmRequest) (list []*InstanceProgress) {
	if len(req.Reply.CallFaults) > 0 || req.IsOutputOnly {
		return nil
	}
	for _, token := range req.Reply.InstanceTokensWithoutCalls {
		if inst := l.instanceByToken[token]; inst != nil && inst.isWorking() &&
			!inst.WasRevisedSinceRequest {
			list = append(list, inst)
		}
	}
	return list
}

// settleOrAskAgain settles an instance, unless State lacks what its schema requires or a step of its instructions is
// not fulfilled. In that case the next Request reports the lack; after maxUnsettledRequests times the instance fails.
// All Calls of one Request count as one attempt.
func (l *Loop) settleOrAskAgain(inst *InstanceProgress) {
	fault := l.missingToSettleFault(inst)
	switch {
	case fault == nil:
		l.endInstance(inst, ideafile.InstanceSettled, nil)
	case inst.LastUnsettledRequest == inst.LastPlanningRequest:
	case inst.UnsettledRequestCount < maxUnsettledRequests:
		inst.UnsettledRequestCount++
		inst.LastUnsettledRequest = inst.LastPlanningRequest
	default:
		l.endInstance(inst, ideafile.InstanceFailed, fault)
	}
}

func (l *Loop) isMissingSomething(inst *InstanceProgress) bool {
	return l.missingToSettleFault(inst) != nil
}

// acceptReplyOutput takes the output of the reply that ends the process, and reports whether the instances may settle.
// It ignores the output if mayReplyGiveOutput is false, since a closing Request follows, and in a part whose Plans give
// the output of the whole. A bad output is reported in the next Request.
func (l *Loop) acceptReplyOutput(req *llmRequest) bool {
	if !l.mayReplyGiveOutput(req) || (l.IsPart && !l.anyInstance(l.lacksPlanOutput)) {
		return true
	}
	rawOutput, f := l.Idea.OutputSchema.WithoutNulls(req.Reply.Output), req.Reply.OutputFault
	var out any
	if f == nil {
		out, f = l.resolveAndCheckOutput(rawOutput)
	}
	if f != nil {
		l.refuseOutput(f)
		return false
	}
	l.setOutput(out, rawOutput)
	return true
}

func (l *Loop) refuseOutput(f *diag.Fault) {
	l.addError(f)
	l.BadOutputsInRow++
	if l.BadOutputsInRow >= MaxBadRepliesInRow {
		l.PauseWithFault(diag.Faultf(turn.CodeBadOutputs, "%d bad outputs in a row; the last one: %s",
			l.BadOutputsInRow, f.Message))
	}
}

// resolveAndCheckOutput resolves the References of an output over all instances, and checks it.
func (l *Loop) resolveAndCheckOutput(writtenOutput any) (any, *diag.Fault) {
	if writtenOutput == nil {
		return nil, diag.Faultf(ideafile.CodeBadOutput, "there are no calls and no output; the output form wants one")
	}
	return ResolveOutputWirings(l.Idea, []OutputWiring{{WrittenOutput: writtenOutput,
		InstanceTokens: l.InstanceTokens()}}, l.StateOf,
		l.IsPatched)
}
